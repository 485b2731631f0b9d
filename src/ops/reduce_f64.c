/*
 * reduce_f64.c: sums and greatest differences of doubles: sum_f64, max_abs_diff_f64.
 *
 * As their twins for floats: the order of tree.h; a NaN anywhere makes the greatest difference one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"
#include "ops/tree.h"

#include <math.h>
#include <svmx/ops.h>

enum { LANES = 64 };
enum { OUT, A, SUM_PARAMS, B = SUM_PARAMS, DIFF_PARAMS };

static const struct svmx_param params[DIFF_PARAMS] = {
    {"out", SVMX_OUT, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1},
};

static enum svmx_status check(uint32_t inputs, const struct svmx_slot *slots, struct svmx__size *size,
                              struct svmx__text *why) {
    uint64_t n;
    enum svmx_status status = svmx__items_expect(&params[OUT], &slots[OUT], 1, why);
    if (status == SVMX_OK) status = svmx__items_equal(&params[A], &slots[A], inputs, &n, why);
    if (status == SVMX_OK) *size = (struct svmx__size){.units = svmx__tree_blocks(n), .work = n};
    return status;
}

static enum svmx_status check_sum(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check(1, slots, size, why);
}

static enum svmx_status check_diff(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return check(2, slots, size, why);
}

static enum svmx_status shape_sum(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(double);
    return svmx__items_shape(&params[A], 1, size, &bytes[A]);
}

static enum svmx_status shape_diff(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    bytes[OUT] = sizeof(double);
    return svmx__items_shape(&params[A], 2, size, &bytes[A]);
}

static double term(const void *context, uint64_t i) {
    const struct svmx_slot *slots = context;
    return svmx__load_f64(&slots[A], i);
}

static void sum(const struct svmx_slot *slots) {
    svmx__store_f64(&slots[OUT], 0, svmx__tree_f64(term, slots, slots[A].bytes / sizeof(double)));
}

static void greatest_difference(const struct svmx_slot *slots) {
    double best = 0.0;
    for (uint64_t i = 0; i < slots[A].bytes / sizeof best; i++) {
        const double difference = fabs(svmx__load_f64(&slots[A], i) - svmx__load_f64(&slots[B], i));
        if (!(difference <= best) && best == best) best = difference; /* a NaN is taken, and kept */
    }
    svmx__store_f64(&slots[OUT], 0, best);
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/* Three blocks, the last short, a line for every 64 elements; lines left out are zeros. Another number of lanes, another
 * fold or another length of blocks gives another number in a row below. Results from a model in Python. */
