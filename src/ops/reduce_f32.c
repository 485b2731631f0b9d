/*
 * reduce_f32.c: sums of floats in one fixed order: sum_f32, dot_f32.
 *
 * The order (tree.h) is part of the definition, so that any width, thread count or work-group gives the same bits. A term
 * of dot_f32 is a product, rounded before it is added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"
#include "ops/tree.h"

#include <svmx/ops.h>

enum { LANES = 64 };
enum { OUT, A, B, SUM_PARAMS = 2, DOT_PARAMS = 3 };

static const struct svmx_param params[DOT_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1},
};

static float sum_term(const void *context, uint64_t i) {
    const struct svmx_slot *slots = context;
    return svmx__load_f32(&slots[A], i);
}

static float dot_term(const void *context, uint64_t i) {
    const struct svmx_slot *slots = context;
    return svmx__load_f32(&slots[A], i) * svmx__load_f32(&slots[B], i);
}

static void reduce(const struct svmx_slot *slots, svmx__term_f32_fn term) {
    svmx__store_f32(&slots[OUT], 0, svmx__tree_f32(term, slots, slots[A].bytes / sizeof(float)));
}

static void sum(const struct svmx_slot *slots) { reduce(slots, sum_term); }
static void dot(const struct svmx_slot *slots) { reduce(slots, dot_term); }

static enum svmx_status check(const struct svmx_slot *slots, uint32_t inputs, struct svmx__size *size,
                              struct svmx__text *why) {
    uint64_t n;
    enum svmx_status status = svmx__items_expect(&params[OUT], &slots[OUT], 1, why);
    if (status == SVMX_OK) status = svmx__items_equal(&params[A], &slots[A], inputs, &n, why);
    if (status != SVMX_OK) return status;
    *size = (struct svmx__size){.units = svmx__tree_blocks(n), .work = n};
    return SVMX_OK;
}

static enum svmx_status check_sum(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check(slots, 1, size, why);
}

static enum svmx_status check_dot(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check(slots, 2, size, why);
}

static enum svmx_status shape_sum(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(float);
    return svmx__items_shape(&params[A], 1, size, &bytes[A]);
}

static enum svmx_status shape_dot(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(float);
    return svmx__items_shape(&params[A], 2, size, &bytes[A]);
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/*
 * Three blocks, the last short, a line for every 64 elements; lines left out are zeros. dot_f32 takes them times
 * themselves, one further. The values were picked so that each of these gives another number in a row below: 1, 8, 16,
 * 32 or 128 lanes; folding neighbours, or one after another; blocks of 1024, 2048 or 8192; partials added one after
 * another; products that are not rounded. Results from a model in Python that rounds double to float after each step.
 */
