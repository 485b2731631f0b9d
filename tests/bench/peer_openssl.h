/*
 * peer_openssl.h: OpenSSL as a peer of suite ops: SHA-256 and SHA3-256 of many messages of one length, one by one.
 *
 * It is given its best: every way to a digest that it has for a fetched algorithm is tried once (contexts that are
 * reused, the one-shot call, for SHA-256 the low-level calls), and the fastest is taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_OPENSSL_H
#define SVMX_TESTS_BENCH_PEER_OPENSSL_H

#include "ops_team.h"
#include <stddef.h>

struct openssl_peer;

/* `algorithm` is "SHA256" or "SHA3-256"; messages are like those of `bytes` at data[0 ..]. NULL: it is not there; `why`
 * then says so, static text. */
struct openssl_peer *openssl_peer_open(const char *algorithm, const uint8_t *data, size_t bytes, uint32_t threads,
                                       const char **why);
void openssl_peer_close(struct openssl_peer *peer);

/* Which way is the fastest, static text. */
const char *openssl_peer_way(const struct openssl_peer *peer);

/* Hashes messages [first, end), `bytes` each, end to end, in the context of thread `index`; digests of 32 bytes. */
void openssl_peer_hash(struct openssl_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
                       uint64_t first, uint64_t end);

#endif
