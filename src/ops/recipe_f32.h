/*
 * recipe_f32.h: exp and what is made of it, as operations whose bits are the same everywhere.
 *
 * Made of + - x /, fma, comparisons and integer operations on the bits of a float: each rounds once, to nearest even, on
 * every machine. No function of a maths library but fmaf, which has only one right answer. docs/OPERATIONS.md ("The
 * exponential") has the same text in words, and the errors, which tests/integration/exp_all.c measures over all floats.
 * Included by the operations of this folder; the text from which kernels are written. Knows no slots.
 *
 * A NaN goes in and a NaN comes out, whose pattern is settled where it is stored: hence `limit < x ? limit : x` and not
 * the other way round.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_RECIPE_F32_H
#define SVMX_OPS_RECIPE_F32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t svmx__bits_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float svmx__from_bits_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float svmx__at_most_f32(float x, float limit) { return limit < x ? limit : x; }
static inline float svmx__at_least_f32(float x, float limit) { return limit > x ? limit : x; }

/* ---- exp: x = n ln 2 + r, e^x = 2^n e^r --------------------------------------------------------------------- */

#define SVMX__EXP_MAGIC  0x1.8p23f      /* numbers as large as this have no fraction: adding it rounds to an integer */
#define SVMX__EXP_LOG2E  0x1.715476p+0f /* 1 / ln 2 */
#define SVMX__EXP_LN2_HI 0x1.62e430p-1f /* ln 2, rounded */
#define SVMX__EXP_LN2_LO -0x1.05c610p-29f /* what is missing from it */

/* e^r = 1 + r + r^2 (C2 + C3 r + ... + C6 r^4), |r| <= ln 2 / 2 */
#define SVMX__EXP_C2 0x1p-1f
#define SVMX__EXP_C3 0x1.5554a0p-3f
#define SVMX__EXP_C4 0x1.555448p-5f
#define SVMX__EXP_C5 0x1.12342ap-7f
#define SVMX__EXP_C6 0x1.6e4f40p-10f

/* n = x / ln 2 to the nearest integer, as `magic` = 0x1.8p23 + n, and the rest r. |x| is below 2^20. */
static inline float svmx__exp_reduce(float x, float *magic) {
    *magic = fmaf(x, SVMX__EXP_LOG2E, SVMX__EXP_MAGIC);
    const float n = *magic - SVMX__EXP_MAGIC;
    return fmaf(n, -SVMX__EXP_LN2_LO, fmaf(n, -SVMX__EXP_LN2_HI, x));
}

/* C2 + C3 r + ... + C6 r^4 */
static inline float svmx__exp_tail(float r) {
    float h = fmaf(SVMX__EXP_C6, r, SVMX__EXP_C5);
    h = fmaf(h, r, SVMX__EXP_C4);
    h = fmaf(h, r, SVMX__EXP_C3);
    return fmaf(h, r, SVMX__EXP_C2);
}

/* e^r, between 0.7 and 1.42, and n in `magic`. */
static inline float svmx__exp_unscaled(float x, float *magic) {
    const float r = svmx__exp_reduce(x, magic);
    return fmaf(fmaf(svmx__exp_tail(r), r, 1.0f), r, 1.0f);
}

/* 2^n, -126 <= n <= 127. The low bits of `magic` are n; its other bits leave at the top. */
static inline float svmx__exp_power(uint32_t n) { return svmx__from_bits_f32((n << 23) + UINT32_C(0x3f800000)); }

/* p 2^n with one rounding, which may give a denormal, zero or infinity: the first product is exact. |n| <= 252. */
static inline float svmx__exp_scale(float p, float magic) {
    const int32_t n = (int32_t)svmx__bits_f32(magic), half = n >> 1;
    return p * svmx__exp_power((uint32_t)half) * svmx__exp_power((uint32_t)(n - half));
}

static inline float svmx__exp_f32(float x) {
    float magic;
    x = svmx__at_least_f32(svmx__at_most_f32(x, 89.0f), -104.0f); /* beyond: infinity and +0 */
    const float p = svmx__exp_unscaled(x, &magic);
    return svmx__exp_scale(p, magic);
}

/* e^x - 1 for x <= 0, exact to the last bits near 0 as well; +0 for -0. */
static inline float svmx__expm1_f32(float x) {
    float magic;
    x = svmx__at_least_f32(x, -20.0f); /* below: -1 */
    const float r = svmx__exp_reduce(x, &magic);
    const float u = fmaf(svmx__exp_tail(r), r * r, r), power = svmx__exp_power(svmx__bits_f32(magic));
    return fmaf(power, u, power - 1.0f);
}

/* ---- logistic ------------------------------------------------------------------------------------------------ */

