/*
 * schedule.h: runs all transactions of a block against the state before it, each for itself, as if it were the first one.
 *
 * That is an assumption, and settle.c finds out for which of them it was wrong. Two ways:
 *
 *   schedule_batched   one thread runs them in turn; who asks for a hash or a signature parks, and the next one runs;
 *                      the executor computes what many have asked for at once, on all cores or on a GPU
 *   schedule_threads   for comparison: a transaction a thread, and every request a batch of one
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_SCHEDULE_H
#define CONTRACT_VM_SCHEDULE_H

#include "batcher.h"

/* `vms` has one for each transaction, all 0; those that were refused are left so. Then all others are done, or the batch of
 * the batcher has the reason why not. At most `in_flight` are under way at a time: that bounds memory. */
enum svmx_status schedule_batched(struct batcher *batcher, const struct vm_world *world, struct vm *vms,
                                  size_t in_flight);

/* The threads find out what is known before a transaction as well: `prepared` is world->prepared, and not yet filled. Each has
 * a batch of its own, which is gone afterwards: `error` gets what the first that failed had to say. */
enum svmx_status schedule_threads(svmx_executor_t *executor, const struct vm_world *world, struct prepared *prepared,
                                  struct vm *vms, uint32_t threads, struct batcher_counts *counts,
                                  struct svmx_error *error);

/* One transaction to its end, every request at once. Used by settle.c as well. */
enum svmx_status schedule_alone(struct batcher *batcher, const struct vm_world *world, struct vm *vm, size_t number);

#endif
