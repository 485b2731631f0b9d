/*
 * sign.c: see sign.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sign.h"

#include <string.h>

#ifdef SVMX_HAVE_SECP256K1
#include <secp256k1_recovery.h>

/* Made once, by one thread: blocks are generated in the first one. */
static const secp256k1_context *context(void) {
    static secp256k1_context *made;
    if (!made) made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
    return made;
}

bool sign_is_there(void) { return true; }

bool sign_public(const uint8_t key[32], uint8_t public_key[64]) {
    secp256k1_pubkey point;
    uint8_t bytes[65]; /* a 4 in front */
    size_t length = sizeof bytes;
    if (!secp256k1_ec_pubkey_create(context(), &point, key)) return false;
    (void)secp256k1_ec_pubkey_serialize(context(), bytes, &length, &point, SECP256K1_EC_UNCOMPRESSED);
    memcpy(public_key, bytes + 1, 64);
    return true;
}

bool sign_hash(const uint8_t key[32], const uint8_t hash[32], struct signature *signature) {
    secp256k1_ecdsa_recoverable_signature made;
    uint8_t bytes[64];
    int odd;
    if (!secp256k1_ecdsa_sign_recoverable(context(), &made, hash, key, NULL, NULL)) return false;
    (void)secp256k1_ecdsa_recoverable_signature_serialize_compact(context(), bytes, &odd, &made);
    memcpy(signature->r, bytes, 32);
    memcpy(signature->s, bytes + 32, 32);
    signature->odd = (unsigned)odd & 1;
    return true;
}
#else
bool sign_is_there(void) { return false; }
bool sign_public(const uint8_t key[32], uint8_t public_key[64]) { return (void)key, (void)public_key, false; }
bool sign_hash(const uint8_t key[32], const uint8_t hash[32], struct signature *signature) {
    return (void)key, (void)hash, (void)signature, false;
}
#endif
