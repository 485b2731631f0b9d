/*
 * pipeline.c: the spine. Takes a batch through its seven stages; nobody else calls them.
 *
 *   svmx_run, svmx_submit     submit, bucket          once, in the caller's thread
 *     start_level             route                   for every part of a level
 *       run_part              stage, dispatch, collect (again on another device after a failure), learn
 *
 * A part for an inline device runs in the caller's thread under svmx_run; every other part goes through its device's
 * queue to its submitter. Who finishes the last part of a level starts the next one, who finishes the last level
 * completes the batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

/* Even the reference device's stages found no memory; its code needs none. */
static void run_without_stages(struct svmx__part *part) {
    for (uint32_t t = 0; t < part->task_count; t++)
        svmx__reference_run(part->op, part->slots + (size_t)t * part->op->param_count);
    part->done_ns = svmx__clock_ns();
    part->status = SVMX_OK;
}

/* Stages 4 to 7. Ends with the results in place: the last device to try is the reference code. */
static void run_part(struct svmx__part *part) {
    part->start_ns = part->queued_ns ? svmx__clock_ns() : 0;
    do {
        part->status = svmx__stage(part);
        if (part->status == SVMX_OK) part->status = svmx__dispatch(part);
        part->status = svmx__collect(part, part->status);
    } while (svmx__route_again(part));
    if (part->status != SVMX_OK) run_without_stages(part);
    part->end_ns = part->device->host_memory ? part->done_ns : svmx__clock_ns();
    svmx__learn(part);
}

/* true: that was the last part of its level, and the level is the caller's of this function to go on from. */
static bool was_last(struct svmx_batch *batch) {
    /* acq_rel: what other threads wrote for their parts is seen by whoever goes on */
    return atomic_fetch_sub_explicit(&batch->parts_left, 1, memory_order_acq_rel) == 1;
}

static uint32_t route_level(struct svmx_batch *batch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->part_count; i++) {
        if (batch->parts[i].level != batch->level) continue;
        svmx__route(&batch->parts[i]);
        count++;
    }
    atomic_store_explicit(&batch->parts_left, count, memory_order_relaxed);
    return count;
}

/*
 * Sends every part of the current level on its way: to its device's queue or, with `here`, inline ones through this
 * thread. true: this thread finished the last one. A batch may complete and be gone as soon as its last part is in a
 * queue, so nothing of it is touched after that: `left` counts what is still ours.
 */
static bool start_level(struct svmx_batch *batch, bool here) {
    uint32_t left = route_level(batch), local = 0;
    for (uint32_t i = 0; left > local; i++) {
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level) continue;
        if (here && part->device->inline_) {
            local++;
            continue;
        }
        left--;
        part->queued_ns = svmx__clock_ns();
        svmx__queue_push(&part->device->queue, &part->link);
    }
    bool last = false;
    for (uint32_t i = 0; local > 0; i++) { /* only with `here`: the batch stays until svmx_run returns */
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level || !part->device->inline_) continue;
        local--;
        part->queued_ns = 0;
        run_part(part);
        last = was_last(batch);
    }
    return last;
}

/* Called by whoever finished a level: starts the next ones, completes the batch after the last. */
static void go_on(struct svmx_batch *batch, bool here) {
    do {
        if (++batch->level >= batch->level_count) {
            svmx__complete(batch, SVMX_OK);
            return;
        }
    } while (start_level(batch, here));
}

void svmx__pipeline_part(struct svmx__part *part) {
    struct svmx_batch *batch = part->batch;
    uint32_t state = SVMX__QUEUED; /* the first part to start makes it RUNNING: from then on cancel comes too late */
    bool cancelled = !atomic_compare_exchange_strong(&batch->state, &state, SVMX__RUNNING) && state == SVMX__CANCELLING;
    if (!cancelled) run_part(part);
    if (!was_last(batch)) return;
    if (cancelled)
        svmx__complete(batch, SVMX_CANCELLED);
    else
        go_on(batch, false);
}

/* Stages 1 and 2, then the first level. */
static enum svmx_status enter(svmx_batch_t *batch, bool here, uint32_t flags) {
    enum svmx_status status = svmx__submit(batch, here ? SVMX__RUNNING : SVMX__QUEUED, flags);
    if (status != SVMX_OK) return status;
    status = svmx__bucket(batch);
    if (status != SVMX_OK) {
        svmx__submit_undo(batch);
        return status;
    }
    batch->error.line[0] = '\0';
    batch->level = 0;
    if (batch->level_count == 0)
        svmx__complete(batch, SVMX_OK);
    else if (start_level(batch, here))
        go_on(batch, here);
    return SVMX_OK;
}

enum svmx_status svmx_run(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = enter(batch, true, 0);
    return status == SVMX_OK ? svmx_wait(batch, UINT64_MAX) : status;
}

enum svmx_status svmx_submit(svmx_batch_t *batch, uint32_t flags) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    if (flags & ~(uint32_t)SVMX_SUBMIT_NONBLOCK) {
        if (svmx_poll(batch) == SVMX_BUSY) return SVMX_ERR_STATE;
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT, "flags is 0x%x: this version knows none but 0x%x", flags,
                          (unsigned)SVMX_SUBMIT_NONBLOCK);
    }
    return enter(batch, false, flags);
}
