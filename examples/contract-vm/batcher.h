/*
 * batcher.h: requests of parked transactions, put together into one batch of svmx.
 *
 *   batcher_join    copies what a parked vm wants behind what the others want
 *   batcher_ready   is it full, or has the first of them waited long enough?
 *   batcher_run     hands all of it to the executor, waits, and answers everybody: they can run on
 *
 * All hashes of a kind are one task, all signatures are one task: three at most, whoever many ask. A batcher belongs to one
 * thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_BATCHER_H
#define CONTRACT_VM_BATCHER_H

#include "messages.h"
#include "vm.h"

#include <svmx/svmx.h>

struct batcher_limits {
    size_t requests;      /* full with so many ... */
    size_t bytes;         /* ... or so much to hash */
    uint64_t deadline_ns; /* how long a request waits for others */
};

struct batcher_counts {
    uint64_t batches, requests, largest;
    uint64_t full, late; /* batches that were run for these reasons, and not because all were parked */
};

/* Requests of one kind. */
struct batcher_lane {
    struct messages inputs; /* of the hashes */
    struct bytes words[4];  /* of the signatures: hash, v, r, s */
    struct bytes answers;   /* 32 bytes each; of the signatures 20 */
    struct bytes valid;     /* of the signatures */
    struct vm **waiting;
    size_t count, room;
};

struct batcher {
    svmx_batch_t *batch;
    struct batcher_limits limits;
    struct batcher_lane lanes[REQUEST_KINDS];
    size_t count;
    uint64_t since_ns; /* when the first one joined */
    struct batcher_counts counts;
};

/* With a batch of its own. Errors: those of svmx_batch_create. */
enum svmx_status batcher_open(struct batcher *batcher, svmx_executor_t *executor, const struct batcher_limits *limits);
void batcher_close(struct batcher *batcher);

void batcher_join(struct batcher *batcher, struct vm *vm);
bool batcher_ready(struct batcher *batcher);
/* SVMX_OK, or svmx_batch_error(batcher->batch) has the reason, and nobody was answered. */
enum svmx_status batcher_run(struct batcher *batcher);

#endif
