/*
 * extremes_f32.c: the greatest, the least and the greatest difference of floats: max_f32, min_f32, max_abs_diff_f32.
 *
 * The order does not matter: -0 is less than +0, and a NaN anywhere makes the result one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"
#include "ops/tree.h"

#include <math.h>
#include <svmx/ops.h>

enum { OUT, A, PARAMS, B = PARAMS, DIFF_PARAMS };

static const struct svmx_param params[DIFF_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
};

static enum svmx_status check_arrays(uint32_t inputs, const struct svmx_slot *slots, struct svmx__size *size,
                                     struct svmx__text *why) {
    uint64_t n;
    enum svmx_status status = svmx__items_expect(&params[OUT], &slots[OUT], 1, why);
    if (status == SVMX_OK) status = svmx__items_equal(&params[A], &slots[A], inputs, &n, why);
    if (status == SVMX_OK) *size = (struct svmx__size){.units = svmx__tree_blocks(n), .work = n};
    return status;
}

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check_arrays(1, slots, size, why);
}

static enum svmx_status check_diff(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check_arrays(2, slots, size, why);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(float);
    return svmx__items_shape(&params[A], 1, size, &bytes[A]);
}

static enum svmx_status shape_diff(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(float);
    return svmx__items_shape(&params[A], 2, size, &bytes[A]);
}

static float larger(float a, float b) {
    if (a != a || b != b) return NAN;
    if (a == b) return signbit(a) ? b : a;
    return a > b ? a : b;
}

static float smaller(float a, float b) { return -larger(-a, -b); }

static void greatest(const struct svmx_slot *slots) {
    float best = -INFINITY;
    for (uint64_t i = 0; i < slots[A].bytes / sizeof best; i++) best = larger(best, svmx__load_f32(&slots[A], i));
    svmx__store_f32(&slots[OUT], 0, best);
}

static void least(const struct svmx_slot *slots) {
    float best = INFINITY;
    for (uint64_t i = 0; i < slots[A].bytes / sizeof best; i++) best = smaller(best, svmx__load_f32(&slots[A], i));
    svmx__store_f32(&slots[OUT], 0, best);
}

static void greatest_difference(const struct svmx_slot *slots) {
    float best = 0.0f;
    for (uint64_t i = 0; i < slots[A].bytes / sizeof best; i++)
        best = larger(best, fabsf(svmx__load_f32(&slots[A], i) - svmx__load_f32(&slots[B], i)));
    svmx__store_f32(&slots[OUT], 0, best);
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* Arbitrary numbers, and others near them. */
enum { N = 133 };

