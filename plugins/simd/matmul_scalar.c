/*
 * matmul_scalar.c: matrix products for any machine, also one without fused multiply-add. A tile is up to 16 columns of
 * one row.
 *
 * fma in double precision: a product of two floats has 48 bits and is exact there, so only the sum is rounded, once to
 * 53 bits and once more to 24. Two roundings to nearest are not one, unless the first rounds to odd: exact sums stay,
 * of the two neighbours of any other the one with an odd last bit is taken. That bit says "there was more" to the
 * second rounding, which then gives the float nearest to the exact sum, since 53 >= 24 + 2 (Boldo and Melquiond,
 * "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008). A result that is a
 * denormal has fewer bits, and all the better. Nothing overflows or goes denormal in double: what is added are
 * multiples of 2^-298 below 2^257.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul.h"

enum { COLUMNS = 16, LANES = 4, PAIRS = COLUMNS / 2 };

/* Two at once, in what every x86-64 has; elsewhere compilers do what they can. */
typedef double pair_f64 __attribute__((vector_size(16)));
typedef int64_t pair_i64 __attribute__((vector_size(16)));
typedef float pair_f32 __attribute__((vector_size(8)));

static inline pair_f64 load(const uint8_t *at) {
    pair_f32 x;
    memcpy(&x, at, sizeof x);
    return __builtin_convertvector(x, pair_f64);
}

/* x y + z rounded once to a float. All are floats, kept as doubles. */
static inline pair_f64 fma_once(pair_f64 x, pair_f64 y, pair_f64 z) {
    const pair_f64 product = x * y, sum = product + z;
    const pair_f64 z_part = sum - product; /* Knuth's two-sum: `rest` is exactly what `sum` lacks */
    const pair_f64 rest = (product - (sum - z_part)) + (z - z_part);
    pair_i64 bits = (pair_i64)sum;
    const pair_i64 inexact = (rest < 0) | (rest > 0); /* not for an infinity, whose rest is a NaN */
    const pair_i64 even = (bits & 1) - 1;
    const pair_i64 towards = ((bits ^ (pair_i64)rest) >> 63) | 1; /* away from zero if the signs agree */
    bits += towards & inexact & even;
    return __builtin_convertvector(__builtin_convertvector((pair_f64)bits, pair_f32), pair_f64);
}

static void tile(const struct simd_matmul_tile *t) {
    const uint32_t pairs = (t->columns + 1) / 2;
    pair_f64 acc[PAIRS] = {{0}};
    float out[COLUMNS] = {0};
    if (!t->first) memcpy(out, t->out, sizeof *out * t->columns);
    for (uint32_t v = 0; v < pairs; v++) acc[v] = load((const uint8_t *)(out + 2 * v));
    for (uint32_t p = 0; p < t->depth; p++) {
        const uint8_t *b = t->b + p * t->b_stride;
        const pair_f64 x = {(double)t->a[p], (double)t->a[p]};
        if (t->packed) memcpy(t->packed + p * COLUMNS, b, sizeof *t->packed * COLUMNS);
        for (uint32_t v = 0; v < pairs; v++) acc[v] = fma_once(x, load(b + 8 * v), acc[v]);
    }
    for (uint32_t v = 0; v < pairs; v++) {
        const pair_f32 rounded = __builtin_convertvector(acc[v], pair_f32); /* exact: they are floats */
        memcpy(out + 2 * v, &rounded, sizeof rounded);
    }
    const uint32_t nan = SIMD_MATMUL_NAN;
    for (uint32_t j = 0; j < t->columns && t->last; j++)
        if (out[j] != out[j]) memcpy(out + j, &nan, sizeof nan);
    memcpy(t->out, out, sizeof *out * t->columns);
}

static const struct simd_matmul_isa isa = {.tile = tile, .rows = 1, .columns = COLUMNS, .lanes = LANES};

static void run(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, SIMD_MATMUL_SIZES, &isa);
}

static void run_batch(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_matmul_run(d, first, end, SIMD_MATMUL_BATCH_SIZES, &isa);
}

const struct simd_kernel simd_matmul_scalar[SIMD_MATMUL_KERNELS] = {
    {"matmul_f32", run, NULL, 1, 1500, 0},
    {"matmul_batch_f32", run_batch, NULL, 1, 1500, 0},
};
