/*
 * vec_f32.c: vectors of floats, element by element: vec_add_f32, vec_sub_f32, vec_mul_f32, axpy_f32.
 *
 * Each sum, difference and product is rounded once, to nearest even; a NaN is written as 0x7fc00000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/elements.h"

#include <svmx/ops.h>

enum { OUT, A, B, PARAMS };
enum { X = A, Y, ALPHA, AXPY_PARAMS };

static const struct svmx_param params[PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
};

static const struct svmx_param axpy_params[AXPY_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"x", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"y", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"alpha", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1},
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
    bytes[ALPHA] = UINT32_C(0x3f333333); /* 0.7 */
    return svmx__items_shape(axpy_params, AXPY_PARAMS, size, bytes);
}

static void add(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(float);
    for (uint64_t i = 0; i < n; i++)
        svmx__store_f32(&slots[OUT], i, svmx__load_f32(&slots[A], i) + svmx__load_f32(&slots[B], i));
}

static void subtract(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(float);
    for (uint64_t i = 0; i < n; i++)
        svmx__store_f32(&slots[OUT], i, svmx__load_f32(&slots[A], i) - svmx__load_f32(&slots[B], i));
}

static void multiply(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(float);
    for (uint64_t i = 0; i < n; i++)
        svmx__store_f32(&slots[OUT], i, svmx__load_f32(&slots[A], i) * svmx__load_f32(&slots[B], i));
}

