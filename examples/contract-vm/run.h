/*
 * run.h: a block from its beginning to its roots.
 *
 *   before   hashes and senders of all transactions          before.c     one batch
 *   run      each against the state before the block         schedule.c   many batches, of what many ask for at once
 *   settle   in block order, again where one saw too little  settle.c     rarely a batch of one
 *   after    roots over results and changes                  after.c      one batch
 *
 * The mode never changes an outcome; tests/integration/vm_blocks.c sees to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_RUN_H
#define CONTRACT_VM_RUN_H

#include "after.h"
#include "batcher.h"

enum run_mode {
    RUN_BATCHED,
    RUN_SERIAL, /* one transaction after another, and every hash and signature a call of its own */
    RUN_THREADS /* a transaction a thread, and every hash and signature a call of its own */
};

struct run_options {
    enum run_mode mode;
    uint32_t threads; /* of RUN_THREADS */
    size_t in_flight; /* of RUN_BATCHED */
    struct batcher_limits limits;
    FILE *trace; /* NULL: none */
};

/* 1024 transactions in flight (more of them fall out of the cache), 4096 requests or 4 MiB a batch, 2 ms. */
extern const struct run_options run_defaults;

/* What came of it. */
struct outcome {
    struct vm *vms; /* status, error, gas_used, output, logs: by transaction */
    struct prepared *prepared;
    size_t count;
    struct state state;    /* after the block */
    struct entry *changes; /* in it */
    size_t change_count;
    struct roots roots;
    uint64_t gas_used;

    /* How, not what: differs from mode to mode. */
    struct batcher_counts counts;
    uint64_t again; /* transactions that ran a second time */
};

/* On SVMX_OK `outcome` is the caller's, for outcome_free; else error->text has the reason. */
enum svmx_status block_run(svmx_executor_t *executor, const struct block *block, const struct run_options *options,
                           struct outcome *outcome, struct svmx_error *error);
void outcome_free(struct outcome *outcome);

#endif
