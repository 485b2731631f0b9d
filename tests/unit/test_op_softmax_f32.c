/*
 * test_op_softmax_f32.c: softmax and log_softmax against long double, rows that have no shares, and what they refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

static void run(uint32_t id, const float *a, float *out, uint64_t width, size_t n) {
    const struct svmx_slot slots[] = {slot(out, 4 * n), slot(a, 4 * n), {width, 8}};
    svmx__reference_run(svmx__op_by_id(id), slots);
}

static float *fill(size_t n, uint64_t seed, float low, float high) {
    float *x = malloc(4 * n + 4);
    cr_assert_not_null(x);
    for (size_t i = 0; i < n; i++) x[i] = between(&seed, low, high);
    return x;
}

/* One row. A share has the errors of its exponential, the difference before it, the sum and the quotient. */
static void compare_row(const float *a, const float *shares, const float *logs, size_t width, double share_ulps) {
    long double sum = 0, most = -INFINITY;
    for (size_t i = 0; i < width; i++) most = fmaxl(most, a[i]);
    for (size_t i = 0; i < width; i++) sum += expl(a[i] - most);
    for (size_t i = 0; i < width; i++) {
        const long double share = expl(a[i] - most) / sum, log_share = (a[i] - most) - logl(sum);
        cr_assert_leq(ulps(shares[i], share), share_ulps, "width %zu, element %zu: %a", width, i, (double)shares[i]);
        cr_assert_leq(fabsl(logs[i] - log_share), 0x1p-22L * (1 + fabsl(a[i] - most) + logl(sum)),
                      "width %zu, element %zu: %a", width, i, (double)logs[i]);
    }
}

static void compare(uint64_t width, size_t rows, float low, float high, double share_ulps) {
    const size_t n = width * rows;
    float *a = fill(n, width + rows, low, high), *shares = fill(n, 1, 0, 1), *logs = fill(n, 1, 0, 1);
    run(SVMX_OP_SOFTMAX_F32, a, shares, width, n);
    run(SVMX_OP_LOG_SOFTMAX_F32, a, logs, width, n);
    for (size_t row = 0; row < rows; row++)
        compare_row(a + row * width, shares + row * width, logs + row * width, width, share_ulps);
    free(a);
    free(shares);
    free(logs);
}

Test(op_softmax_f32, short_rows_are_near) {
    for (uint64_t width = 1; width <= 130; width++) compare(width, 20, -2, 2, 6);
}

/* A difference of up to 16 is rounded to half its ulp, 2^-21: so much more, relatively, is the exponential off. */
Test(op_softmax_f32, spread_rows_are_near) { compare(1000, 5, -8, 8, 24); }

Test(op_softmax_f32, long_rows_are_near) {
    compare(4095, 2, -1, 1, 12);
    compare(4096, 2, -1, 1, 12);
    compare(4097, 2, -1, 1, 12);
    compare(100000, 1, -1, 1, 12);
}

Test(op_softmax_f32, the_sum_has_the_order_of_sum_f32) {
    enum { WIDTH = 70000 };
    float *a = fill(WIDTH, 9, -10, 0), *shares = fill(WIDTH, 1, 0, 1), *e = fill(WIDTH, 1, 0, 1), sum = 0;
    a[123] = 0; /* the greatest, so that exponentials are those of the elements */
    run(SVMX_OP_SOFTMAX_F32, a, shares, WIDTH, WIDTH);
    const struct svmx_slot exps[] = {slot(e, 4 * WIDTH), slot(a, 4 * WIDTH)}, sums[] = {slot(&sum, 4), exps[0]};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_EXP_F32), exps);
    svmx__reference_run(svmx__op_by_id(SVMX_OP_SUM_F32), sums);
    for (size_t i = 0; i < WIDTH; i++) cr_assert_eq(to_bits(shares[i]), to_bits(e[i] / sum));
    free(a);
    free(shares);
    free(e);
}

/* Three a row. */
static void rows_become(uint32_t id, const uint32_t (*in)[3], const uint32_t (*want)[3], size_t rows) {
    for (size_t row = 0; row < rows; row++) {
        float a[3], out[3];
        memcpy(a, in[row], sizeof a);
        run(id, a, out, 3, 3);
        for (size_t i = 0; i < 3; i++)
            cr_assert_eq(to_bits(out[i]), want[row][i], "operation %u, row %zu, element %zu: %08x", id, row, i,
                         to_bits(out[i]));
    }
}

