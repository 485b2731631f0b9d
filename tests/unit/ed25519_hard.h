/*
 * ed25519_hard.h: Ed25519 signatures that are hard: S at the edges, points of small and of mixed order, encodings that are not
 * canonical. For suites of what computes them; each starts with start().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_ED25519_HARD_H
#define SVMX_TESTS_ED25519_HARD_H

#include "../../plugins/simd/variant.h"
#include "op_fixture.h"

#include <sodium.h>
#include <stdbool.h>

enum { MOST = 2100, LONGEST = 300 };

static uint8_t key[MOST][32], signature[MOST][64], message[MOST * LONGEST], valid[2][MOST];
static uint64_t offsets[MOST + 1], state;
static unsigned count;

static inline void start(void) {
    state = 77, count = 0;
    offsets[0] = 5;
    cr_assert_geq(sodium_init(), 0);
    random_bytes(&state, message, sizeof message);
}

static inline uint32_t machine_features(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

static inline const struct simd_kernel *kernel(void) {
    const uint32_t features = machine_features();
    return simd_kernel_find(features, simd_variant_best(features), "ed25519_verify");
}

/* In ranges of 1, 2, 3 .. and all that is left. */
static inline void run_ranges(const struct svmx_slot slots[5]) {
    const uint64_t first_unit[] = {0, count};
    const struct svmx_dispatch d = {.slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 5};
    uint64_t first = 0;
    for (uint64_t length = 1; first + length < count && length < 20; first += length++)
        kernel()->run(&d, first, first + length);
    kernel()->run(&d, first, count);
}

/* Who is compared with the reference. */
static void (*run_by)(const struct svmx_slot slots[5]) = run_ranges;

/* By the reference and by the other. How many are valid. */
static inline unsigned verified(void) {
    struct svmx_slot slots[] = {slot(valid[0], count), slot(key, count * UINT64_C(32)),
                                slot(signature, count * UINT64_C(64)), slot(message, offsets[count]),
                                slot(offsets, 8 * (count + UINT64_C(1)))};
    unsigned good = 0;
    memset(valid, 0x55, sizeof valid);
    compute(SVMX_OP_ED25519_VERIFY, slots);
    slots[0] = slot(valid[1], count);
    run_by(slots);
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(valid[1][i], valid[0][i], "number %u of %u", i, count);
        good += valid[0][i];
    }
    return good;
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

static inline void append_of(uint64_t bytes) {
    const unsigned i = count++;
    uint8_t seed[32], secret[64];
    random_bytes(&state, seed, sizeof seed);
    offsets[i + 1] = offsets[i] + bytes;
    if (offsets[i + 1] > sizeof message) offsets[i + 1] = offsets[i];
    crypto_sign_seed_keypair(key[i], secret, seed);
    crypto_sign_detached(signature[i], NULL, message + offsets[i], offsets[i + 1] - offsets[i], secret);
}

static inline void append(void) { append_of(random_u32(&state) % LONGEST); }

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                  0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};

static inline void add_little(uint8_t number[32], int change) {
    for (int i = 0; i < 32 && change != 0; i++) {
        change += number[i];
        number[i] = (uint8_t)(change & 0xff);
        change >>= 8;
    }
}

/* y of 2^255 - 1 - 39 .. 2^255 - 1, and 0 .. 19, with either sign, as key and as R. */
static inline void append_not_canonical(void) {
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
}

/* ---- points of small and mixed order ----------------------------------------------------------------------------- */

/* A point of order 8; its multiples are all that there are. */
static const uint8_t eighth[32] = {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
                                   0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
                                   0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a};

static inline void add_eighths(uint8_t point[32], unsigned times) {
    while (times-- > 0) cr_assert_eq(crypto_core_ed25519_add(point, point, eighth), 0);
}

/* k = SHA-512(R, key, message) modulo L */
static inline void hash_of(uint8_t k[32], unsigned i) {
    uint8_t hash[64];
    crypto_hash_sha512_state sha;
    crypto_hash_sha512_init(&sha);
    crypto_hash_sha512_update(&sha, signature[i], 32);
    crypto_hash_sha512_update(&sha, key[i], 32);
    crypto_hash_sha512_update(&sha, message + offsets[i], 16);
    crypto_hash_sha512_final(&sha, hash);
    crypto_core_ed25519_scalar_reduce(k, hash);
}

/* S B - k key = R up to eighths: those of the key, k times, and those of R. The message is such that k modulo 8 is `rest`, or as it
 * is if that is negative. */
static inline void append_mixed_of(unsigned of_key, unsigned of_r, int rest) {
    const unsigned i = count++;
    uint8_t secret[32], nonce[32], hash[64], k[32];
    offsets[i + 1] = offsets[i] + 16;
    random_bytes(&state, hash, 64);
    crypto_core_ed25519_scalar_reduce(secret, hash);
    random_bytes(&state, hash, 64);
    crypto_core_ed25519_scalar_reduce(nonce, hash);
    cr_assert_eq(crypto_scalarmult_ed25519_base_noclamp(key[i], secret), 0);
    cr_assert_eq(crypto_scalarmult_ed25519_base_noclamp(signature[i], nonce), 0);
    add_eighths(key[i], of_key);
    add_eighths(signature[i], of_r);
    for (hash_of(k, i); rest >= 0 && k[0] % 8 != rest; hash_of(k, i))
        message[offsets[i]]++, message[offsets[i] + 1] ^= 1;
    crypto_core_ed25519_scalar_mul(k, k, secret);
    crypto_core_ed25519_scalar_add(signature[i] + 32, k, nonce);
}

static inline void append_mixed(unsigned of_key, unsigned of_r) { append_mixed_of(of_key, of_r, -1); }

/* Every eighth of a key with every one of R and every rest of k: 64 of 512 satisfy the equation. */
static inline void append_all_eighths(void) {
    for (unsigned i = 0; i < 512; i++) append_mixed_of(i % 8, i / 8 % 8, (int)(i / 64));
}

/* All encodings of points of small order: seven y, two of them not below p, with either sign. */
static inline void small_order_encoding(uint8_t out[32], unsigned which) {
    static const uint8_t one[32] = {1};
    const unsigned y = which / 2;
    memcpy(out, one, 32);
    if (y < 5) /* y of 0, 1, 2, 3 and 4 eighths are all that there are */
        add_eighths(out, y);
    else
        memset(out, 0xff, 32), out[0] = (uint8_t)(0xed + y - 5), out[31] = 0x7f; /* p and p + 1 */
    out[31] = (uint8_t)((out[31] & 0x7f) | which % 2 << 7);
}

/* Each of them as key and as R, also both, with the S of a signature and with 0. */
static inline void append_all_small_order(void) {
    for (unsigned i = 0; i < 15 * 15 * 2; i++) {
        const unsigned of_key = i / 2 % 15, of_r = i / 30;
        append_mixed(0, 0);
        if (of_key == 14 && of_r == 14) continue;
        if (of_key < 14) small_order_encoding(key[count - 1], of_key);
        if (of_r < 14) small_order_encoding(signature[count - 1], of_r);
        if (i % 2) memset(signature[count - 1] + 32, 0, 32);
    }
}

/* Keys and R of small order, with S that satisfies the equation or would. */
static inline void append_small_order(void) {
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
}

#endif
