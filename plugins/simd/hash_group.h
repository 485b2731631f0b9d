/*
 * hash_group.h: the fast path of wide hash kernels: as many messages as lanes, all of one length.
 *
 * Such a group needs no bookkeeping: its lanes start and end together, read their messages in place and share one
 * padding. Most batches are nothing else (hashes of hashes, of keys, of pairs). What does not make a group is served by
 * the lanes of hash_lanes.h, which stay as they are while groups pass by. A kernel may be laxer about what it takes
 * for a group: Keccak-256 has no use for the lengths as long as each message is one block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_HASH_GROUP_H
#define SVMX_SIMD_HASH_GROUP_H

#include "hash_lanes.h"

struct hash_group {
    const uint8_t *at[HASH_LANES];
    uint8_t *digest[HASH_LANES];
    uint64_t bytes[HASH_LANES];
    uint64_t shortest, longest;
    unsigned count;
};

/* Takes up to HASH_LANES messages; lanes past `count` repeat the last one. Returns the count. */
static inline unsigned group_take(struct hash_group *g, struct simd_messages *messages) {
    struct simd_message message;
    g->count = 0;
    while (g->count < HASH_LANES && simd_messages_next(messages, &message)) {
        g->at[g->count] = message.data;
        g->digest[g->count] = message.digest;
        g->bytes[g->count++] = message.bytes;
    }
    if (g->count == 0) return 0;
    for (unsigned i = g->count; i < HASH_LANES; i++) {
        g->at[i] = g->at[i - 1];
        g->bytes[i] = g->bytes[i - 1];
    }
    g->shortest = g->longest = g->bytes[0];
    for (unsigned i = 1; i < HASH_LANES; i++) {
        g->shortest = g->bytes[i] < g->shortest ? g->bytes[i] : g->shortest;
        g->longest = g->bytes[i] > g->longest ? g->bytes[i] : g->longest;
    }
    return g->count;
}

/* Takes `count` messages of 64 bytes, at least 1, that lie end to end, as their digests do. */
static inline void group_take_pairs(struct hash_group *g, uint8_t *digests, const uint8_t *pairs, uint64_t count) {
    g->count = count < HASH_LANES ? (unsigned)count : HASH_LANES;
    for (unsigned i = 0; i < HASH_LANES; i++) {
        g->at[i] = pairs + 64 * (i < g->count ? i : 0);
        g->digest[i] = digests + 32 * i;
        g->bytes[i] = 64;
    }
    g->shortest = g->longest = 64;
}

static inline uint32_t group_mask(const struct hash_group *g) { return (uint32_t)((UINT64_C(1) << g->count) - 1); }

static inline void group_push(const struct hash_group *g, struct hash_lanes *l, struct hash_state *state) {
    for (unsigned i = 0; i < g->count; i++) {
        const struct simd_message message = {g->at[i], g->bytes[i], g->digest[i]};
        lanes_push(l, state, &message);
    }
}

#endif
