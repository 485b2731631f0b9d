/*
 * peer_secp256k1.h: libsecp256k1 as a peer of suite signatures, and the signatures that both sides look at.
 *
 * What is timed is what a caller with the bytes of a signature must do: parse, verify or recover, and for recovery
 * write the key out and make the address of it. The library has no Keccak-256; it gets the plain one of src/ops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_SECP256K1_H
#define SVMX_TESTS_BENCH_PEER_SECP256K1_H

#include <stdbool.h>
#include <stdint.h>

/* n signatures, all good. */
struct secp256k1_signatures {
    uint64_t n;
    uint8_t *hashes, *v, *r, *s; /* words of 32 bytes, big-endian */
    uint8_t *keys;               /* x || y, 64 bytes each */
    uint8_t *addresses;          /* 20 bytes each: written by recovery */
};

/* Makes them, from hashes that are there. false: the library is not there; `why` then says so, static text. */
bool secp256k1_peer_sign(struct secp256k1_signatures *signatures, const char **why);

/* How many of [first, end) verify, or recover to their key. */
uint64_t secp256k1_peer_verify(const struct secp256k1_signatures *signatures, uint64_t first, uint64_t end);
uint64_t secp256k1_peer_recover(const struct secp256k1_signatures *signatures, uint64_t first, uint64_t end);

#endif
