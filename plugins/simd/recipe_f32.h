/*
 * recipe_f32.h: exp and what is made of it, on vectors. The definition is docs/OPERATIONS.md, "The exponential", and
 * src/ops/recipe_f32.h, which has the reasons; this is the same text over the functions of a lanes header, with the same
 * constants, operation for operation: the bits depend on each.
 *
 * v_min(limit, x) and v_max(limit, x) with the limit first: they give x where that is a NaN.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_RECIPE_F32_H
#define SVMX_SIMD_RECIPE_F32_H

#include <math.h>

#define RECIPE_MAGIC  0x1.8p23f
#define RECIPE_LOG2E  0x1.715476p+0f
#define RECIPE_LN2_HI 0x1.62e430p-1f
#define RECIPE_LN2_LO -0x1.05c610p-29f

SIMD_INLINE pack exp_reduce(pack x, pack *magic) {
    *magic = p_fma(x, p_set(RECIPE_LOG2E), p_set(RECIPE_MAGIC));
    const pack n = p_sub(*magic, p_set(RECIPE_MAGIC));
    return p_fma(n, p_set(-RECIPE_LN2_LO), p_fma(n, p_set(-RECIPE_LN2_HI), x));
}

SIMD_INLINE pack exp_tail(pack r) {
    pack h = p_fma(p_set(0x1.6e4f40p-10f), r, p_set(0x1.12342ap-7f));
    h = p_fma(h, r, p_set(0x1.555448p-5f));
    h = p_fma(h, r, p_set(0x1.5554a0p-3f));
    return p_fma(h, r, p_set(0x1p-1f));
}

SIMD_INLINE pack exp_unscaled(pack x, pack *magic) {
    const pack r = exp_reduce(x, magic);
    return p_fma(p_fma(exp_tail(r), r, p_set(1)), r, p_set(1));
}

SIMD_INLINE pack exp_of(pack x) {
    pack magic;
    const pack p = exp_unscaled(p_max(p_set(-104), p_min(p_set(89), x)), &magic);
    return p_scale(p, magic);
}

/* The same bits for x <= 0 or a NaN. */
SIMD_INLINE pack exp_below(pack x) {
    pack magic;
    const pack p = exp_unscaled(p_max(p_set(-104), x), &magic);
    return p_scale_down(p, magic);
}

/* x <= 0 */
SIMD_INLINE pack expm1_of(pack x) {
    pack magic;
    const pack r = exp_reduce(p_max(p_set(-20), x), &magic), power = p_power(magic);
    return p_fma(power, p_fma(exp_tail(r), p_mul(r, r), r), p_sub(power, p_set(1)));
}

SIMD_INLINE pack sigmoid_of(pack x) {
    const pack e = exp_below(p_or(x, p_set(-0.0f)));
    return p_div(p_select(p_less(x, p_set(0)), e, p_set(1)), p_add(p_set(1), e));
}

/* x / (1 + e^y) for y <= 126, both terms of the sum halved in the exponent so that neither overflows. */
SIMD_INLINE pack gate_of(pack x, pack y) {
    pack magic, half;
    const pack p = exp_unscaled(p_max(p_set(-40), y), &magic), rest = p_halves(magic, &half);
    return p_mul(p_div(x, p_fma(p, rest, half)), half);
}

SIMD_INLINE pack swish_of(pack x) {
    x = p_max(p_set(-120), x);
    return gate_of(x, p_minus(x));
}

SIMD_INLINE pack gelu_of(pack x) {
    x = p_max(p_set(-11), x);
    return gate_of(x, p_mul(x, p_fma(p_mul(x, x), p_set(-0x1.2444f2p-4f), p_set(-0x1.988454p+0f))));
}

/* e^2a + 1 for 0 <= a <= 10 */
SIMD_INLINE pack tanh_far(pack a) {
    const pack x = p_add(a, a), magic = p_fma(x, p_set(RECIPE_LOG2E), p_set(RECIPE_MAGIC));
    const pack r = p_fma(p_sub(magic, p_set(RECIPE_MAGIC)), p_set(-RECIPE_LN2_HI), x);
    return p_fma(p_fma(p_fma(exp_tail(r), r, p_set(1)), r, p_set(1)), p_power(magic), p_set(1));
}

SIMD_INLINE pack tanh_of(pack x) {
    const pack far = tanh_far(p_min(p_set(10), p_andnot(p_set(-0.0f), x)));
    const pack a = p_andnot(p_set(-0.0f), x), b = p_mul(a, a);
    const pack near = p_fma(p_fma(p_set(-0x1.6af1e4p-8f), b, p_set(0x1.333160p+0f)), b, p_set(3));
    const pack_mask small = p_less(a, p_set(0.6875f));
    const pack quotient = p_div(p_select(small, p_mul(a, b), p_set(2)), p_select(small, near, far));
    return p_or(p_sub(p_select(small, a, p_set(1)), quotient), p_and(x, p_set(-0.0f)));
}

/* One number, 1 <= x or a NaN: the sum of a row. */
SIMD_INLINE float log_of(float x) {
    const uint32_t root = UINT32_C(0x3f3504f3);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t above = bits - root, one_f = (above & UINT32_C(0x7fffff)) + root;
    float f;
    memcpy(&f, &one_f, sizeof f);
    f -= 1.0f;
    const float k = (float)((int32_t)above >> 23), s = f / (2.0f + f), z = s * s;
    const float rest = fmaf(-z, fmaf(fmaf(0x1.313d78p-2f, z, 0x1.996646p-2f), z, 0x1.555570p-1f), f);
    const float y = fmaf(k, RECIPE_LN2_HI, fmaf(k, RECIPE_LN2_LO, fmaf(-s, rest, f)));
    return x != x ? x : y;
}

#endif
