/*
 * secp256k1_example.h: signatures for examples of ecrecover and ecdsa_verify_secp256k1.
 *
 * Random bytes are no signatures, and a kernel that refuses them all would look right. Called by the fill of the two
 * operations; knows nothing of slots. Only built with libsecp256k1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_SECP256K1_EXAMPLE_H
#define SVMX_OPS_SECP256K1_EXAMPLE_H

#include <stdint.h>

/* So many different ones an example: signing takes as long as verifying, so longer examples repeat them. */
enum { SVMX__SIGNED = 64 };

struct svmx__signed {
    uint8_t hash[32], r[32], s[32]; /* s is low */
    uint8_t key[64];                /* x, y */
    uint8_t v;                      /* 27 or 28 */
};

/* `count` signatures, at most SVMX__SIGNED: the same for the same seed on every machine (nonces by RFC 6979). */
void svmx__signed_make(struct svmx__signed *list, uint64_t count, uint64_t seed);

#endif
