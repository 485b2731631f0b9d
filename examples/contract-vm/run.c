/*
 * run.c: the four parts of a block, one after another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run.h"
#include "before.h"
#include "settle.h"

const struct run_options run_defaults = {
    .mode = RUN_BATCHED,
    .threads = 2,
    .in_flight = 1024,
    .limits = {.requests = 4096, .bytes = (size_t)4 << 20, .deadline_ns = UINT64_C(2000000)}};

static enum svmx_status run_parts(struct batcher *batcher, svmx_executor_t *executor, const struct block *block,
                                  const struct run_options *options, struct outcome *outcome,
                                  struct svmx_error *error) {
    const struct vm_world world = {.block = block,
                                   .state = &outcome->state,
                                   .prepared = outcome->prepared,
                                   .trace = options->trace,
                                   .remember = options->mode != RUN_SERIAL};
    const size_t at_once = options->mode == RUN_BATCHED ? block->transaction_count : 1;
    enum svmx_status status = before_contracts(batcher->batch, &outcome->state);
    for (size_t i = 0; i < block->transaction_count && options->mode != RUN_THREADS && status == SVMX_OK; i += at_once)
        status = before_transactions(batcher->batch, block, i, i + at_once, outcome->prepared);
    if (status == SVMX_OK && options->mode == RUN_BATCHED)
        status = schedule_batched(batcher, &world, outcome->vms, options->in_flight);
    if (status == SVMX_OK && options->mode == RUN_THREADS)
        status = schedule_threads(executor, &world, outcome->prepared, outcome->vms, options->threads, &outcome->counts,
                                  error);
    if (status == SVMX_OK) status = settle_block(batcher, &world, outcome->vms, &outcome->state, &outcome->again);
    if (status != SVMX_OK) return status;
    outcome->changes = after_changes(&outcome->state, &outcome->change_count);
    return after_roots(batcher->batch, outcome->vms, outcome->count, outcome->prepared, outcome->changes,
                       outcome->change_count, &outcome->roots);
}

static void add_up(struct outcome *outcome, const struct batcher_counts *counts) {
    for (size_t i = 0; i < outcome->count; i++) {
        outcome->gas_used += outcome->vms[i].gas_used;
        outcome->vms[i].world = NULL; /* it goes with run_parts */
    }
    outcome->counts.batches += counts->batches;
    outcome->counts.requests += counts->requests;
    outcome->counts.full += counts->full;
    outcome->counts.late += counts->late;
    if (counts->largest > outcome->counts.largest) outcome->counts.largest = counts->largest;
}

enum svmx_status block_run(svmx_executor_t *executor, const struct block *block, const struct run_options *options,
                           struct outcome *outcome, struct svmx_error *error) {
    struct batcher batcher;
    error->text[0] = '\0';
    enum svmx_status status = batcher_open(&batcher, executor, &options->limits);
    if (status != SVMX_OK) {
        (void)snprintf(error->text, sizeof error->text, "no batch could be made: %s", svmx_status_name(status));
        return status;
    }
    *outcome = (struct outcome){.count = block->transaction_count};
    outcome->vms = memory_resize(NULL, outcome->count, sizeof *outcome->vms);
    memset(outcome->vms, 0, outcome->count * sizeof *outcome->vms);
    outcome->prepared = memory_resize(NULL, outcome->count, sizeof *outcome->prepared);
    state_init(&outcome->state, block);
    struct svmx_error theirs = {SVMX_OK, ""}; /* of threads with batches of their own */
    status = run_parts(&batcher, executor, block, options, outcome, &theirs);
    if (status == SVMX_OK)
        add_up(outcome, &batcher.counts);
    else
        (void)snprintf(error->text, sizeof error->text, "%s: %.400s", svmx_status_name(status),
                       theirs.status != SVMX_OK ? theirs.text : svmx_batch_error(batcher.batch));
    batcher_close(&batcher);
    if (status != SVMX_OK) outcome_free(outcome);
    return status;
}

void outcome_free(struct outcome *outcome) {
    for (size_t i = 0; i < outcome->count; i++) vm_free(&outcome->vms[i]);
    free(outcome->vms);
    free(outcome->prepared);
    free(outcome->changes);
    state_free(&outcome->state);
    *outcome = (struct outcome){0};
}
