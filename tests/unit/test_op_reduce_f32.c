/*
 * test_op_reduce_f32.c: sum_f32 and dot_f32 against the same tree written another way, and against long double.
 *
 * The tree here is bottom-up with arrays (all partials of a level, then the next), folds by index arithmetic on pairs
 * and knows nothing of the reference's recursion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

/* The sum of the lanes that agree with `lane` in their low bits: of 64 / 2^depth lanes, `width` apart. */
static float tree_of_lanes(const float lane[64], unsigned first, unsigned width) {
    if (width == 64) return lane[first];
    return tree_of_lanes(lane, first, 2 * width) + tree_of_lanes(lane, first + width, 2 * width);
}

static float block_sum(const float *terms, size_t count) {
    float lane[64];
    for (size_t j = 0; j < 64; j++) {
        lane[j] = 0;
        for (size_t i = j; i < count; i += 64) lane[j] = lane[j] + terms[i];
    }
    return tree_of_lanes(lane, 0, 1);
}

/* Destroys `terms`. */
static uint32_t levels(float *terms, size_t count) {
    do {
        size_t blocks = 0;
        for (size_t at = 0; at < count || blocks == 0; at += 4096)
            terms[blocks++] = block_sum(terms + at, count - at < 4096 ? count - at : 4096);
        count = blocks;
    } while (count > 1);
    uint32_t bits;
    memcpy(&bits, terms, sizeof bits);
    return isnan(terms[0]) ? UINT32_C(0x7fc00000) : bits;
}

static void fill(float *x, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t r = (uint32_t)(seed >> 32);
        x[i] = ldexpf((float)(int32_t)r, (int)(r % 19) - 40); /* magnitudes from 2^-40 to 2^9: the order matters */
    }
}

struct data {
    float *a, *b, *terms;
};

static struct data make(size_t n, uint64_t seed) {
    struct data data = {malloc(4 * n + 4), malloc(4 * n + 4), malloc(4 * n + 4)};
    cr_assert(data.a && data.b && data.terms);
    fill(data.a, n, seed);
    fill(data.b, n, ~seed);
    return data;
}

static void drop(struct data data) {
    free(data.a);
    free(data.b);
    free(data.terms);
}

static uint32_t run(uint32_t id, const float *a, const float *b, size_t n) {
    uint32_t out = 0xeeeeeeee;
    const struct svmx_slot slots[] = {slot(&out, 4), slot(a, 4 * n), slot(b, 4 * n)};
    svmx__reference_run(svmx__op_by_id(id), slots);
    return out;
}

static void compare(size_t n) {
    struct data data = make(n, n);
    memcpy(data.terms, data.a, 4 * n);
    const uint32_t sum = run(SVMX_OP_SUM_F32, data.a, NULL, n), want_sum = levels(data.terms, n);
    cr_assert_eq(sum, want_sum, "sum of %zu: %08x, expected %08x", n, sum, want_sum);
    for (size_t i = 0; i < n; i++) data.terms[i] = data.a[i] * data.b[i];
    const uint32_t dot = run(SVMX_OP_DOT_F32, data.a, data.b, n), want_dot = levels(data.terms, n);
    cr_assert_eq(dot, want_dot, "dot of %zu: %08x, expected %08x", n, dot, want_dot);
    drop(data);
}

Test(op_reduce_f32, the_tree_is_the_same_for_all_small_sizes) {
    for (size_t n = 0; n <= 300; n++) compare(n);
}

Test(op_reduce_f32, the_tree_is_the_same_around_the_borders_of_blocks) {
    for (size_t blocks = 1; blocks <= 70; blocks += blocks < 4 ? 1 : 11)
        for (size_t n = 4096 * blocks - 1; n <= 4096 * blocks + 65; n += 1 + n % 3 * 13) compare(n);
}

/* More than 4096 partials: the third level. */
Test(op_reduce_f32, the_tree_is_the_same_over_three_levels) {
    compare(4096 * 4096);
    compare(4096 * 4096 + 1);
    compare(4096 * 4100 + 77);
}

Test(op_reduce_f32, results_are_near_those_of_long_double) {
    enum { N = 100000 };
    struct data data = make(N, 3);
    long double sum = 0, dot = 0, sum_size = 0, dot_size = 0;
    for (size_t i = 0; i < N; i++) {
        sum += data.a[i];
        sum_size += fabsl(data.a[i]);
        dot += (long double)data.a[i] * data.b[i];
        dot_size += fabsl((long double)data.a[i] * data.b[i]);
    }
    const uint32_t bits[] = {run(SVMX_OP_SUM_F32, data.a, NULL, N), run(SVMX_OP_DOT_F32, data.a, data.b, N)};
    float got[2];
    memcpy(got, bits, sizeof got);
    /* A term meets at most 64 + 6 additions a level, two levels, and a product: each is off by half an ulp. */
    const long double bound = 0x1p-24L * (2 * 70 + 1);
    cr_assert_leq(fabsl(got[0] - sum), bound * sum_size);
    cr_assert_leq(fabsl(got[1] - dot), bound * dot_size);
    drop(data);
}

