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
#include "../../plugins/simd/variant.h"

#include <sodium.h>
#include <stdbool.h>

enum { MOST = 2100, LONGEST = 300 };

static uint8_t key[MOST][32], signature[MOST][64], message[MOST * LONGEST], valid[2][MOST];
static uint64_t offsets[MOST + 1], state;
static unsigned count;

static void start(void) {
    state = 77, count = 0;
    offsets[0] = 5;
    cr_assert_geq(sodium_init(), 0);
    random_bytes(&state, message, sizeof message);
}

TestSuite(simd_ed25519, .init = start);

static uint32_t machine_features(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

static const struct simd_kernel *kernel(void) {
    const uint32_t features = machine_features();
    return simd_kernel_find(features, simd_variant_best(features), "ed25519_verify");
}

/* By the reference, and by the kernel in ranges of 1, 2, 3 .. and all that is left. How many are valid. */
static unsigned verified(void) {
    const uint64_t first_unit[] = {0, count};
    struct svmx_slot slots[] = {slot(valid[0], count), slot(key, count * UINT64_C(32)),
                                slot(signature, count * UINT64_C(64)), slot(message, offsets[count]),
                                slot(offsets, 8 * (count + UINT64_C(1)))};
    const struct svmx_dispatch d = {.slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 5};
    uint64_t first = 0;
    unsigned good = 0;
    memset(valid, 0x55, sizeof valid);
    compute(SVMX_OP_ED25519_VERIFY, slots);
    slots[0] = slot(valid[1], count);
    for (uint64_t length = 1; first + length < count && length < 20; first += length++)
        kernel()->run(&d, first, first + length);
    kernel()->run(&d, first, count);
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(valid[1][i], valid[0][i], "number %u of %u", i, count);
        good += valid[0][i];
    }
    return good;
}

Test(simd_ed25519, machines_with_ifma_compute_in_lanes) {
    const uint32_t features = SIMD_FEATURE_AVX2 | SIMD_FEATURE_AVX512;
    const struct simd_kernel *without = simd_kernel_find(features, "avx512", "ed25519_verify");
    cr_assert_not_null(without);
    cr_assert_neq(simd_kernel_find(features | SIMD_FEATURE_IFMA, "avx512", "ed25519_verify"), without);
    if (!(machine_features() & SIMD_FEATURE_IFMA))
        cr_skip_test("this machine has no IFMA: the other tests see libsodium only");
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

static void append_of(uint64_t bytes) {
    const unsigned i = count++;
    uint8_t seed[32], secret[64];
    random_bytes(&state, seed, sizeof seed);
    offsets[i + 1] = offsets[i] + bytes;
    if (offsets[i + 1] > sizeof message) offsets[i + 1] = offsets[i];
    crypto_sign_seed_keypair(key[i], secret, seed);
    crypto_sign_detached(signature[i], NULL, message + offsets[i], offsets[i + 1] - offsets[i], secret);
}

static void append(void) { append_of(random_u32(&state) % LONGEST); }

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

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                  0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};

static void add_little(uint8_t number[32], int change) {
    for (int i = 0; i < 32 && change != 0; i++) {
        change += number[i];
        number[i] = (uint8_t)(change & 0xff);
        change >>= 8;
    }
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

/* y of 2^255 - 1 - 39 .. 2^255 - 1, and 0 .. 19, with either sign, as key and as R. */
Test(simd_ed25519, encodings_that_are_not_canonical) {
    for (unsigned i = 0; i < 240; i++) {
        append();
        uint8_t *at = i % 2 ? key[i] : signature[i];
        memset(at, i / 4 < 40 ? 0xff : 0, 32);
        if (i / 4 < 40)
            add_little(at, -(int)(i / 4)), at[31] = 0x7f;
        else
            add_little(at, (int)(i / 4 - 40));
        at[31] |= (uint8_t)(i / 2 % 2 << 7);
    }
    append();
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

/* ---- points of small and mixed order ----------------------------------------------------------------------------- */

/* A point of order 8; its multiples are all that there are. */
static const uint8_t eighth[32] = {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
                                   0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
                                   0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a};

static void add_eighths(uint8_t point[32], unsigned times) {
    while (times-- > 0) cr_assert_eq(crypto_core_ed25519_add(point, point, eighth), 0);
}

/* S B - k key = R up to eighths: those of the key, k times, and those of R. */
static void append_mixed(unsigned of_key, unsigned of_r) {
    const unsigned i = count++;
    uint8_t secret[32], nonce[32], hash[64], k[32];
    crypto_hash_sha512_state sha;
    offsets[i + 1] = offsets[i] + 16;
    random_bytes(&state, hash, 64);
    crypto_core_ed25519_scalar_reduce(secret, hash);
    random_bytes(&state, hash, 64);
    crypto_core_ed25519_scalar_reduce(nonce, hash);
    cr_assert_eq(crypto_scalarmult_ed25519_base_noclamp(key[i], secret), 0);
    cr_assert_eq(crypto_scalarmult_ed25519_base_noclamp(signature[i], nonce), 0);
    add_eighths(key[i], of_key);
    add_eighths(signature[i], of_r);
    crypto_hash_sha512_init(&sha);
    crypto_hash_sha512_update(&sha, signature[i], 32);
    crypto_hash_sha512_update(&sha, key[i], 32);
    crypto_hash_sha512_update(&sha, message + offsets[i], 16);
    crypto_hash_sha512_final(&sha, hash);
    crypto_core_ed25519_scalar_reduce(k, hash);
    crypto_core_ed25519_scalar_mul(k, k, secret);
    crypto_core_ed25519_scalar_add(signature[i] + 32, k, nonce);
}

/* Without the cofactor, one in eight of those with eighths is valid, by k modulo L and by no other k. */
Test(simd_ed25519, points_of_mixed_order) {
    for (unsigned i = 0; i < 1600; i++) append_mixed(i % 8, i / 8 % 8);
    const unsigned good = verified();
    cr_assert(good > 150 && good < 1600, "%u", good);
}

/* Keys and R of small order, with S that satisfies the equation or would. */
Test(simd_ed25519, points_of_small_order) {
    for (unsigned i = 0; i < 256; i++) {
        append_mixed(0, 0);
        uint8_t *at = i % 2 ? key[i] : signature[i];
        memset(at, 0, 32);
        at[0] = 1;
        add_eighths(at, i / 2 % 8);
        if (i & 16) at[31] ^= 0x80;
        if (i & 32) memset(signature[i] + 32, 0, 32);
        if (i & 64) memcpy(signature[i], key[i], 32);
    }
    cr_assert_eq(verified(), 0);
}
#else
Test(simd_ed25519, is_left_out) { cr_skip_test("built without libsodium"); }
#endif
