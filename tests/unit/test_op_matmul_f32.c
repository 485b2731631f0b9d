/*
 * test_op_matmul_f32.c: matmul_f32 and matmul_batch_f32 against a fused multiply-add of integers, against long double,
 * and what they refuse.
 *
 * The multiply-add here knows no floating point: significands are multiplied and added as 128-bit numbers, far enough
 * apart that what falls off is known by one sticky bit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

__extension__ typedef unsigned __int128 wide;

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

static uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* ---- a fused multiply-add of integers ---- */

/* (-1)^minus * significand * 2^exponent; finite numbers only */
struct number {
    wide significand;
    int exponent;
    bool minus;
};

static struct number number_of(uint32_t bits) {
    const int biased = bits >> 23 & 255;
    const uint32_t fraction = bits & 0x7fffff;
    return (struct number){biased ? fraction | 0x800000 : fraction, (biased ? biased : 1) - 150, bits >> 31};
}

/* Moves to an exponent; bits that fall off leave a one at the end. */
static struct number moved(struct number x, int exponent) {
    for (; x.exponent > exponent; x.exponent--) x.significand <<= 1;
    for (; x.exponent < exponent; x.exponent++) x.significand = x.significand >> 1 | (x.significand & 1);
    return x;
}

static int highest_bit(wide x) {
    int bit = -1;
    for (; x; x >>= 1) bit++;
    return bit;
}

/* To nearest, ties to even; the lowest bit of the significand may be sticky, so two more than needed must be there. */
static uint32_t rounded(struct number x) {
    const uint32_t sign = (uint32_t)x.minus << 31;
    if (x.significand == 0) return sign;
    int exponent = x.exponent + highest_bit(x.significand) - 23;
    if (exponent < -149) exponent = -149;
    x = moved(x, exponent - 2);
    uint32_t value = (uint32_t)(x.significand >> 2);
    const uint32_t rest = (uint32_t)x.significand & 3;
    value += rest == 3 || (rest == 2 && value & 1);
    if (value >= 0x1000000) {
        value >>= 1;
        exponent++;
    }
    if (exponent > 104) return sign | 0x7f800000;
    return sign | (value < 0x800000 ? value : (uint32_t)(exponent + 150) << 23 | (value & 0x7fffff));
}

/* a b + c. A product has up to 48 bits; it is brought to the top of 110 bits, and c to the same exponent. */
static uint32_t integer_fma(uint32_t a, uint32_t b, uint32_t c) {
    const struct number x = number_of(a), y = number_of(b);
    struct number z = number_of(c),
                  product = {x.significand * y.significand, x.exponent + y.exponent, x.minus != y.minus};
    if (product.significand == 0 && z.significand == 0) return (uint32_t)(product.minus && z.minus) << 31;
    const int top_product = product.significand ? product.exponent + highest_bit(product.significand) : -10000;
    const int top_z = z.significand ? z.exponent + highest_bit(z.significand) : -10000;
    const int exponent = (top_product > top_z ? top_product : top_z) - 110;
    product = moved(product, exponent);
    z = moved(z, exponent);
    struct number sum = {product.significand + z.significand, exponent, product.minus};
    if (product.minus != z.minus) {
        sum.minus = product.significand >= z.significand ? product.minus : z.minus;
        sum.significand = product.significand >= z.significand ? product.significand - z.significand
                                                               : z.significand - product.significand;
        if (sum.significand == 0) sum.minus = false;
    }
    return rounded(sum);
}

/* ---- products ---- */

/* Finite, of magnitudes that cancel, vanish and go down to denormals. */
static uint32_t *finite_floats(size_t count, uint64_t seed) {
    uint32_t *x = malloc(4 * count + 4);
    cr_assert_not_null(x);
    for (size_t i = 0; i < count; i++) {
        const uint32_t r = random_u32(&seed), near = 120 + r % 12, far = r % 180, exponent = r >> 30 ? near : far;
        x[i] = (random_u32(&seed) & 0x807fffff) | exponent << 23;
    }
    return x;
}

static void compare(uint64_t count, uint64_t m, uint64_t k, uint64_t n, uint64_t seed) {
    uint32_t *a = finite_floats(count * m * k, seed), *b = finite_floats(count * k * n, ~seed),
             *out = malloc(4 * count * m * n + 4);
    cr_assert_not_null(out);
    const struct svmx_slot arrays[] = {slot(out, 4 * count * m * n), slot(a, 4 * count * m * k),
                                       slot(b, 4 * count * k * n)};
    const struct svmx_slot one[] = {arrays[0], arrays[1], arrays[2], {m, 8}, {k, 8}, {n, 8}};
    const struct svmx_slot many[] = {arrays[0], arrays[1], arrays[2], {count, 8}, {m, 8}, {k, 8}, {n, 8}};
    const bool batched = count != 1;
    const struct svmx__op *op = svmx__op_by_id(batched ? SVMX_OP_MATMUL_BATCH_F32 : SVMX_OP_MATMUL_F32);
    struct svmx__size size;
    cr_assert_eq(op->check(batched ? many : one, &size, NULL), SVMX_OK);
    svmx__reference_run(op, batched ? many : one);
    for (uint64_t c = 0; c < count; c++)
        for (uint64_t i = 0; i < m; i++)
            for (uint64_t j = 0; j < n; j++) {
                uint32_t acc = 0;
                for (uint64_t p = 0; p < k; p++) acc = integer_fma(a[(c * m + i) * k + p], b[(c * k + p) * n + j], acc);
                const uint32_t got = out[(c * m + i) * n + j];
                cr_assert_eq(got, acc, "%lu: %lu x %lu x %lu, [%lu][%lu]: %08x, expected %08x", (unsigned long)c,
                             (unsigned long)m, (unsigned long)k, (unsigned long)n, (unsigned long)i, (unsigned long)j,
                             got, acc);
            }
    free(a);
    free(b);
    free(out);
}