static const uint32_t a[N] = {
    0x44158ec4, 0xc3ae1807, 0xc401c0d4, 0x44214727, 0xc44077ff, 0xc23e1b16, 0x42e79434, 0x435eaa88, 0xc43143a7,
    0x4382a68d, 0x3f9ea9ad, 0x442f8f36, 0xc46bd30a, 0x44649685, 0xc423a8fb, 0x441cad79, 0x416a13a5, 0x4427d8ca,
    0xc41e9020, 0xc3b2848a, 0xc44e68a9, 0x440b5c0e, 0x4287df81, 0xc4138309, 0xc41a27f2, 0xc4518688, 0xc415ef1c,
    0x42f06aaf, 0xc2f96fa4, 0x43cc42cf, 0xc453d9c1, 0x4429be52, 0x44710aca, 0x43efb2d8, 0x43f32234, 0x442edf45,
    0xc44a89b6, 0xc29b0bd8, 0xc452559e, 0x440cc8bd, 0x4297e52d, 0xc444c300, 0xc2dcf786, 0x440a6bbf, 0x42d0374e,
    0xc43d428e, 0x445a6d29, 0xc45dcd9a, 0x442b8d84, 0x446d027d, 0x43fb0ee5, 0x445eeef6, 0x4277bf58, 0xc40c6b9f,
    0xc25db060, 0x43ee2644, 0x44064162, 0xc3675812, 0x445f9f01, 0xc4687396, 0xc1060171, 0xc4664579, 0xc38df2c4,
    0x4474a676, 0xc43f0d18, 0x4472d047, 0x444a8f28, 0x43bc4607, 0xc45e059f, 0xc263dd4d, 0x43bff491, 0xc44a677c,
    0xc3c9c3d3, 0xc44c1668, 0x442bc0bf, 0x444fa13f, 0x4453d4e3, 0x43fac29d, 0x43172ab0, 0xc45ae6a0, 0xc2149d22,
    0x44025075, 0x43fff91a, 0xc46ca2ed, 0xc475e562, 0xc44deaac, 0x44542ba0, 0xc44145ae, 0xc35b7b97, 0xc240ca6a,
    0x443fe109, 0xc4363007, 0xc3ee78e4, 0x4407f6d5, 0xc44f053d, 0xc427e029, 0xc46d73e8, 0x4465208d, 0xc4055384,
    0x40417da3, 0xc371abbc, 0x4470c5bd, 0x43d40d34, 0x434a3753, 0xc1a7ac7c, 0xc3e831c8, 0x44299acf, 0xc44678df,
    0x43739247, 0xc3ccf50d, 0xc3dfbe39, 0xc2b90ca1, 0xc41b713a, 0x4337ac1e, 0xc4569ffb, 0xc4709819, 0xc4335632,
    0xc44d0793, 0x443d1f55, 0x41a65156, 0x43b2bc36, 0x440b86b0, 0xc427536a, 0x4461ac48, 0xc3676515, 0xc29f0030,
    0xc1bae26c, 0x43c34606, 0x440630d3, 0xc41900bc, 0x442426ed, 0xc30fc6f7, 0xc3f8f71e,
};

static const uint32_t b[N] = {
    0x4415bd65, 0xc3adb8cb, 0xc4019301, 0x4421308f, 0xc4404305, 0xc23be61b, 0x42e975a6, 0x435f2d04, 0xc43103ae,
    0x4382a0f0, 0x3fde7822, 0x442fb334, 0xc46bcfea, 0x44649713, 0xc423b5ba, 0x441cdca5, 0x41663091, 0x4427f859,
    0xc41e8835, 0xc3b24f91, 0xc44e8116, 0x440b2627, 0x428892d8, 0xc413b078, 0xc41a39ec, 0xc451627e, 0xc41628d6,
    0x42f20f92, 0xc2f914a5, 0x43cc526f, 0xc453c316, 0x4429859d, 0x4470cd9f, 0x43efeb4f, 0x43f3385a, 0x442ef11f,
    0xc44a6058, 0xc29bf667, 0xc4528104, 0x440d04c3, 0x4296231b, 0xc444c0ff, 0xc2dc7895, 0x440aa600, 0x42ce9008,
    0xc43d28a7, 0x445a373f, 0xc45dd384, 0x442b9ce6, 0x446d2f24, 0x43fa9af8, 0x445f0ec4, 0x4274f02d, 0xc40c77d2,
    0xc259d6db, 0x43ee7ffd, 0x44060b33, 0xc36855ba, 0x445f6308, 0xc4684fa3, 0xc114c743, 0xc4662100, 0xc38da413,
    0x4474cf1d, 0xc43ed533, 0x4472e153, 0x444ab8c1, 0x43bc5100, 0xc45df00f, 0xc2674e87, 0x43c00188, 0xc44a28b9,
    0xc3c9e076, 0xc44bfaeb, 0x442b9793, 0x444f9ee5, 0x4453da33, 0x43fb0797, 0x4316cfcb, 0xc45aea9f, 0xc217183d,
    0x44025a5e, 0x440034d8, 0xc46cb16f, 0xc475d0fd, 0xc44de369, 0x445404aa, 0xc4412c8b, 0xc35c0f33, 0xc23fe133,
    0x44402047, 0xc43648c5, 0xc3ee4db9, 0x4407e24c, 0xc44ef2c6, 0xc42807ac, 0xc46d73d2, 0x44654506, 0xc405783a,
    0x402ee24e, 0xc3723829, 0x447099fa, 0x43d438c4, 0x434ae0f4, 0xc1a73ebb, 0xc3e83f5c, 0x44298186, 0xc4469a3d,
    0x437474c5, 0xc3ccfa35, 0xc3df8fb1, 0xc2b9eedf, 0xc41b9b13, 0x4336b0d6, 0xc456ba1c, 0xc470a276, 0xc4335379,
    0xc44cf8a2, 0x443d37d0, 0x41ac57b6, 0x43b30984, 0x440b9ea1, 0xc4272c67, 0x4461b1a3, 0xc367730a, 0xc29d5706,
    0xc1b49627, 0x43c328d3, 0x44065fd8, 0xc41909bf, 0x44244726, 0xc310ba95, 0xc3f8dedf,
};

