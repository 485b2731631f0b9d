/*
 * test_op_vec_f32.c: sums, differences, products and axpy of floats against arithmetic in long double, and what they
 * refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

enum { N = 20000 };

/* A sum or product of two floats has one rounding from exact to float if it is made in long double (64 bits) or in
 * double (53 >= 2 * 24 + 2), so this is another way to the same bits. */
static float expected(uint32_t op, float a, float b, float alpha) {
    switch (op) {
    case SVMX_OP_VEC_ADD_F32: return (float)((long double)a + b);
    case SVMX_OP_VEC_SUB_F32: return (float)((long double)a - b);
    case SVMX_OP_VEC_MUL_F32: return (float)((long double)a * b);
    default: return (float)((long double)(float)((long double)alpha * a) + b);
    }
}

static void compare(uint32_t op, size_t shift, float alpha) {
    static uint8_t a[4 * N + 64], b[4 * N + 64], out[4 * N + 64];
    uint64_t state = 7 + op + shift;
    for (size_t i = 0; i < N; i++) {
        const uint32_t x = any_bits(&state), y = any_bits(&state);
        memcpy(a + shift + 4 * i, &x, 4);
        memcpy(b + 2 * shift + 4 * i, &y, 4);
    }
    const struct svmx_slot slots[] = {slot(out + 3 * shift, 4 * N), slot(a + shift, 4 * N), slot(b + 2 * shift, 4 * N),
                                      scalar(alpha)};
    svmx__reference_run(svmx__op_by_id(op), slots);
    for (size_t i = 0; i < N; i++) {
        uint32_t x, y, got;
        memcpy(&x, a + shift + 4 * i, 4);
        memcpy(&y, b + 2 * shift + 4 * i, 4);
        memcpy(&got, out + 3 * shift + 4 * i, 4);
        const uint32_t want = result_bits(expected(op, from_bits(x), from_bits(y), alpha));
        cr_assert_eq(got, want, "op %u, %08x and %08x: %08x, expected %08x", op, x, y, got, want);
    }
}

Test(op_vec_f32, sums_are_those_of_long_double) { compare(SVMX_OP_VEC_ADD_F32, 0, 0); }
Test(op_vec_f32, differences_are_those_of_long_double) { compare(SVMX_OP_VEC_SUB_F32, 0, 0); }
Test(op_vec_f32, products_are_those_of_long_double) { compare(SVMX_OP_VEC_MUL_F32, 0, 0); }

Test(op_vec_f32, axpy_rounds_the_product_and_the_sum) {
    static const float alphas[] = {1, -0.7f, 0x1p-149f, 3e38f, 0, -0.0f, INFINITY, NAN};
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) compare(SVMX_OP_AXPY_F32, 0, alphas[i]);
    /* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly, and 0 if the square is rounded first. */
    const float x = 1 + 0x1p-12f, y = -(1 + 0x1p-11f);
    float out = 9;
    const struct svmx_slot slots[] = {slot(&out, 4), slot(&x, 4), slot(&y, 4), scalar(x)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_AXPY_F32), slots);
    cr_assert_eq(to_bits(out), 0);
}

Test(op_vec_f32, any_alignment_will_do) {
    for (size_t shift = 1; shift <= 5; shift++)
        for (uint32_t op = 0; op < 4; op++)
            compare((uint32_t[]){SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_SUB_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_AXPY_F32}[op],
                    shift, 1.3f);
}

Test(op_vec_f32, size_is_the_number_of_elements) {
    float x[5] = {0};
    const struct svmx_slot slots[] = {slot(x, 20), slot(x, 20), slot(x, 20), scalar(1)}, none[4] = {{0, 0}};
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_SUB_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_AXPY_F32};
    for (size_t i = 0; i < 4; i++) {
        accepted(ops[i], slots, 5, 5);
        accepted(ops[i], none, 0, 0);
    }
}

Test(op_vec_f32, lengths_that_differ_are_refused_by_name) {
    float x[5] = {0};
    const struct svmx_slot short_a[] = {slot(x, 20), slot(x, 4), slot(x, 20), scalar(1)};
    const struct svmx_slot long_b[] = {slot(x, 16), slot(x, 16), slot(x, 20), scalar(1)};
    refused(SVMX_OP_VEC_MUL_F32, short_a, "a has 1 item but out has 5: give both the same length");
    refused(SVMX_OP_VEC_MUL_F32, long_b, "b has 5 items but out has 4: give both the same length");
    refused(SVMX_OP_VEC_SUB_F32, short_a, "a has 1 item but out has 5: give both the same length");
    refused(SVMX_OP_VEC_SUB_F32, long_b, "b has 5 items but out has 4: give both the same length");
    refused(SVMX_OP_AXPY_F32, short_a, "x has 1 item but out has 5: give both the same length");
    refused(SVMX_OP_AXPY_F32, long_b, "y has 5 items but out has 4: give both the same length");
}

Test(op_vec_f32, shape_gives_all_the_same_bytes_and_refuses_what_does_not_fit) {
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_SUB_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_AXPY_F32};
    for (size_t i = 0; i < 4; i++) {
        uint64_t bytes[SVMX__MAX_PARAMS] = {0};
        const struct svmx__op *op = svmx__op_by_id(ops[i]);
        cr_assert_eq(op->shape(1000, bytes), SVMX_OK);
        cr_assert(bytes[0] == 4000 && bytes[1] == 4000 && bytes[2] == 4000);
        cr_assert_eq(op->shape(UINT64_MAX / 4 + 1, bytes), SVMX_ERR_OVERFLOW);
    }
}
