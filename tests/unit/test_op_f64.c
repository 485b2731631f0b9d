/*
 * test_op_f64.c: vec_add, axpy, sum and max_abs_diff of doubles against arithmetic in 113 bits and the same tree written
 * another way, and what they refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "floats_fixture.h"

/* 113 bits are 2 * 53 + 2 and more: a sum or product made in them and rounded to double is rounded once. */
#if LDBL_MANT_DIG >= 113
typedef long double wide;
#elif defined(__SIZEOF_FLOAT128__)
typedef __float128 wide;
#endif

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? UINT64_C(0x7ff8000000000000) : bits;
}

static double any_double(uint64_t *state) {
    static const uint64_t edges[] = {0,
                                     1,
                                     UINT64_C(0x000fffffffffffff),
                                     UINT64_C(0x0010000000000000),
                                     UINT64_C(0x3ff0000000000000),
                                     UINT64_C(0x7fefffffffffffff),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0x7ff0000000000001),
                                     UINT64_C(0x7ff8000000000000)};
    const uint64_t r = next_random(state) << 32 ^ next_random(state), sign = r & UINT64_C(1) << 63;
    const uint64_t bits = r & 1 ? r : r & 2 ? edges[(r >> 2) % 9] | sign : (r >> 12 | UINT64_C(1023) << 52 | sign);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static struct svmx_slot scalar_f64(double value) {
    struct svmx_slot s = {0, 8};
    memcpy(&s.at, &value, 8);
    return s;
}

enum { N = 20000 };
static double a[N], b[N], out[N];

static void fill(uint64_t state) {
    for (size_t i = 0; i < N; i++) {
        a[i] = any_double(&state);
        b[i] = any_double(&state);
    }
}

static void run(uint32_t id, double alpha) {
    const struct svmx_slot slots[] = {slot(out, sizeof out), slot(a, sizeof a), slot(b, sizeof b), scalar_f64(alpha)};
    svmx__reference_run(svmx__op_by_id(id), slots);
}

Test(op_f64, sums_are_those_of_113_bits) {
    fill(1);
    run(SVMX_OP_VEC_ADD_F64, 0);
    for (size_t i = 0; i < N; i++)
        cr_assert_eq(bits_of(out[i]), bits_of((double)((wide)a[i] + (wide)b[i])), "%a + %a", a[i], b[i]);
}

Test(op_f64, axpy_rounds_the_product_and_the_sum) {
    static const double alphas[] = {1, -0.7, 0x1p-1074, 1e308, 0, -0.0, INFINITY, NAN};
    fill(2);
    for (size_t k = 0; k < sizeof alphas / sizeof *alphas; k++) {
        run(SVMX_OP_AXPY_F64, alphas[k]);
        for (size_t i = 0; i < N; i++) {
            const double product = (double)((wide)alphas[k] * (wide)a[i]);
            cr_assert_eq(bits_of(out[i]), bits_of((double)((wide)product + (wide)b[i])), "%a * %a + %a", alphas[k],
                         a[i], b[i]);
        }
    }
}

Test(op_f64, results_are_written_with_one_nan_at_any_alignment) {
    uint8_t in[24], result[24];
    const uint64_t nan = UINT64_C(0xfff4123456789abc);
    uint64_t got;
    memcpy(in + 3, &nan, 8);
    const struct svmx_slot slots[] = {slot(result + 5, 8), slot(in + 3, 8), slot(in + 3, 8)};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_VEC_ADD_F64), slots);
    memcpy(&got, result + 5, 8);
    cr_assert_eq(got, UINT64_C(0x7ff8000000000000));
}

/* ---- reductions ------------------------------------------------------------------------------------------- */

/* The sum of the lanes that agree with `first` in their low bits. */
static double tree_of_lanes(const double lane[64], unsigned first, unsigned width) {
    if (width == 64) return lane[first];
    return tree_of_lanes(lane, first, 2 * width) + tree_of_lanes(lane, first + width, 2 * width);
}

static double block_sum(const double *terms, size_t count) {
    double lane[64];
    for (size_t j = 0; j < 64; j++) {
        lane[j] = 0;
        for (size_t i = j; i < count; i += 64) lane[j] = lane[j] + terms[i];
    }
    return tree_of_lanes(lane, 0, 1);
}

/* Destroys `terms`. */
static double levels(double *terms, size_t count) {
    do {
        size_t blocks = 0;
        for (size_t at = 0; at < count || blocks == 0; at += 4096)
            terms[blocks++] = block_sum(terms + at, count - at < 4096 ? count - at : 4096);
        count = blocks;
    } while (count > 1);
    return terms[0];
}

static double reduce(uint32_t id, const double *x, const double *y, size_t n) {
    double result = 9;
    const struct svmx_slot slots[] = {slot(&result, 8), slot(x, 8 * n), slot(y, 8 * n)};
    svmx__reference_run(svmx__op_by_id(id), slots);
    return result;
}