static const uint32_t lines[130][LANES] = {
    [0] =
        {
            0x410d19d3, 0x437629e7, 0xc0246f38, 0x41d562b4, 0xbf2a4463, 0xc1b4dd40, 0xbe95a8dc, 0x3d610425,
            0x420f2c5a, 0x3b4d2d75, 0x407c26b5, 0xc45b80ee, 0xbca12920, 0x4304bbb9, 0x3cbfc41b, 0xc20acffc,
            0x446c229c, 0xc1571b00, 0xc06f385b, 0xbc97220a, 0x418abd10, 0xbd05c492, 0x3dde6bb8, 0x43fccefc,
            0x42c559b8, 0x3d42318b, 0x3eeb4325, 0x4406ff9e, 0x41536ec6, 0x43a9d0df, 0xbde02629, 0x42d3da3b,
            0x3dd0d3b1, 0xbee1a7db, 0x4047aa56, 0xbf2fe4f2, 0xbd844de8, 0x3d89e82b, 0xbf610ee4, 0x3bbd3255,
            0xc2ef44d7, 0x3db92f3f, 0x44614a00, 0xbc564e34, 0x43648de6, 0xc3c7a5c1, 0x3cbd627a, 0xbc42a83a,
            0x3b7078c9, 0x3c98981c, 0xbe510567, 0x42448b91, 0x3f93a97f, 0xbdef7cbd, 0xc32a7ab8, 0x40110df8,
            0xc22c599b, 0xbc076a85, 0xbd622585, 0x3ce4dcfc, 0xc29b471f, 0x3c8a938e, 0x3c7ad91b, 0x3b59e713,
        },
    [1] =
        {
            0xbb999bb6, 0x400ca054, 0x40348da5, 0x415e93f5, 0xbecabc7b, 0x40a221d9, 0xc1fd2d15, 0xc2df22d4,
            0x3bd62d02, 0x3dd0d723, 0xc3b490fd, 0x41867e80, 0x43860b61, 0xc206cfae, 0xbe8ca956, 0xc29d29b5,
            0xc1bd8df7, 0x43bdda64, 0xbdc8804d, 0x3ee834d4, 0x40e0a0c2, 0x3ca1d300, 0xc10219e9, 0xbb86ba32,
            0xc324096c, 0x422969be, 0xc1845fca, 0xc175ce04, 0x3f018b84, 0x3d5e7af6, 0xc443fce5, 0x3cbe8f60,
            0x41ffdadd, 0x4385dacd, 0xc377e28a, 0xc0a66701, 0x3c8ea109, 0x3b121e56, 0xc4382cb9, 0x3db96bf3,
            0x3ecdda91, 0x433819b5, 0xc00b4f49, 0x444150d3, 0xbf3b621e, 0xbc8b2d37, 0x3e21f3cd, 0x3d531407,
            0x40f897d6, 0xc2592846, 0x3eba362e, 0xc299d4d5, 0x413cfc56, 0x3f3d51ac, 0xbcd56d7d, 0xbd78aaef,
            0xc3bb8a13, 0x3d02984e, 0xbceafdfa, 0xc20c46db, 0xbfb6f921, 0xbf3ca9aa, 0xbbfb2710, 0x434684fc,
        },
    [63] =
        {
            0x3fe323b0, 0xc1489e46, 0xc1eaf15b, 0xbc54d092, 0xbb33308b, 0x43ea36cd, 0xbca3b805, 0xc08c9e16,
            0x3da04e4e, 0x4296154f, 0x4464ab88, 0xbf07d77f, 0x3b8470ac, 0x41a4c39d, 0x3f7ea6f7, 0x3cd40686,
            0x3d76f01a, 0x3d9e437e, 0x43fc5d92, 0x3b063017, 0xbfa90fce, 0x406e48a1, 0xc1222e65, 0xc19eb402,
            0x3ce05e06, 0x4079b982, 0xbe8b22ee, 0xbc6500c7, 0xbc3ee5f2, 0x43e66c9c, 0xc2833768, 0x431525eb,
            0x3ee08d96, 0xbf6f8def, 0x409a9648, 0xbca343da, 0xc144efe0, 0x3ba46844, 0xbe47c00e, 0x3d44ec50,
            0xbea12d44, 0x3b0816d4, 0xbee27836, 0xc16cd8b1, 0xbdb282ac, 0x43a732e1, 0xbf03da87, 0xbc62d0ea,
            0xbec68872, 0xbb94b5d3, 0xbcccc77e, 0xbca7a113, 0x3b3acf7f, 0x3b43c932, 0xc2f6b1d3, 0xc44555b0,
            0xbfc7bd21, 0x3f87a1aa, 0xc021d21c, 0xbda39e12, 0x3b69e99b, 0x4358d983, 0x3f043065, 0xbfbd8f06,
        },
    [64] =
        {
            0x3c23f20c, 0xbb1d323f, 0x3b5b97cd, 0xbfaa1daa, 0xbbc046ec, 0x403e7e5b, 0xbf8b5cc8, 0x411c5f16,
            0x404d7c68, 0x42ea94f2, 0xbd0ae052, 0x3eeec619, 0x42fc24c8, 0xbfcceb82, 0x3d2e24ad, 0xc3cdb55b,
            0x411662cc, 0x3cb67591, 0xbc422e2c, 0x415388af, 0x415d5825, 0xc1d45412, 0x4303feeb, 0xbf044b2e,
            0x3e9fdaf7, 0x3e1e9f37, 0x3f0dd9a7, 0xbf060f25, 0xbca1fb7b, 0x44009b69, 0xbf7d7b1a, 0x3f293d35,
            0xbd5761a4, 0x43ae0d82, 0x3c55cd51, 0x4259abf2, 0x42e7e0ce, 0x4340b8d8, 0x40459fab, 0x3b2e2bae,
            0xbc115723, 0x3e658c54, 0x3eca3433, 0xc1701b19, 0xc47f5e25, 0x3b3ac96e, 0x424096b7, 0xc2751e90,
            0x3b33d5ee, 0x3f789320, 0x3db3e008, 0xbe01fd31, 0xc0f166d3, 0xbfa834ad, 0x4452a2a2, 0xbf44c991,
            0x3d1d6998, 0xbbc02ee2, 0x438a4cd5, 0x441d622d, 0x3f71837c, 0xbc24074d, 0xbb5edc8a, 0x427e509f,
        },
    [127] =
        {
            0xbd809ac8, 0xbc81e628, 0xc1d7b4a6, 0xbdd33429, 0x440c2f79, 0x3ee8c0a3, 0xc06513c1, 0x3fb658a0,
            0x3f33b6cc, 0xc327037e, 0xbf73885c, 0x3cbe4262, 0xbde46bb1, 0xc44def38, 0x3fe0f669, 0xc27ce585,
            0x3d971480, 0x40210816, 0x41b42699, 0x3bc208e2, 0xbf5ac24e, 0x42430301, 0xc0d24b28, 0xbd2a649e,
            0x404e704d, 0x3e8f8ecf, 0x3b0df3c2, 0xbe43c259, 0x4111b386, 0xc1560c38, 0x3c54b453, 0xbb2ca9a9,
            0x430c45e1, 0xc157af4d, 0xbcde3cd0, 0xc29fe1df, 0xbf82f780, 0xc22d96a9, 0xc4376649, 0x43fbe95e,
            0xc0343ade, 0xc11cf7cc, 0xc351112f, 0x3de6ff7a, 0x3be1a4c9, 0xbea643dd, 0xbee6afbc, 0x3f1c00a6,
            0xc3f1ec58, 0xc3ca807f, 0x3cd79c1f, 0xc1dd40e9, 0xbc9bd22f, 0x3b87b8bf, 0xbc5d3507, 0xbdfbf92f,
            0xbdd57886, 0xc11972f4, 0xbf872638, 0x3fd4b173, 0xbf6a8053, 0xbee2c6e8, 0x427de9f9, 0xbf1343ab,
        },
    [128] =
        {
            0x3bf58339, 0xc3d1b495, 0x3d4dae4b, 0xc0f5dfc3, 0x3d63236a, 0xbd7d2ded, 0x3b6086ca, 0x4472741a,
            0xbdc689bb, 0xbf12431e, 0x42eb8c75, 0x42fcec9e, 0x413279da, 0x416399c5, 0x4070b50a, 0xc21f5698,
            0x3e32f995, 0x43fa444e, 0x3db02c31, 0x3ff565f1, 0x434b3e0f, 0x443ade67, 0x408f27b9, 0xbc822a91,
            0x3c539438, 0xc2ca918d, 0xc0ec870a, 0x420e47f7, 0xbce67f9d, 0xbf27e776, 0xc154d30f, 0x436e8fe4,
            0x3fd32672, 0x441198fa, 0x4268c772, 0xc1566c8f, 0x3d648ad9, 0xc0fd5385, 0xc461edd1, 0x3fac7341,
            0xbd695bab, 0x41ed3aab, 0xbc3bf3cd, 0xbee09bf0, 0x3d0efe65, 0x41514ec1, 0xc0a63676, 0x42f283ad,
            0xbbe28c6c, 0x41d7b357, 0xbb266afe, 0xbbd8d132, 0x3d34cbaa, 0x3ea0c64d, 0x3c0288fb, 0x42e01507,
            0x3eb07b90, 0x422ab251, 0xbf43ad24, 0xbbcead49, 0xbc301e5b, 0xc3b44999, 0x44207ea5, 0x40a9e22a,
        },
    [129] =
        {
            0xbdda4a4e,
            0x3ca630d8,
            0xbce4c56e,
            0x40f2fd80,
            0x3e966d3a,
            0xc2771358,
            0xbc392468,
            0xc2baae48,
            0x3e97221d,
            0x3d8a8136,
            0x3efdbefd,
            0xbd6af35d,
            0x3e698e2a,
        },
};
enum { ALL = 129 * LANES + 13 };