static const uint64_t lines[130][LANES] = {
    [0] =
        {
            0x4134da4f9e34d22e, 0xbea7a97c644f5886, 0x4080512bd0cd9d56, 0xbe8ccea71ffae488, 0x3fc8534f4512c7b8,
            0xbebc79d67858677c, 0xbe636e2f25e2cb92, 0xbf1ccea2648b2286, 0x40d4f5253a944bc8, 0xc0b16332adb08836,
            0xc05abf4a06c69f00, 0x4032d83a827ea104, 0xc0816df649e39fb3, 0xbf701d89a1d15772, 0xc05d9196ad87c951,
            0x40b69f85e2d8f348, 0xbef6e58d5ce71a48, 0x3e74e1bcb284f184, 0x40d0bdbc22ece30c, 0xc0e84d4cd111b9f2,
            0xbeeb36cc9aaf8927, 0x3f111021c8d359d2, 0xbfb46bbe9e5e0e68, 0xbf9bf37a2b2d7316, 0x3ebe78131ca5a646,
            0x3f6b54a230752e60, 0x3f01f44ebca9819c, 0xbe7758240c0d256a, 0xbf7b281b882a4be6, 0xbf704a7f00a54763,
            0xc0ef74c3804e4a2c, 0xc0cdc82f25e2f950, 0x3f14b1cef33c470f, 0xbf54ac034c45db27, 0xbef994b971ec72d6,
            0xbfc92b607c04cf9d, 0x3fc746ccfc56d17e, 0xc09ff4788894a6b0, 0x3f27077b81f6a7c2, 0xbeceaa1b286a7414,
            0x3ef0fecf101c4c6e, 0x4079b44bae14efd8, 0xbf9952989c7f849e, 0x4061f4d4cdab7184, 0xbffc6173d9fe6a6e,
            0x3f47a4e9ba674ec2, 0xbe7691e8e2fbdf62, 0x3f46bd5230e312b5, 0xc04d4bf8106e72d2, 0x3f5081a3ce12d83b,
            0xbf23e0d36b0d258e, 0x3f56ac9573bd4a90, 0x3f953341f41a408c, 0x3fefd960ad23b0e6, 0x3ea7e89a8ec662d2,
            0xc0935fef01dc1f7c, 0x40f562abc297a824, 0xc0eccac565cd283a, 0xc06d09872ad708d2, 0x410a79c8759a50be,
            0xbfe56a9f13d8793c, 0xbf6130a9adb79baa, 0x40c0b673bcca2332, 0x3f6c44e555efe3d0,
        },
    [1] =
        {
            0x411debd8e855a3d6, 0xbfe91b77aef1c201, 0xbe537f2555989531, 0x3e5ec1fea650408d, 0xbfd1daaf70caa417,
            0x3f18cf4ac01b575a, 0x3faabe63b1377034, 0xc01ea4cd4b0d856f, 0x4111438a20118074, 0x3f57d240b11f2200,
            0x3ea0a97a26b9a2bc, 0x3fb4c04287ace591, 0x40715cbcd1eb73d2, 0xbf861939286923fd, 0xc043bd3cd58475db,
            0xbec1859c34278601, 0xc00833189dffc9af, 0xc01db9ba956c26ee, 0x3f1a0eb6fdc33d06, 0xc03ee0413fac421f,
            0xc081e408d598c12e, 0x3ef5f215edbfa290, 0x3f9b4ebf264c71f6, 0xbf5dc1d414ad5b00, 0x3e5b5e41865660e0,
            0xbec1ef6c4117037c, 0xc0bc945ba96e6160, 0xc0686bc38026c018, 0x3f76942e31b1f4b5, 0xbf03aad7098888f6,
            0x40cad3e65a1b1840, 0xc028b4923bd35948, 0xc05efcdfc3bc2c61, 0xc019ced8933c23a2, 0xc0b2402ca280de54,
            0xbfafc63adb52fd06, 0x40b6ef34cc2a4552, 0x40cace631d9e382a, 0x3fc490dc3dcdc794, 0x3fb9373967967966,
            0x40e13ba49ece1ab2, 0x3fc5463ca54efa32, 0xbe62cb414499e5a4, 0x3ea862097be616ba, 0xbebcea7f1da033de,
            0x4042eb1dd12b182c, 0x3ecc29fde5d9f63c, 0x410a6cc60ef5509e, 0x40f9e2c87992c752, 0xc11da4f709db0b74,
            0xbf4e18bbbb32b49a, 0xbf8b41e70c713692, 0xbf93af96fd7dc8dd, 0xbfee62607b9b0f37, 0xbf9f831ff9a28e38,
            0xc0a7033d00d2b893, 0x40740541d25e2722, 0xc0cb17b6971f4d08, 0xbfd677966be6f223, 0x3e927f30f305c9f7,
            0xc0df94a4dfee1c74, 0xbf89a92dfb97aca0, 0x403c16ca0e840bca, 0x403a3d307fdb42d6,
        },
    [63] =
        {
            0x3f42612f9bd91687, 0x3e84c9942e43e9bd, 0x40a65dd40994b4dc, 0xbf404be3430c79d8, 0x3f2c055bba318ade,
            0x3eaf3018e4a20eb2, 0x40e4547e761f5d09, 0xc0d9c17a49c7cc76, 0x40ebb383504c638f, 0xc12f3de70e428e92,
            0x4118f59674ba86a1, 0x408b944d47c2d664, 0x3ee80a7104d2e74e, 0x403d82660898a2fc, 0x3ef603f8525608a4,
            0xc0783cc572c85b8e, 0xbfadc91912cd1e14, 0x4006305b021fb419, 0x410475259bc0d886, 0x3ee4dd2c99eb917e,
            0x40b281bca23b5fee, 0x4083b658bc7669cc, 0x4127a093fdd2711c, 0x401e2ae25da6a6a7, 0xbf056132e1b1ec80,
            0x40c1b6effcf32758, 0xc0e4e1e305dc6546, 0xbe799a036b79e5cc, 0x40f417386f286f62, 0xc03c8ca329ca9205,
            0xbeaceac6f1ab1885, 0x3ebe4a8764a1cf62, 0x4069acc664a50ae2, 0xbfbfcc920de90e88, 0x3e72d58c1f6d5127,
            0xc0b84e591f175ea0, 0x41009f9d6c66d5a2, 0x40b561dc2b902c38, 0x3ecb25b9d09dfab4, 0x3f3124d54db00e00,
            0xbe69f4c1d3e8af3e, 0x41102b08faf4c71c, 0x3f436907e4b83c3e, 0xbf8d0dff05f71262, 0xbfea1d735b35a926,
            0x4042c40e26d31892, 0x405c108d4b05710e, 0xbf78f5240f61a7b0, 0x400b45e50b682118, 0xbe62cc43aa6dee52,
            0xbf6e312dfedfdaac, 0xbffc17b053d12c3a, 0xc0c523aabd802511, 0x40541887148f2d46, 0x3f507b37f0ce5b0f,
            0xc0eacfa72dd439d4, 0x3f99ce8815843d1f, 0x3efef6b577f902b5, 0x3f5b3762446c5750, 0x404e3fb52748c49e,
            0x3e5a53f2beae55a8, 0xbf291f07dffb09b0, 0x40617f06ba7d02a5, 0x3f91d2f5eb98573e,
        },
    [64] =
        {
            0xc0ade8711d226ebf, 0x3e9e83253f7e165a, 0x3e6e62a42b6fc2b2, 0x3f5ad35baa698d90, 0x40d97fa612a61a08,
            0xc0bbc671f7f741ba, 0xbeffc7d777faef9a, 0x3e8c163b1e6e10f4, 0x410f39152c5234a3, 0x3f5ac57279ce9fa5,
            0xbf11aaf57db197cc, 0x40b646d3ecf521da, 0xbfc8a65faaa5bd78, 0xbe7be63cdccfc60a, 0x3fb2e652ca4e4ae2,
            0x3fc4bf2fea79feea, 0x410f0653353fd48d, 0xc076239b60ba3430, 0x3f1f1c192872f29a, 0xc072f5edf5f68f4a,
            0x3ec056d3080dcd0f, 0x4114bffd57a69c8c, 0xc04f03d2f1150513, 0x413f35ec909cca8e, 0xbfd29ea89847780a,
            0xbe559c3776b63ba3, 0xc01b2aec3645c8b7, 0x413be4a02b91419a, 0xbfa362321e3ad470, 0xbe898fc6a51dd88a,
            0x4107b4d1d2529b5f, 0x40c2e5cab3ab8be6, 0x40b999fa56aa5395, 0x3e6b98242d526ceb, 0xc0a6fdc6f2767430,
            0x3ed9f23e1215da7f, 0x3f39aeb6789234dd, 0xc07bd6d5e4a0f5b2, 0xbfb2b8b9eb75bc8a, 0xbfa420cb0d31933e,
            0x3fc8b48e584de39a, 0x3ec7e8b496f13e4b, 0x40be2122a9415b64, 0x3eefcdd474516485, 0x3e898cd70bad1526,
            0xbeadfcac61e0a402, 0x40bc8f3333ac5f64, 0x3f58b37acc5a1f64, 0x3f64b92454f36fc8, 0x3f7a4823c0f1e950,
            0x3f7e35741647e8a2, 0xbfb0b84b96015be6, 0xc001271ac0668170, 0x3e7ccff04ed952be, 0xc1032e70f9b1022c,
            0x3f1d181cb0580a54, 0x3e5ffa34e82fb5a8, 0x406f4b3c76953740, 0xc061097f1e2f59d4, 0xc0daaf10a65648d1,
            0x40882b81d5627d0d, 0x3e9b095fc81fd604, 0x3ed6fae095ed81ca, 0x406f708a8b862522,
        },
    [127] =
        {
            0xc0f837f350adc1b0, 0xc0a22092592caba7, 0x40c947e1b5484582, 0x3e59a0edd3e91076, 0x3f60b0c8ab890b44,
            0xc0ac6388a49bc3ab, 0xbeef6afba5848aec, 0xbf489507b0e9fc88, 0xc032babf25f614fc, 0x40994a22791dad6f,
            0x40a42f0a83ea54c2, 0xbeff18cda8aa598e, 0xbf829162c2a1ee33, 0xc07b4af3de6b0cba, 0xbf69e03e709588f6,
            0xbefdc4207d53c3bb, 0xbf318e3141ba0bea, 0xbf1a32c6adab39d7, 0x3f870f6aa0311052, 0x3e78566e7202e0c1,
            0x410e0508e34f6f42, 0x3f4390ce33d5b408, 0xbfef79901d4a1017, 0xc013de66f143dddf, 0xbea4a67b3f03fdf8,
            0xbebca6c16216584a, 0x3e50e2eb9cd01212, 0xc00fe54c6a53ef44, 0x3fc8ec69b671feb2, 0xc108226838b2e8d8,
            0x3fc00251feb15d65, 0x409c262656c1d0d2, 0x4097d6bd1ab42a98, 0xbea8d81e2376351a, 0xc01285d2302c407a,
            0xbe6866493a6be3db, 0x3ed4935ba2336dc2, 0x3fb74e1cc4e028f9, 0xc0f51560a2cd7be6, 0xbfee39f4a991ae58,
            0x3facc5311fd77585, 0xbe9fae0f2304bfe2, 0xc126f61d4ff87d52, 0xc09e0e78fa746d74, 0x3f7eca1434db0396,
            0x3e755d053111af47, 0x4039d39bba5e7cca, 0x3fbe086149093262, 0xc07708c4d0d5f5a8, 0x3e57e9a291bb3186,
            0xc03c378af2b71c26, 0xbfa3275638483d3e, 0xc07271ec9c87bb80, 0xbedc5f28fd331106, 0xc03edc3c68c52ce6,
            0xbe79f2ea9104433a, 0xc0c411c5f12f1abf, 0x407e2017974b4113, 0x402d88cd56090a16, 0xbe521e77aa170020,
            0x3eec5757c0ae0db0, 0xc01d12d6bea7f4d8, 0x3e8461c6b396a6e4, 0x3ec0923114e1cd71,
        },
    [128] =
        {
            0x407398bd9ef239da, 0x3ef8b5e7cd3a6208, 0x3f1323ea6c02c7d0, 0x3e53843875e90a4c, 0xbf553b3bd8b2b1f0,
            0xc1293c8c9c437297, 0xc11a8febe9451e26, 0x3f59ddcdfa80a2aa, 0x3fa0ebbdf5b966e0, 0x3fde0954a78f2dba,
            0x3f434f58eb6c82e8, 0x3fd7d4e30d776eca, 0xc0d11f1915e2290a, 0x413d868daa4b33a0, 0xc00b42ef2b77336a,
            0xbebeafafe16552c9, 0x3ef24f137611b77a, 0xc06886d3f3ba8bd4, 0xbfcdaf0556e1ef3c, 0xc0d3f3bdf1b5eb9a,
            0xbe54526e5b2439ac, 0xc0965f54bb610e54, 0xbf7e1931ad66ce34, 0x3f12853ab106d4f6, 0x3fdb1219cb8ce3ae,
            0x40ca6991105e2534, 0x3e98ff0837c4ed9e, 0x3e6cfb606c9ccad0, 0x410816409eebf3ba, 0x3e5a5a82f90f34f0,
            0xbf143bd4f1a78374, 0x3f51ddd1559f7b4a, 0xbf6451523d0e574e, 0x3fc1a1c552cc464e, 0x40bbc6f8f6fb9da5,
            0xbf1f381ac76ad4e2, 0xbeff6cd0227d5bbc, 0x3e75573dad7726dc, 0x4073052f277526cc, 0xbf9f133c350f2206,
            0x3fc9c0f78057e90e, 0xc01d2075e37c76e7, 0xc1153f2f6dfaa42a, 0x404ce39d2aeb3efc, 0xbec42987164ea869,
            0xc0bbf9fc6ae09050, 0xc02b26b613ee06fc, 0x40744cc58ebfe119, 0x40c9a04db69ace81, 0x405288a876c41e50,
            0x403ad07e7ac492b4, 0x3f30871b36a3b7c4, 0x3ef661bff910b6bc, 0x40f78026496e0b87, 0xbf64d1fa96c67c34,
            0xc116fa89426a0050, 0x409bc8f03b588bf4, 0x408c748c21c79eb7, 0x3e7bf042a9a610b0, 0xbe8557b330838318,
            0x4125fda1de1a6358, 0xbfc6b43bed9a09ca, 0x3fc5932ab6e061fb, 0xbfd93987320dd6a0,
        },
    [129] =
        {
            0x3ff235e21af1621f,
            0xc12c4459bc5687d0,
            0xbfc8794e46b97d32,
            0x3f0cb8cd0b887983,
            0x4054df84673f22c2,
            0x40f1017462fc7e6c,
            0x412e78df395e021e,
            0xbf19ff85117d18a4,
            0x3f66e620d8d04501,
        },
};

