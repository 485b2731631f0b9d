/*
 * rectify_f32.c: floats, element by element, with what is too small or too large cut: relu_f32, leaky_relu_f32, clip_f32.
 *
 * Comparisons are those of numbers: -0 is not less than +0. A NaN stays one and is written as 0x7fc00000.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/elements.h"

#include <svmx/ops.h>

enum { OUT, A, PARAMS, SLOPE = PARAMS, LEAKY_PARAMS, LOW = PARAMS, HIGH, CLIP_PARAMS };

static const struct svmx_param leaky_params[LEAKY_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"slope", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1},
};

static const struct svmx_param clip_params[CLIP_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"low", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1},
    {"high", SVMX_IN, SVMX_F32, SVMX_SCALAR, 0, 1},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__items_check(leaky_params, slots, PARAMS, size, why);
}

static enum svmx_status check_clip(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    const float low = svmx__scalar_f32(&slots[LOW]), high = svmx__scalar_f32(&slots[HIGH]);
    if (low <= high) return svmx__items_check(clip_params, slots, PARAMS, size, why);
    if (low != low || high != high)
        return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s is not a number: give an infinity where there is no limit",
                          low != low ? "low" : "high");
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "low = %g is greater than high = %g: swap them", (double)low,
                      (double)high);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    return svmx__items_shape(leaky_params, PARAMS, size, bytes);
}

static enum svmx_status shape_leaky(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[SLOPE] = UINT32_C(0x3c23d70a); /* 0.01 */
    return shape(size, bytes);
}

static enum svmx_status shape_clip(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[LOW] = UINT32_C(0xbf000000); /* -0.5, 0.75 */
    bytes[HIGH] = UINT32_C(0x3f400000);
    return shape(size, bytes);
}

static float rectified(float x) { return x > 0.0f || x != x ? x : 0.0f; }
static void relu(const struct svmx_slot *slots) { svmx__elements_map_f32(slots, rectified); }

static void leaky_relu(const struct svmx_slot *slots) {
    const float slope = svmx__scalar_f32(&slots[SLOPE]);
    for (uint64_t i = 0; i < slots[OUT].bytes / sizeof(float); i++) {
        const float x = svmx__load_f32(&slots[A], i);
        svmx__store_f32(&slots[OUT], i, x > 0.0f ? x : slope * x);
    }
}

