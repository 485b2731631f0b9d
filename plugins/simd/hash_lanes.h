/*
 * hash_lanes.h: keeps the lanes of a hash kernel busy with messages of mixed lengths.
 *
 * Included once by each keccak256_<isa>.c and sha256_<isa>.c, after HASH_LANES (at most 32), HASH_BLOCK and HASH_TAIL
 * (bytes of a block, and of the padded end of a message at most). The file then defines the four functions declared
 * below; lanes_run is what it gets.
 *
 *   message   [ full block | full block | ... | rest ]        read in place
 *   tail                                      [ rest | padding ]   built in the lane's own buffer: no read past the
 *                                                                  message, and blocks are whole for the kernel
 *
 * All busy lanes absorb as many blocks as the shortest of their stretches has; a lane whose tail is done gives its
 * digest and takes the next message at once. Messages come from any task of the range.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_HASH_LANES_H
#define SVMX_SIMD_HASH_LANES_H

#include <stdalign.h>

#include "tasks.h"

struct hash_state; /* of all lanes; the including file's own */

/* Puts the start value into the lanes of a mask. */
static void lanes_start(struct hash_state *state, uint32_t lanes);

/* Absorbs `blocks` blocks in each lane, from at[lane] on. Lanes that are not busy have a readable address too, and may
 * be left alone or filled with anything. */
static void lanes_absorb(struct hash_state *state, const uint8_t *const at[HASH_LANES], uint64_t blocks, uint32_t busy);

/* Writes the digests of the lanes of a mask. */
static void lanes_digest(const struct hash_state *state, uint32_t lanes, uint8_t *const digest[HASH_LANES]);

/* Pads the last `rest_bytes` (less than a block) of a message of `bytes`; returns the blocks of the tail. */
static uint64_t tail_make(uint8_t tail[HASH_TAIL], const uint8_t *rest, size_t rest_bytes, uint64_t bytes);

struct hash_lanes {
    const uint8_t *at[HASH_LANES];    /* the next block */
    uint64_t blocks[HASH_LANES];      /* left from there on, at least 1 in a busy lane */
    uint64_t tail_blocks[HASH_LANES]; /* still to come after them */
    uint8_t *digest[HASH_LANES];
    uint32_t busy, fresh; /* lanes with a message; those among them that have absorbed nothing yet */
    alignas(64) uint8_t tail[HASH_LANES][HASH_TAIL];
};

/* Idle lanes are computed on with the others: what they hold does not matter, but it must be something. */
static inline void lanes_init(struct hash_lanes *l, struct hash_state *state, size_t state_bytes) {
    l->busy = l->fresh = 0;
    memset(state, 0, state_bytes);
}

static inline void lanes_take(struct hash_lanes *l, unsigned lane, const struct simd_message *message) {
    const uint64_t blocks = message->bytes / HASH_BLOCK, whole = blocks * HASH_BLOCK;
    const uint8_t *rest = whole > 0 ? message->data + whole : message->data; /* an empty message may be at NULL */
    const uint64_t tail_blocks = tail_make(l->tail[lane], rest, (size_t)(message->bytes - whole), message->bytes);
    l->at[lane] = blocks > 0 ? message->data : l->tail[lane];
    l->blocks[lane] = blocks > 0 ? blocks : tail_blocks;
    l->tail_blocks[lane] = blocks > 0 ? tail_blocks : 0;
    l->digest[lane] = message->digest;
    l->busy |= UINT32_C(1) << lane;
    l->fresh |= UINT32_C(1) << lane;
}

/* How far all busy lanes can go. Idle lanes borrow the address of a busy one: what they compute is not looked at. */
static inline uint64_t lanes_reach(struct hash_lanes *l) {
    const unsigned some = (unsigned)__builtin_ctz(l->busy);
    uint64_t reach = l->blocks[some];
    for (unsigned i = 0; i < HASH_LANES; i++) {
        if (!(l->busy >> i & 1))
            l->at[i] = l->at[some];
        else if (l->blocks[i] < reach)
            reach = l->blocks[i];
    }
    return reach;
}

/* Moves busy lanes on by `blocks` and returns those that are done. */
static inline uint32_t lanes_advance(struct hash_lanes *l, uint64_t blocks) {
    uint32_t done = 0;
    for (unsigned i = 0; i < HASH_LANES; i++) {
        if (!(l->busy >> i & 1)) continue;
        l->at[i] += blocks * HASH_BLOCK;
        l->blocks[i] -= blocks;
        if (l->blocks[i] > 0) continue;
        l->at[i] = l->tail[i];
        l->blocks[i] = l->tail_blocks[i];
        l->tail_blocks[i] = 0;
        done |= (uint32_t)(l->blocks[i] == 0) << i;
    }
    return done;
}

/* One stretch for all busy lanes, of which there is one at least. */
static inline void lanes_step(struct hash_lanes *l, struct hash_state *state) {
    if (l->fresh != 0) lanes_start(state, l->fresh);
    l->fresh = 0;
    const uint64_t blocks = lanes_reach(l);
    lanes_absorb(state, l->at, blocks, l->busy);
    const uint32_t done = lanes_advance(l, blocks);
    if (done != 0) lanes_digest(state, done, l->digest);
    l->busy &= ~done;
}

/* Gives a message to a lane, after steps that make one free if need be. */
static inline void lanes_push(struct hash_lanes *l, struct hash_state *state, const struct simd_message *message) {
    const uint32_t all = (uint32_t)((UINT64_C(1) << HASH_LANES) - 1);
    while (l->busy == all) lanes_step(l, state);
    lanes_take(l, (unsigned)__builtin_ctz(~l->busy), message);
}

static inline void lanes_drain(struct hash_lanes *l, struct hash_state *state) {
    while (l->busy != 0) lanes_step(l, state);
}

/* Hashes the messages [first, end) of a dispatch on lanes fresh from lanes_init. */
static inline void lanes_run(struct hash_lanes *l, struct hash_state *state, const struct svmx_dispatch *d,
                             uint64_t first, uint64_t end) {
    struct simd_messages messages = simd_messages_start(d, first, end);
    struct simd_message message;
    while (simd_messages_next(&messages, &message)) lanes_push(l, state, &message);
    lanes_drain(l, state);
}

#endif
