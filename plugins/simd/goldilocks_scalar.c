/*
 * goldilocks_scalar.c: arithmetic modulo the Goldilocks prime for any machine, a word at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tasks.h"

__extension__ typedef unsigned __int128 u128;
typedef uint64_t elem;
typedef uint64_t vec;
enum { V_LANES = 1 };

static inline vec v_set(elem x) { return x; }

static inline vec v_load(const uint8_t *at) { return simd_load_u64(at); }

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) { return count ? v_load(at) : fill; }

static inline void v_store(uint8_t *at, vec x) { memcpy(at, &x, sizeof x); }

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    if (count) v_store(at, x);
}

static inline void v_stream(uint8_t *at, vec x) { v_store(at, x); }

static inline vec v_plus(vec a, vec b) { return a + b; }

static inline vec v_minus(vec a, vec b) { return a - b; }

static inline vec v_plus_where_less(vec x, vec y, vec a, vec b) { return x + (y & -(vec)(a < b)); }

static inline vec v_minus_where_less(vec x, vec y, vec a, vec b) { return x - (y & -(vec)(a < b)); }

static inline vec v_min(vec a, vec b) { return a < b ? a : b; }

static inline vec v_high_half(vec x) { return x >> 32; }

static inline vec v_low_half_times_carry(vec x) { return (x << 32) - (x & UINT64_C(0xffffffff)); }

static inline vec v_product(vec a, vec b, vec *high) {
    const u128 product = (u128)a * b;
    *high = (vec)(product >> 64);
    return (vec)product;
}

#include "goldilocks.h"

const struct simd_kernel simd_goldilocks_scalar[SIMD_GOLDILOCKS_KERNELS] = {
    {"goldilocks_add", run_add, NULL, 2048, 830, 0},
    {"goldilocks_mul", run_multiply, NULL, 2048, 1600, 0},
};
