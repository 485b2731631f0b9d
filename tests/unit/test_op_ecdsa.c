/*
 * test_op_ecdsa.c: ECDSA on secp256k1 against OpenSSL on valid and damaged signatures, and what is refused.
 *
 * The published vectors and the ends of all ranges are known answers of the operation; test_op_table.c runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SECP256K1
#ifdef HAVE_LIBCRYPTO
#define OPENSSL_SUPPRESS_DEPRECATED /* the new calls take no r and s */
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#endif
#include <secp256k1.h>

enum { N = 64 };

static uint8_t hash[N][32], r[N][32], s[N][32], key[N][64], valid[N];

static void sign(secp256k1_context *context, unsigned i, uint64_t *state) {
    uint8_t secret[32], compact[64], point[65];
    secp256k1_ecdsa_signature signature;
    secp256k1_pubkey public;
    size_t bytes = sizeof point;
    random_bytes(state, secret, sizeof secret);
    random_bytes(state, hash[i], sizeof hash[i]);
    cr_assert(secp256k1_ec_pubkey_create(context, &public, secret));
    cr_assert(secp256k1_ecdsa_sign(context, &signature, hash[i], secret, NULL, NULL));
    secp256k1_ecdsa_signature_serialize_compact(context, compact, &signature);
    secp256k1_ec_pubkey_serialize(context, point, &bytes, &public, SECP256K1_EC_UNCOMPRESSED);
    memcpy(r[i], compact, 32);
    memcpy(s[i], compact + 32, 32);
    memcpy(key[i], point + 1, 64);
}

static void sign_all(void) {
    secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
    uint64_t state = 5;
    for (unsigned i = 0; i < N; i++) sign(context, i, &state);
    secp256k1_context_destroy(context);
}

TestSuite(op_ecdsa, .init = sign_all);

static void verify(void) {
    const struct svmx_slot slots[] = {slot(valid, N), slot(hash, sizeof hash), slot(r, sizeof r), slot(s, sizeof s),
                                      slot(key, sizeof key)};
    memset(valid, 0x55, sizeof valid);
    compute(SVMX_OP_ECDSA_VERIFY_SECP256K1, slots);
}

Test(op_ecdsa, signatures_are_valid) {
    verify();
    for (unsigned i = 0; i < N; i++) cr_assert_eq(valid[i], 1, "item %u", i);
}

/* Changes one bit of an item, another part each time. */
static void damage(unsigned i) {
    uint8_t *const parts[] = {hash[i], r[i], s[i], key[i], key[i] + 32};
    parts[i % 5][i * 7 % 32] ^= (uint8_t)(1 << i % 8);
}

Test(op_ecdsa, damaged_ones_are_not) {
    for (unsigned i = 0; i < N; i++)
        if (i % 3) damage(i);
    verify();
    for (unsigned i = 0; i < N; i++) cr_assert_eq(valid[i], i % 3 == 0, "item %u", i);
}

#ifdef HAVE_LIBCRYPTO
/* The order of the curve halved. */
static const uint8_t half[32] = {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4,
                                 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0};

/* OpenSSL takes a high s. */
static int openssl_says(unsigned i) {
    EC_KEY *ec = EC_KEY_new_by_curve_name(NID_secp256k1);
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *x = BN_bin2bn(key[i], 32, NULL), *y = BN_bin2bn(key[i] + 32, 32, NULL);
    cr_assert(ec && signature && x && y);
    cr_assert_eq(ECDSA_SIG_set0(signature, BN_bin2bn(r[i], 32, NULL), BN_bin2bn(s[i], 32, NULL)), 1);
    const int fine = EC_KEY_set_public_key_affine_coordinates(ec, x, y) == 1 &&
                     ECDSA_do_verify(hash[i], 32, signature, ec) == 1 && memcmp(s[i], half, 32) <= 0;
    ECDSA_SIG_free(signature);
    EC_KEY_free(ec);
    BN_free(x);
    BN_free(y);
    return fine;
}
#endif

Test(op_ecdsa, openssl_agrees) {
#ifdef HAVE_LIBCRYPTO
    unsigned good = 0;
    for (unsigned i = 0; i < N; i++)
        if (i % 2) damage(i);
    verify();
    for (unsigned i = 0; i < N; i++) {
        cr_assert_eq(valid[i], openssl_says(i), "item %u", i);
        good += valid[i];
    }
    cr_assert_eq(good, N / 2);
#else
    cr_skip_test("built without libcrypto");
#endif
}

Test(op_ecdsa, lengths_that_disagree_are_refused) {
    static const char *const names[] = {"", "hash", "r", "s", "key"};
    struct svmx_slot slots[] = {slot(valid, 2), slot(hash, 64), slot(r, 64), slot(s, 64), slot(key, 128)};
    accepted(SVMX_OP_ECDSA_VERIFY_SECP256K1, slots, 2, 2);
    for (unsigned i = 1; i < 5; i++) {
        char text[80];
        const uint64_t item = i == 4 ? 64 : 32;
        snprintf(text, sizeof text, "%s has 1 item but valid has 2: give both the same length", names[i]);
        slots[i].bytes -= item;
        refused(SVMX_OP_ECDSA_VERIFY_SECP256K1, slots, text);
        slots[i].bytes += item;
    }
    const struct svmx_slot none[5] = {{0, 0}};
    accepted(SVMX_OP_ECDSA_VERIFY_SECP256K1, none, 0, 0);
}
#else
Test(op_ecdsa, is_left_out) {
    cr_assert_null(svmx__op_by_id(SVMX_OP_ECDSA_VERIFY_SECP256K1));
    cr_skip_test("built without libsecp256k1");
}
#endif