Test(op_f64, the_tree_is_that_of_floats) {
    const size_t most = 4096 * 4096 + 4097;
    double *x = malloc(8 * most), *terms = malloc(8 * most);
    uint64_t state = 4;
    cr_assert(x && terms);
    for (size_t i = 0; i < most; i++)
        x[i] = ldexp((double)(int32_t)next_random(&state), (int)(next_random(&state) % 50) - 40);
    for (size_t n = 0; n <= most; n = n < 200 ? n + 1 : n < 20000 ? n * 5 / 4 : n == most ? most + 1 : most) {
        memcpy(terms, x, 8 * n);
        cr_assert_eq(bits_of(reduce(SVMX_OP_SUM_F64, x, NULL, n)), bits_of(levels(terms, n)), "%zu", n);
    }
    free(x);
    free(terms);
}

Test(op_f64, zeros_and_nans_have_one_pattern) {
    const double minus_zero[2] = {-0.0, -0.0}, inf[2] = {INFINITY, -INFINITY};
    cr_assert_eq(bits_of(reduce(SVMX_OP_SUM_F64, NULL, NULL, 0)), 0);
    cr_assert_eq(bits_of(reduce(SVMX_OP_SUM_F64, minus_zero, NULL, 2)), 0);
    cr_assert_eq(bits_of(reduce(SVMX_OP_MAX_ABS_DIFF_F64, NULL, NULL, 0)), 0);
    const double nan = reduce(SVMX_OP_SUM_F64, inf, NULL, 2);
    cr_assert_arr_eq(&nan, (&(uint64_t){UINT64_C(0x7ff8000000000000)}), 8);
    cr_assert(isnan(reduce(SVMX_OP_MAX_ABS_DIFF_F64, inf, inf, 1)));
    cr_assert_eq(reduce(SVMX_OP_MAX_ABS_DIFF_F64, inf, minus_zero, 2), INFINITY);
}

Test(op_f64, the_greatest_difference_is_found_wherever_it_is) {
    double x[150] = {0}, y[150] = {0};
    for (size_t at = 0; at < 150; at++) {
        x[at] = -1 - (double)at;
        cr_assert_eq(reduce(SVMX_OP_MAX_ABS_DIFF_F64, x, y, 150), 1 + (double)at);
        cr_assert_eq(reduce(SVMX_OP_MAX_ABS_DIFF_F64, y, x, 150), 1 + (double)at);
    }
    x[70] = NAN;
    cr_assert(isnan(reduce(SVMX_OP_MAX_ABS_DIFF_F64, x, y, 150)), "and stays a NaN to the end");
    x[70] = 1, y[70] = 1 + 0x1p-52; /* rounded, not exact */
    cr_assert_eq(reduce(SVMX_OP_MAX_ABS_DIFF_F64, x + 70, y + 70, 1), 0x1p-52);
}

/* ---- refusals --------------------------------------------------------------------------------------------- */

Test(op_f64, wrong_lengths_are_refused_by_name) {
    const struct svmx_slot short_a[] = {slot(out, 40), slot(a, 8), slot(b, 40), scalar_f64(1)};
    const struct svmx_slot long_b[] = {slot(out, 32), slot(a, 32), slot(b, 40), scalar_f64(1)};
    const struct svmx_slot wide_out[] = {slot(out, 16), slot(a, 16), slot(b, 16)};
    const struct svmx_slot unequal[] = {slot(out, 8), slot(a, 16), slot(b, 24)};
    refused(SVMX_OP_VEC_ADD_F64, short_a, "a has 1 item but out has 5: give both the same length");
    refused(SVMX_OP_VEC_ADD_F64, long_b, "b has 5 items but out has 4: give both the same length");
    refused(SVMX_OP_AXPY_F64, short_a, "x has 1 item but out has 5: give both the same length");
    refused(SVMX_OP_AXPY_F64, long_b, "y has 5 items but out has 4: give both the same length");
    refused(SVMX_OP_SUM_F64, wide_out, "out has 2 items but must have 1");
    refused(SVMX_OP_MAX_ABS_DIFF_F64, wide_out, "out has 2 items but must have 1");
    refused(SVMX_OP_MAX_ABS_DIFF_F64, unequal, "b has 3 items but a has 2: give both the same length");
}

Test(op_f64, sizes_and_shapes) {
    const struct svmx_slot three[] = {slot(out, 24), slot(a, 24), slot(b, 24), scalar_f64(1)};
    const struct svmx_slot blocks[] = {slot(out, 8), slot(a, 8 * 4097), slot(b, 8 * 4097)};
    accepted(SVMX_OP_VEC_ADD_F64, three, 3, 3);
    accepted(SVMX_OP_AXPY_F64, three, 3, 3);
    accepted(SVMX_OP_SUM_F64, blocks, 2, 4097);
    accepted(SVMX_OP_MAX_ABS_DIFF_F64, blocks, 2, 4097);
    for (uint32_t id = SVMX_OP_VEC_ADD_F64; id <= SVMX_OP_MAX_ABS_DIFF_F64; id++) {
        uint64_t bytes[SVMX__MAX_PARAMS] = {0};
        cr_assert_eq(svmx__op_by_id(id)->shape(10, bytes), SVMX_OK);
        cr_assert_eq(bytes[1], 80);
        cr_assert_eq(svmx__op_by_id(id)->shape(UINT64_MAX / 8 + 1, bytes), SVMX_ERR_OVERFLOW);
    }
}