static void axpy(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(float);
    const float alpha = svmx__scalar_f32(&slots[ALPHA]);
    for (uint64_t i = 0; i < n; i++) {
        const float product = alpha * svmx__load_f32(&slots[X], i);
        svmx__store_f32(&slots[OUT], i, product + svmx__load_f32(&slots[Y], i));
    }
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/*
 * First what goes wrong elsewhere: NaNs with a payload, quiet and signalling; infinities; signed zeros; overflow and
 * the last number before it; denormals in and out; ties. Then arbitrary numbers, so that a wrong lane shows. Results
 * are from Python: sums and products in double precision, good enough that rounding them to float is the only rounding.
 */
enum { N = 70 };

static const uint32_t a[N] = {
    0x7fc12345, 0x3f800000, 0xffc00001, 0x7f800000, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x80000000,
    0x7f7fffff, 0x7f7fffff, 0x7f7fffff, 0x00000001, 0x00000003, 0x00800000, 0x007fffff, 0x3f800000, 0x3f800001,
    0x3f800000, 0x3f800001, 0x00000000, 0x80000000, 0x00000001, 0x00000003, 0x00800000, 0x0d800000, 0x8d800000,
    0x00000001, 0x007fffff, 0x7f7fffff, 0xff800000, 0x00800000, 0xbfc670a6, 0xbec929fb, 0xbf107856, 0xc0cbab50,
    0xc0cc6805, 0x4046e675, 0x3e84d71d, 0xbed0d80c, 0x3e25b478, 0x3f8c4e19, 0xc156f164, 0x4028fe48, 0xbfb9c5f2,
    0xc0fb12f2, 0x41315fe0, 0xbfe75ab6, 0xbe3b3b02, 0x3e2c274e, 0xbfdd7074, 0xc0ed5072, 0xc143603a, 0x40de8e44,
    0x3fc68d7b, 0xbeeb7873, 0x3f9d13e6, 0x3fea0cfc, 0xc0018c7d, 0x417f8762, 0xbfd7bcfd, 0x3ea1e095, 0x3e313722,
    0xbe4d8f5a, 0x3eabd02a, 0xbeb4dc1d, 0x400e43ca, 0x3e973364, 0xbf9b50d8, 0x3edba16d,
};

static const uint32_t b[N] = {
    0x3f800000, 0x7f812345, 0x7fd55555, 0xff800000, 0x7f800000, 0x3f800000, 0x80000000, 0x80000000, 0x00000000,
    0x7f7fffff, 0x73000000, 0x72ffffff, 0x00000001, 0x80000002, 0x80000001, 0x00000001, 0x33800000, 0x33800000,
    0x33800001, 0x3f800001, 0x7f800000, 0x40a00000, 0x3f000000, 0x3f000000, 0x3f000000, 0x0d800000, 0x0d800000,
    0x7f000000, 0x3f800001, 0x3f800001, 0x80000000, 0x3f7fffff, 0xbf8f6a06, 0xbe969c6f, 0xbf030416, 0xc0b86db8,
    0x41058042, 0x3e8c3f40, 0x3ea142d1, 0x402075b0, 0xbea6f81f, 0xc041bd06, 0x3f9a9f40, 0xc0d2e3dd, 0xc09eefab,
    0x3fce0084, 0x3fe16067, 0x3f2be46f, 0x40ff3313, 0x3ebdd7d3, 0xc01b98b6, 0xc16b032b, 0xbf1e1bae, 0xc0c6bfe8,
    0xc067ee10, 0x3fa0c233, 0x402f697e, 0x411b5fdb, 0x40898ed6, 0xbfe58ddb, 0xbf826388, 0xc0cb9fc1, 0xbe2a1994,
    0x3e5bc68f, 0xbedfe56a, 0xc0324695, 0x40031169, 0x3f1fa639, 0x3e997b6e, 0x3e29e3a6,
};

static const uint32_t sums[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000000,
    0x7f800000, 0x7f800000, 0x7f7fffff, 0x00000002, 0x00000001, 0x007fffff, 0x00800000, 0x3f800000, 0x3f800002,
    0x3f800001, 0x40000001, 0x7f800000, 0x40a00000, 0x3f000000, 0x3f000000, 0x3f000000, 0x0e000000, 0x00000000,
    0x7f000000, 0x3f800001, 0x7f7fffff, 0xff800000, 0x3f7fffff, 0xc02aed56, 0xbf2fe335, 0xbf89be36, 0xc1420c84,
    0x3ffa61fc, 0x40586e5d, 0x3f130cf7, 0x40065aae, 0xbe283bc6, 0xbff72bf3, 0xc1439d7c, 0xc07cc972, 0xc0cd6128,
    0xc0c792d1, 0x414d8bed, 0xbf91687e, 0x40f9593b, 0x3f09f5bd, 0xc0852878, 0xc1b0d5b2, 0xc14d41f5, 0x3f3e72e0,
    0xc004a752, 0x3f4bc82c, 0x407df371, 0x4138a17a, 0x4011912f, 0x4162d5a7, 0xc02d1042, 0xc0c181b8, 0x3be3b1c0,
    0x3c637350, 0xbdd05500, 0xc048e219, 0x4088aa9a, 0x3f6b3feb, 0xbf69e3f9, 0x3f1849a0,
};

static const uint32_t differences[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x7fc00000, 0xff800000, 0x00000000, 0x00000000, 0x80000000,
    0x00000000, 0x7f7ffffe, 0x7f7fffff, 0x00000000, 0x00000005, 0x00800001, 0x007ffffe, 0x3f7fffff, 0x3f800000,
    0x3f7fffff, 0x00000000, 0xff800000, 0xc0a00000, 0xbf000000, 0xbf000000, 0xbf000000, 0x00000000, 0x8e000000,
    0xff000000, 0xbf800001, 0x7f7fffff, 0xff800000, 0xbf7fffff, 0xbedc1a80, 0xbdca3630, 0xbd574400, 0xbf19ecc0,
    0xc16bb444, 0x40355e8d, 0xbd635da0, 0xc03a90b2, 0x3ef9d25b, 0x4083f209, 0xc16a454c, 0x4113b180, 0x4060fc5d,
    0xc117498a, 0x411533d3, 0xc01ea677, 0xc1028676, 0xbe4f8858, 0x3f3381f0, 0x40e8b5e4, 0xc1397e7f, 0x4152a716,
    0x40a59a67, 0xbfdba050, 0xbfc1bf16, 0xc0fc3c77, 0xc0ca5514, 0x418e1c8f, 0xbf2ab2ea, 0x40d5bdca, 0x3eada85b,
    0xbed4aaf4, 0x3f45daca, 0x401bab11, 0x3e332610, 0xbea8190e, 0xbfc1afb4, 0x3e86af9a,
};

static const uint32_t products[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0xff800000, 0x7f800000, 0xff800000, 0x80000000, 0x00000000, 0x80000000,
    0x7f800000, 0x7f800000, 0x7f800000, 0x00000000, 0x80000000, 0x80000000, 0x00000000, 0x33800000, 0x33800001,
    0x33800001, 0x3f800002, 0x7fc00000, 0x80000000, 0x00000000, 0x00000002, 0x00400000, 0x00000000, 0x80000000,
    0x34800000, 0x00800000, 0x7f800000, 0x7fc00000, 0x00800000, 0x3fde5638, 0x3decb30c, 0x3e93dfc5, 0x4212ba6c,
    0xc25530e7, 0x3f59ee59, 0x3da75bea, 0xbf82e70a, 0xbd582741, 0xc0545cf4, 0xc181d2ec, 0xc18b3702, 0x40e6ac2f,
    0xc14a09c0, 0x419c280f, 0xbf9b5809, 0xbfbaa522, 0x3d7f544f, 0x4086972e, 0x42d9dbc8, 0x40f15507, 0xc22cc8de,
    0xc0b3e24e, 0xbf13dde8, 0x405742a9, 0x418e0d80, 0xc10b38ee, 0xc1e521b3, 0x3fdbc3b2, 0xc000c21b, 0xbceb80a3,
    0xbd307912, 0xbe16444d, 0x3f7be5d3, 0x4091acba, 0x3e3c9630, 0xbeba3c67, 0x3d91c0e0,
};

/* alpha = -0.7, and others on a[3] to a[15]. 13 of the first differ where multiply and add are fused. */
static const uint32_t scaled[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0xff800000, 0x7fc00000, 0x7f800000, 0x80000000, 0x00000000, 0x00000000,
    0x7e99999a, 0xff333332, 0xff333332, 0x00000000, 0x80000004, 0x8059999b, 0x80599998, 0xbf333332, 0xbf333333,
    0xbf333332, 0x3e99999c, 0x7f800000, 0x40a00000, 0x3f000000, 0x3f000000, 0x3f000000, 0x0c99999a, 0x0dd9999a,
    0x7f000000, 0x3f800001, 0xff333332, 0x7f800000, 0x3f7fffff, 0xbd103240, 0xbc9cbd90, 0xbdef1868, 0xbfa770cc,
    0x414d0b10, 0xbff36606, 0x3e088bad, 0x4032bbcb, 0xbee0f749, 0xc072d85c, 0x4129c9ae, 0xc10704d5, 0xc07cda0e,
    0x40e34097, 0xc0bffaec, 0x3ff7e4ea, 0x4101a5c8, 0x3e8196de, 0xbf9c2f81, 0xc117f3d0, 0x40fdc342, 0xc13144f2,
    0xc096b631, 0x3fc9f747, 0x3ff0dea8, 0x4106e51f, 0x40b6e668, 0xc14f907f, 0x3e250618, 0xc0d2b4c8, 0xbe931349,
    0x3eb5d574, 0xbf2c152a, 0xc0227352, 0x3efbdc78, 0x3ed57546, 0x3f931772, 0xbe0997f2,
};

static const uint32_t scaled_by_inf[] = {
    0x7fc00000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000,
    0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000,
};

static const uint32_t scaled_by_zero[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x80000000, 0x00000000, 0x00000000, 0x7f7fffff,
    0x73000000, 0x72ffffff, 0x00000001, 0x80000002, 0x80000001, 0x00000001,
};

static const uint32_t scaled_by_nan[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000,
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000,
};

static const uint32_t alphas[] = {0xbf333333, 0x7f800000, 0x80000000, 0xffc00123};

/* All; a part that starts off the alignment of vectors; the odd ones as the rest of vectors of 16, 8, 4; one; none. */
/* clang-format off */
static const struct svmx__known known_add[] = {
    {sums, sizeof sums}, {a, sizeof a},   {b, sizeof b},
    {sums + 1, 4 * 47},  {a + 1, 4 * 47}, {b + 1, 4 * 47},
    {sums, 4 * 15},      {a, 4 * 15},     {b, 4 * 15},
    {sums, 4 * 7},       {a, 4 * 7},      {b, 4 * 7},
    {sums, 4 * 3},       {a, 4 * 3},      {b, 4 * 3},
    {sums + 33, 4},      {a + 33, 4},     {b + 33, 4},
    {sums, 0},           {NULL, 0},       {NULL, 0},
};
/* clang-format on */

/* clang-format off */
static const struct svmx__known known_multiply[] = {
    {products, sizeof products}, {a, sizeof a},   {b, sizeof b},
    {products + 1, 4 * 47},      {a + 1, 4 * 47}, {b + 1, 4 * 47},
    {products, 4 * 15},          {a, 4 * 15},     {b, 4 * 15},
    {products, 4 * 7},           {a, 4 * 7},      {b, 4 * 7},
    {products, 4 * 3},           {a, 4 * 3},      {b, 4 * 3},
    {products + 33, 4},          {a + 33, 4},     {b + 33, 4},
    {products, 0},               {NULL, 0},       {NULL, 0},
};
/* clang-format on */

/* clang-format off */
static const struct svmx__known known_subtract[] = {
    {differences, sizeof differences}, {a, sizeof a},   {b, sizeof b},
    {differences + 1, 4 * 47},         {a + 1, 4 * 47}, {b + 1, 4 * 47},
    {differences, 4 * 15},             {a, 4 * 15},     {b, 4 * 15},
    {differences, 4 * 7},              {a, 4 * 7},      {b, 4 * 7},
    {differences, 4 * 3},              {a, 4 * 3},      {b, 4 * 3},
    {differences + 33, 4},             {a + 33, 4},     {b + 33, 4},
    {differences, 0},                  {NULL, 0},       {NULL, 0},
};

static const struct svmx__known known_axpy[] = {
    {scaled, sizeof scaled},  {a, sizeof a},   {b, sizeof b},   {&alphas[0], 4},
    {scaled + 1, 4 * 47},     {a + 1, 4 * 47}, {b + 1, 4 * 47}, {&alphas[0], 4},
    {scaled + 33, 4},         {a + 33, 4},     {b + 33, 4},     {&alphas[0], 4},
    {scaled, 0},              {NULL, 0},       {NULL, 0},       {&alphas[0], 4},
    {scaled_by_inf, 4 * 13},  {a + 3, 4 * 13}, {b + 3, 4 * 13}, {&alphas[1], 4},
    {scaled_by_zero, 4 * 13}, {a + 3, 4 * 13}, {b + 3, 4 * 13}, {&alphas[2], 4},
    {scaled_by_nan, 4 * 13},  {a + 3, 4 * 13}, {b + 3, 4 * 13}, {&alphas[3], 4},
};
/* clang-format on */

const struct svmx__op svmx__op_vec_add_f32 = {
    .name = "vec_add_f32",
    .summary = "out[i] = a[i] + b[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_VEC_ADD_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = add,
    .shape = shape,
    .known = known_add,
    .known_count = sizeof known_add / sizeof *known_add / PARAMS,
};

const struct svmx__op svmx__op_vec_mul_f32 = {
    .name = "vec_mul_f32",
    .summary = "out[i] = a[i] * b[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_VEC_MUL_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = multiply,
    .shape = shape,
    .known = known_multiply,
    .known_count = sizeof known_multiply / sizeof *known_multiply / PARAMS,
};

const struct svmx__op svmx__op_vec_sub_f32 = {
    .name = "vec_sub_f32",
    .summary = "out[i] = a[i] - b[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_VEC_SUB_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = subtract,
    .shape = shape,
    .known = known_subtract,
    .known_count = sizeof known_subtract / sizeof *known_subtract / PARAMS,
};

const struct svmx__op svmx__op_axpy_f32 = {
    .name = "axpy_f32",
    .summary = "out[i] = alpha * x[i] + y[i], both rounded",
    .unit = "element",
    .params = axpy_params,
    .id = SVMX_OP_AXPY_F32,
    .param_count = AXPY_PARAMS,
    .elementwise = true,
    .check = check_axpy,
    .reference = axpy,
    .shape = shape_axpy,
    .known = known_axpy,
    .known_count = sizeof known_axpy / sizeof *known_axpy / AXPY_PARAMS,
};
