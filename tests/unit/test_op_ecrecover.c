/*
 * test_op_ecrecover.c: who signed, against keys made by the library, and every way not to be a signature.
 *
 * The published vectors are known answers of the operation; test_op_table.c runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"
#include "ops/messages.h"

#ifdef SVMX_HAVE_SECP256K1
#include <secp256k1_recovery.h>

enum { N = 40 };

/* n signatures of random hashes under random keys, with the addresses that follow from the keys alone. */
static uint8_t hash[N][32], v[N][32], r[N][32], s[N][32], signer[N][20], address[N][20], valid[N];

/* The order of the curve. */
static const uint8_t order[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xfe, 0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48,
                                  0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41};

static void sign(secp256k1_context *context, unsigned i, uint64_t *state) {
    uint8_t secret[32], compact[64], point[65], digest[32];
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    size_t bytes = sizeof point;
    int recovery;
    random_bytes(state, secret, sizeof secret);
    random_bytes(state, hash[i], sizeof hash[i]);
    cr_assert(secp256k1_ec_pubkey_create(context, &key, secret));
    cr_assert(secp256k1_ecdsa_sign_recoverable(context, &signature, hash[i], secret, NULL, NULL));
    secp256k1_ecdsa_recoverable_signature_serialize_compact(context, compact, &recovery, &signature);
    memcpy(r[i], compact, 32);
    memcpy(s[i], compact + 32, 32);
    memset(v[i], 0, 32);
    v[i][31] = (uint8_t)(27 + recovery);
    secp256k1_ec_pubkey_serialize(context, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    svmx__keccak256(digest, point + 1, 64);
    memcpy(signer[i], digest + 12, 20);
}

static void sign_all(void) {
    secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
    uint64_t state = 77;
    for (unsigned i = 0; i < N; i++) sign(context, i, &state);
    secp256k1_context_destroy(context);
}

TestSuite(op_ecrecover, .init = sign_all);

static void recover(uint64_t n) {
    const struct svmx_slot slots[] = {slot(address, 20 * n), slot(valid, n),  slot(hash, 32 * n),
                                      slot(v, 32 * n),       slot(r, 32 * n), slot(s, 32 * n)};
    memset(address, 0x55, sizeof address);
    memset(valid, 0x55, sizeof valid);
    compute(SVMX_OP_ECRECOVER, slots);
}

/* Item 0 is invalid now: no address, and its neighbour is not touched. */
static void item_is_invalid(const char *what) {
    static const uint8_t zeros[20];
    recover(2);
    cr_assert_eq(valid[0], 0, "%s: valid", what);
    cr_assert_arr_eq(address[0], zeros, 20, "%s: an address", what);
    cr_assert(valid[1] == 1 && memcmp(address[1], signer[1], 20) == 0, "%s: spoilt the next", what);
}

Test(op_ecrecover, signers_are_found) {
    recover(N);
    for (unsigned i = 0; i < N; i++) {
        cr_assert_eq(valid[i], 1);
        cr_assert_arr_eq(address[i], signer[i], 20, "item %u", i);
    }
}

/* s and n - s are one signature, with the other v: the precompile takes both. */
Test(op_ecrecover, the_twin_with_a_high_s_has_the_same_signer) {
    for (unsigned i = 0; i < N; i++) {
        unsigned borrow = 0;
        for (unsigned k = 32; k-- > 0;) {
            const unsigned difference = order[k] - s[i][k] - borrow;
            borrow = difference >> 8 & 1;
            s[i][k] = (uint8_t)difference;
        }
        v[i][31] ^= 27 ^ 28;
    }
    recover(N);
    for (unsigned i = 0; i < N; i++) cr_assert(valid[i] == 1 && memcmp(address[i], signer[i], 20) == 0, "item %u", i);
}

Test(op_ecrecover, another_v_or_hash_is_another_signer) {
    for (unsigned i = 0; i < N; i++) {
        if (i % 2)
            v[i][31] ^= 27 ^ 28;
        else
            hash[i][i % 32] ^= 1;
    }
    recover(N);
    for (unsigned i = 0; i < N; i++) cr_assert_neq(memcmp(address[i], signer[i], 20), 0, "item %u", i);
}

Test(op_ecrecover, v_is_27_or_28_and_nothing_else) {
    const uint8_t right = v[0][31];
    for (unsigned value = 0; value < 256; value++) {
        if (value == 27 || value == 28) continue;
        v[0][31] = (uint8_t)value;
        item_is_invalid("v");
    }
    v[0][31] = right;
    for (unsigned byte = 0; byte < 31; byte++)
        for (unsigned bit = 1; bit < 256; bit *= 2) {
            v[0][byte] = (uint8_t)bit;
            item_is_invalid("a high byte of v");
            v[0][byte] = 0;
        }
    recover(1);
    cr_assert_arr_eq(address[0], signer[0], 20, "and what was put back is fine");
}

Test(op_ecrecover, r_and_s_lie_between_zero_and_the_order) {
    static const uint8_t zero[32];
    uint8_t all[32], above[32], kept[32];
    uint8_t(*const words[])[32] = {r, s};
    memset(all, 0xff, 32);
    memcpy(above, order, 32);
    above[31]++;
    for (unsigned w = 0; w < 2; w++) {
        memcpy(kept, words[w][0], 32);
        const uint8_t *const out[] = {zero, order, above, all};
        for (unsigned i = 0; i < 4; i++) {
            memcpy(words[w][0], out[i], 32);
            item_is_invalid(w ? "s" : "r");
        }
        memcpy(words[w][0], kept, 32);
    }
    /* The ends of the range are fine where they give a point: s = 1 and s = n - 1 always do. */
    for (unsigned end = 0; end < 2; end++) {
        memcpy(s[0], end ? order : zero, 32);
        s[0][31] = end ? 0x40 : 1;
        recover(1);
        cr_assert_eq(valid[0], 1, "s = %s", end ? "n - 1" : "1");
    }
}

/* x = 5 is on no point of the curve; x = 1 is. */
Test(op_ecrecover, an_r_that_is_no_x_is_invalid) {
    memset(r[0], 0, 32);
    r[0][31] = 5;
    item_is_invalid("r = 5");
    r[0][31] = 1;
    recover(1);
    cr_assert_eq(valid[0], 1);
}

Test(op_ecrecover, any_alignment) {
    static uint8_t memory[6][32 * N + 1];
    const void *const from[] = {hash, v, r, s};
    struct svmx_slot slots[6];
    for (unsigned i = 0; i < 6; i++) slots[i] = slot(memory[i] + 1, (i == 0 ? 20 : i == 1 ? 1 : 32) * (uint64_t)N);
    for (unsigned i = 0; i < 4; i++) memcpy(memory[2 + i] + 1, from[i], 32 * N);
    compute(SVMX_OP_ECRECOVER, slots);
    cr_assert_arr_eq(memory[0] + 1, signer, sizeof signer);
}

Test(op_ecrecover, lengths_that_disagree_are_refused) {
    static const char *const names[] = {"", "valid", "hash", "v", "r", "s"};
    struct svmx_slot slots[] = {slot(address, 40), slot(valid, 2), slot(hash, 64),
                                slot(v, 64),       slot(r, 64),    slot(s, 64)};
    accepted(SVMX_OP_ECRECOVER, slots, 2, 2);
    for (unsigned i = 1; i < 6; i++) {
        char text[80];
        const uint64_t item = i == 1 ? 1 : 32;
        snprintf(text, sizeof text, "%s has 3 items but address has 2: give both the same length", names[i]);
        slots[i].bytes += item;
        refused(SVMX_OP_ECRECOVER, slots, text);
        slots[i].bytes -= item;
    }
    const struct svmx_slot none[6] = {{0, 0}};
    accepted(SVMX_OP_ECRECOVER, none, 0, 0);
}
#else
Test(op_ecrecover, is_left_out) {
    cr_assert_null(svmx__op_by_id(SVMX_OP_ECRECOVER));
    cr_assert_null(svmx__op_by_name("ecrecover"));
    cr_skip_test("built without libsecp256k1");
}
#endif