/* Zeros; infinities and what is next to them; denormals; NaNs. */
static const uint32_t odd[] = {
    0x80000000, 0x80000000, 0x00000000, 0x80000000, 0xff800000, 0xff7fffff, 0x7f7fffff, 0x7f800000, 0x00000001,
    0x80000001, 0x80000000, 0x3f800000, 0xffc12345, 0x3f800000, 0xbf800000, 0xbf800001, 0x7f812345,
};

/* Three blocks, the last short, with what counts at their ends. */
static const uint32_t far[8195] = {[0] = 0xc0000000,    [63] = 0x41200000,   [4095] = 0x41200001, [4096] = 0xc1200000,
                                   [4099] = 0x41200002, [8192] = 0xc1200001, [8194] = 0x80000000};

static const uint32_t most[] = {
    0x4474a676, 0x44710aca, 0x44649685, 0x44158ec4, 0x43efb2d8, 0xff800000, 0x80000000,
    0x00000000, 0x00000000, 0xff7fffff, 0x7f800000, 0x00000001, 0x7fc00000, 0xbf800000,
    0x7fc00000, 0x41200002, 0x41200002, 0x41200001, 0x41200000,
};

static const uint32_t least_of_all[] = {
    0xc475e562, 0xc46bd30a, 0xc46bd30a, 0xc401c0d4, 0x43efb2d8, 0x7f800000, 0x80000000,
    0x80000000, 0x80000000, 0xff800000, 0xff800000, 0x80000001, 0x7fc00000, 0xbf800001,
    0x7fc00000, 0xc1200001, 0xc1200000, 0xc0000000, 0xc0000000,
};

static const uint32_t differences[] = {
    0x3f7fe400, 0x3f7fe400, 0x44e8350e, 0x3ee1dc00, 0x00000000, 0x00000000, 0x7f800000, 0x7fc00000,
    0x7f800000, 0x00000002, 0x7fc00000, 0x34000000, 0x41a00000, 0x41a00000, 0x40000000,
};

/* clang-format off */
static const struct svmx__known known_max[] = {
    {&most[0], 4}, {a, sizeof a},
    {&most[1], 4}, {a + 1, 4 * 47},
    {&most[2], 4}, {a + 5, 4 * 16},
    {&most[3], 4}, {a, 4 * 3},
    {&most[4], 4}, {a + 33, 4},
    {&most[5], 4}, {NULL, 0},
    {&most[6], 4}, {odd, 8},
    {&most[7], 4}, {odd, 16},
    {&most[8], 4}, {odd + 1, 8},
    {&most[9], 4}, {odd + 4, 8},
    {&most[10], 4}, {odd + 4, 16},
    {&most[11], 4}, {odd + 8, 12},
    {&most[12], 4}, {odd + 11, 12},
    {&most[13], 4}, {odd + 14, 8},
    {&most[14], 4}, {odd + 16, 4},
    {&most[15], 4}, {far, sizeof far},
    {&most[16], 4}, {far, 4 * 8192},
    {&most[17], 4}, {far, 4 * 4096},
    {&most[18], 4}, {far, 4 * 4095},
};

