/*
 * peer_bn.h: OpenSSL's big numbers as a peer of suite ops: products modulo an odd number of any size, by Montgomery.
 *
 * It is given its best: numbers, results and the Montgomery context are made before, and nothing is converted while it is timed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_BN_H
#define SVMX_TESTS_BENCH_PEER_BN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bn_peer;

/* `count` pairs of numbers below `modulus`, each of `limbs` words, least first. NULL: it is not there; `why` then says so,
 * static text. Stays until the program ends. */
struct bn_peer *bn_peer_open(const uint64_t *a, const uint64_t *b, size_t count, const uint64_t *modulus, size_t limbs,
                             uint32_t threads, const char **why);

/* Products [first, end): a b / 2^(64 limbs) modulo the modulus, or, with `plain`, a b. In the context of thread `index`. */
void bn_peer_multiply(struct bn_peer *peer, uint32_t index, bool plain, size_t first, size_t end);

/* Whether its results are these. */
bool bn_peer_same(const struct bn_peer *peer, const uint64_t *out);

#endif
