/*
 * test_wild.c: the data that `svmx conform` and the contract suites go by is as wild as its header says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wild.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <svmx/svmx.h>

enum { COUNT = 1000 };

struct seen {
    unsigned nans, infinities, denormals, zeros, negative;
};

static struct seen look_f32(uint64_t seed) {
    struct seen seen = {0};
    float data[COUNT];
    cli_wild_fill(data, sizeof data, SVMX_F32, seed);
    for (int i = 0; i < COUNT; i++) {
        const int class = fpclassify(data[i]);
        seen.nans += class == FP_NAN;
        seen.infinities += class == FP_INFINITE;
        seen.denormals += class == FP_SUBNORMAL;
        seen.zeros += class == FP_ZERO;
        seen.negative += signbit(data[i]) != 0;
    }
    return seen;
}

static struct seen look_f64(uint64_t seed) {
    struct seen seen = {0};
    double data[COUNT];
    cli_wild_fill(data, sizeof data, SVMX_F64, seed);
    for (int i = 0; i < COUNT; i++) {
        const int class = fpclassify(data[i]);
        seen.nans += class == FP_NAN;
        seen.infinities += class == FP_INFINITE;
        seen.denormals += class == FP_SUBNORMAL;
        seen.zeros += class == FP_ZERO;
        seen.negative += signbit(data[i]) != 0;
    }
    return seen;
}

static void expect_kinds(struct seen (*look)(uint64_t seed)) {
    struct seen edges = look(5), finite = look(6), odd = look(7);
    cr_assert(edges.nans && edges.infinities && edges.denormals && edges.zeros);
    cr_assert(edges.negative > COUNT / 4 && edges.negative < 3 * COUNT / 4);
    cr_assert_eq(finite.nans + finite.infinities + finite.denormals + finite.zeros, 0);
    cr_assert_eq(odd.nans, 1);
    cr_assert_eq(odd.infinities + odd.denormals + odd.zeros, 0);
}

Test(wild, kinds_of_f32) { expect_kinds(look_f32); }
Test(wild, kinds_of_f64) { expect_kinds(look_f64); }

Test(wild, bytes_have_every_value) {
    uint8_t data[1 << 14];
    bool seen[256] = {false};
    cli_wild_fill(data, sizeof data, SVMX_U8, 4);
    for (size_t i = 0; i < sizeof data; i++) seen[data[i]] = true;
    for (int i = 0; i < 256; i++) cr_assert(seen[i], "no byte is %d", i);
}

Test(wild, the_same_for_the_same_seed) {
    float once[COUNT], again[COUNT];
    cli_wild_fill(once, sizeof once, SVMX_F32, 9);
    cli_wild_fill(again, sizeof again, SVMX_F32, 9);
    cr_assert_eq(memcmp(once, again, sizeof once), 0);
    cli_wild_fill(again, sizeof again, SVMX_F32, 13);
    cr_assert_neq(memcmp(once, again, sizeof once), 0);
}

Test(wild, cuts_ascend_and_have_empty_and_long_pieces) {
    static uint64_t offsets[COUNT];
    uint64_t shortest = UINT64_MAX, longest = 0, first = 0, left = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        const uint64_t bytes = cli_wild_cuts(offsets, sizeof offsets, seed);
        for (int i = 0; i + 1 < COUNT; i++) {
            cr_assert_leq(offsets[i], offsets[i + 1]);
            const uint64_t length = offsets[i + 1] - offsets[i];
            if (length < shortest) shortest = length;
            if (length > longest) longest = length;
        }
        cr_assert_geq(bytes, offsets[COUNT - 1]);
        first += offsets[0];
        left += bytes - offsets[COUNT - 1];
    }
    cr_assert_eq(shortest, 0);
    cr_assert_geq(longest, 590);
    cr_assert(first && left, "every piece starts at 0, or none leaves bytes over");
}

Test(wild, what_is_dear_for_the_reference_code_stays_small) {
    cr_assert_leq(cli_wild_limit("ecrecover"), 100);
    cr_assert_leq(cli_wild_limit("ed25519_verify"), 100);
    cr_assert_gt(cli_wild_limit("vec_add_f32"), 1 << 18);
}