static const struct svmx__known known_min[] = {
    {&least_of_all[0], 4}, {a, sizeof a},
    {&least_of_all[1], 4}, {a + 1, 4 * 47},
    {&least_of_all[2], 4}, {a + 5, 4 * 16},
    {&least_of_all[3], 4}, {a, 4 * 3},
    {&least_of_all[4], 4}, {a + 33, 4},
    {&least_of_all[5], 4}, {NULL, 0},
    {&least_of_all[6], 4}, {odd, 8},
    {&least_of_all[7], 4}, {odd, 16},
    {&least_of_all[8], 4}, {odd + 1, 8},
    {&least_of_all[9], 4}, {odd + 4, 8},
    {&least_of_all[10], 4}, {odd + 4, 16},
    {&least_of_all[11], 4}, {odd + 8, 12},
    {&least_of_all[12], 4}, {odd + 11, 12},
    {&least_of_all[13], 4}, {odd + 14, 8},
    {&least_of_all[14], 4}, {odd + 16, 4},
    {&least_of_all[15], 4}, {far, sizeof far},
    {&least_of_all[16], 4}, {far, 4 * 8192},
    {&least_of_all[17], 4}, {far, 4 * 4096},
    {&least_of_all[18], 4}, {far, 4 * 4095},
};

static const struct svmx__known known_diff[] = {
    {&differences[0], 4}, {a, sizeof a}, {b, sizeof b},
    {&differences[1], 4}, {a + 1, 4 * 47}, {b + 1, 4 * 47},
    {&differences[2], 4}, {a + 5, 4 * 16}, {b + 6, 4 * 16},
    {&differences[3], 4}, {a + 33, 4}, {b + 33, 4},
    {&differences[4], 4}, {NULL, 0}, {NULL, 0},
    {&differences[5], 4}, {odd, 12}, {odd + 1, 12},
    {&differences[6], 4}, {odd + 4, 4}, {odd + 7, 4},
    {&differences[7], 4}, {odd + 4, 4}, {odd + 4, 4},
    {&differences[8], 4}, {odd + 5, 4}, {odd + 6, 4},
    {&differences[9], 4}, {odd + 8, 8}, {odd + 9, 8},
    {&differences[10], 4}, {odd + 11, 12}, {odd + 9, 12},
    {&differences[11], 4}, {odd + 14, 4}, {odd + 15, 4},
    {&differences[12], 4}, {far, 4 * 8194}, {far + 1, 4 * 8194},
    {&differences[13], 4}, {far, 4 * 4096}, {far + 1, 4 * 4096},
    {&differences[14], 4}, {far, 4 * 62}, {far + 1, 4 * 62},
};
/* clang-format on */

const struct svmx__op svmx__op_max_f32 = {
    .name = "max_f32",
    .summary = "out = the greatest of a",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MAX_F32,
    .param_count = PARAMS,
    .scratch_bytes_per_unit = sizeof(float),
    .check = check,
    .reference = greatest,
    .shape = shape,
    .known = known_max,
    .known_count = sizeof known_max / sizeof *known_max / PARAMS,
};

const struct svmx__op svmx__op_min_f32 = {
    .name = "min_f32",
    .summary = "out = the least of a",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MIN_F32,
    .param_count = PARAMS,
    .scratch_bytes_per_unit = sizeof(float),
    .check = check,
    .reference = least,
    .shape = shape,
    .known = known_min,
    .known_count = sizeof known_min / sizeof *known_min / PARAMS,
};

const struct svmx__op svmx__op_max_abs_diff_f32 = {
    .name = "max_abs_diff_f32",
    .summary = "out = the greatest |a[i] - b[i]|",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MAX_ABS_DIFF_F32,
    .param_count = DIFF_PARAMS,
    .scratch_bytes_per_unit = sizeof(float),
    .check = check_diff,
    .reference = greatest_difference,
    .shape = shape_diff,
    .known = known_diff,
    .known_count = sizeof known_diff / sizeof *known_diff / DIFF_PARAMS,
};
