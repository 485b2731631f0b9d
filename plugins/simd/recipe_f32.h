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
#define RECIPE_LN2_HI 0x1.62e430p-1f
#define RECIPE_LN2_LO -0x1.05c610p-29f

SIMD_INLINE vec exp_reduce(vec x, vec *magic) {
    *magic = v_fma(x, v_set(0x1.715476p+0f), v_set(RECIPE_MAGIC));
    const vec n = v_sub(*magic, v_set(RECIPE_MAGIC));
    return v_fma(n, v_set(-RECIPE_LN2_LO), v_fma(n, v_set(-RECIPE_LN2_HI), x));
}

SIMD_INLINE vec exp_tail(vec r) {
    vec h = v_fma(v_set(0x1.6e4f40p-10f), r, v_set(0x1.12342ap-7f));
    h = v_fma(h, r, v_set(0x1.555448p-5f));
    h = v_fma(h, r, v_set(0x1.5554a0p-3f));
    return v_fma(h, r, v_set(0x1p-1f));
}

SIMD_INLINE vec exp_unscaled(vec x, vec *magic) {
    const vec r = exp_reduce(x, magic);
    return v_fma(v_fma(exp_tail(r), r, v_set(1)), r, v_set(1));
}

SIMD_INLINE vec exp_of(vec x) {
    vec magic;
    const vec p = exp_unscaled(v_max(v_set(-104), v_min(v_set(89), x)), &magic);
    return v_scale(p, magic);
}

/* The same bits for x <= 0 or a NaN. */
SIMD_INLINE vec exp_below(vec x) {
    vec magic;
    const vec p = exp_unscaled(v_max(v_set(-104), x), &magic);
    return v_scale_down(p, magic);
}

/* x <= 0 */
SIMD_INLINE vec expm1_of(vec x) {
    vec magic;
    const vec r = exp_reduce(v_max(v_set(-20), x), &magic), power = v_power(magic);
    return v_fma(power, v_fma(exp_tail(r), v_mul(r, r), r), v_sub(power, v_set(1)));
}

SIMD_INLINE vec minus_abs(vec x) { return v_or(x, v_set(-0.0f)); }

SIMD_INLINE vec sigmoid_of(vec x) {
    const vec e = exp_below(minus_abs(x));
    return v_div(v_select(v_less(x, v_set(0)), e, v_set(1)), v_add(v_set(1), e));
}

SIMD_INLINE vec gate_of(vec x, vec z) {
    vec magic;
    const vec p = exp_unscaled(v_max(v_set(-120), minus_abs(z)), &magic);
    const vec below = v_add(v_set(1), v_scale_down(p, magic));
    const mask negative = v_less(z, v_set(0));
    const vec quotient = v_div(v_select(negative, v_mul(x, p), x), below);
    return v_select(negative, v_scale_down(quotient, magic), quotient);
}

SIMD_INLINE vec swish_of(vec x) {
    x = v_max(v_set(-120), x);
    return gate_of(x, x);
}

SIMD_INLINE vec gelu_of(vec x) {
    x = v_max(v_set(-20), x);
    return gate_of(x, v_mul(x, v_fma(v_mul(x, x), v_set(0x1.2444f2p-4f), v_set(0x1.988454p+0f))));
}

SIMD_INLINE vec tanh_near(vec a) {
    const vec b = v_mul(a, a);
    vec h = v_fma(v_set(-0x1.750ce4p-8f), b, v_set(0x1.51f8cep-6f));
    h = v_fma(h, b, v_set(-0x1.b835a4p-5f));
    h = v_fma(h, b, v_set(0x1.1106f6p-3f));
    h = v_fma(h, b, v_set(-0x1.555532p-2f));
    return v_fma(v_mul(h, b), a, a);
}

SIMD_INLINE vec tanh_far(vec a) {
    vec magic;
    a = v_min(v_set(10), a);
    const vec p = exp_unscaled(v_add(a, a), &magic), e = v_mul(p, v_power(magic));
    return v_sub(v_set(1), v_div(v_set(2), v_add(e, v_set(1))));
}

SIMD_INLINE vec tanh_of(vec x) {
    const vec sign = v_and(x, v_set(-0.0f)), a = v_andnot(v_set(-0.0f), x);
    return v_or(v_select(v_less(a, v_set(0.625f)), tanh_near(a), tanh_far(a)), sign);
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
