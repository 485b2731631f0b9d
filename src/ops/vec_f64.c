/*
 * vec_f64.c: vectors of doubles, element by element: vec_add_f64, axpy_f64.
 *
 * As their twins in vec_f32.c: each sum and product is rounded once; a NaN is written as 0x7ff8000000000000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/elements.h"

#include <svmx/ops.h>

enum { OUT, A, B, PARAMS };
enum { X = A, Y, ALPHA, AXPY_PARAMS };

static const struct svmx_param params[PARAMS] = {
    {"out", SVMX_OUT, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
};

static const struct svmx_param axpy_params[AXPY_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"x", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"y", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"alpha", SVMX_IN, SVMX_F64, SVMX_SCALAR, 0, 1},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__items_check(params, slots, PARAMS, size, why);
}

static enum svmx_status check_axpy(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__items_check(axpy_params, slots, AXPY_PARAMS, size, why);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    return svmx__items_shape(params, PARAMS, size, bytes);
}

static enum svmx_status shape_axpy(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[ALPHA] = UINT64_C(0x3fe6666666666666); /* 0.7 */
    return svmx__items_shape(axpy_params, AXPY_PARAMS, size, bytes);
}

static void add(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(double);
    for (uint64_t i = 0; i < n; i++)
        svmx__store_f64(&slots[OUT], i, svmx__load_f64(&slots[A], i) + svmx__load_f64(&slots[B], i));
}

