/*
 * test_simd_secp256k1.c: ecrecover and ecdsa_verify_secp256k1 in lanes against the reference code, on what is hard: numbers at
 * the edges of their ranges, sums that the formulas for points cannot add, results of infinity, an x above n, and valid
 * and invalid ones side by side in every pattern.
 *
 * tests/fuzz/fuzz_signatures.c compares many more of the ordinary kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SECP256K1
#include "signatures_hard.h"

/* 8190: the sum is twice the last that is added, a multiple of 2^132 G by -4095. */
const uint8_t meeting[3] = {0x01, 0xff, 0xe0};

TestSuite(simd_secp256k1, .init = start, .fini = stop);

/* Said once, in the suite's own test: what the others then compare. */
static bool in_lanes(void) { return (machine_features() & SIMD_FEATURE_IFMA) != 0; }

Test(simd_secp256k1, machines_with_ifma_compute_in_lanes) {
    const uint32_t features = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512;
    for (int i = 0; i < 2; i++) {
        const char *op = i ? "ecrecover" : "ecdsa_verify_secp256k1";
        const struct simd_kernel *with = simd_kernel_find(features | SIMD_FEATURE_IFMA, "avx512", op);
        const struct simd_kernel *without = simd_kernel_find(features, "avx512", op);
        cr_assert_not_null(without);
        cr_assert_neq(with, without);
    }
    if (!in_lanes()) cr_skip_test("this machine has no IFMA: the other tests see libsecp256k1 only");
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

Test(simd_secp256k1, every_pattern_of_good_and_bad_lanes) {
    for (unsigned pattern = 0; pattern < 256; pattern++)
        for (unsigned lane = 0; lane < 8; lane++) {
            append();
            if (pattern >> lane & 1) spoil(all.count - 1, random_u32(&state));
        }
    cr_assert_eq(recovered(&all), 1024);
    cr_assert_eq(verified(&all), 1024);
}

Test(simd_secp256k1, every_count) {
    for (unsigned count = 1; count <= 150; count += count < 20 ? 1 : 13) {
        start();
        for (unsigned i = 0; i < count; i++) append();
        cr_assert_eq(recovered(&all), count);
        cr_assert_eq(verified(&all), count);
        stop();
    }
    start();
}

/* Tasks of 0 to 3 signatures share lanes with their neighbours. */
Test(simd_secp256k1, many_short_tasks) {
    enum { TASKS = 150 };
    struct svmx_slot rows[TASKS][5];
    uint64_t first_unit[TASKS + 1] = {0};
    for (unsigned t = 0; t < TASKS; t++) {
        const unsigned at = all.count, n = t % 4;
        for (unsigned i = 0; i < n; i++) append();
        if (n > 1) spoil(at, t);
        first_unit[t + 1] = all.count;
        const struct svmx_slot row[5] = {slot(all.valid[1] + at, n), slot(all.hash[at], n * UINT64_C(32)),
                                         slot(all.r[at], n * UINT64_C(32)), slot(all.s[at], n * UINT64_C(32)),
                                         slot(all.key[at], n * UINT64_C(64))};
        memcpy(rows[t], row, sizeof row);
    }
    cr_assert_gt(verified(&all), all.count / 2);
    memset(all.valid[1], 0x55, sizeof all.valid[1]);
    const struct svmx_dispatch d = {.slots = rows[0], .first_unit = first_unit, .task_count = TASKS, .slot_count = 5};
    const uint32_t features = machine_features();
    simd_kernel_find(features, simd_variant_best(features), "ecdsa_verify_secp256k1")->run(&d, 0, all.count);
    cr_assert_gt(compare_valid(&all, "short tasks"), all.count / 2);
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

/* r, s and the hash at all edges together. */
Test(simd_secp256k1, edges_of_r_s_and_hash) {
    for (unsigned h = 0; h < EDGES; h += 3) {
        all.count = 0;
        for (unsigned r = 0; r < EDGES; r++)
            for (unsigned s = 0; s < EDGES; s++) {
                append();
                edge(all.r[all.count - 1], r);
                edge(all.s[all.count - 1], s);
                edge(all.hash[all.count - 1], h + s % 3);
            }
        cr_assert_gt(recovered(&all), 0);
        verified(&all);
    }
}

/* One of the three at an edge, the rest a signature. */
Test(simd_secp256k1, one_number_at_an_edge) {
    for (unsigned i = 0; i < 3 * EDGES; i++) {
        append();
        edge((i % 3 == 0 ? all.r : i % 3 == 1 ? all.s : all.hash)[i], i / 3);
    }
    cr_assert_gt(recovered(&all), EDGES);
    verified(&all);
}

/* s and n - s: the other key for recovery, refused by verification; (n - 1) / 2 and one more. */
Test(simd_secp256k1, high_s) {
    static const uint8_t half[32] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4,
                                     0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0};
    for (unsigned i = 0; i < 64; i++) {
        append();
        if (i % 2) cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, all.s[i]));
        if (i >= 48) memcpy(all.s[i], half, 32), all.s[i][31] = (uint8_t)(half[31] + i % 2);
    }
    cr_assert_eq(recovered(&all), 64);
    cr_assert_eq(verified(&all), 24);
}

Test(simd_secp256k1, every_v_and_its_high_bytes) {
    for (unsigned i = 0; i < 256; i++) {
        append();
        number(all.v[i], '0', (int)i);
    }
    for (unsigned i = 0; i < 31; i++) {
        append();
        all.v[256 + i][i] = (uint8_t)(1 + i);
    }
    cr_assert_eq(recovered(&all), 2);
}

Test(simd_secp256k1, keys_that_are_no_points) {
    for (unsigned i = 0; i < 160; i++) {
        append();
        if (i < 2 * EDGES) edge(all.key[i] + 32 * (i & 1), i / 2);
        if (i >= 2 * EDGES && i % 2) all.key[i][i % 64] ^= (uint8_t)(1 << i % 8);
    }
    cr_assert_eq(verified(&all), (160 - 2 * EDGES) / 2);
}

/* ---- sums that are hard ---------------------------------------------------------------------------------------- */

Test(simd_secp256k1, recovery_where_points_meet) {
    for (unsigned i = 0; i < 1600; i++) append_recovery(i % 2 ? SUM_ANY : SUM_MEETS);
    const unsigned good = recovered(&all);
    cr_assert(good > 1500, "few are infinity: %u", good);
}

Test(simd_secp256k1, recovery_of_infinity_is_invalid_among_others) {
    for (unsigned i = 0; i < 400; i++) append_recovery(i % 3 ? SUM_INFINITY : SUM_MEETS);
    cr_assert_eq(recovered(&all), 134);
}

Test(simd_secp256k1, verification_where_points_meet) {
    for (unsigned i = 0; i < 900; i++) append_verification((enum sum)(i % 3), false);
    const unsigned good = verified(&all);
    cr_assert(good > 200 && good < 400, "half of two thirds have a low s: %u", good);
}

/* What cannot be added leaves zeros, and zeros satisfy every comparison with r z^2. */
Test(simd_secp256k1, verification_where_points_meet_and_r_is_wrong) {
    for (unsigned i = 0; i < 600; i++) append_verification((enum sum)(i % 3), true);
    cr_assert_eq(verified(&all), 0);
}

Test(simd_secp256k1, an_x_above_n) {
    append_x_above_n(64);
    cr_assert_eq(verified(&all), 48);
    recovered(&all);
}
#else
Test(simd_secp256k1, is_left_out) { cr_skip_test("built without libsecp256k1"); }
#endif
