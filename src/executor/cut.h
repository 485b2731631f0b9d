/*
 * cut.h: a part that was cut into chunks, each a part of its own, and who takes them.
 *
 *   chunks    0  1  2 | 3  4  5  6 | 7           split.c: who gets which, by what they are expected to take
 *   shares    device 0   device 1    device 2    one entry in the queue of each device
 *
 *   a submitter pops the share of its device -> takes the next chunk of it, or, when there is none left, the last one of
 *   whoever has the most to do -> puts the share back into its queue -> runs the chunk like any part
 *
 * So who is faster than expected takes more, and who is slow, busy with other batches, or lost gets less or nothing. A
 * share that finds nothing left goes. It may come late, when the batch is over and gone: so what it looks at is here and
 * not in the batch, and is freed by whoever lets go of it last.
 *
 * split.c makes one, pipeline.c starts it, batch.c ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CUT_H
#define SVMX_EXECUTOR_CUT_H

#include "executor/batch.h"

/* Chunks of a part. */
enum { SVMX__MAX_CHUNKS = 256 };

/* What one device has of it. */
struct svmx__share {
    struct svmx__work errand; /* first: the device's queue holds it by this */
    struct svmx__cut *cut;
    struct svmx__device *device;
    double chunk_ns;    /* what a chunk is expected to take here */
    uint32_t next, end; /* chunks that nobody has taken; under cut->lock */
};

struct svmx__cut {
    struct svmx__cut *next; /* of the batch: older, or spare */
    struct svmx_batch *batch;
    struct svmx__part whole; /* as it was */
    uint32_t at;             /* where it was; chunk 0 is there */
    uint32_t first;          /* where chunk 1 is, the others behind it */
    bool started;

    uint64_t *units; /* first_unit of all chunks */
    size_t unit_capacity;
    struct svmx_slot *slots; /* rows of chunks that begin or end within a task */
    size_t slot_capacity;

    atomic_uint references; /* one of the batch, one of every share that may still come */
    pthread_mutex_t lock;   /* guards all below; nothing else is taken under it */
    uint32_t live;          /* shares that may still take chunks */
    uint32_t share_count;
    struct svmx__share shares[SVMX__ROUTED];
};

/* One that is the batch's alone, among its cuts from now on. NULL: no memory. */
struct svmx__cut *svmx__cut_make(struct svmx_batch *batch);
/* Starts all cuts of the batch that were not. Its chunks may be done, and the batch gone, when this returns. */
void svmx__cuts_start(struct svmx_batch *batch);
/* Makes all parts whole again, and the chunks go. */
void svmx__cuts_undo(struct svmx_batch *batch);
/* The batch goes. */
void svmx__cuts_free(struct svmx_batch *batch);

/* What a submitter does with a share that it popped. `work` is its errand. */
void svmx__share_run(struct svmx__work *work);
/* Part of it: the chunk that it takes; UINT32_MAX: none, and it goes. */
uint32_t svmx__share_take(struct svmx__share *share);

#endif