/* NaN with a payload; infinities; negative zeros; denormals; overflow. */
static const uint32_t odd[] = {0x7fc12345, 0x3f800000, 0x7f800000, 0xff800000, 0x80000000,
                               0x80000000, 0x00000001, 0x00000002, 0x7f7fffff, 0x7f7fffff};

static const uint32_t sums[] = {0x45c635e4, 0x455e5312, 0x455e52e9, 0x44b9eb7e, 0x45184afe, 0x45184b03, 0x410d19d3,
                                0x00000000, 0x7fc00000, 0x7fc00000, 0x00000000, 0x00000003, 0x7f800000};

/* clang-format off */
static const struct svmx__known known_sum[] = {
    {&sums[0], 4},  {lines, 4 * ALL},
    {&sums[1], 4},  {lines, 4 * 4097},
    {&sums[2], 4},  {lines, 4 * 4096},
    {&sums[3], 4},  {lines, 4 * 129},
    {&sums[4], 4},  {lines, 4 * 65},
    {&sums[5], 4},  {lines, 4 * 63},
    {&sums[6], 4},  {lines, 4},
    {&sums[7], 4},  {NULL, 0},
    {&sums[8], 4},  {&odd[0], 8},
    {&sums[9], 4},  {&odd[2], 8},
    {&sums[10], 4}, {&odd[4], 8},
    {&sums[11], 4}, {&odd[6], 8},
    {&sums[12], 4}, {&odd[8], 8},
};
/* clang-format on */

