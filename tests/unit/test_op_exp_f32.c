/*
 * test_op_exp_f32.c: exp, sigmoid, tanh, swish, gelu and elu of floats against long double, at the places where they are
 * special, and what they refuse. tests/integration/exp_all.c measures the errors over all floats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

static const struct svmx_slot none;

static uint32_t result(uint32_t id, uint32_t x) { return one_result(id, from_bits(x), scalar(1), none); }

static long double sigmoidl(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
static long double swishl(long double x) { return x * sigmoidl(x); }
static long double elul(long double x) { return x > 0 ? x : expm1l(x); }

/* The form that is in the books, which loses its digits below -4 or so even in long double. */
static long double gelul(long double x) {
    return x / 2 * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x)));
}

static void near(uint32_t id, long double (*exact)(long double), float low, float high, double most) {
    uint64_t state = id;
    double worst = 0;
    for (int i = 0; i < 200000; i++) {
        const float x = between(&state, low, high);
        const double error = ulps(from_bits(result(id, to_bits(x))), exact(x));
        cr_assert_leq(error, most, "operation %u of %a is %.2f ulp off", id, (double)x, error);
        if (error > worst) worst = error;
    }
    cr_assert_gt(worst, 0.4, "operation %u: too good to be true", id);
}

Test(op_exp_f32, exp_is_near) {
    near(SVMX_OP_EXP_F32, expl, -88, 88.7f, 1);
    near(SVMX_OP_EXP_F32, expl, -1, 1, 1);
}

Test(op_exp_f32, exp_is_near_among_denormals_too) { near(SVMX_OP_EXP_F32, expl, -103.9f, -87, 1); }

Test(op_exp_f32, tanh_is_near) {
    near(SVMX_OP_TANH_F32, tanhl, -10, 10, 1.3);
    near(SVMX_OP_TANH_F32, tanhl, 0.5f, 0.8f, 1.3);
    near(SVMX_OP_TANH_F32, tanhl, -0x1p-10f, 0x1p-10f, 1.3);
}

Test(op_exp_f32, sigmoid_is_near) { near(SVMX_OP_SIGMOID_F32, sigmoidl, -104, 20, 2.5); }
Test(op_exp_f32, swish_is_near) { near(SVMX_OP_SWISH_F32, swishl, -107, 20, 2.5); }
Test(op_exp_f32, gelu_is_near) { near(SVMX_OP_GELU_F32, gelul, -1, 10, 2.7); }

Test(op_exp_f32, gelu_below_minus_one_is_near_absolutely) {
    uint64_t state = 1;
    for (int i = 0; i < 200000; i++) {
        const float x = between(&state, -30, -1);
        cr_assert_lt(fabsl(from_bits(result(SVMX_OP_GELU_F32, to_bits(x))) - gelul(x)), 0x1p-24L, "%a", (double)x);
    }
}

Test(op_exp_f32, elu_is_near_even_around_zero) {
    near(SVMX_OP_ELU_F32, elul, -20, 0, 1);
    near(SVMX_OP_ELU_F32, elul, -0.01f, 0, 1);
}

/* x, and what becomes of it. */
static void becomes(uint32_t id, const uint32_t (*pairs)[2], size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t got = result(id, pairs[i][0]);
        cr_assert_eq(got, pairs[i][1], "operation %u of %08x: %08x, expected %08x", id, pairs[i][0], got, pairs[i][1]);
    }
}

Test(op_exp_f32, nan_is_nan) {
    static const uint32_t ops[] = {SVMX_OP_EXP_F32,   SVMX_OP_SIGMOID_F32, SVMX_OP_TANH_F32,
                                   SVMX_OP_SWISH_F32, SVMX_OP_GELU_F32,    SVMX_OP_ELU_F32};
    static const uint32_t nans[][2] = {{0x7fc00000, 0x7fc00000},
                                       {0xffc00000, 0x7fc00000},
                                       {0x7f800001, 0x7fc00000},
                                       {0xffffffff, 0x7fc00000},
                                       {0x7fd54321, 0x7fc00000}};
    for (size_t i = 0; i < 6; i++) becomes(ops[i], nans, 5);
}

Test(op_exp_f32, exp_ends_where_floats_end) {
    static const uint32_t ends[][2] = {{0x7f800000, 0x7f800000}, {0xff800000, 0x00000000}, {0x00000000, 0x3f800000},
                                       {0x80000000, 0x3f800000}, {0x00000001, 0x3f800000}, {0x80000001, 0x3f800000},
                                       {0x42b17218, 0x7f800000}, {0x7f7fffff, 0x7f800000}, {0xff7fffff, 0x00000000},
                                       {0xc2cff1b4, 0x00000001}, {0xc2cff1b5, 0x00000000}, {0xc2d00000, 0x00000000}};
    becomes(SVMX_OP_EXP_F32, ends, 12);
    cr_assert_lt(result(SVMX_OP_EXP_F32, 0x42b17217), 0x7f800000, "the last before infinity");
}