enum { ROWS = 6, NAN_BITS = 0x7fc00000 };
static const uint32_t special[ROWS][3] = {
    {0x3f800000, 0x7fc12345, 0x3f800000}, /* a NaN */
    {0x3f800000, 0x7f800000, 0x3f800000}, /* +inf */
    {0xff800000, 0xff800000, 0xff800000}, /* nothing but -inf */
    {0xff800000, 0x40000000, 0xff800000}, /* one has all */
    {0xff7fffff, 0x7f7fffff, 0xff800000}, /* the difference overflows */
    {0x7f7fffff, 0x7f7fffff, 0xff7fffff},
};

Test(op_softmax_f32, special_rows) {
    static const uint32_t shares[ROWS][3] = {
        {NAN_BITS, NAN_BITS, NAN_BITS},
        {NAN_BITS, NAN_BITS, NAN_BITS},
        {NAN_BITS, NAN_BITS, NAN_BITS},
        {0, 0x3f800000, 0},
        {0, 0x3f800000, 0},
        {0x3f000000, 0x3f000000, 0},
    };
    rows_become(SVMX_OP_SOFTMAX_F32, special, shares, ROWS);
}

Test(op_softmax_f32, special_rows_of_logarithms) {
    static const uint32_t logs[ROWS][3] = {
        {NAN_BITS, NAN_BITS, NAN_BITS}, {NAN_BITS, NAN_BITS, NAN_BITS}, {NAN_BITS, NAN_BITS, NAN_BITS},
        {0xff800000, 0, 0xff800000},    {0xff800000, 0, 0xff800000},    {0xbf317218, 0xbf317218, 0xff800000}, /* ln 2 */
    };
    rows_become(SVMX_OP_LOG_SOFTMAX_F32, special, logs, ROWS);
}

Test(op_softmax_f32, a_bad_row_leaves_the_others_alone) {
    const float a[] = {1, NAN, 5, 5, INFINITY, 2};
    float out[6];
    run(SVMX_OP_SOFTMAX_F32, a, out, 2, 6);
    cr_assert(isnan(out[0]) && isnan(out[1]) && isnan(out[4]) && isnan(out[5]));
    cr_assert(out[2] == 0.5f && out[3] == 0.5f);
}

Test(op_softmax_f32, size_counts_rows_and_work_elements) {
    static float x[24];
    static const uint32_t ops[] = {SVMX_OP_SOFTMAX_F32, SVMX_OP_LOG_SOFTMAX_F32};
    for (size_t i = 0; i < 2; i++) {
        accepted(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {24, 8}}, 1, 24);
        accepted(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {1, 8}}, 24, 24);
        accepted(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {8, 8}}, 3, 24);
        accepted(ops[i], (struct svmx_slot[]){slot(NULL, 0), slot(NULL, 0), {0, 8}}, 0, 0);
        accepted(ops[i], (struct svmx_slot[]){slot(NULL, 0), slot(NULL, 0), {7, 8}}, 0, 0);
    }
}

Test(op_softmax_f32, rows_that_cannot_be_are_refused_by_name) {
    static float x[24];
    static const uint32_t ops[] = {SVMX_OP_SOFTMAX_F32, SVMX_OP_LOG_SOFTMAX_F32};
    for (size_t i = 0; i < 2; i++) {
        refused(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {0, 8}},
                "width is 0: give the elements of a row, 1 or more");
        refused(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {7, 8}},
                "a has 24 items, which are no whole rows of width 7");
        refused(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 96), {UINT64_MAX, 8}},
                "a has 24 items, which are no whole rows of width 18446744073709551615");
        refused(ops[i], (struct svmx_slot[]){slot(x, 96), slot(x, 48), {12, 8}},
                "a has 12 items but out has 24: give both the same length");
    }
}

Test(op_softmax_f32, shapes_are_whole_rows) {
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_SOFTMAX_F32);
    for (uint64_t size = 0; size < 3000; size++) {
        uint64_t bytes[SVMX__MAX_PARAMS] = {0};
        cr_assert_eq(op->shape(size, bytes), SVMX_OK);
        cr_assert(bytes[0] == 4 * size && bytes[1] == 4 * size && bytes[2] >= 1 && size % bytes[2] == 0);
    }
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    cr_assert_eq(op->shape(UINT64_MAX / 2, bytes), SVMX_ERR_OVERFLOW);
}
