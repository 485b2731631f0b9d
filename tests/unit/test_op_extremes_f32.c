/*
 * test_op_extremes_f32.c: max, min and max_abs_diff of floats against integers that have the same order, and what they
 * refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

enum { N = 9000 };

static uint32_t run(uint32_t id, const float *a, const float *b, size_t n) {
    uint32_t out = 0xeeeeeeee;
    const struct svmx_slot slots[] = {slot(&out, 4), slot(a, 4 * n), slot(b, 4 * n)};
    svmx__reference_run(svmx__op_by_id(id), slots);
    return out;
}

/* Integers in the order of floats, -0 right below +0. */
static int64_t rank(float x) {
    return to_bits(x) >> 31 ? -(int64_t)(to_bits(x) & 0x7fffffff) - 1 : (int64_t)to_bits(x);
}

static int by_rank(const void *x, const void *y) {
    const int64_t a = rank(*(const float *)x), b = rank(*(const float *)y);
    return a < b ? -1 : a > b;
}

Test(op_extremes_f32, max_and_min_are_the_ends_when_sorted) {
    static float a[N], sorted[N];
    uint64_t state = 5;
    for (size_t n = 1; n <= N; n += 1 + n / 3) {
        for (size_t i = 0; i < n; i++) {
            do a[i] = from_bits(any_bits(&state));
            while (isnan(a[i]) || (n % 2 && isinf(a[i])));
        }
        memcpy(sorted, a, 4 * n);
        qsort(sorted, n, 4, by_rank);
        cr_assert_eq(run(SVMX_OP_MAX_F32, a, NULL, n), to_bits(sorted[n - 1]), "max of %zu", n);
        cr_assert_eq(run(SVMX_OP_MIN_F32, a, NULL, n), to_bits(sorted[0]), "min of %zu", n);
    }
}

Test(op_extremes_f32, zeros_have_an_order) {
    const float plus_first[] = {0, -0.0f}, minus_first[] = {-0.0f, 0}, minus[] = {-0.0f, -0.0f};
    cr_assert_eq(run(SVMX_OP_MAX_F32, plus_first, NULL, 2), 0);
    cr_assert_eq(run(SVMX_OP_MAX_F32, minus_first, NULL, 2), 0);
    cr_assert_eq(run(SVMX_OP_MAX_F32, minus, NULL, 2), 0x80000000);
    cr_assert_eq(run(SVMX_OP_MIN_F32, plus_first, NULL, 2), 0x80000000);
    cr_assert_eq(run(SVMX_OP_MIN_F32, minus_first, NULL, 2), 0x80000000);
    cr_assert_eq(run(SVMX_OP_MIN_F32, plus_first, NULL, 1), 0);
}

Test(op_extremes_f32, a_nan_anywhere_is_the_result) {
    float a[70], b[70] = {0};
    for (size_t at = 0; at < 70; at++) {
        for (size_t i = 0; i < 70; i++) a[i] = (float)i - 35;
        a[at] = from_bits(at % 2 ? 0xffc12345 : 0x7f800001);
        cr_assert_eq(run(SVMX_OP_MAX_F32, a, NULL, 70), 0x7fc00000);
        cr_assert_eq(run(SVMX_OP_MIN_F32, a, NULL, 70), 0x7fc00000);
        cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, a, b, 70), 0x7fc00000);
        cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, b, a, 70), 0x7fc00000);
    }
}

Test(op_extremes_f32, nothing_has_a_result) {
    cr_assert_eq(run(SVMX_OP_MAX_F32, NULL, NULL, 0), 0xff800000);
    cr_assert_eq(run(SVMX_OP_MIN_F32, NULL, NULL, 0), 0x7f800000);
    cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, NULL, NULL, 0), 0);
}

Test(op_extremes_f32, differences_are_those_of_long_double_rounded) {
    static float a[N], b[N];
    uint64_t state = 6;
    for (size_t n = 1; n <= N; n += 1 + n / 3) {
        float want = 0;
        for (size_t i = 0; i < n; i++) {
            a[i] = between(&state, -100, 100);
            b[i] = n % 3 ? between(&state, -100, 100) : a[i] * (1 + 0x1p-20f);
            const float difference = (float)fabsl((long double)a[i] - b[i]);
            if (difference > want) want = difference;
        }
        cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, a, b, n), to_bits(want));
    }
}

Test(op_extremes_f32, differences_at_the_ends) {
    const float inf[] = {INFINITY, -INFINITY}, zeros[] = {-0.0f, 0}, most[] = {FLT_MAX, -FLT_MAX};
    cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, inf, inf, 1), 0x7fc00000, "inf - inf");
    cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, inf, zeros, 2), 0x7f800000);
    cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, zeros, zeros + 1, 1), 0);
    cr_assert_eq(run(SVMX_OP_MAX_ABS_DIFF_F32, most, most + 1, 1), 0x7f800000, "overflow");
}

Test(op_extremes_f32, size_counts_blocks_and_work_elements) {
    static const float x[8193];
    static const uint64_t sizes[][2] = {{0, 1}, {1, 1}, {4096, 1}, {4097, 2}, {8193, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float out;
        const struct svmx_slot slots[] = {slot(&out, 4), slot(x, 4 * sizes[i][0]), slot(x, 4 * sizes[i][0])};
        accepted(SVMX_OP_MAX_F32, slots, sizes[i][1], sizes[i][0]);
        accepted(SVMX_OP_MIN_F32, slots, sizes[i][1], sizes[i][0]);
        accepted(SVMX_OP_MAX_ABS_DIFF_F32, slots, sizes[i][1], sizes[i][0]);
    }
}

Test(op_extremes_f32, wrong_lengths_are_refused_by_name) {
    float x[4] = {0};
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    const struct svmx_slot no_out[] = {slot(NULL, 0), slot(x, 8), slot(x, 8)};
    const struct svmx_slot wide_out[] = {slot(x, 8), slot(x, 8), slot(x, 8)};
    const struct svmx_slot unequal[] = {slot(x, 4), slot(x, 8), slot(x, 12)};
    static const uint32_t ops[] = {SVMX_OP_MAX_F32, SVMX_OP_MIN_F32, SVMX_OP_MAX_ABS_DIFF_F32};
    for (size_t i = 0; i < 3; i++) {
        refused(ops[i], no_out, "out has 0 items but must have 1");
        refused(ops[i], wide_out, "out has 2 items but must have 1");
        cr_assert_eq(svmx__op_by_id(ops[i])->shape(UINT64_MAX / 2, bytes), SVMX_ERR_OVERFLOW);
    }
    refused(SVMX_OP_MAX_ABS_DIFF_F32, unequal, "b has 3 items but a has 2: give both the same length");
}