static void axpy(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(double);
    const double alpha = svmx__scalar_f64(&slots[ALPHA]);
    for (uint64_t i = 0; i < n; i++) {
        const double product = alpha * svmx__load_f64(&slots[X], i);
        svmx__store_f64(&slots[OUT], i, product + svmx__load_f64(&slots[Y], i));
    }
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* NaNs, infinities, zeros, overflow, denormals, ties; then arbitrary numbers. Results from a model in Python with exact
 * fractions, rounded by hand. */
enum { N = 40 };

static const uint64_t a[N] = {
    0x7ff8123456789abc, 0x3ff0000000000000, 0xfff8000000000001, 0x7ff0000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x0000000000000000, 0x8000000000000000, 0x8000000000000000, 0x7fefffffffffffff,
    0x7fefffffffffffff, 0x0000000000000001, 0x0000000000000003, 0x0010000000000000, 0x000fffffffffffff,
    0x3ff0000000000000, 0x3ff0000000000001, 0x7ff0000000000123, 0x3ff0000000000000, 0xbfe084c4206e7167,
    0x3fccaebc2bd3ca4a, 0x4010e69ab8776694, 0xc00c7cc13b0e10bc, 0x4026bcda58c1bf06, 0xbfc82e1764e9f9be,
    0x401443d15b9ee4ac, 0xc017e4fa583367b7, 0x3fc29cd739bf232a, 0x401bda40c2ac7e74, 0xbfb958bf1289699c,
    0x3feaf3ac6b5d48e1, 0xbfb444e53c35e78d, 0x3fe522e1ab9f6cb7, 0xc02e33a537342f1a, 0x3fe9eebd1ad6db45,
    0x3ffcb8c645c8e17d, 0x3fdd0b6cad904822, 0x402894703c1c42c2, 0x400f8f972d8508d6, 0xbffb289daa8713ed,
};

static const uint64_t b[N] = {
    0x3ff0000000000000, 0x7ff0123456789abc, 0x7ff8555555555555, 0xfff0000000000000, 0x7ff0000000000000,
    0x3ff0000000000000, 0x8000000000000000, 0x8000000000000000, 0x0000000000000000, 0x7fefffffffffffff,
    0x7c90000000000000, 0x0000000000000001, 0x8000000000000002, 0x8000000000000001, 0x0000000000000001,
    0x3ca0000000000000, 0x3ca0000000000000, 0x0000000000000000, 0x3ca0000000000001, 0x4027723cdff86531,
    0x3fb3a68a0e3829f0, 0x3fc4aba2876f5d09, 0xbfb9181c860bfe6b, 0xc000a276e7dc2d20, 0x3fd64ac1c69ee38b,
    0x3fe08c03ec65971a, 0x3ff2378ff07f1131, 0x4022604a2b5e6bb6, 0x40016dfbb2cc04ca, 0xbfd0afc0d3830d32,
    0xc01844fbc71eaaa6, 0x3fdc73c335e8b789, 0xc024c96b1d57f5dc, 0x400e08369d5c929b, 0x3ffd20779475256a,
    0xbfbfe34b15caa284, 0x3fc1be96f55c461d, 0x402e767479b9d44a, 0xbfc1ed67d20504f7, 0x40207d39372f0005,
};

static const uint64_t sums[N] = {
    0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x0000000000000000, 0x8000000000000000, 0x0000000000000000, 0x7ff0000000000000,
    0x7ff0000000000000, 0x0000000000000002, 0x0000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x3ff0000000000000, 0x3ff0000000000002, 0x7ff8000000000000, 0x3ff0000000000001, 0x402669f09df17e1b,
    0x3fd341009977efa1, 0x40118bf7ccb2e17c, 0xc00d45821f3e70af, 0x4022943c9ecab3be, 0x3fc4676c2853cd58,
    0x40165551d92b978f, 0xc01357165c13a36b, 0x4022aabd88456843, 0x4022489f4e09406c, 0xbfd705f098256799,
    0xc014e68639b3018a, 0x3fd76289e6db3da6, 0xc023773d029dff11, 0xc026b1978fdd0a73, 0x40050beb10f04986,
    0x3ffaba91946c3755, 0x3fe2f55c141f3598, 0x403b85725aeb0b86, 0x400e70c0b064b887, 0x401a304b03bc3b0f,
};

/* alpha = -0.7; 6 differ where multiply and add are fused. */
static const uint64_t scaled[N] = {
    0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0xfff0000000000000, 0x7ff8000000000000,
    0x7ff0000000000000, 0x8000000000000000, 0x0000000000000000, 0x0000000000000000, 0x7fd3333333333334,
    0xffe6666666666664, 0x0000000000000000, 0x8000000000000004, 0x800b333333333334, 0x800b333333333331,
    0xbfe6666666666665, 0xbfe6666666666666, 0x7ff8000000000000, 0xbfe6666666666665, 0x40282b3f0e306d5a,
    0xbfb4814a2f238ade, 0xc0065e84d9c9ccfe, 0x4003282cc526455d, 0xc024133691b1ddcc, 0x3fdec149f6bd948e,
    0xc0083bf0eb91da5c, 0x401547c66d108ce5, 0x40222c2c9d8987ba, 0xc005905ef758ac3e, 0xbfc88071fa22cf07,
    0xc01aa0b476ea076d, 0x3fdfffd1ba0bc00e, 0xc025b624fcda229e, 0x402ca634812edf39, 0x3ff40ce897dd2578,
    0xbff61925e23614cc, 0xbfc6eb0130d41edf, 0x401a837f05b27e52, 0xc007368d1cfd7018, 0x4022dd93cfb46b5d,
};

/* Of the first 15. */
static const uint64_t scaled_by_inf[] = {
    0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff0000000000000,
    0x7ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000, 0x7ff0000000000000,
};

static const uint64_t scaled_by_zero[] = {
    0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0x7ff8000000000000, 0x8000000000000000, 0x0000000000000000, 0x0000000000000000, 0x7fefffffffffffff,
    0x7c90000000000000, 0x0000000000000001, 0x8000000000000002, 0x8000000000000001, 0x0000000000000001,
};

static const uint64_t alphas[] = {0xbfe6666666666666, 0x7ff0000000000000, 0x8000000000000000};

/* clang-format off */
static const struct svmx__known known_add[] = {
    {sums, sizeof sums}, {a, sizeof a},   {b, sizeof b},
    {sums + 1, 8 * 27},  {a + 1, 8 * 27}, {b + 1, 8 * 27},
    {sums, 8 * 7},       {a, 8 * 7},      {b, 8 * 7},
    {sums, 8 * 3},       {a, 8 * 3},      {b, 8 * 3},
    {sums + 33, 8},      {a + 33, 8},     {b + 33, 8},
    {sums, 0},           {NULL, 0},       {NULL, 0},
};

static const struct svmx__known known_axpy[] = {
    {scaled, sizeof scaled},  {a, sizeof a},   {b, sizeof b},   {&alphas[0], 8},
    {scaled + 1, 8 * 27},     {a + 1, 8 * 27}, {b + 1, 8 * 27}, {&alphas[0], 8},
    {scaled, 8 * 7},          {a, 8 * 7},      {b, 8 * 7},      {&alphas[0], 8},
    {scaled + 33, 8},         {a + 33, 8},     {b + 33, 8},     {&alphas[0], 8},
    {scaled, 0},              {NULL, 0},       {NULL, 0},       {&alphas[0], 8},
    {scaled_by_inf, 8 * 15},  {a, 8 * 15},     {b, 8 * 15},     {&alphas[1], 8},
    {scaled_by_zero, 8 * 15}, {a, 8 * 15},     {b, 8 * 15},     {&alphas[2], 8},
};
/* clang-format on */

const struct svmx__op svmx__op_vec_add_f64 = {
    .name = "vec_add_f64",
    .summary = "out[i] = a[i] + b[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_VEC_ADD_F64,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = add,
    .shape = shape,
    .known = known_add,
    .known_count = sizeof known_add / sizeof *known_add / PARAMS,
};

const struct svmx__op svmx__op_axpy_f64 = {
    .name = "axpy_f64",
    .summary = "out[i] = alpha * x[i] + y[i], both rounded",
    .unit = "element",
    .params = axpy_params,
    .id = SVMX_OP_AXPY_F64,
    .param_count = AXPY_PARAMS,
    .elementwise = true,
    .check = check_axpy,
    .reference = axpy,
    .shape = shape_axpy,
    .known = known_axpy,
    .known_count = sizeof known_axpy / sizeof *known_axpy / AXPY_PARAMS,
};
