/*
 * signatures_hard.h: signatures on secp256k1 that are hard: numbers at the edges of their ranges, sums that the formulas for
 * points cannot add, results of infinity, an x above n. For suites of what computes them; each starts with start().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_SIGNATURES_HARD_H
#define SVMX_TESTS_SIGNATURES_HARD_H

#include "signatures_fixture.h"

/* The suite's: twice the largest digit of its windows of G, times 16, in three bytes. */
extern const uint8_t meeting[3];

static struct signatures all;
static secp256k1_context *signer;
static uint64_t state;

static inline void start(void) {
    all.count = 0;
    state = 31;
    if (!signer) signer = secp256k1_context_create(SECP256K1_CONTEXT_SIGN);
}

static inline void stop(void) {
    secp256k1_context_destroy(signer);
    signer = NULL;
}

/* ---- signatures ------------------------------------------------------------------------------------------------ */

/* Appends one of a random key and hash. */
static inline void append(void) {
    const unsigned i = all.count++;
    uint8_t secret[32], compact[64], point[65];
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    size_t bytes = sizeof point;
    int id;
    random_bytes(&state, secret, 32);
    random_bytes(&state, all.hash[i], 32);
    cr_assert(secp256k1_ecdsa_sign_recoverable(signer, &signature, all.hash[i], secret, NULL, NULL));
    cr_assert(secp256k1_ec_pubkey_create(signer, &key, secret));
    secp256k1_ecdsa_recoverable_signature_serialize_compact(signer, compact, &id, &signature);
    secp256k1_ec_pubkey_serialize(signer, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    memcpy(all.r[i], compact, 32);
    memcpy(all.s[i], compact + 32, 32);
    memcpy(all.key[i], point + 1, 64);
    number(all.v[i], '0', 27 + id);
}

/* Eight ways to spoil one for both operations, all of them certain. */
static inline void spoil(unsigned i, uint32_t kind) {
    switch (kind % 8) {
    case 0: number(all.r[i], '0', 0); break;
    case 1: number(all.r[i], 'n', 0); break;
    case 2: number(all.s[i], '0', 0); break;
    case 3: number(all.s[i], 'n', 0); break;
    case 4: number(all.r[i], 'p', 1); break;
    case 5: number(all.s[i], 'n', 1); break;
    case 6: /* no x of a point: 5^3 + 7 has no root */ number(all.r[i], '0', 5); break;
    default: number(all.s[i], 'p', 0); break;
    }
}

/* ---- edges ----------------------------------------------------------------------------------------------------- */

static const struct {
    char base;
    int change;
} edges[] = {{'0', 0}, {'0', 1}, {'0', 2}, {'0', 3},  {'0', 4},  {'0', 6},  {'0', 255}, {'n', -2}, {'n', -1},
             {'n', 0}, {'n', 1}, {'n', 2}, {'p', -4}, {'p', -2}, {'p', -1}, {'p', 0},   {'p', 1},  {'p', 976}};
enum { EDGES = sizeof edges / sizeof edges[0] };

static inline void edge(uint8_t out[32], unsigned i) { number(out, edges[i % EDGES].base, edges[i % EDGES].change); }

/* ---- sums that are hard ---------------------------------------------------------------------------------------- */

/* Small numbers, powers of two where windows begin, lambda, and all of them negative. */
static inline void multiplier(uint8_t out[32], unsigned kind) {
    static const uint8_t lambda[32] = {0x53, 0x63, 0xad, 0x4c, 0xc0, 0x5c, 0x30, 0xe0, 0xa5, 0x26, 0x1c,
                                       0x02, 0x88, 0x12, 0x64, 0x5a, 0x12, 0x2e, 0x22, 0xea, 0x20, 0x81,
                                       0x66, 0x78, 0xdf, 0x02, 0x96, 0x7c, 0x1b, 0x23, 0xbd, 0x72};
    const unsigned which = kind / 2 % 40;
    number(out, '0', (int)which + 1);
    if (which >= 33) {
        static const uint8_t powers[] = {5, 12, 120, 125, 132, 144, 252};
        number(out, '0', 0);
        out[31 - powers[which - 33] / 8] = (uint8_t)(1 << powers[which - 33] % 8);
    }
    if (which % 8 == 7) times(out, out, lambda);
    if (kind % 2) cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, out));
}

