/*
 * matmul_f32.c: products of matrices of floats: matmul_f32, and matmul_batch_f32 for many of one shape.
 *
 *   out[i][j]   acc = +0;  for p = 0, 1, ... k - 1:  acc = fma(a[i][p], b[p][j], acc);  acc
 *
 * One fused multiply-add a step, in this order: an accumulator is a float at every step, so that any tiling and any cut
 * over threads gives the same bits. Matrices are row after row without gaps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"
#include "ops/matmul_f32_known.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <svmx/ops.h>

enum { OUT, A, B, SIZES, COUNT = SIZES, PARAMS = SIZES + 3, BATCH_PARAMS = PARAMS + 1 };

/* What kernels are cut by: a tile of this many rows and columns of a product, less at its edges. */
enum { TILE_ROWS = 128, TILE_COLUMNS = 32 };

static const struct svmx_param params[PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1}, {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},    {"m", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
    {"k", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},   {"n", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
};

static const struct svmx_param batch_params[BATCH_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1}, {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},    {"count", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
    {"m", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},   {"k", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
    {"n", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
};

/* `count` products of m x k by k x n. */
struct sizes {
    uint64_t count, m, k, n;
};

static struct sizes sizes_of(const struct svmx_slot *slots) {
    return (struct sizes){1, slots[SIZES].at, slots[SIZES + 1].at, slots[SIZES + 2].at};
}

static struct sizes batch_sizes_of(const struct svmx_slot *slots) {
    return (struct sizes){slots[COUNT].at, slots[COUNT + 1].at, slots[COUNT + 2].at, slots[COUNT + 3].at};
}

/* ---- reference -------------------------------------------------------------------------------------------- */

/* One element of a product whose matrices start at elements `a` and `b`. */
static float element(const struct svmx_slot *slots, const struct sizes *s, uint64_t a, uint64_t b) {
    float acc = 0;
    for (uint64_t p = 0; p < s->k; p++)
        acc = fmaf(svmx__load_f32(&slots[A], a + p), svmx__load_f32(&slots[B], b + p * s->n), acc);
    return acc;
}

static void multiply(const struct svmx_slot *slots, const struct sizes *s) {
    uint64_t at = 0;
    for (uint64_t product = 0; product < s->count; product++)
        for (uint64_t i = 0; i < s->m; i++)
            for (uint64_t j = 0; j < s->n; j++)
                svmx__store_f32(&slots[OUT], at++,
                                element(slots, s, (product * s->m + i) * s->k, product * s->k * s->n + j));
}

static void reference(const struct svmx_slot *slots) {
    const struct sizes s = sizes_of(slots);
    if (slots[OUT].bytes > 0) multiply(slots, &s); /* else some size is 0 and the others may be anything */
}

static void batch_reference(const struct svmx_slot *slots) {
    const struct sizes s = batch_sizes_of(slots);
    if (slots[OUT].bytes > 0) multiply(slots, &s);
}

/* ---- checks ----------------------------------------------------------------------------------------------- */

/* x y z; false if it does not fit. */
static bool product_of(uint64_t x, uint64_t y, uint64_t z, uint64_t *product) {
    *product = 0;
    if (x == 0 || y == 0 || z == 0) return true;
    return !__builtin_mul_overflow(x, y, product) && !__builtin_mul_overflow(*product, z, product);
}

/* An argument must have `count` matrices of rows x columns. */
static enum svmx_status check_one(uint32_t param, const struct svmx_slot *slots, uint64_t count, uint64_t rows,
                                  uint64_t columns, struct svmx__text *why) {
    uint64_t items;
    if (product_of(count, rows, columns, &items)) return svmx__items_expect(&params[param], &slots[param], items, why);
    return svmx__fail(why, SVMX_ERR_OVERFLOW,
                      "%s cannot have %" PRIu64 " x %" PRIu64 " x %" PRIu64 " items: make the matrices smaller",
                      params[param].name, count, rows, columns);
}

static uint64_t tiles(uint64_t length, uint64_t tile) { return length / tile + (length % tile != 0); }

static enum svmx_status check_all(const struct svmx_slot *slots, const struct sizes *s, struct svmx__size *size,
                                  struct svmx__text *why) {
    enum svmx_status status = check_one(OUT, slots, s->count, s->m, s->n, why);
    if (status == SVMX_OK) status = check_one(A, slots, s->count, s->m, s->k, why);
    if (status == SVMX_OK) status = check_one(B, slots, s->count, s->k, s->n, why);
    if (status != SVMX_OK) return status;
    const uint64_t elements = slots[OUT].bytes / sizeof(float);
    *size = (struct svmx__size){0, 0};
    if (elements == 0) return SVMX_OK;
    size->units = s->count * tiles(s->m, TILE_ROWS) * tiles(s->n, TILE_COLUMNS); /* no more than elements: it fits */
    if (__builtin_mul_overflow(elements, s->k, &size->work)) size->work = UINT64_MAX;
    return SVMX_OK;
}

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    const struct sizes s = sizes_of(slots);
    return check_all(slots, &s, size, why);
}

static enum svmx_status batch_check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    const struct sizes s = batch_sizes_of(slots);
    return check_all(slots, &s, size, why);
}

/* ---- examples --------------------------------------------------------------------------------------------- */

/* The largest whole number whose square is at most x. */
static uint64_t root(uint64_t x) {
    uint64_t low = 0, high = UINT32_MAX;
    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (middle * middle <= x)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Four times as high as wide, as many elements of `out` as whole rows make of `size`; k is n, but 200 at most, for the
 * sake of the reference code. */
static struct sizes example_sizes(uint64_t size) {
    if (size == 0) return (struct sizes){1, 0, 0, 0};
    const uint64_t half = root(size / 4), n = half ? half : 1;
    return (struct sizes){1, size / n, n < 200 ? n : 200, n};
}

static enum svmx_status arrays(const struct sizes *s, uint64_t bytes[SVMX__MAX_PARAMS]) {
    uint64_t items[SIZES];
    if (!product_of(s->count, s->m, s->n, &items[OUT]) || !product_of(s->count, s->m, s->k, &items[A]) ||
        !product_of(s->count, s->k, s->n, &items[B]))
        return SVMX_ERR_OVERFLOW;
    for (uint32_t i = 0; i < SIZES; i++)
        if (__builtin_mul_overflow(items[i], sizeof(float), &bytes[i])) return SVMX_ERR_OVERFLOW;
    return SVMX_OK;
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    const struct sizes s = example_sizes(size);
    bytes[SIZES] = s.m;
    bytes[SIZES + 1] = s.k;
    bytes[SIZES + 2] = s.n;
    return arrays(&s, bytes);
}

/* Five products of a fifth each. */
static enum svmx_status batch_shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    struct sizes s = example_sizes(size < 5 ? size : size / 5);
    s.count = size < 5 ? 1 : 5;
    bytes[COUNT] = s.count;
    bytes[COUNT + 1] = s.m;
    bytes[COUNT + 2] = s.k;
    bytes[COUNT + 3] = s.n;
    return arrays(&s, bytes);
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* numbers[i] is i, for sizes. */
static const uint64_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, many = 200, wide_n = 35;
static const uint64_t huge = UINT64_MAX;
static const uint32_t zeros[6] = {0};

#define SIZE(value)                                                                                                    \
    { &(value), sizeof(uint64_t) }
#define ARRAY(data)                                                                                                    \
    { data, sizeof(data) }
#define NONE                                                                                                           \
    { NULL, 0 }
#define NOTHING                                                                                                        \
    { zeros, 0 } /* is written */

/* clang-format off */
static const struct svmx__known known[] = {
    ARRAY(pascal_out), ARRAY(pascal_a), ARRAY(pascal_b), SIZE(numbers[5]), SIZE(numbers[5]), SIZE(numbers[5]),
    ARRAY(wide_out), ARRAY(wide_a), ARRAY(wide_b), SIZE(numbers[13]), SIZE(numbers[3]), SIZE(wide_n),
    ARRAY(edge_out), ARRAY(edge_a), ARRAY(edge_b), SIZE(numbers[8]), SIZE(numbers[2]), SIZE(numbers[9]),
    ARRAY(long_out), ARRAY(long_a), ARRAY(long_b), SIZE(numbers[2]), SIZE(many), SIZE(numbers[2]),
    ARRAY(zeros), NONE, NONE, SIZE(numbers[2]), SIZE(numbers[0]), SIZE(numbers[3]),
    NOTHING, NONE, ARRAY(batch_b), SIZE(numbers[0]), SIZE(numbers[9]), SIZE(numbers[5]),
    NOTHING, NONE, NONE, SIZE(huge), SIZE(numbers[0]), SIZE(numbers[0]),
};

static const struct svmx__known batch_known[] = {
    ARRAY(batch_out), ARRAY(batch_a), ARRAY(batch_b), SIZE(numbers[3]), SIZE(numbers[4]), SIZE(numbers[3]),
        SIZE(numbers[5]),
    ARRAY(wide_out), ARRAY(wide_a), ARRAY(wide_b), SIZE(numbers[1]), SIZE(numbers[13]), SIZE(numbers[3]), SIZE(wide_n),
    ARRAY(edge_out), ARRAY(edge_a), ARRAY(edge_b), SIZE(numbers[1]), SIZE(numbers[8]), SIZE(numbers[2]),
        SIZE(numbers[9]),
    ARRAY(long_out), ARRAY(long_a), ARRAY(long_b), SIZE(numbers[1]), SIZE(numbers[2]), SIZE(many), SIZE(numbers[2]),
    ARRAY(zeros), NONE, NONE, SIZE(numbers[3]), SIZE(numbers[1]), SIZE(numbers[0]), SIZE(numbers[2]),
    NOTHING, NONE, NONE, SIZE(numbers[0]), SIZE(huge), SIZE(huge), SIZE(huge),
};
/* clang-format on */

/* A product by rows, of which each needs all of b; several of them each by itself. */
static const struct svmx__rows by_rows = {1 << OUT | 1 << A, SIZES, TILE_ROWS},
                               by_products = {1 << OUT | 1 << A | 1 << B, COUNT, 1};

const struct svmx__op svmx__op_matmul_f32 = {
    .name = "matmul_f32",
    .summary = "out = a b, matrices of m x k and k x n",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MATMUL_F32,
    .param_count = PARAMS,
    .rows = &by_rows,
    .check = check,
    .reference = reference,
    .shape = shape,
    .trial_size = 4700, /* 138 x 34, k = 34: more than a unit either way */
    .known = known,
    .known_count = sizeof known / sizeof *known / PARAMS,
};

const struct svmx__op svmx__op_matmul_batch_f32 = {
    .name = "matmul_batch_f32",
    .summary = "out[c] = a[c] b[c] for `count` pairs of matrices of m x k and k x n",
    .unit = "element",
    .params = batch_params,
    .id = SVMX_OP_MATMUL_BATCH_F32,
    .param_count = BATCH_PARAMS,
    .rows = &by_products,
    .check = batch_check,
    .reference = batch_reference,
    .shape = batch_shape,
    .trial_size = 5000,
    .known = batch_known,
    .known_count = sizeof batch_known / sizeof *batch_known / BATCH_PARAMS,
};
