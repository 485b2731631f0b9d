/*
 * signatures_ed25519.c: ed25519_verify on libsodium, a signature at a time, over the plugin's threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernels.h"
#include "tasks.h"

#include <sodium.h>

enum { VALID, KEY, SIGNATURE, MESSAGE, OFFSETS };
enum { KEY_BYTES = 32, SIGNATURE_BYTES = 64 };

/* An empty message may be at NULL, which the library is not given. */
static _Bool verify(const struct svmx_slot *row, uint64_t i) {
    static const uint8_t nothing[1];
    const uint8_t *offset = simd_address(&row[OFFSETS], 8 * i);
    const uint64_t begin = simd_load_u64(offset), bytes = simd_load_u64(offset + 8) - begin;
    const uint8_t *message = bytes > 0 ? simd_address(&row[MESSAGE], begin) : nothing;
    return crypto_sign_verify_detached(simd_address(&row[SIGNATURE], SIGNATURE_BYTES * i), message, bytes,
                                       simd_address(&row[KEY], KEY_BYTES * i)) == 0;
}

static void verify_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece))
        for (uint64_t i = piece.begin; i < piece.end; i++) *simd_address(&piece.row[VALID], i) = verify(piece.row, i);
}

/* A signature is 16,384 of work beside its message. */
const struct simd_kernel simd_ed25519[SIMD_ED25519_KERNELS] = {
    {"ed25519_verify", verify_run, NULL, 1, 3000, 0},
};

#if defined(__x86_64__)
/* As of secp256k1: a group of lanes, and two of them for a root. */
const struct simd_kernel simd_ed25519_ifma[SIMD_ED25519_KERNELS] = {
    {"ed25519_verify", simd_ed25519_run_ifma, NULL, 8, 400, 16},
};
#endif