static const uint32_t dots[] = {0x462132b8, 0xc6fc33d3, 0xc6fc33d3, 0xc81bcc5c, 0xc796dfb8, 0xc796dfb7, 0x4507ade9,
                                0x00000000, 0x7fc00000, 0x7fc00000, 0x00000000, 0x357fffff, 0x7f800000};

/* clang-format off */
static const struct svmx__known known_dot[] = {
    {&dots[0], 4},  {lines, 4 * (ALL - 1)}, {&lines[0][1], 4 * (ALL - 1)},
    {&dots[1], 4},  {lines, 4 * 4097},      {&lines[0][1], 4 * 4097},
    {&dots[2], 4},  {lines, 4 * 4096},      {&lines[0][1], 4 * 4096},
    {&dots[3], 4},  {lines, 4 * 129},       {&lines[0][1], 4 * 129},
    {&dots[4], 4},  {lines, 4 * 65},        {&lines[0][1], 4 * 65},
    {&dots[5], 4},  {lines, 4 * 63},        {&lines[0][1], 4 * 63},
    {&dots[6], 4},  {lines, 4},             {&lines[0][1], 4},
    {&dots[7], 4},  {NULL, 0},              {NULL, 0},
    {&dots[8], 4},  {&odd[0], 8},           {&odd[1], 8},
    {&dots[9], 4},  {&odd[2], 8},           {&odd[3], 8},
    {&dots[10], 4}, {&odd[4], 8},           {&odd[5], 8},
    {&dots[11], 4}, {&odd[6], 8},           {&odd[7], 8},
    {&dots[12], 4}, {&odd[8], 4},           {&odd[9], 4},
};
/* clang-format on */

const struct svmx__op svmx__op_sum_f32 = {
    .name = "sum_f32",
    .summary = "out = a[0] + ... + a[n - 1], in one fixed order",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_SUM_F32,
    .param_count = SUM_PARAMS,
    .scratch_bytes_per_unit = sizeof(float),
    .check = check_sum,
    .reference = sum,
    .shape = shape_sum,
    .known = known_sum,
    .known_count = sizeof known_sum / sizeof *known_sum / SUM_PARAMS,
};

const struct svmx__op svmx__op_dot_f32 = {
    .name = "dot_f32",
    .summary = "out = a[0] b[0] + ... + a[n - 1] b[n - 1], in one fixed order",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_DOT_F32,
    .param_count = DOT_PARAMS,
    .scratch_bytes_per_unit = sizeof(float),
    .check = check_dot,
    .reference = dot,
    .shape = shape_dot,
    .known = known_dot,
    .known_count = sizeof known_dot / sizeof *known_dot / DOT_PARAMS,
};