Test(op_reduce_f32, order_and_rounding_count) {
    /* Lane 0 gets 1 and -1 with 2^-30 between them, which is lost; side by side it stays. */
    float x[129] = {[0] = 1, [64] = 0x1p-30f, [128] = -1};
    cr_assert_eq(run(SVMX_OP_SUM_F32, x, NULL, 129), 0);
    float y[129] = {[0] = 1, [64] = -1, [128] = 0x1p-30f};
    cr_assert_eq(run(SVMX_OP_SUM_F32, y, NULL, 129), 0x30800000);
    /* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 exactly, and 0 if the square is rounded first. */
    float a[65] = {[0] = 1, [64] = 1 + 0x1p-12f}, b[65] = {[0] = -(1 + 0x1p-11f), [64] = 1 + 0x1p-12f};
    cr_assert_eq(run(SVMX_OP_DOT_F32, a, b, 65), 0);
}

Test(op_reduce_f32, zeros_and_nans_have_one_pattern) {
    const float minus_zero[2] = {-0.0f, -0.0f}, one[2] = {1, 1}, inf[2] = {INFINITY, -INFINITY};
    cr_assert_eq(run(SVMX_OP_SUM_F32, NULL, NULL, 0), 0);
    cr_assert_eq(run(SVMX_OP_DOT_F32, NULL, NULL, 0), 0);
    cr_assert_eq(run(SVMX_OP_SUM_F32, minus_zero, NULL, 2), 0);
    cr_assert_eq(run(SVMX_OP_DOT_F32, minus_zero, one, 1), 0);
    cr_assert_eq(run(SVMX_OP_SUM_F32, inf, NULL, 2), 0x7fc00000);
    cr_assert_eq(run(SVMX_OP_DOT_F32, inf, minus_zero, 1), 0x7fc00000);
    const uint32_t payload[] = {0xffd55555, 0x7f812345};
    float nan[2];
    memcpy(nan, payload, sizeof nan);
    cr_assert_eq(run(SVMX_OP_SUM_F32, nan, NULL, 2), 0x7fc00000);
    cr_assert_eq(run(SVMX_OP_DOT_F32, one, nan, 2), 0x7fc00000);
}

Test(op_reduce_f32, size_counts_blocks_and_work_elements) {
    static const float x[8193];
    static const uint64_t sizes[][2] = {{0, 1}, {1, 1}, {4095, 1}, {4096, 1}, {4097, 2}, {8192, 2}, {8193, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float out;
        const struct svmx_slot slots[] = {slot(&out, 4), slot(x, 4 * sizes[i][0]), slot(x, 4 * sizes[i][0])};
        for (uint32_t id = SVMX_OP_SUM_F32; id <= SVMX_OP_DOT_F32; id++) {
            struct svmx__size size = {99, 99};
            cr_assert_eq(svmx__op_by_id(id)->check(slots, &size, NULL), SVMX_OK);
            cr_assert_eq(size.units, sizes[i][1]);
            cr_assert_eq(size.work, sizes[i][0]);
        }
    }
}

Test(op_reduce_f32, wrong_lengths_are_refused_by_name) {
    float x[4] = {0};
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    const struct svmx_slot no_out[] = {slot(NULL, 0), slot(x, 8), slot(x, 8)};
    const struct svmx_slot wide_out[] = {slot(x, 8), slot(x, 8), slot(x, 8)};
    const struct svmx_slot unequal[] = {slot(x, 4), slot(x, 8), slot(x, 12)};
    const struct svmx__op *sum = svmx__op_by_id(SVMX_OP_SUM_F32), *dot = svmx__op_by_id(SVMX_OP_DOT_F32);
    cr_assert_eq(sum->check(no_out, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "out has 0 items but must have 1");
    cr_assert_eq(dot->check(wide_out, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "out has 2 items but must have 1");
    cr_assert_eq(dot->check(unequal, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "b has 3 items but a has 2: give both the same length");
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
}

Test(op_reduce_f32, shape_has_one_result_and_refuses_what_does_not_fit) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    const struct svmx__op *sum = svmx__op_by_id(SVMX_OP_SUM_F32), *dot = svmx__op_by_id(SVMX_OP_DOT_F32);
    cr_assert_eq(sum->shape(1000, bytes), SVMX_OK);
    cr_assert(bytes[0] == 4 && bytes[1] == 4000 && bytes[2] == 0);
    cr_assert_eq(dot->shape(10, bytes), SVMX_OK);
    cr_assert(bytes[0] == 4 && bytes[1] == 40 && bytes[2] == 40);
    cr_assert_eq(sum->shape(UINT64_MAX / 4 + 1, bytes), SVMX_ERR_OVERFLOW);
    cr_assert_eq(dot->shape(UINT64_MAX, bytes), SVMX_ERR_OVERFLOW);
}