static void clip(const struct svmx_slot *slots) {
    const float low = svmx__scalar_f32(&slots[LOW]), high = svmx__scalar_f32(&slots[HIGH]);
    for (uint64_t i = 0; i < slots[OUT].bytes / sizeof(float); i++) {
        const float x = svmx__load_f32(&slots[A], i);
        svmx__store_f32(&slots[OUT], i, x < low ? low : x > high ? high : x);
    }
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* First NaNs, infinities, zeros and denormals of both signs, and what lies next to a limit; then arbitrary numbers, so
 * that a wrong lane shows. Results from a model in Python with exact fractions, rounded by hand. */
enum { N = 70 };

static const uint32_t a[N] = {
    0x7fc12345, 0xffc00001, 0x7f812345, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x80000003, 0xbf000000,
    0x3f000000, 0x40000000, 0x3f7fffff, 0x3f800001, 0xbe2f4bbf, 0xbe423a98, 0xc08539f9, 0xbf99db53, 0xbee413c8,
    0x3eb20fce, 0xbf8e7fb0, 0x4036c1b6, 0xc12896bd, 0x3f98856e, 0xc1641d1a, 0xc002a1e6, 0xbdfed7f4, 0x40896c86,
    0xbec861d1, 0x3ec28821, 0xbeb90843, 0x411733eb, 0xbe63fd58, 0x407fdee6, 0x415a0a0d, 0xc0d784cd, 0xc090eec6,
    0xbff06ed6, 0xc0e08658, 0x3e6cfbbf, 0xbef32599, 0x3ef751d7, 0x3e88c198, 0xbecda504, 0xc0ed2fe4, 0x3ec97b67,
    0x3fc8993e, 0x3ddc6447, 0x3d8319db, 0x3f35a931, 0x3edf36cb, 0x3e3d626d, 0xbe713b79, 0xbfe0fa32, 0xbf91f9e2,
    0xc01ec92a, 0xbe430566, 0x3eaa306b, 0xbe07e004, 0xbf94eeac, 0xbe57318d, 0x409ad458,
};

static const uint32_t rectified_a[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x00000000, 0x00000000, 0x00000000, 0x00000001, 0x00000000,
    0x00000000, 0x00800000, 0x00000000, 0x3f800000, 0x00000000, 0x7f7fffff, 0x00000000, 0x00000000, 0x00000000,
    0x3f000000, 0x40000000, 0x3f7fffff, 0x3f800001, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x3eb20fce, 0x00000000, 0x4036c1b6, 0x00000000, 0x3f98856e, 0x00000000, 0x00000000, 0x00000000, 0x40896c86,
    0x00000000, 0x3ec28821, 0x00000000, 0x411733eb, 0x00000000, 0x407fdee6, 0x415a0a0d, 0x00000000, 0x00000000,
    0x00000000, 0x00000000, 0x3e6cfbbf, 0x00000000, 0x3ef751d7, 0x3e88c198, 0x00000000, 0x00000000, 0x3ec97b67,
    0x3fc8993e, 0x3ddc6447, 0x3d8319db, 0x3f35a931, 0x3edf36cb, 0x3e3d626d, 0x00000000, 0x00000000, 0x00000000,
    0x00000000, 0x00000000, 0x3eaa306b, 0x00000000, 0x00000000, 0x00000000, 0x409ad458,
};

static const uint32_t leaky_a[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001, 0x80000000,
    0x800147ae, 0x00800000, 0x800147ae, 0x3f800000, 0xbc23d70a, 0x7f7fffff, 0xfc23d709, 0x80000000, 0xbba3d70a,
    0x3f000000, 0x40000000, 0x3f7fffff, 0x3f800001, 0xbae060f4, 0xbaf89ceb, 0xbd2a87a5, 0xbc44efc6, 0xbb91f82e,
    0x3eb20fce, 0xbc366600, 0x4036c1b6, 0xbdd7cb2f, 0x3f98856e, 0xbe11fe25, 0xbca735a1, 0xbaa31992, 0x40896c86,
    0xbb803e9a, 0x3ec28821, 0xbb6cd760, 0x411733eb, 0xbb11e9d2, 0x407fdee6, 0x415a0a0d, 0xbd89ee97, 0xbd39838d,
    0xbc99e089, 0xbd8fb224, 0x3e6cfbbf, 0xbb9b9d2e, 0x3ef751d7, 0x3e88c198, 0xbb839ccf, 0xbd97ccbb, 0x3ec97b67,
    0x3fc8993e, 0x3ddc6447, 0x3d8319db, 0x3f35a931, 0x3edf36cb, 0x3e3d626d, 0xbb1a6380, 0xbc8ffc49, 0xbc3ad973,
    0xbccb3eee, 0xbaf9a082, 0x3eaa306b, 0xbaadeb8a, 0xbc3ea224, 0xbb09b950, 0x409ad458,
};

static const uint32_t steep_a[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x7f800000, 0x80000000, 0x00000000, 0x00000001, 0x00000001,
    0x00599999, 0x00800000, 0x0059999a, 0x3f800000, 0x3f333333, 0x7f7fffff, 0x7f333332, 0x00000002, 0x3eb33333,
    0x3f000000, 0x40000000, 0x3f7fffff, 0x3f800001, 0x3df56a0b, 0x3e07f5d1, 0x403a845c, 0x3f576641, 0x3e9fa772,
    0x3eb20fce, 0x3f477f90, 0x4036c1b6, 0x40ec063c, 0x3f98856e, 0x411fadf8, 0x3fb6e2a8, 0x3db263f7, 0x40896c86,
    0x3e8c4479, 0x3ec28821, 0x3e8185c8, 0x411733eb, 0x3e1f97bd, 0x407fdee6, 0x415a0a0d, 0x4096dcf6, 0x404ae7e2,
    0x3fa84d96, 0x409d2ad7, 0x3e6cfbbf, 0x3eaa33eb, 0x3ef751d7, 0x3e88c198, 0x3e8ff383, 0x40a607ec, 0x3ec97b67,
    0x3fc8993e, 0x3ddc6447, 0x3d8319db, 0x3f35a931, 0x3edf36cb, 0x3e3d626d, 0x3e28dcd5, 0x3f9d7bf0, 0x3f4c5dd6,
    0x3fde4cd4, 0x3e0883c7, 0x3eaa306b, 0x3dbe399f, 0x3f508157, 0x3e16a2af, 0x409ad458,
};

/* Of the first 18. */
static const uint32_t leaky_by_inf[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00000, 0x00000001, 0xff800000,
    0xff800000, 0x00800000, 0xff800000, 0x3f800000, 0xff800000, 0x7f7fffff, 0xff800000, 0xff800000, 0xff800000,
};

static const uint32_t leaky_by_zero[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0x7fc00000, 0x00000000, 0x80000000, 0x00000001, 0x80000000,
    0x80000000, 0x00800000, 0x80000000, 0x3f800000, 0x80000000, 0x7f7fffff, 0x80000000, 0x80000000, 0x80000000,
};

static const uint32_t slopes[] = {0x3c23d70a, 0xbf333333, 0x7f800000, 0x00000000};

static const uint32_t clipped[N] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x3f7fffff, 0xbf000000, 0x00000000, 0x80000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x80800000, 0x3f7fffff, 0xbf000000, 0x3f7fffff, 0xbf000000, 0x80000003, 0xbf000000,
    0x3f000000, 0x3f7fffff, 0x3f7fffff, 0x3f7fffff, 0xbe2f4bbf, 0xbe423a98, 0xbf000000, 0xbf000000, 0xbee413c8,
    0x3eb20fce, 0xbf000000, 0x3f7fffff, 0xbf000000, 0x3f7fffff, 0xbf000000, 0xbf000000, 0xbdfed7f4, 0x3f7fffff,
    0xbec861d1, 0x3ec28821, 0xbeb90843, 0x3f7fffff, 0xbe63fd58, 0x3f7fffff, 0x3f7fffff, 0xbf000000, 0xbf000000,
    0xbf000000, 0xbf000000, 0x3e6cfbbf, 0xbef32599, 0x3ef751d7, 0x3e88c198, 0xbecda504, 0xbf000000, 0x3ec97b67,
    0x3f7fffff, 0x3ddc6447, 0x3d8319db, 0x3f35a931, 0x3edf36cb, 0x3e3d626d, 0xbe713b79, 0xbf000000, 0xbf000000,
    0xbf000000, 0xbe430566, 0x3eaa306b, 0xbe07e004, 0xbf000000, 0xbe57318d, 0x3f7fffff,
};

