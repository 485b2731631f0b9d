/*
 * peer_sodium.h: libsodium as a peer of suite signatures, and the ed25519 signatures that both sides look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_SODIUM_H
#define SVMX_TESTS_BENCH_PEER_SODIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n signatures of messages of `bytes` each, end to end, all good. */
struct sodium_signatures {
    uint64_t n;
    size_t bytes;
    uint8_t *keys, *signatures; /* 32 and 64 bytes each */
    const uint8_t *messages;
};

/* Makes them, of messages that are there. false: the library is not there; `why` then says so, static text. */
bool sodium_peer_sign(struct sodium_signatures *signatures, const char **why);

/* How many of [first, end) verify. */
uint64_t sodium_peer_verify(const struct sodium_signatures *signatures, uint64_t first, uint64_t end);

#endif
