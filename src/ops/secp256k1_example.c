/*
 * secp256k1_example.c: see secp256k1_example.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/secp256k1_example.h"
#include "ops/messages.h"

#include <assert.h>
#include <secp256k1_preallocated.h>
#include <secp256k1_recovery.h>
#include <stdalign.h>
#include <string.h>

/* Key and hash of signature `index`: SHA-256 of what names them. That one is no legal key has a chance of 2^-128. */
static void derive(uint8_t out[32], uint8_t what, uint64_t seed, uint64_t index) {
    uint8_t name[17] = {what};
    memcpy(name + 1, &seed, 8);
    memcpy(name + 9, &index, 8);
    svmx__sha256(out, name, sizeof name);
}

static void sign(const secp256k1_context *signer, struct svmx__signed *one, uint64_t seed, uint64_t index) {
    uint8_t secret[32], compact[64], point[65];
    secp256k1_ecdsa_recoverable_signature signature;
    secp256k1_pubkey key;
    size_t bytes = sizeof point;
    int recovery = 0;
    derive(secret, 1, seed, index);
    derive(one->hash, 2, seed, index);
    if (!secp256k1_ecdsa_sign_recoverable(signer, &signature, one->hash, secret, NULL, NULL)) return;
    if (!secp256k1_ec_pubkey_create(signer, &key, secret)) return;
    secp256k1_ecdsa_recoverable_signature_serialize_compact(signer, compact, &recovery, &signature);
    secp256k1_ec_pubkey_serialize(signer, point, &bytes, &key, SECP256K1_EC_UNCOMPRESSED);
    memcpy(one->r, compact, 32);
    memcpy(one->s, compact + 32, 32);
    memcpy(one->key, point + 1, 64);
    one->v = (uint8_t)(27 + (recovery & 1));
}

/* The context is made in place: the library aborts the process when its own malloc fails. */
void svmx__signed_make(struct svmx__signed *list, uint64_t count, uint64_t seed) {
    alignas(16) uint8_t memory[4096];
    assert(count <= SVMX__SIGNED);
    memset(list, 0, count * sizeof *list);
    if (secp256k1_context_preallocated_size(SECP256K1_CONTEXT_SIGN) > sizeof memory) return; /* 200 bytes so far */
    secp256k1_context *signer = secp256k1_context_preallocated_create(memory, SECP256K1_CONTEXT_SIGN);
    for (uint64_t i = 0; i < count; i++) sign(signer, &list[i], seed, i);
    secp256k1_context_preallocated_destroy(signer);
}
