/*
 * exp_f32.c: floats, element by element, through the exponential: exp_f32, sigmoid_f32, tanh_f32, swish_f32, gelu_f32,
 * elu_f32.
 *
 * recipe_f32.h is the definition; here it meets slots, and known answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/elements.h"
#include "ops/recipe_f32.h"

#include <svmx/ops.h>

enum { OUT, A, PARAMS, ALPHA = PARAMS, ELU_PARAMS };

static const struct svmx_param params[ELU_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"alpha", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__items_check(params, slots, PARAMS, size, why);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    return svmx__items_shape(params, PARAMS, size, bytes);
}

static enum svmx_status shape_elu(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[ALPHA] = UINT32_C(0x3f800000); /* 1 */
    return shape(size, bytes);
}

static void exponential(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, svmx__exp_f32); }
static void sigmoid(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, svmx__sigmoid_f32); }
static void hyperbolic(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, svmx__tanh_f32); }
static void swish(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, svmx__swish_f32); }
static void gelu(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, svmx__gelu_f32); }

static void elu(const struct svmx_slot *slots) {
    const float alpha = svmx__scalar_f32(&slots[ALPHA]);
    for (uint64_t i = 0; i < slots[OUT].bytes / sizeof(float); i++) {
        const float x = svmx__load_f32(&slots[A], i);
        svmx__store_f32(&slots[OUT], i, x > 0.0f ? x : alpha * svmx__expm1_f32(x));
    }
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* First NaNs, infinities, zeros and denormals; the last numbers before overflow and underflow; where one piece of a recipe
 * ends and the next begins. Then arbitrary numbers, so that a wrong lane shows. Results from a model of the recipe in
 * Python with exact fractions, rounded by hand. */
enum { N = 80 };

static const uint32_t a[N] = {
    0x7fc12345, 0xffc00001, 0x7f812345, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x42b17217, 0x42b17218, 0x42b20000, 0x42b20001, 0xc2cff1b4, 0xc2cff1b5, 0xc2d00000,
    0xc2d00001, 0xc2aeac50, 0xc2aeac51, 0xc2c80000, 0x7f7fffff, 0xff7fffff, 0x3f300000, 0x3f2fffff, 0xbf300000,
    0x4110b000, 0x41200000, 0xc1200001, 0xc1a00000, 0xc1a00001, 0xc18aa123, 0xc2dc8000, 0xc2f00001, 0x3eb17218,
    0xbeb17218, 0xbeb17219, 0x33800000, 0xb3800001, 0xc1500000, 0xc1300001, 0xc0f8bdc7, 0x41067753, 0xc08a479c,
    0x40c0190e, 0x41164d3a, 0xc12e7c63, 0x4119f40d, 0x4088b857, 0xc03cfe74, 0x40b964da, 0x412d08a1, 0xc123d3a6,
    0x3cb541f2, 0x40b5dee2, 0x408f045f, 0x40b74c64, 0x3d8bb534, 0x3d2fdd4f, 0x3f3cb7a8, 0x3f241a9c, 0x3eee9e8c,
    0xbc805f11, 0xbc994e88, 0x3cf49585, 0x3f144f0d, 0x3e8de79d, 0xbde26fb1, 0xbf5131e6, 0x3e424217, 0xc05accd8,
    0x4075d277, 0x3ddf9c37, 0x3fdad3d3, 0xbe88fe25, 0x3d06aab4, 0x3ff836f3, 0xbf73666b, 0x3d7379e7,
};

static const uint32_t exponentials[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x00000000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000,
    0x3f800000, 0x3f800000, 0x7f7fff84, 0x7f800000, 0x7f800000, 0x7f800000, 0x00000001, 0x00000000, 0x00000000,
    0x00000000, 0x007fffe6, 0x007fffa6, 0x0000001b, 0x7f800000, 0x00000000, 0x3ffe8ef3, 0x3ffe8ef2, 0x3f00b992,
    0x46042b68, 0x46ac14ef, 0x383e6bc2, 0x310da433, 0x310da421, 0x32fffff7, 0x00000000, 0x00000000, 0x3fb504f3,
    0x3f3504f3, 0x3f3504f3, 0x3f800000, 0x3f7fffff, 0x3617b02a, 0x378c1a98, 0x39dca95e, 0x458b8bd6, 0x3c59a28d,
    0x43ca5510, 0x463bb943, 0x379a028d, 0x466bd9d2, 0x428f66d4, 0x3d55bc16, 0x43a416fd, 0x47424e16, 0x3815ea25,
    0x3f82dd1c, 0x4392fb65, 0x42ae969c, 0x4399b042, 0x3f890955, 0x3f859d8e, 0x4005c304, 0x3ff2fffe, 0x3fcbfe1a,
    0x3f7c0509, 0x3f7b40f3, 0x3f83e116, 0x3fe475c8, 0x3fa8e143, 0x3f653440, 0x3ee223ff, 0x3f9abd03, 0x3d062849,
    0x423a485b, 0x3f8ec464, 0x40b0daa8, 0x3f43e6dc, 0x3f84473e, 0x40de7f30, 0x3ec5db52, 0x3f87d6dd,
};

static const uint32_t sigmoids[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x3f800000, 0x00000000, 0x3f000000, 0x3f000000, 0x3f000000, 0x3f000000,
    0x3f000000, 0x3f000000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x00000001, 0x00000000, 0x00000000,
    0x00000000, 0x007fffe6, 0x007fffa6, 0x0000001b, 0x3f800000, 0x00000000, 0x3f2a5859, 0x3f2a5859, 0x3eab4f4f,
    0x3f7ff840, 0x3f7ffd06, 0x383e698b, 0x310da433, 0x310da421, 0x32fffff7, 0x00000000, 0x00000000, 0x3f15f619,
    0x3ed413cc, 0x3ed413cc, 0x3f000000, 0x3effffff, 0x3617b013, 0x378c19ff, 0x39dc9199, 0x3f7ff153, 0x3c56c82d,
    0x3f7f5e72, 0x3f7ffa8c, 0x379a01d4, 0x3f7ffba8, 0x3f7c7a8d, 0x3d4b2286, 0x3f7f38e9, 0x3f7ffeae, 0x3815e8c6,
    0x3f016a80, 0x3f7f21d1, 0x3f7d19c1, 0x3f7f2b7b, 0x3f045d3b, 0x3f02bf5a, 0x3f2d2722, 0x3f27ad31, 0x3f1d4c8b,
    0x3efdfe87, 0x3efd9aca, 0x3f01e922, 0x3f2412e8, 0x3f11a01a, 0x3ef1dcb5, 0x3e9cdbe7, 0x3f0c1ad8, 0x3d01e713,
    0x3f7a9e59, 0x3f06fb1b, 0x3f58c6c6, 0x3eddf466, 0x3f021a9e, 0x3f5fcf9d, 0x3e8eb566, 0x3f03cd9e,
};

static const uint32_t tangents[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x3f800000, 0xbf800000, 0x00000000, 0x80000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000, 0xbf800000, 0xbf800000, 0xbf800000,
    0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0x3f800000, 0xbf800000, 0x3f18abf0, 0x3f18abef, 0xbf18abf0,
    0x3f800000, 0x3f800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0x3eaaaaab,
    0xbeaaaaab, 0xbeaaaaab, 0x33800000, 0xb3800001, 0xbf800000, 0xbf800000, 0xbf7ffffa, 0x3f7ffffe, 0xbf7fe8e0,
    0x3f7fff33, 0x3f800000, 0xbf800000, 0x3f800000, 0x3f7fe682, 0xbf7e9c13, 0x3f7ffec8, 0x3f800000, 0xbf800000,
    0x3cb53a60, 0x3f7ffe7c, 0x3f7feecd, 0x3f7ffe9d, 0x3d8b7dd4, 0x3d2fc1aa, 0x3f209fb2, 0x3f10cb3d, 0x3edeb8fa,
    0xbc805c60, 0xbc9949f3, 0x3cf482ec, 0x3f05ad89, 0x3e8a6126, 0xbde184a2, 0xbf2c6c28, 0x3e3ff5fe, 0xbf7f738a,
    0x3f7fc398, 0x3ddeb9d2, 0x3f6fc4d4, 0xbe85d08a, 0x3d069e49, 0x3f759fbd, 0xbf3d7998, 0x3d733098,
};

static const uint32_t swishes[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x80000000, 0x00000000, 0x80000000, 0x00000000, 0x80000000,
    0x80400000, 0x00400000, 0x42b17217, 0x42b17218, 0x42b20000, 0x42b20001, 0x80000034, 0x80000034, 0x80000033,
    0x80000033, 0x83aeac2d, 0x83aeabd6, 0x80000a5f, 0x7f7fffff, 0x80000000, 0x3eea397a, 0x3eea3979, 0xbe6b8d0c,
    0x4110ab9f, 0x411ffe24, 0xb9ee03f0, 0xb3310d40, 0xb3310d2b, 0xb50aa11f, 0x80000000, 0x80000000, 0x3e4fe3fa,
    0xbe130035, 0xbe130036, 0x33000000, 0xb3000001, 0xb7f67e20, 0xb940a3c0, 0xbb565090, 0x41066f9e, 0xbd6807f9,
    0x40bf9fd4, 0x41164a06, 0xb951f024, 0x4119f170, 0x4086d6e9, 0xbe15f743, 0x40b8d4ac, 0x412d07bd, 0xb9bfde4d,
    0x3c374346, 0x40b5410a, 0x408d65b5, 0x40b6b43a, 0x3d1078a0, 0x3cb3a3ac, 0x3eff49eb, 0x3ed6f8c3, 0x3e929e95,
    0xbbfebb2b, 0xbc17df4f, 0x3c783c29, 0x3ebe1b31, 0x3e2171df, 0xbd55ee5d, 0xbe802e1a, 0x3dd4a106, 0xbdde0d6f,
    0x4070a796, 0x3d6bce36, 0x3fb94ca3, 0xbded8c5d, 0x3c88e160, 0x3fd9012a, 0xbe87af47, 0x3cfab5e0,
};

static const uint32_t gelus[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x80000000, 0x00000000, 0x80000000, 0x00000000, 0x80000000,
    0x80400000, 0x00400000, 0x42b17217, 0x42b17218, 0x42b20000, 0x42b20001, 0x80000000, 0x80000000, 0x80000000,
    0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x7f7fffff, 0x80000000, 0x3f04b60a, 0x3f04b60a, 0xbe2d27d7,
    0x4110b000, 0x41200000, 0x8223e3da, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x3e618b6f,
    0xbe0158c1, 0xbe0158c1, 0x33000001, 0xb3000001, 0x80000000, 0x80000000, 0x9fd1e773, 0x41067753, 0xb767c0ab,
    0x40c0190e, 0x41164d3a, 0x80000000, 0x4119f40d, 0x4088b832, 0xbb8a3522, 0x40b964da, 0x412d08a1, 0x8004d79e,
    0x3c387511, 0x40b5dee2, 0x408f0453, 0x40b74c64, 0x3d134e5a, 0x3cb5e329, 0x3f113331, 0x3ef29b2b, 0x3ea21d26,
    0xbbfd8861, 0xbc17048b, 0x3c7a68e0, 0x3ed532e9, 0x3e2ce2f0, 0xbd4e805d, 0xbe2d3c26, 0x3ddf7c42, 0xba5d2c64,
    0x4075d010, 0x3d730d36, 0x3fd14139, 0xbdd82ffc, 0x3c8a32e6, 0x3ff1b515, 0xbe267c52, 0x3cff045a,
};

static const uint32_t elus[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xbf800000, 0x00000000, 0x00000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x42b17217, 0x42b17218, 0x42b20000, 0x42b20001, 0xbf800000, 0xbf800000, 0xbf800000,
    0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0x7f7fffff, 0xbf800000, 0x3f300000, 0x3f2fffff, 0xbefe8cdc,
    0x4110b000, 0x41200000, 0xbf7ffd06, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0xbf800000, 0x3eb17218,
    0xbe95f619, 0xbe95f61a, 0x33800000, 0xb3800001, 0xbf7fffda, 0xbf7ffee8, 0xbf7fe46b, 0x41067753, 0xbf7c9976,
    0x40c0190e, 0x41164d3a, 0xbf7ffecc, 0x4119f40d, 0x4088b857, 0xbf72a43f, 0x40b964da, 0x412d08a1, 0xbf7ffda8,
    0x3cb541f2, 0x40b5dee2, 0x408f045f, 0x40b74c64, 0x3d8bb534, 0x3d2fdd4f, 0x3f3cb7a8, 0x3f241a9c, 0x3eee9e8c,
    0xbc7ebdd6, 0xbc97e194, 0x3cf49585, 0x3f144f0d, 0x3e8de79d, 0xbdd65e04, 0xbf0eee00, 0x3e424217, 0xbf779d7b,
    0x4075d277, 0x3ddf9c37, 0x3fdad3d3, 0xbe706491, 0x3d06aab4, 0x3ff836f3, 0xbf1d1257, 0x3d7379e7,
};

static const uint32_t elus_mirrored[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x3fa66666, 0x80000000, 0x80000000, 0x00000001, 0x00000001,
    0x00a66665, 0x00800000, 0x42b17217, 0x42b17218, 0x42b20000, 0x42b20001, 0x3fa66666, 0x3fa66666, 0x3fa66666,
    0x3fa66666, 0x3fa66666, 0x3fa66666, 0x3fa66666, 0x7f7fffff, 0x3fa66666, 0x3f300000, 0x3f2fffff, 0x3f257528,
    0x4110b000, 0x41200000, 0x3fa66477, 0x3fa66666, 0x3fa66666, 0x3fa66666, 0x3fa66666, 0x3fa66666, 0x3eb17218,
    0x3ec2f320, 0x3ec2f321, 0x33800000, 0x33a66667, 0x3fa6664d, 0x3fa665b0, 0x3fa65478, 0x41067753, 0x3fa4308c,
    0x40c0190e, 0x41164d3a, 0x3fa6659e, 0x4119f40d, 0x4088b857, 0x3f9db78f, 0x40b964da, 0x412d08a1, 0x3fa664e0,
    0x3cb541f2, 0x40b5dee2, 0x408f045f, 0x40b74c64, 0x3d8bb534, 0x3d2fdd4f, 0x3f3cb7a8, 0x3f241a9c, 0x3eee9e8c,
    0x3ca594fe, 0x3cc5720d, 0x3cf49585, 0x3f144f0d, 0x3e8de79d, 0x3e0b56b5, 0x3f39cf00, 0x3e424217, 0x3fa0f329,
    0x4075d277, 0x3ddf9c37, 0x3fdad3d3, 0x3e9c415e, 0x3d06aab4, 0x3ff836f3, 0x3f4c3171, 0x3d7379e7,
};

/* Of the first 11. */
static const uint32_t elus_by_inf[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0x7fc00000,
    0x7fc00000, 0x00000001, 0xff800000, 0xff800000, 0x00800000,
};

static const uint32_t alphas[] = {0x3f800000, 0xbfa66666, 0x7f800000};

/* All; a part that starts off the alignment of vectors; the odd ones as the rest of a vector; one; none. */
/* clang-format off */
static const struct svmx__known known_exp[] = {
    {exponentials, sizeof exponentials}, {a, sizeof a},
    {exponentials + 1, 4 * 47}, {a + 1, 4 * 47},
    {exponentials, 4 * 15}, {a, 4 * 15},
    {exponentials + 33, 4}, {a + 33, 4},
    {exponentials, 0}, {NULL, 0},
};

static const struct svmx__known known_sigmoid[] = {
    {sigmoids, sizeof sigmoids}, {a, sizeof a},
    {sigmoids + 1, 4 * 47}, {a + 1, 4 * 47},
    {sigmoids, 4 * 15}, {a, 4 * 15},
    {sigmoids + 33, 4}, {a + 33, 4},
    {sigmoids, 0}, {NULL, 0},
};

static const struct svmx__known known_tanh[] = {
    {tangents, sizeof tangents}, {a, sizeof a},
    {tangents + 1, 4 * 47}, {a + 1, 4 * 47},
    {tangents, 4 * 15}, {a, 4 * 15},
    {tangents + 33, 4}, {a + 33, 4},
    {tangents, 0}, {NULL, 0},
};

static const struct svmx__known known_swish[] = {
    {swishes, sizeof swishes}, {a, sizeof a},
    {swishes + 1, 4 * 47}, {a + 1, 4 * 47},
    {swishes, 4 * 15}, {a, 4 * 15},
    {swishes + 33, 4}, {a + 33, 4},
    {swishes, 0}, {NULL, 0},
};

static const struct svmx__known known_gelu[] = {
    {gelus, sizeof gelus}, {a, sizeof a},
    {gelus + 1, 4 * 47}, {a + 1, 4 * 47},
    {gelus, 4 * 15}, {a, 4 * 15},
    {gelus + 33, 4}, {a + 33, 4},
    {gelus, 0}, {NULL, 0},
};

static const struct svmx__known known_elu[] = {
    {elus, sizeof elus}, {a, sizeof a}, {&alphas[0], 4},
    {elus + 1, 4 * 47}, {a + 1, 4 * 47}, {&alphas[0], 4},
    {elus, 4 * 15}, {a, 4 * 15}, {&alphas[0], 4},
    {elus + 33, 4}, {a + 33, 4}, {&alphas[0], 4},
    {elus, 0}, {NULL, 0}, {&alphas[0], 4},
    {elus_mirrored, sizeof elus_mirrored}, {a, sizeof a}, {&alphas[1], 4},
    {elus_by_inf, 4 * 11}, {a, 4 * 11}, {&alphas[2], 4},
};
/* clang-format on */

const struct svmx__op svmx__op_exp_f32 = {
    .name = "exp_f32",
    .summary = "out[i] = e^a[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_EXP_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = exponential,
    .shape = shape,
    .known = known_exp,
    .known_count = sizeof known_exp / sizeof *known_exp / PARAMS,
};

const struct svmx__op svmx__op_sigmoid_f32 = {
    .name = "sigmoid_f32",
    .summary = "out[i] = 1 / (1 + e^-a[i])",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_SIGMOID_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = sigmoid,
    .shape = shape,
    .known = known_sigmoid,
    .known_count = sizeof known_sigmoid / sizeof *known_sigmoid / PARAMS,
};

const struct svmx__op svmx__op_tanh_f32 = {
    .name = "tanh_f32",
    .summary = "out[i] = tanh a[i]",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_TANH_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = hyperbolic,
    .shape = shape,
    .known = known_tanh,
    .known_count = sizeof known_tanh / sizeof *known_tanh / PARAMS,
};

const struct svmx__op svmx__op_swish_f32 = {
    .name = "swish_f32",
    .summary = "out[i] = a[i] / (1 + e^-a[i])",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_SWISH_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = swish,
    .shape = shape,
    .known = known_swish,
    .known_count = sizeof known_swish / sizeof *known_swish / PARAMS,
};

const struct svmx__op svmx__op_gelu_f32 = {
    .name = "gelu_f32",
    .summary = "out[i] = a[i] / 2 (1 + tanh(0.797885 (a[i] + 0.044715 a[i]^3)))",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_GELU_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = gelu,
    .shape = shape,
    .known = known_gelu,
    .known_count = sizeof known_gelu / sizeof *known_gelu / PARAMS,
};

const struct svmx__op svmx__op_elu_f32 = {
    .name = "elu_f32",
    .summary = "out[i] = a[i] if a[i] > 0, else alpha (e^a[i] - 1)",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_ELU_F32,
    .param_count = ELU_PARAMS,
    .elementwise = true,
    .check = check,
    .reference = elu,
    .shape = shape_elu,
    .known = known_elu,
    .known_count = sizeof known_elu / sizeof *known_elu / ELU_PARAMS,
};