enum { ALL = 129 * LANES + 9 };

/* Infinities, NaNs, zeros, overflow, denormals. */
static const uint64_t odd[] = {
    0x7ff0000000000000, 0xfff0000000000000, 0xfff8123400000000, 0x3ff0000000000000,
    0x8000000000000000, 0x8000000000000000, 0x7fefffffffffffff, 0x7fefffffffffffff,
    0x0000000000000001, 0x0000000000000001, 0x000fffffffffffff,
};

static const uint64_t sums[] = {
    0x415e3c1750243b8e, 0x41465ff782eb5337, 0x414667719f329bd3, 0x41405d697a4715d8, 0x413ecb66dbf43d63,
    0x41375070a0fcad42, 0x4134da4f9e34d22e, 0x0000000000000000, 0x7ff8000000000000, 0x7ff8000000000000,
    0x0000000000000000, 0x7ff0000000000000, 0x0010000000000001,
};

static const uint64_t differences[] = {
    0x413f362a9842acb8, 0x4135dc59244fe8f1, 0x4134da4f9e34d5c8, 0x4134da4f9e34de03,
    0x4134da4f9e34de03, 0x0000000000000000, 0x7ff0000000000000, 0x7ff8000000000000,
    0x7ff8000000000000, 0x0000000000000000, 0x000ffffffffffffe, 0x7ff0000000000000,
};