Test(op_matmul_f32, the_integer_multiply_add_is_one) {
    cr_assert_eq(integer_fma(0x3f800001, 0x3f800001, 0xbf800002), 0x28800000, "2^-46 is lost");
    cr_assert_eq(integer_fma(0x00000001, 0x3f000000, 0x00000000), 0x00000000, "a tie goes to the even 0");
    cr_assert_eq(integer_fma(0x00000003, 0x3f000000, 0x00000000), 0x00000002);
    cr_assert_eq(integer_fma(0x80000001, 0x3f000000, 0x00000000), 0x80000000, "down to -0");
    cr_assert_eq(integer_fma(0x7f7fffff, 0x3f800000, 0x73000000), 0x7f800000);
    cr_assert_eq(integer_fma(0x7f7fffff, 0x3f800000, 0x72ffffff), 0x7f7fffff);
    cr_assert_eq(integer_fma(0x3f800000, 0x3f800000, 0xbf800000), 0x00000000);
}

Test(op_matmul_f32, products_are_chains_of_fused_steps) {
    static const uint64_t sizes[] = {0, 1, 2, 3, 7, 16, 17, 33};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < SIZES * SIZES * SIZES; i++)
        compare(1, sizes[i % SIZES], sizes[i / SIZES % SIZES], sizes[i / SIZES / SIZES], i);
    compare(1, 5, 1000, 3, 1);
}

Test(op_matmul_f32, batches_are_products_side_by_side) {
    for (uint64_t count = 0; count <= 6; count += count == 0 ? 2 : 1) compare(count, 3, 5, 4, count);
    compare(40, 2, 2, 1, 9);
    compare(3, 4, 0, 2, 9);
}

Test(op_matmul_f32, results_are_near_those_of_long_double) {
    enum { M = 20, K = 300, N = 30 };
    static float a[M * K], b[K * N], out[M * N];
    uint64_t state = 3;
    for (size_t i = 0; i < M * K; i++) a[i] = (float)random_u32(&state) * 0x1p-31f - 1;
    for (size_t i = 0; i < K * N; i++) b[i] = (float)random_u32(&state) * 0x1p-31f - 1;
    const struct svmx_slot slots[] = {
        slot(out, sizeof out), slot(a, sizeof a), slot(b, sizeof b), {M, 8}, {K, 8}, {N, 8}};
    svmx__reference_run(svmx__op_by_id(SVMX_OP_MATMUL_F32), slots);
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            long double sum = 0, size = 0;
            for (size_t p = 0; p < K; p++) {
                sum += (long double)a[i * K + p] * b[p * N + j];
                size += fabsl((long double)a[i * K + p] * b[p * N + j]);
            }
            cr_assert_leq(fabsl(out[i * N + j] - sum), K * 0x1p-24L * size);
        }
}

/* ---- sizes and refusals ---- */

static const struct svmx__op *one_op(void) { return svmx__op_by_id(SVMX_OP_MATMUL_F32); }
static const struct svmx__op *batch_op(void) { return svmx__op_by_id(SVMX_OP_MATMUL_BATCH_F32); }

/* Checks look at lengths only: the addresses are never used. */
static enum svmx_status check_one(uint64_t out, uint64_t a, uint64_t b, uint64_t m, uint64_t k, uint64_t n,
                                  struct svmx__size *size, struct svmx__text *why) {
    const struct svmx_slot slots[] = {{64, 4 * out}, {64, 4 * a}, {64, 4 * b}, {m, 8}, {k, 8}, {n, 8}};
    return one_op()->check(slots, size, why);
}

static enum svmx_status check_batch(uint64_t out, uint64_t a, uint64_t b, uint64_t count, uint64_t m, uint64_t k,
                                    uint64_t n, struct svmx__size *size, struct svmx__text *why) {
    const struct svmx_slot slots[] = {{64, 4 * out}, {64, 4 * a}, {64, 4 * b}, {count, 8}, {m, 8}, {k, 8}, {n, 8}};
    return batch_op()->check(slots, size, why);
}

