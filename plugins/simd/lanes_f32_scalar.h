/*
 * lanes_f32_scalar.h: a vector of one float, for any machine, and what the other lanes_<type>_<isa>.h promise.
 *
 * Kernels of floats are written once, over a handful of functions on vectors (map.h, reduce.h, recipe_f32.h,
 * softmax_f32.h); a lanes header says what these are on one instruction set. A file includes one of them, and then the
 * kernels. Whatever the header, a lane computes the same bits: every function here rounds once, and says what it does
 * with NaNs and zeros. Only static inline functions: nothing of one instruction set may serve another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_LANES_H
#define SVMX_SIMD_LANES_H

#include "tasks.h"

#include <math.h>

typedef float elem;
typedef float vec;                /* V_LANES of elem */
typedef int mask;                 /* what comparisons give and v_select takes */
enum { V_LANES = 1, V_PACK = 1 }; /* V_PACK: how many of them are worked on side by side (pack.h) */

static inline vec v_set(elem x) { return x; }
static inline elem v_first(vec x) { return x; } /* lane 0 */

/* Any alignment, but for v_stream, which wants that of the vector. */
static inline vec v_load(const uint8_t *at) {
    vec x;
    memcpy(&x, at, sizeof x);
    return x;
}
static inline void v_store(uint8_t *at, vec x) { memcpy(at, &x, sizeof x); }
static inline void v_stream(uint8_t *at, vec x) { v_store(at, x); }

/* The first `count` lanes, from none to all; the others are those of `fill`, or are not written. */
static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) { return count ? v_load(at) : fill; }
static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    if (count) v_store(at, x);
}

static inline uint32_t v_bits(vec x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline vec v_from_bits(uint32_t bits) {
    vec x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline vec v_add(vec a, vec b) { return a + b; }
static inline vec v_sub(vec a, vec b) { return a - b; }
static inline vec v_mul(vec a, vec b) { return a * b; }
static inline vec v_div(vec a, vec b) { return a / b; }
static inline vec v_fma(vec a, vec b, vec c) { return fmaf(a, b, c); }
static inline vec v_min(vec a, vec b) { return a < b ? a : b; } /* b where one is a NaN, or both are zeros */
static inline vec v_max(vec a, vec b) { return a > b ? a : b; } /* likewise */
static inline vec v_and(vec a, vec b) { return v_from_bits(v_bits(a) & v_bits(b)); }
static inline vec v_or(vec a, vec b) { return v_from_bits(v_bits(a) | v_bits(b)); }
static inline vec v_andnot(vec a, vec b) { return v_from_bits(~v_bits(a) & v_bits(b)); } /* not a, and b */

/* The greater of two that have no sign: a NaN is greater than all numbers. */
static inline vec v_max_bits(vec a, vec b) { return v_bits(a) > v_bits(b) ? a : b; }

static inline mask v_less(vec a, vec b) { return a < b; }                 /* false where one is a NaN */
static inline mask v_unordered(vec a, vec b) { return a != a || b != b; } /* true where one is a NaN */
static inline mask v_either(mask a, mask b) { return a || b; }
static inline int v_any(mask m) { return m; } /* whether it is true in a lane */
static inline vec v_select(mask m, vec yes, vec no) { return m ? yes : no; }

static inline vec v_nan(void) { return v_from_bits(UINT32_C(0x7fc00000)); }
/* With the one NaN that operations write: bits do not depend on which operand's payload a machine keeps. */
static inline vec v_one_nan(vec x) {
    const uint32_t bits = v_bits(x);
    return v_from_bits((bits & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) ? UINT32_C(0x7fc00000) : bits);
}

/* Lanes `distance` apart exchanged: lane j gets lane j ^ distance. A power of two, less than V_LANES. */
SIMD_INLINE vec v_swap(vec x, int distance) {
    (void)distance;
    return x;
}

static inline vec v_minus(vec x) { return -x; }

/*
 * Of magic = 0x1.8p23 + n, whose low bits are n: its other bits leave at the top of a shift. Nothing of n's where it is a
 * NaN, so only a product with p, which is then a NaN too, may follow.
 *
 *   v_power         2^n, -126 <= n <= 127
 *   v_halves        2^(n - h), and 2^-h into `half`, where h = n / 2 rounded down and |n| <= 252
 *   v_scale         p 2^n with one rounding, |n| <= 252
 *   v_scale_down    the same for -226 <= n <= 0, which is less work
 */
static inline vec v_power_from(vec start, vec magic) { return v_from_bits(v_bits(start) + (v_bits(magic) << 23)); }
static inline vec v_power(vec magic) { return v_power_from(1, magic); }

static inline vec v_halves(vec magic, vec *half) {
    *half = v_from_bits(UINT32_C(0x3f800000) - (v_bits(magic) << 22 & UINT32_C(0xff800000)));
    return v_power_from(*half, magic);
}

static inline vec v_scale(vec p, vec magic) {
    const int32_t n = (int32_t)v_bits(magic), half = n >> 1;
    return p * v_power(v_from_bits((uint32_t)half)) * v_power(v_from_bits((uint32_t)(n - half)));
}

static inline vec v_scale_down(vec p, vec magic) { return p * v_power_from(0x1p100f, magic) * 0x1p-100f; }

#endif
