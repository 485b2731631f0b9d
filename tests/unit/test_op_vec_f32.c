/*
 * test_op_vec_f32.c: element-wise operations on floats against arithmetic in long double, and what they refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <svmx/ops.h>

enum { N = 20000 };

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any pattern at all, half of them near an edge: zeros, denormals, infinities, NaNs, powers of two. */
static uint32_t any_bits(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint32_t r = (uint32_t)(*state >> 32);
    static const uint32_t edges[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x3f800000,
                                     0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
    return r & 1 ? r ^ r << 13 : edges[(r >> 1) % 10] ^ (r & 0x80000000u);
}

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

/* A sum or product of two floats has one rounding from exact to float if it is made in long double (64 bits) or in
 * double (53 >= 2 * 24 + 2), so this is another way to the same bits. */
static uint32_t expected(uint32_t op, float a, float b) {
    const float value = (float)(op == SVMX_OP_VEC_ADD_F32 ? (long double)a + b : (long double)a * b);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? UINT32_C(0x7fc00000) : bits;
}

static void compare(uint32_t op, size_t shift) {
    static uint8_t a[4 * N + 64], b[4 * N + 64], out[4 * N + 64];
    uint64_t state = 7 + op + shift;
    for (size_t i = 0; i < N; i++) {
        const uint32_t x = any_bits(&state), y = any_bits(&state);
        memcpy(a + shift + 4 * i, &x, 4);
        memcpy(b + 2 * shift + 4 * i, &y, 4);
    }
    const struct svmx_slot slots[] = {slot(out + 3 * shift, 4 * N), slot(a + shift, 4 * N), slot(b + 2 * shift, 4 * N)};
    svmx__reference_run(svmx__op_by_id(op), slots);
    for (size_t i = 0; i < N; i++) {
        uint32_t x, y, got;
        memcpy(&x, a + shift + 4 * i, 4);
        memcpy(&y, b + 2 * shift + 4 * i, 4);
        memcpy(&got, out + 3 * shift + 4 * i, 4);
        const uint32_t want = expected(op, from_bits(x), from_bits(y));
        cr_assert_eq(got, want, "op %u, %08x and %08x: %08x, expected %08x", op, x, y, got, want);
    }
}

Test(op_vec_f32, sums_are_those_of_long_double) { compare(SVMX_OP_VEC_ADD_F32, 0); }
Test(op_vec_f32, products_are_those_of_long_double) { compare(SVMX_OP_VEC_MUL_F32, 0); }

Test(op_vec_f32, any_alignment_will_do) {
    for (size_t shift = 1; shift <= 5; shift++) {
        compare(SVMX_OP_VEC_ADD_F32, shift);
        compare(SVMX_OP_VEC_MUL_F32, shift);
    }
}

Test(op_vec_f32, size_is_the_number_of_elements) {
    float x[5] = {0};
    const struct svmx_slot slots[] = {slot(x, 20), slot(x, 20), slot(x, 20)}, none[3] = {{0, 0}, {0, 0}, {0, 0}};
    struct svmx__size size = {99, 99};
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_VEC_ADD_F32);
    cr_assert_eq(op->check(slots, &size, NULL), SVMX_OK);
    cr_assert(size.units == 5 && size.work == 5);
    cr_assert_eq(op->check(none, &size, NULL), SVMX_OK);
    cr_assert(size.units == 0 && size.work == 0);
}

Test(op_vec_f32, lengths_that_differ_are_refused_by_name) {
    float x[5] = {0};
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    const struct svmx_slot short_a[] = {slot(x, 20), slot(x, 4), slot(x, 20)};
    const struct svmx_slot long_b[] = {slot(x, 16), slot(x, 16), slot(x, 20)};
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_VEC_MUL_F32);
    cr_assert_eq(op->check(short_a, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "a has 1 item but out has 5: give both the same length");
    cr_assert_eq(op->check(long_b, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "b has 5 items but out has 4: give both the same length");
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
}

Test(op_vec_f32, shape_gives_all_the_same_bytes_and_refuses_what_does_not_fit) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_VEC_ADD_F32);
    cr_assert_eq(op->shape(1000, bytes), SVMX_OK);
    cr_assert(bytes[0] == 4000 && bytes[1] == 4000 && bytes[2] == 4000);
    cr_assert_eq(op->shape(UINT64_MAX / 4 + 1, bytes), SVMX_ERR_OVERFLOW);
}
