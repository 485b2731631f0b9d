/*
 * test_op_ed25519.c: Ed25519 against OpenSSL on valid and damaged signatures, and what is refused.
 *
 * RFC 8032's vectors and the cases on which libraries differ are known answers of the operation; test_op_table.c runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SODIUM
#ifdef HAVE_LIBCRYPTO
#include <openssl/evp.h>
#endif
#include <sodium.h>

enum { N = 60, LONGEST = 300 };

static uint8_t key[N][32], signature[N][64], message[N * LONGEST], valid[N];
static uint64_t offsets[N + 1];

/* Messages of 0, 5, 10, ... bytes, and some before the first. */
static void sign_all(void) {
    uint64_t state = 8;
    offsets[0] = 3;
    random_bytes(&state, message, sizeof message);
    for (unsigned i = 0; i < N; i++) {
        uint8_t seed[32], secret[64];
        random_bytes(&state, seed, sizeof seed);
        offsets[i + 1] = offsets[i] + 5 * i;
        crypto_sign_seed_keypair(key[i], secret, seed);
        crypto_sign_detached(signature[i], NULL, message + offsets[i], offsets[i + 1] - offsets[i], secret);
    }
}

TestSuite(op_ed25519, .init = sign_all);

static void verify(void) {
    const struct svmx_slot slots[] = {slot(valid, N), slot(key, sizeof key), slot(signature, sizeof signature),
                                      slot(message, offsets[N]), slot(offsets, sizeof offsets)};
    memset(valid, 0x55, sizeof valid);
    compute(SVMX_OP_ED25519_VERIFY, slots);
}

/* Changes one bit of an item, another part each time; item 0 has no message to damage. */
static void damage(unsigned i) {
    uint8_t *const parts[] = {key[i], signature[i], signature[i] + 32, message + offsets[i]};
    const size_t bytes = i % 4 == 3 ? offsets[i + 1] - offsets[i] : 32;
    parts[i % 4][i * 7 % bytes] ^= (uint8_t)(1 << i % 8);
}

Test(op_ed25519, signatures_are_valid_and_damaged_ones_are_not) {
    verify();
    for (unsigned i = 0; i < N; i++) cr_assert_eq(valid[i], 1, "item %u", i);
    for (unsigned i = 0; i < N; i++)
        if (i % 3) damage(i);
    verify();
    for (unsigned i = 0; i < N; i++) cr_assert_eq(valid[i], i % 3 == 0, "item %u", i);
}

Test(op_ed25519, openssl_agrees) {
#ifdef HAVE_LIBCRYPTO
    unsigned good = 0;
    for (unsigned i = 0; i < N; i++)
        if (i % 2) damage(i);
    verify();
    for (unsigned i = 0; i < N; i++) {
        EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key[i], 32);
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        const int fine =
            public && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, public) == 1 &&
            EVP_DigestVerify(context, signature[i], 64, message + offsets[i], offsets[i + 1] - offsets[i]) == 1;
        cr_assert_eq(valid[i], fine, "item %u", i);
        good += valid[i];
        EVP_MD_CTX_free(context);
        EVP_PKEY_free(public);
    }
    cr_assert_eq(good, N / 2);
#else
    cr_skip_test("built without libcrypto");
#endif
}

/* Beside S: the sum with the order of the base point is the same number to the equation, and refused all the same. */
Test(op_ed25519, an_s_above_the_order_is_invalid) {
    static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,       0xd6,
                                      0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10};
    for (unsigned i = 0; i < N; i++) {
        unsigned carry = 0;
        for (unsigned k = 0; k < 32; k++) {
            carry += signature[i][32 + k] + order[k];
            signature[i][32 + k] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    verify();
    for (unsigned i = 0; i < N; i++) cr_assert_eq(valid[i], 0, "item %u", i);
}

Test(op_ed25519, empty_messages_may_be_nowhere) {
    static const uint64_t none[2];
    const struct svmx_slot slots[] = {slot(valid, 1), slot(key, 32), slot(signature, 64), slot(NULL, 0),
                                      slot(none, sizeof none)};
    compute(SVMX_OP_ED25519_VERIFY, slots);
    cr_assert_eq(valid[0], 1, "message 0 is empty");
}

Test(op_ed25519, lengths_and_offsets_that_disagree_are_refused) {
    uint64_t cuts[] = {0, 10, 30};
    struct svmx_slot slots[] = {slot(valid, 2), slot(key, 64), slot(signature, 128), slot(message, 30),
                                slot(cuts, sizeof cuts)};
    accepted(SVMX_OP_ED25519_VERIFY, slots, 2, 30 + 2 * 16384);
    slots[1].bytes = 96;
    refused(SVMX_OP_ED25519_VERIFY, slots, "key has 3 items but valid has 2: give both the same length");
    slots[1].bytes = 64, slots[2].bytes = 64;
    refused(SVMX_OP_ED25519_VERIFY, slots, "signature has 1 item but valid has 2: give both the same length");
    slots[2].bytes = 128, slots[4].bytes = 16;
    refused(SVMX_OP_ED25519_VERIFY, slots, "offsets has 2 entries but must have 3: one more than the 2 messages");
    slots[4].bytes = 24, slots[3].bytes = 29;
    refused(SVMX_OP_ED25519_VERIFY, slots, "offsets[2] = 30 lies past the end of message, which has 29 bytes");
    slots[3].bytes = 30, cuts[1] = 31;
    refused(SVMX_OP_ED25519_VERIFY, slots, "offsets[2] = 30 is less than offsets[1] = 31: they must not decrease");
    cuts[1] = UINT64_MAX;
    refused(SVMX_OP_ED25519_VERIFY, slots,
            "offsets[2] = 30 is less than offsets[1] = 18446744073709551615: they must not decrease");
    const struct svmx_slot none[5] = {{0, 0}};
    accepted(SVMX_OP_ED25519_VERIFY, none, 0, 0);
}
#else
Test(op_ed25519, is_left_out) {
    cr_assert_null(svmx__op_by_id(SVMX_OP_ED25519_VERIFY));
    cr_skip_test("built without libsodium");
}
#endif