/* x and y of k G, big-endian. */
static inline void point_of(uint8_t xy[64], const uint8_t k[32]) {
    secp256k1_pubkey key;
    uint8_t point[65];
    size_t bytes = sizeof point;
    cr_assert(secp256k1_ec_pubkey_create(signer, &key, k));
    secp256k1_ec_pubkey_serialize(signer, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    memcpy(xy, point + 1, 64);
}

/*
 * Both compute u1 G + u2 k G, and here all three are chosen.
 *
 *   SUM_ANY        small ones of each kind
 *   SUM_INFINITY   u1 = -u2 k
 *   SUM_MEETS      the last two that are added are the same point. The last is a multiple of 2^132 G, by the digit in which the
 *                  upper half of u1 begins; that is the least one if u1 is odd and below 2^132, and the sum is twice that
 */
enum sum { SUM_ANY, SUM_INFINITY, SUM_MEETS };

static inline void choose(uint8_t k[32], uint8_t u1[32], uint8_t u2[32], enum sum sum) {
    multiplier(k, random_u32(&state));
    multiplier(u1, random_u32(&state));
    multiplier(u2, random_u32(&state));
    if (sum == SUM_INFINITY) {
        times(u1, u2, k);
        cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, u1));
    } else if (sum == SUM_MEETS) {
        number(u1, '0', 1 + 2 * (int)(random_u32(&state) % 100000));
        number(k, '0', 0);
        memcpy(k + 13, meeting, sizeof meeting);
        cr_assert(secp256k1_ec_seckey_tweak_add(secp256k1_context_static, k, u1));
        cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, k));
        uint8_t inverted[32];
        inverse(inverted, u2);
        times(k, k, inverted);
    }
}

/* u1 = -hash / r and u2 = s / r, where r is the x of k G */
static inline void append_recovery(enum sum sum) {
    const unsigned i = all.count++;
    uint8_t k[32], u1[32], u2[32], xy[64];
    choose(k, u1, u2, sum);
    point_of(xy, k);
    memcpy(all.r[i], xy, 32); /* below n: the chance of another is 2^-128 */
    number(all.v[i], '0', 27 + (xy[63] & 1));
    times(all.s[i], u2, all.r[i]);
    times(all.hash[i], u1, all.r[i]);
    cr_assert(secp256k1_ec_seckey_negate(secp256k1_context_static, all.hash[i]));
}

/* u1 = hash / s and u2 = r / s; the key is k G, and r the x of the sum, or any. */
static inline void append_verification(enum sum sum, bool wrong) {
    const unsigned i = all.count++;
    uint8_t k[32], u1[32], u2[32], total[32], xy[64];
    choose(k, u1, u2, sum);
    point_of(all.key[i], k);
    times(total, u2, k);
    if (!secp256k1_ec_seckey_tweak_add(secp256k1_context_static, total, u1)) number(total, '0', 1);
    point_of(xy, total);
    memcpy(all.r[i], xy, 32);
    if (wrong) number(all.r[i], '0', 1 + (int)(random_u32(&state) % 1000));
    inverse(u2, u2);
    times(all.s[i], all.r[i], u2);
    times(all.hash[i], all.s[i], u1);
}

/* The x of the sum is n + t: r is t, and t itself is the x of another point or of none. */
static inline void append_x_above_n(unsigned count) {
    for (int t = 1; all.count < count; t++) {
        const unsigned i = all.count;
        uint8_t compressed[33] = {2}, compact[64], point[65];
        secp256k1_pubkey key;
        secp256k1_ecdsa_recoverable_signature signature;
        size_t bytes = sizeof point;
        number(compressed + 1, 'n', t);
        if (!secp256k1_ec_pubkey_parse(secp256k1_context_static, &key, compressed, 33)) continue;
        append();
        number(all.r[i], '0', t);
        memcpy(compact, all.r[i], 32);
        memcpy(compact + 32, all.s[i], 32);
        cr_assert(secp256k1_ecdsa_recoverable_signature_parse_compact(secp256k1_context_static, &signature, compact,
                                                                      2 + t % 2));
        cr_assert(secp256k1_ecdsa_recover(secp256k1_context_static, &key, &signature, all.hash[i]));
        secp256k1_ec_pubkey_serialize(secp256k1_context_static, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
        memcpy(all.key[i], point + 1, 64);
        if (i % 4 == 3) all.hash[i][0] ^= 1;
    }
}

#endif