/* Of the first 18. */
static const uint32_t clipped_to_zero[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x00000000, 0x00000000, 0x00000000, 0x80000000, 0x00000000, 0x00000000,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
};

static const uint32_t clipped_by_inf[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7f800000, 0xff800000, 0x00000000, 0x80000000, 0x00000001, 0x80000001,
    0x807fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x80000003, 0xbf000000,
};

static const uint32_t clipped_near_zero[] = {
    0x7fc00000, 0x7fc00000, 0x7fc00000, 0x00000003, 0x80000000, 0x00000000, 0x80000000, 0x00000001, 0x80000000,
    0x80000000, 0x00000003, 0x80000000, 0x00000003, 0x80000000, 0x00000003, 0x80000000, 0x80000000, 0x80000000,
};

static const uint32_t limits[][2] = {
    {0xbf000000, 0x3f7fffff}, {0x00000000, 0x00000000}, {0xff800000, 0x7f800000}, {0x80000000, 0x00000003}};

/* All; a part that starts off the alignment of vectors; the odd ones as the rest of a vector; one; none. */
/* clang-format off */
static const struct svmx__known known_relu[] = {
    {rectified_a, sizeof rectified_a}, {a, sizeof a},
    {rectified_a + 1, 4 * 47}, {a + 1, 4 * 47},
    {rectified_a, 4 * 15}, {a, 4 * 15},
    {rectified_a + 33, 4}, {a + 33, 4},
    {rectified_a, 0}, {NULL, 0},
};

