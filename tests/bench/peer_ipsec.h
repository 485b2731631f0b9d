/*
 * peer_ipsec.h: libipsec-mb as a peer of suite ops: SHA-256 of many messages of one length, several at once.
 *
 * It is given its best: its instruction sets, with and without the SHA instructions, and its ways for several
 * messages at once (jobs, bursts of jobs; without checks of arguments) are tried once, and the fastest is taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_IPSEC_H
#define SVMX_TESTS_BENCH_PEER_IPSEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ipsec_peer;

/* For messages like the `count` of `bytes` each in `data`. Without `avx512` on the instruction sets of a machine that has none.
 * NULL: it is not there; `why` then says so, static text. */
struct ipsec_peer *ipsec_peer_open(const uint8_t *data, size_t bytes, uint64_t count, uint32_t threads, bool avx512,
                                   const char **why);
void ipsec_peer_close(struct ipsec_peer *peer);

/* Which way is the fastest; lives as long as the peer. */
const char *ipsec_peer_way(const struct ipsec_peer *peer);

/* Hashes messages [first, end), `bytes` each, end to end, with the manager of thread `index`; digests of 32 bytes. */
void ipsec_peer_hash(struct ipsec_peer *peer, uint32_t index, uint8_t *digests, const uint8_t *data, size_t bytes,
                     uint64_t first, uint64_t end);

#endif