/* 1 / (1 + e^-x), of e^-|x| so that nothing overflows. */
static inline float svmx__sigmoid_f32(float x) {
    const float e = svmx__exp_f32(svmx__from_bits_f32(svmx__bits_f32(x) | UINT32_C(0x80000000)));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/*
 * x / (1 + e^y), y <= 126. With e^y = p 2^n and h = n / 2 rounded down it is x / (2^-h + p 2^(n-h)) 2^-h: nothing
 * overflows on the way, however small the result, and no case needs a way of its own.
 */
static inline float svmx__gate_f32(float x, float y) {
    float magic;
    y = svmx__at_least_f32(y, -40.0f); /* below: x */
    const float p = svmx__exp_unscaled(y, &magic);
    const uint32_t n = svmx__bits_f32(magic), half = (uint32_t)((int32_t)n >> 1);
    const float down = svmx__exp_power(0 - half);
    return x / fmaf(p, svmx__exp_power(n - half), down) * down;
}

/* x / (1 + e^-x) */
static inline float svmx__swish_f32(float x) {
    x = svmx__at_least_f32(x, -120.0f); /* below: -0 */
    return svmx__gate_f32(x, -x);
}

#define SVMX__GELU_G0 -0x1.988454p+0f /* -2 sqrt(2 / pi) */
#define SVMX__GELU_G1 -0x1.2444f2p-4f /* -2 sqrt(2 / pi) 0.044715 */

/* x / 2 (1 + tanh u) is x / (1 + e^-2u): the same without cancellation. */
static inline float svmx__gelu_f32(float x) {
    x = svmx__at_least_f32(x, -11.0f); /* below: -0 */
    return svmx__gate_f32(x, x * fmaf(x * x, SVMX__GELU_G1, SVMX__GELU_G0));
}

/* ---- tanh ---------------------------------------------------------------------------------------------------- */

/* a - a^3 / (3 + T1 a^2 + T2 a^4) up to here, 1 - 2 / (e^2a + 1) from here on: one division, which vectors share. */
#define SVMX__TANH_SPLIT 0.6875f
#define SVMX__TANH_T1    0x1.333160p+0f
#define SVMX__TANH_T2    -0x1.6af1e4p-8f

/* e^2a + 1, a <= 10. The low part of ln 2 would change nothing: the larger n, the less of it is left in the result. */
static inline float svmx__tanh_far(float a) {
    const float x = a + a, magic = fmaf(x, SVMX__EXP_LOG2E, SVMX__EXP_MAGIC);
    const float r = fmaf(magic - SVMX__EXP_MAGIC, -SVMX__EXP_LN2_HI, x);
    const float p = fmaf(fmaf(svmx__exp_tail(r), r, 1.0f), r, 1.0f);
    return fmaf(p, svmx__exp_power(svmx__bits_f32(magic)), 1.0f);
}

static inline float svmx__tanh_f32(float x) {
    const uint32_t sign = svmx__bits_f32(x) & UINT32_C(0x80000000);
    const float a = svmx__from_bits_f32(svmx__bits_f32(x) ^ sign), b = a * a;
    const float t = a < SVMX__TANH_SPLIT ? a - a * b / fmaf(fmaf(SVMX__TANH_T2, b, SVMX__TANH_T1), b, 3.0f)
                                         : 1.0f - 2.0f / svmx__tanh_far(svmx__at_most_f32(a, 10.0f));
    return svmx__from_bits_f32(svmx__bits_f32(t) | sign);
}

/* ---- log ----------------------------------------------------------------------------------------------------- */

/* log(1 + f) = f - s (f - z (L0 + L1 z + L2 z^2)) with s = f / (2 + f) and z = s^2 */
#define SVMX__LOG_L0   0x1.555570p-1f
#define SVMX__LOG_L1   0x1.996646p-2f
#define SVMX__LOG_L2   0x1.313d78p-2f
#define SVMX__LOG_ROOT UINT32_C(0x3f3504f3) /* sqrt(1/2), rounded down */

/* log x for 1 <= x <= FLT_MAX, and a NaN for a NaN. No other x: this is for sums of which one term is 1. */
static inline float svmx__log_f32(float x) {
    const uint32_t above = svmx__bits_f32(x) - SVMX__LOG_ROOT;
    const float k = (float)((int32_t)above >> 23); /* x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
    const float f = svmx__from_bits_f32((above & UINT32_C(0x7fffff)) + SVMX__LOG_ROOT) - 1.0f;
    const float s = f / (2.0f + f), z = s * s;
    const float rest = fmaf(-z, fmaf(fmaf(SVMX__LOG_L2, z, SVMX__LOG_L1), z, SVMX__LOG_L0), f);
    const float y = fmaf(k, SVMX__EXP_LN2_HI, fmaf(k, SVMX__EXP_LN2_LO, fmaf(-s, rest, f)));
    return x != x ? x : y;
}

#endif