static const struct svmx__known known_leaky_relu[] = {
    {leaky_a, sizeof leaky_a}, {a, sizeof a}, {&slopes[0], 4},
    {leaky_a + 1, 4 * 47}, {a + 1, 4 * 47}, {&slopes[0], 4},
    {leaky_a, 4 * 15}, {a, 4 * 15}, {&slopes[0], 4},
    {leaky_a + 33, 4}, {a + 33, 4}, {&slopes[0], 4},
    {leaky_a, 0}, {NULL, 0}, {&slopes[0], 4},
    {steep_a, sizeof steep_a}, {a, sizeof a}, {&slopes[1], 4},
    {leaky_by_inf, 4 * 18}, {a, 4 * 18}, {&slopes[2], 4},
    {leaky_by_zero, 4 * 18}, {a, 4 * 18}, {&slopes[3], 4},
};

static const struct svmx__known known_clip[] = {
    {clipped, sizeof clipped}, {a, sizeof a}, {&limits[0][0], 4}, {&limits[0][1], 4},
    {clipped + 1, 4 * 47}, {a + 1, 4 * 47}, {&limits[0][0], 4}, {&limits[0][1], 4},
    {clipped, 4 * 15}, {a, 4 * 15}, {&limits[0][0], 4}, {&limits[0][1], 4},
    {clipped + 33, 4}, {a + 33, 4}, {&limits[0][0], 4}, {&limits[0][1], 4},
    {clipped, 0}, {NULL, 0}, {&limits[0][0], 4}, {&limits[0][1], 4},
    {clipped_to_zero, 4 * 18}, {a, 4 * 18}, {&limits[1][0], 4}, {&limits[1][1], 4},
    {clipped_by_inf, 4 * 18}, {a, 4 * 18}, {&limits[2][0], 4}, {&limits[2][1], 4},
    {clipped_near_zero, 4 * 18}, {a, 4 * 18}, {&limits[3][0], 4}, {&limits[3][1], 4},
};
/* clang-format on */

const struct svmx__op svmx__op_relu_f32 = {
    .name = "relu_f32",
    .summary = "out[i] = a[i] if a[i] > 0, else +0",
    .unit = "element",
    .params = leaky_params,
    .id = SVMX_OP_RELU_F32,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = relu,
    .shape = shape,
    .known = known_relu,
    .known_count = sizeof known_relu / sizeof *known_relu / PARAMS,
};

const struct svmx__op svmx__op_leaky_relu_f32 = {
    .name = "leaky_relu_f32",
    .summary = "out[i] = a[i] if a[i] > 0, else slope * a[i]",
    .unit = "element",
    .params = leaky_params,
    .id = SVMX_OP_LEAKY_RELU_F32,
    .param_count = LEAKY_PARAMS,
    .elementwise = true,
    .check = check,
    .reference = leaky_relu,
    .shape = shape_leaky,
    .known = known_leaky_relu,
    .known_count = sizeof known_leaky_relu / sizeof *known_leaky_relu / LEAKY_PARAMS,
};

const struct svmx__op svmx__op_clip_f32 = {
    .name = "clip_f32",
    .summary = "out[i] = a[i], but at least low and at most high",
    .unit = "element",
    .params = clip_params,
    .id = SVMX_OP_CLIP_F32,
    .param_count = CLIP_PARAMS,
    .elementwise = true,
    .check = check_clip,
    .reference = clip,
    .shape = shape_clip,
    .known = known_clip,
    .known_count = sizeof known_clip / sizeof *known_clip / CLIP_PARAMS,
};
