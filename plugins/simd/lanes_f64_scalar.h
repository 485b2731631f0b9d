/*
 * lanes_f64_scalar.h: a vector of one double, for any machine. lanes_f32_scalar.h has the docs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_LANES_H
#define SVMX_SIMD_LANES_H

#include "tasks.h"

typedef double elem;
typedef double vec;
enum { V_LANES = 1 };

static inline vec v_set(elem x) { return x; }
static inline elem v_first(vec x) { return x; }

static inline vec v_load(const uint8_t *at) {
    vec x;
    memcpy(&x, at, sizeof x);
    return x;
}
static inline void v_store(uint8_t *at, vec x) { memcpy(at, &x, sizeof x); }
static inline void v_stream(uint8_t *at, vec x) { v_store(at, x); }
static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) { return count ? v_load(at) : fill; }
static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    if (count) v_store(at, x);
}

static inline uint64_t v_bits(vec x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline vec v_from_bits(uint64_t bits) {
    vec x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline vec v_add(vec a, vec b) { return a + b; }
static inline vec v_sub(vec a, vec b) { return a - b; }
static inline vec v_mul(vec a, vec b) { return a * b; }
static inline vec v_andnot(vec a, vec b) { return v_from_bits(~v_bits(a) & v_bits(b)); }
static inline vec v_max_bits(vec a, vec b) { return v_bits(a) > v_bits(b) ? a : b; }

static inline vec v_one_nan(vec x) {
    const uint64_t bits = v_bits(x), inf = UINT64_C(0x7ff0000000000000);
    return v_from_bits((bits & UINT64_C(0x7fffffffffffffff)) > inf ? UINT64_C(0x7ff8000000000000) : bits);
}

SIMD_INLINE vec v_swap(vec x, int distance) {
    (void)distance;
    return x;
}

#endif