/* clang-format off */
static const struct svmx__known known_sum[] = {
    {&sums[0], 8}, {lines, 8 * ALL},
    {&sums[1], 8}, {lines, 8 * 4097},
    {&sums[2], 8}, {lines, 8 * 4096},
    {&sums[3], 8}, {lines, 8 * 129},
    {&sums[4], 8}, {lines, 8 * 65},
    {&sums[5], 8}, {lines, 8 * 63},
    {&sums[6], 8}, {lines, 8},
    {&sums[7], 8}, {NULL, 0},
    {&sums[8], 8}, {odd, 16},
    {&sums[9], 8}, {odd + 2, 16},
    {&sums[10], 8}, {odd + 4, 16},
    {&sums[11], 8}, {odd + 6, 16},
    {&sums[12], 8}, {odd + 8, 24},
};

static const struct svmx__known known_diff[] = {
    {&differences[0], 8}, {lines, 8 * (ALL - 1)}, {&lines[0][1], 8 * (ALL - 1)},
    {&differences[1], 8}, {lines, 8 * 4096}, {&lines[0][1], 8 * 4096},
    {&differences[2], 8}, {lines, 8 * 100}, {&lines[0][3], 8 * 100},
    {&differences[3], 8}, {lines, 8 * 13}, {&lines[0][1], 8 * 13},
    {&differences[4], 8}, {lines, 8}, {&lines[0][1], 8},
    {&differences[5], 8}, {NULL, 0}, {NULL, 0},
    {&differences[6], 8}, {odd, 8}, {odd + 1, 8},
    {&differences[7], 8}, {odd, 8}, {odd, 8},
    {&differences[8], 8}, {odd + 2, 16}, {odd + 4, 16},
    {&differences[9], 8}, {odd + 4, 8}, {odd + 5, 8},
    {&differences[10], 8}, {odd + 8, 16}, {odd + 9, 16},
    {&differences[11], 8}, {odd + 1, 8}, {odd + 6, 8},
};
/* clang-format on */

const struct svmx__op svmx__op_sum_f64 = {
    .name = "sum_f64",
    .summary = "out = a[0] + ... + a[n - 1], in one fixed order",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_SUM_F64,
    .param_count = SUM_PARAMS,
    .scratch_bytes_per_unit = sizeof(double),
    .check = check_sum,
    .reference = sum,
    .shape = shape_sum,
    .known = known_sum,
    .known_count = sizeof known_sum / sizeof *known_sum / SUM_PARAMS,
};

const struct svmx__op svmx__op_max_abs_diff_f64 = {
    .name = "max_abs_diff_f64",
    .summary = "out = the greatest |a[i] - b[i]|",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MAX_ABS_DIFF_F64,
    .param_count = DIFF_PARAMS,
    .scratch_bytes_per_unit = sizeof(double),
    .check = check_diff,
    .reference = greatest_difference,
    .shape = shape_diff,
    .known = known_diff,
    .known_count = sizeof known_diff / sizeof *known_diff / DIFF_PARAMS,
};
