/*
 * signatures_secp256k1.c: ecrecover and ecdsa_verify_secp256k1 on libsecp256k1, a signature at a time.
 *
 * The plugin's part is to spread signatures over its threads, and to hash recovered keys side by side: a key is 64 bytes,
 * which is what the trees' pairs functions hash. The library's static context is constant: any number of threads use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "signatures.h"
#include "tasks.h"

#include <secp256k1_recovery.h>

enum { WORD = 32, KEY_BYTES = 64, ADDRESS_BYTES = 20, CHUNK = 16 };

/* ---- ecrecover: address, valid, hash, v, r, s -------------------------------------------------------------- */

enum { ADDRESS, RECOVER_VALID, RECOVER_HASH, V, RECOVER_R, RECOVER_S };

int simd_recovery_id(const uint8_t v[WORD]) {
    uint8_t high = 0;
    for (int i = 0; i < WORD - 1; i++) high |= v[i];
    return high == 0 && (v[WORD - 1] == 27 || v[WORD - 1] == 28) ? v[WORD - 1] - 27 : -1;
}

_Bool simd_recover(uint8_t xy[KEY_BYTES], const uint8_t *hash, const uint8_t *v, const uint8_t *r, const uint8_t *s) {
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    uint8_t compact[2 * WORD], point[1 + KEY_BYTES];
    size_t bytes = sizeof point;
    const int id = simd_recovery_id(v);
    memcpy(compact, r, WORD);
    memcpy(compact + WORD, s, WORD);
    if (id < 0 ||
        !secp256k1_ecdsa_recoverable_signature_parse_compact(secp256k1_context_static, &signature, compact, id) ||
        !secp256k1_ecdsa_recover(secp256k1_context_static, &key, &signature, hash) ||
        !secp256k1_ec_pubkey_serialize(secp256k1_context_static, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED))
        return 0;
    memcpy(xy, point + 1, KEY_BYTES);
    return 1;
}

static _Bool recover(uint8_t xy[KEY_BYTES], const struct svmx_slot *row, uint64_t i) {
    return simd_recover(xy, simd_address(&row[RECOVER_HASH], WORD * i), simd_address(&row[V], WORD * i),
                        simd_address(&row[RECOVER_R], WORD * i), simd_address(&row[RECOVER_S], WORD * i));
}

/* Up to CHUNK signatures of one task: first all keys, end to end, then their hashes, then the addresses. */
static void recover_chunk(const struct svmx_slot *row, uint64_t first, uint64_t count, simd_pairs_fn pairs) {
    uint8_t keys[CHUNK][KEY_BYTES] = {{0}}, digests[CHUNK][WORD];
    uint64_t found = 0;
    for (uint64_t i = 0; i < count; i++) {
        const _Bool valid = recover(keys[found], row, first + i);
        *simd_address(&row[RECOVER_VALID], first + i) = valid;
        found += valid;
    }
    pairs(digests[0], keys[0], found);
    found = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *address = simd_address(&row[ADDRESS], ADDRESS_BYTES * (first + i));
        if (*simd_address(&row[RECOVER_VALID], first + i))
            memcpy(address, digests[found++] + (WORD - ADDRESS_BYTES), ADDRESS_BYTES);
        else
            memset(address, 0, ADDRESS_BYTES);
    }
}

static void recover_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, simd_pairs_fn pairs) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece))
        for (uint64_t at = piece.begin; at < piece.end; at += CHUNK)
            recover_chunk(piece.row, at, piece.end - at < CHUNK ? piece.end - at : CHUNK, pairs);
}

/* ---- ecdsa_verify_secp256k1: valid, hash, r, s, key --------------------------------------------------------- */

enum { VERIFY_VALID, VERIFY_HASH, VERIFY_R, VERIFY_S, KEY };

_Bool simd_verify(const uint8_t *hash, const uint8_t *r, const uint8_t *s, const uint8_t *key) {
    secp256k1_ecdsa_signature signature;
    secp256k1_pubkey parsed;
    uint8_t compact[2 * WORD], point[1 + KEY_BYTES] = {0x04};
    memcpy(compact, r, WORD);
    memcpy(compact + WORD, s, WORD);
    memcpy(point + 1, key, KEY_BYTES);
    return secp256k1_ecdsa_signature_parse_compact(secp256k1_context_static, &signature, compact) &&
           secp256k1_ec_pubkey_parse(secp256k1_context_static, &parsed, point, sizeof point) &&
           secp256k1_ecdsa_verify(secp256k1_context_static, &signature, hash, &parsed);
}

static _Bool verify(const struct svmx_slot *row, uint64_t i) {
    return simd_verify(simd_address(&row[VERIFY_HASH], WORD * i), simd_address(&row[VERIFY_R], WORD * i),
                       simd_address(&row[VERIFY_S], WORD * i), simd_address(&row[KEY], KEY_BYTES * i));
}

static void verify_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece))
        for (uint64_t i = piece.begin; i < piece.end; i++)
            *simd_address(&piece.row[VERIFY_VALID], i) = verify(piece.row, i);
}

/* ---- tables; the cost of one signature as measured on one core of a Zen 4 -------------------------------------- */

enum { RECOVER_PS = 36000000, VERIFY_PS = 30000000, GRAIN = 1 };

static void recover_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    recover_run(d, first, end, simd_keccak256_pairs_scalar);
}

const struct simd_kernel simd_secp256k1_scalar[SIMD_SECP256K1_KERNELS] = {
    {"ecrecover", recover_run_scalar, NULL, GRAIN, RECOVER_PS, 0},
    {"ecdsa_verify_secp256k1", verify_run, NULL, GRAIN, VERIFY_PS, 0},
};

#if defined(__x86_64__)
static void recover_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    recover_run(d, first, end, simd_keccak256_pairs_avx2);
}

static void recover_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    recover_run(d, first, end, simd_keccak256_pairs_avx512);
}

const struct simd_kernel simd_secp256k1_avx2[SIMD_SECP256K1_KERNELS] = {
    {"ecrecover", recover_run_avx2, NULL, GRAIN, RECOVER_PS, 0},
    {"ecdsa_verify_secp256k1", verify_run, NULL, GRAIN, VERIFY_PS, 0},
};

const struct simd_kernel simd_secp256k1_avx512[SIMD_SECP256K1_KERNELS] = {
    {"ecrecover", recover_run_avx512, NULL, GRAIN, RECOVER_PS, 0},
    {"ecdsa_verify_secp256k1", verify_run, NULL, GRAIN, VERIFY_PS, 0},
};

/* A group of lanes is a grain: what is left of a group goes to another thread. Groups share inversions, and two at a time
 * draw roots: one group of ecrecover takes 62 us, two take 101. */
enum { RECOVER_IFMA_PS = 5500000, VERIFY_IFMA_PS = 4800000, GRAIN_IFMA = 8, RANGE_IFMA = 16 };

const struct simd_kernel simd_secp256k1_ifma[SIMD_SECP256K1_KERNELS] = {
    {"ecrecover", simd_ecrecover_run_ifma, NULL, GRAIN_IFMA, RECOVER_IFMA_PS, RANGE_IFMA},
    {"ecdsa_verify_secp256k1", simd_ecdsa_run_ifma, NULL, GRAIN_IFMA, VERIFY_IFMA_PS, RANGE_IFMA},
};
#endif
