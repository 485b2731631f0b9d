/*
 * test_simd_ed25519.c: ed25519_verify in lanes against the reference code, on what is hard: S at the edges, points of small
 * and of mixed order, encodings that are not canonical, keys that are no points, and valid and invalid ones side by side
 * in every pattern.
 *
 * tests/fuzz/fuzz_ed25519.c compares many more of the ordinary kind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SODIUM
#include "ed25519_hard.h"

TestSuite(simd_ed25519, .init = start);

Test(simd_ed25519, machines_with_ifma_compute_in_lanes) {
    const uint32_t features = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512;
    const struct simd_kernel *without = simd_kernel_find(features, "avx512", "ed25519_verify");
    cr_assert_not_null(without);
    cr_assert_neq(simd_kernel_find(features | SIMD_FEATURE_IFMA, "avx512", "ed25519_verify"), without);
    if (!(machine_features() & SIMD_FEATURE_IFMA))
        cr_skip_test("this machine has no IFMA: the other tests see libsodium only");
}

/* ---- lanes ----------------------------------------------------------------------------------------------------- */

Test(simd_ed25519, every_pattern_of_good_and_bad_lanes) {
    for (unsigned pattern = 0; pattern < 256; pattern++)
        for (unsigned lane = 0; lane < 8; lane++) {
            append();
            if (!(pattern >> lane & 1)) continue;
            const uint32_t bit = random_u32(&state) % 512;
            if (lane % 3 == 0)
                memset(key[count - 1], 0xff, 32);
            else
                signature[count - 1][bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    cr_assert_eq(verified(), 1024);
}

Test(simd_ed25519, every_count) {
    for (unsigned many = 1; many <= 150; many += many < 20 ? 1 : 13) {
        count = 0;
        while (count < many) append();
        cr_assert_eq(verified(), many);
    }
}

/* Where blocks of SHA-512 begin and end, with a short and a long neighbour in other lanes. */
Test(simd_ed25519, every_length_of_a_message) {
    for (unsigned bytes = 0; bytes <= 400; bytes++) {
        append_of(bytes);
        if (bytes % 50 == 0) append_of(5000);
        if (bytes % 7 == 0) signature[count - 1][40] ^= 1;
    }
    cr_assert_eq(verified(), count - 58);
}

/* Tasks of 0 to 3 signatures, each with its own messages, share lanes with their neighbours. */
Test(simd_ed25519, many_short_tasks) {
    enum { TASKS = 120 };
    struct svmx_slot rows[TASKS][5];
    uint64_t first_unit[TASKS + 1] = {0};
    for (unsigned t = 0; t < TASKS; t++) {
        const unsigned at = count;
        for (unsigned i = 0; i < t % 4; i++) append();
        if (t % 4 > 1) signature[at][t % 64] ^= 1;
        const uint64_t n = count - at;
        first_unit[t + 1] = count;
        const struct svmx_slot row[5] = {slot(valid[1] + at, n), slot(key[at], 32 * n), slot(signature[at], 64 * n),
                                         slot(message, sizeof message), slot(offsets + at, 8 * (n + 1))};
        memcpy(rows[t], row, sizeof row);
    }
    const unsigned good = verified();
    memset(valid[1], 0x55, sizeof valid[1]);
    const struct svmx_dispatch d = {.slots = rows[0], .first_unit = first_unit, .task_count = TASKS, .slot_count = 5};
    kernel()->run(&d, 0, count);
    cr_assert_arr_eq(valid[1], valid[0], count);
    cr_assert(good > count / 2 && good < count);
}

/* L and around it, 0 and around it, every power of two; and S + L, which satisfies the equation. */
Test(simd_ed25519, edges_of_s) {
    for (int change = -3; change <= 3; change++)
        for (int base = 0; base < 2; base++) {
            append();
            memset(signature[count - 1] + 32, 0, 32);
            if (base) memcpy(signature[count - 1] + 32, order, 32);
            add_little(signature[count - 1] + 32, change);
        }
    for (unsigned bit = 0; bit < 256; bit++) {
        append();
        memset(signature[count - 1] + 32, 0, 32);
        signature[count - 1][32 + bit / 8] = (uint8_t)(1 << bit % 8);
    }
    for (unsigned i = 0; i < 40; i++) {
        append();
        if (i % 2) sodium_add(signature[count - 1] + 32, order, 32);
    }
    cr_assert_eq(verified(), 20);
}

Test(simd_ed25519, encodings_that_are_not_canonical) {
    append_not_canonical();
    cr_assert_eq(verified(), 1);
}

Test(simd_ed25519, keys_that_may_be_no_points) {
    for (unsigned i = 0; i < 400; i++) {
        append();
        random_bytes(&state, key[i], 32);
        if (i % 4 == 0) append();
    }
    cr_assert_eq(verified(), 100);
}

/* Without the cofactor, one in eight of those with eighths is valid, by k modulo L and by no other k. */
Test(simd_ed25519, points_of_mixed_order) {
    for (unsigned i = 0; i < 1600; i++) append_mixed(i % 8, i / 8 % 8);
    const unsigned good = verified();
    cr_assert(good > 150 && good < 1600, "%u", good);
}

/* By -k times the eighths of the key, R has those that it must have, or it is refused: where libraries do not accept more. */
Test(simd_ed25519, every_eighth_of_key_and_r_with_every_k) {
    append_all_eighths();
    const unsigned good = verified();
    if (sodium_library_version_major() <= 10) cr_assert_eq(good, 64, "%u", good);
}

Test(simd_ed25519, every_encoding_of_small_order_as_key_and_as_r) {
    append_all_small_order();
    cr_assert_eq(verified(), 2, "those that have none");
}

Test(simd_ed25519, points_of_small_order) {
    append_small_order();
    cr_assert_eq(verified(), 0);
}
#else
Test(simd_ed25519, is_left_out) { cr_skip_test("built without libsodium"); }
#endif