Test(op_matmul_f32, units_are_tiles_and_work_is_steps) {
    static const uint64_t rows[][5] = {
        /* m, k, n, units, work */
        {0, 3, 5, 0, 0},          {3, 5, 0, 0, 0},         {3, 0, 5, 1, 0},        {1, 1, 1, 1, 1},
        {128, 7, 32, 1, 28672},   {129, 7, 32, 2, 28896},  {128, 7, 33, 2, 29568}, {1000, 10, 100, 32, 1000000},
        {UINT64_MAX, 0, 0, 0, 0}, {0, 0, UINT64_MAX, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t m = rows[i][0], k = rows[i][1], n = rows[i][2];
        struct svmx__size size = {99, 99};
        cr_assert_eq(check_one(m * n, m * k, k * n, m, k, n, &size, NULL), SVMX_OK);
        cr_assert(size.units == rows[i][3] && size.work == rows[i][4], "row %zu: %lu, %lu", i,
                  (unsigned long)size.units, (unsigned long)size.work);
        cr_assert_eq(check_batch(3 * m * n, 3 * m * k, 3 * k * n, 3, m, k, n, &size, NULL), SVMX_OK);
        cr_assert(size.units == 3 * rows[i][3] && size.work == 3 * rows[i][4], "row %zu, three times", i);
    }
    struct svmx__size size;
    const uint64_t large = UINT64_C(1) << 30; /* more steps than 64 bits count */
    cr_assert_eq(check_one(large * large, large * large, large * large, large, large, large, &size, NULL), SVMX_OK);
    cr_assert_eq(size.work, UINT64_MAX);
    cr_assert_eq(check_batch(0, 0, 0, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, &size, NULL), SVMX_OK);
    cr_assert(size.units == 0 && size.work == 0);
}

Test(op_matmul_f32, wrong_lengths_are_refused_by_name) {
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    cr_assert_eq(check_one(5, 6, 12, 2, 3, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "out has 5 items but must have 8");
    cr_assert_eq(check_one(8, 1, 12, 2, 3, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "a has 1 item but must have 6");
    cr_assert_eq(check_one(8, 6, 0, 2, 3, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "b has 0 items but must have 12");
    cr_assert_eq(check_one(8, 6, 0, 2, 0, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "a has 6 items but must have 0");
    cr_assert_eq(check_batch(16, 12, 12, 2, 2, 3, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "b has 12 items but must have 24");
    cr_assert_eq(check_batch(16, 12, 24, 0, 2, 3, 4, &size, &why), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(why.line, "out has 16 items but must have 0");
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
}

Test(op_matmul_f32, sizes_that_do_not_fit_are_refused_by_name) {
    const uint64_t half = UINT64_C(1) << 32;
    struct svmx__size size = {7, 8};
    struct svmx__text why = {""};
    cr_assert_eq(check_one(0, 0, 0, half, 1, half, &size, &why), SVMX_ERR_OVERFLOW);
    cr_assert_str_eq(why.line, "out cannot have 1 x 4294967296 x 4294967296 items: make the matrices smaller");
    cr_assert_eq(check_one(half, 0, 0, half, half, 1, &size, &why), SVMX_ERR_OVERFLOW);
    cr_assert_str_eq(why.line, "a cannot have 1 x 4294967296 x 4294967296 items: make the matrices smaller");
    cr_assert_eq(check_one(half, half, 0, 1, half, half, &size, &why), SVMX_ERR_OVERFLOW);
    cr_assert_str_eq(why.line, "b cannot have 1 x 4294967296 x 4294967296 items: make the matrices smaller");
    cr_assert_eq(check_batch(0, 0, 0, half, half, 1, 1, &size, &why), SVMX_ERR_OVERFLOW);
    cr_assert_str_eq(why.line, "out cannot have 4294967296 x 4294967296 x 1 items: make the matrices smaller");
    cr_assert(size.units == 7 && size.work == 8, "an output was set by a failing check");
}

Test(op_matmul_f32, examples_use_most_of_their_size_and_refuse_what_does_not_fit) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    for (uint64_t size = 1; size < 300000; size = size * 7 / 4 + 1) {
        cr_assert_eq(one_op()->shape(size, bytes), SVMX_OK);
        cr_assert(bytes[0] <= 4 * size && bytes[0] > 2 * size, "%lu", (unsigned long)size);
        cr_assert(bytes[0] == 4 * bytes[3] * bytes[5] && bytes[1] == 4 * bytes[3] * bytes[4] &&
                  bytes[2] == 4 * bytes[4] * bytes[5]);
        cr_assert_eq(batch_op()->shape(size, bytes), SVMX_OK);
        cr_assert(bytes[0] <= 4 * size && bytes[0] > size, "%lu", (unsigned long)size);
    }
    cr_assert_eq(one_op()->shape(UINT64_MAX, bytes), SVMX_ERR_OVERFLOW);
    cr_assert_eq(batch_op()->shape(UINT64_MAX, bytes), SVMX_ERR_OVERFLOW);
}
