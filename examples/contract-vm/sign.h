/*
 * sign.h: signatures for generated blocks, with libsecp256k1.
 *
 * Nonces are those of RFC 6979, so that the same seed gives the same block. Without the library nothing can be signed, and
 * `contract-vm gen` offers unsigned transactions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_SIGN_H
#define CONTRACT_VM_SIGN_H

#include <stdbool.h>
#include <stdint.h>

struct signature {
    uint8_t r[32], s[32];
    unsigned odd; /* 0 or 1 */
};

/* Was it built with the library? */
bool sign_is_there(void);

/* The public key, x || y, of a private one. false: there is none, or no library. */
bool sign_public(const uint8_t key[32], uint8_t public_key[64]);
bool sign_hash(const uint8_t key[32], const uint8_t hash[32], struct signature *signature);

#endif
