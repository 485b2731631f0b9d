/*
 * test_op_rectify_f32.c: relu, leaky_relu and clip of floats: what they give for special values, against formulas written
 * another way, and what they refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

static const struct svmx_slot none;

static uint32_t relu(uint32_t x) { return one_result(SVMX_OP_RELU_F32, from_bits(x), none, none); }
static uint32_t leaky(uint32_t x, float slope) {
    return one_result(SVMX_OP_LEAKY_RELU_F32, from_bits(x), scalar(slope), none);
}
static uint32_t clip(uint32_t x, float low, float high) {
    return one_result(SVMX_OP_CLIP_F32, from_bits(x), scalar(low), scalar(high));
}

/* On the bits alone: the sign decides, and NaNs are what is above infinity. */
Test(op_rectify_f32, relu_keeps_what_has_no_sign) {
    uint64_t state = 1;
    for (int i = 0; i < 100000; i++) {
        const uint32_t x = any_bits(&state), size = x & 0x7fffffff;
        const uint32_t want = size > 0x7f800000 ? 0x7fc00000 : x >> 31 ? 0 : x;
        cr_assert_eq(relu(x), want, "%08x: %08x", x, relu(x));
    }
    cr_assert_eq(relu(0x80000000), 0, "-0 becomes +0");
}

Test(op_rectify_f32, leaky_relu_is_max_and_min_for_slopes_up_to_one) {
    uint64_t state = 2;
    for (int i = 0; i < 100000; i++) {
        const float x = from_bits(any_bits(&state));
        const float want = (float)((long double)(x > 0 ? x : 0.125L * x));
        if (!isnan(x)) cr_assert_eq(leaky(to_bits(x), 0.125f), to_bits(want), "%a", (double)x);
    }
    cr_assert_eq(leaky(0x80000000, 0.01f), 0x80000000, "-0 stays -0");
    cr_assert_eq(leaky(0x80000000, -0.01f), 0x00000000, "and is +0 for a slope below 0");
    cr_assert_eq(leaky(0x00000000, INFINITY), 0x7fc00000);
    cr_assert_eq(leaky(0xbf800000, NAN), 0x7fc00000);
    cr_assert_eq(leaky(0x3f800000, NAN), 0x3f800000, "the slope does not matter above 0");
    cr_assert_eq(leaky(0xff812345, 1), 0x7fc00000);
}

/* fmaxf and fminf agree wherever there is neither a NaN nor zeros of two signs. */
Test(op_rectify_f32, clip_is_fmax_and_fmin) {
    uint64_t state = 3;
    for (int i = 0; i < 100000; i++) {
        const float x = from_bits(any_bits(&state));
        if (!isnan(x)) cr_assert_eq(clip(to_bits(x), -1.5f, 2), to_bits(fminf(fmaxf(x, -1.5f), 2)));
    }
    cr_assert_eq(clip(0x7fc12345, 0, 1), 0x7fc00000);
    cr_assert_eq(clip(0x80000000, 0, 1), 0x80000000, "-0 is not less than +0");
    cr_assert_eq(clip(0x80000001, 0, 1), 0x00000000);
    cr_assert_eq(clip(0x80000001, -0.0f, 1), 0x80000000, "the limit as it was given");
    cr_assert_eq(clip(0x7f800000, -INFINITY, INFINITY), 0x7f800000);
    cr_assert_eq(clip(0x3f800000, INFINITY, INFINITY), 0x7f800000);
    cr_assert_eq(clip(0x40400000, 3, 3), 0x40400000);
}

Test(op_rectify_f32, limits_that_cannot_be_are_refused_by_name) {
    float x[2] = {0};
    struct svmx_slot slots[] = {slot(x, 8), slot(x, 8), scalar(2), scalar(-1)};
    refused(SVMX_OP_CLIP_F32, slots, "low = 2 is greater than high = -1: swap them");
    slots[2] = scalar(NAN);
    refused(SVMX_OP_CLIP_F32, slots, "low is not a number: give an infinity where there is no limit");
    slots[2] = scalar(1);
    slots[3] = scalar(from_bits(0xff800001));
    refused(SVMX_OP_CLIP_F32, slots, "high is not a number: give an infinity where there is no limit");
    slots[3] = scalar(1);
    accepted(SVMX_OP_CLIP_F32, slots, 2, 2);
    slots[2] = scalar(0);
    slots[3] = scalar(-0.0f);
    accepted(SVMX_OP_CLIP_F32, slots, 2, 2);
}

Test(op_rectify_f32, lengths_that_differ_are_refused_by_name) {
    float x[5] = {0};
    const struct svmx_slot slots[] = {slot(x, 20), slot(x, 8), scalar(0), scalar(1)}, empty[4] = {{0, 0}};
    static const uint32_t ops[] = {SVMX_OP_RELU_F32, SVMX_OP_LEAKY_RELU_F32, SVMX_OP_CLIP_F32};
    for (size_t i = 0; i < 3; i++) {
        refused(ops[i], slots, "a has 2 items but out has 5: give both the same length");
        accepted(ops[i], empty, 0, 0);
    }
}

Test(op_rectify_f32, shapes_have_scalars_that_are_accepted_and_refuse_what_does_not_fit) {
    static const uint32_t ops[] = {SVMX_OP_RELU_F32, SVMX_OP_LEAKY_RELU_F32, SVMX_OP_CLIP_F32};
    for (size_t i = 0; i < 3; i++) {
        uint64_t bytes[SVMX__MAX_PARAMS] = {0};
        cr_assert_eq(svmx__op_by_id(ops[i])->shape(10, bytes), SVMX_OK);
        cr_assert(bytes[0] == 40 && bytes[1] == 40);
        cr_assert_eq(svmx__op_by_id(ops[i])->shape(UINT64_MAX / 2, bytes), SVMX_ERR_OVERFLOW);
    }
}
