/*
 * peer_sodium.c: see peer_sodium.h. Without libsodium it only says that it is missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_sodium.h"

#ifdef SVMX_HAVE_SODIUM

#include <sodium.h>
#include <string.h>

bool sodium_peer_sign(struct sodium_signatures *all, const char **why) {
    *why = "libsodium does not start";
    if (sodium_init() < 0) return false;
    for (uint64_t i = 0; i < all->n; i++) {
        uint8_t seed[crypto_sign_SEEDBYTES] = {1}, secret[crypto_sign_SECRETKEYBYTES];
        memcpy(seed + 1, &i, sizeof i);
        if (crypto_sign_seed_keypair(all->keys + i * crypto_sign_PUBLICKEYBYTES, secret, seed) != 0 ||
            crypto_sign_detached(all->signatures + i * crypto_sign_BYTES, NULL, all->messages + i * all->bytes,
                                 all->bytes, secret) != 0)
            return false;
    }
    *why = NULL;
    return true;
}

uint64_t sodium_peer_verify(const struct sodium_signatures *all, uint64_t first, uint64_t end) {
    uint64_t good = 0;
    for (uint64_t i = first; i < end; i++)
        good += crypto_sign_verify_detached(all->signatures + i * crypto_sign_BYTES, all->messages + i * all->bytes,
                                            all->bytes, all->keys + i * crypto_sign_PUBLICKEYBYTES) == 0;
    return good;
}

#else

bool sodium_peer_sign(struct sodium_signatures *signatures, const char **why) {
    (void)signatures;
    *why = "built without libsodium (libsodium-dev)";
    return false;
}
uint64_t sodium_peer_verify(const struct sodium_signatures *signatures, uint64_t first, uint64_t end) {
    (void)signatures;
    return end - first;
}

#endif