Test(op_exp_f32, tanh_and_sigmoid_saturate) {
    static const uint32_t tangents[][2] = {
        {0x7f800000, 0x3f800000}, {0xff800000, 0xbf800000}, {0x00000000, 0x00000000},
        {0x80000000, 0x80000000}, {0x00000001, 0x00000001}, {0x807fffff, 0x807fffff},
        {0x41200000, 0x3f800000}, {0xc1200000, 0xbf800000}, {0x7f7fffff, 0x3f800000}};
    becomes(SVMX_OP_TANH_F32, tangents, 9);
    static const uint32_t sigmoids[][2] = {{0x7f800000, 0x3f800000}, {0xff800000, 0x00000000}, {0x00000000, 0x3f000000},
                                           {0x80000000, 0x3f000000}, {0x41a00000, 0x3f800000}, {0xff7fffff, 0x00000000},
                                           {0xc2cff1b4, 0x00000001}};
    becomes(SVMX_OP_SIGMOID_F32, sigmoids, 7);
}

Test(op_exp_f32, swish_and_gelu_go_to_minus_zero_and_to_x) {
    static const uint32_t ops[] = {SVMX_OP_SWISH_F32, SVMX_OP_GELU_F32};
    static const uint32_t ends[][2] = {{0x7f800000, 0x7f800000}, {0xff800000, 0x80000000}, {0xff7fffff, 0x80000000},
                                       {0x7f7fffff, 0x7f7fffff}, {0x00000000, 0x00000000}, {0x80000000, 0x80000000},
                                       {0x42c80000, 0x42c80000}, {0xc3000000, 0x80000000}};
    for (size_t i = 0; i < 2; i++) becomes(ops[i], ends, 8);
}

Test(op_exp_f32, elu_goes_to_minus_alpha_and_to_x) {
    static const uint32_t elus[][2] = {{0x7f800000, 0x7f800000}, {0xff800000, 0xbf800000}, {0x00000000, 0x00000000},
                                       {0x80000000, 0x00000000}, {0x7f7fffff, 0x7f7fffff}, {0xc1a00000, 0xbf800000},
                                       {0x80000001, 0x80000001}, {0x42280000, 0x42280000}};
    becomes(SVMX_OP_ELU_F32, elus, 8);
    cr_assert_eq(one_result(SVMX_OP_ELU_F32, -INFINITY, scalar(-2.5f), none), to_bits(2.5f));
    cr_assert_eq(one_result(SVMX_OP_ELU_F32, 3, scalar(NAN), none), to_bits(3), "alpha does not matter above 0");
    cr_assert_eq(one_result(SVMX_OP_ELU_F32, -3, scalar(NAN), none), 0x7fc00000);
    cr_assert_eq(one_result(SVMX_OP_ELU_F32, 0, scalar(INFINITY), none), 0x7fc00000);
}

/* Sums of the recipe's pieces must not show: more never becomes less. */
Test(op_exp_f32, exp_and_tanh_grow_where_a_recipe_changes) {
    static const float edges[] = {0.6875f, 10, 0.34657359f, 1.03972077f, -0.34657359f, -87.336f, 88.37f};
    static const uint32_t ops[] = {SVMX_OP_EXP_F32, SVMX_OP_TANH_F32};
    for (size_t o = 0; o < 2; o++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            float x = edges[e] - 3e-4f * fabsf(edges[e]), last = from_bits(result(ops[o], to_bits(x)));
            for (int i = 0; i < 5000; i++) {
                x = nextafterf(x, INFINITY);
                const float y = from_bits(result(ops[o], to_bits(x)));
                cr_assert_geq(nextafterf(y, INFINITY), last, "operation %u falls by more than an ulp at %a", ops[o],
                              (double)x);
                last = y;
            }
        }
}

Test(op_exp_f32, lengths_that_differ_are_refused_by_name) {
    float x[5] = {0};
    const struct svmx_slot slots[] = {slot(x, 20), slot(x, 8), scalar(0)}, empty[3] = {{0, 0}};
    static const uint32_t ops[] = {SVMX_OP_EXP_F32,   SVMX_OP_SIGMOID_F32, SVMX_OP_TANH_F32,
                                   SVMX_OP_SWISH_F32, SVMX_OP_GELU_F32,    SVMX_OP_ELU_F32};
    for (size_t i = 0; i < 6; i++) {
        uint64_t bytes[SVMX__MAX_PARAMS] = {0};
        refused(ops[i], slots, "a has 2 items but out has 5: give both the same length");
        accepted(ops[i], empty, 0, 0);
        cr_assert_eq(svmx__op_by_id(ops[i])->shape(UINT64_MAX / 2, bytes), SVMX_ERR_OVERFLOW);
    }
}
