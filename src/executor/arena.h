/*
 * arena.h: memory of the library that a batch hands to its caller: svmx_batch_alloc.
 *
 * Blocks of staging memory of the device that is likely to compute, so that inputs written there need no copy. A block
 * serves a part in place if all inputs of the part lie in it. Freed when the batch is reset or destroyed. Used by
 * batch.c and stage.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_ARENA_H
#define SVMX_EXECUTOR_ARENA_H

#include "cache/staging_pool.h"
#include <stdbool.h>

struct svmx_batch;
struct svmx__part;
struct svmx__life;

struct svmx__block {
    struct svmx__block *next;
    struct svmx__life *life; /* whose memory it is */
    struct svmx__staging *staging;
    uint64_t used;
    bool aside; /* a device that is late may still read it: never given back */
};

/* Gives everything back. The batch is the caller's, and nothing of it is under way. */
void svmx__arena_reset(struct svmx_batch *batch);

/* The block of the part's life that holds every input of the part, or NULL. */
struct svmx__block *svmx__arena_block_of(const struct svmx__part *part);

/* Gives staging memory back to the pool it came from; after svmx_close, when there is none, to the system. NULL is fine. */
void svmx__staging_return(struct svmx__life *life, struct svmx__staging *staging);

#endif
