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
#include "executor/chain.h"
#include "executor/executor.h"
#include "executor/stages.h"
#include "executor/stretch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part has no results: then the batch fails as a whole. */
static void fail(struct svmx__part *part) {
    atomic_store_explicit(&part->batch->failed, true, memory_order_relaxed); /* seen by way of parts_left */
    part->done_ns = svmx__clock_ns();
    if (part->refused) part->dispatch_ns = part->done_ns;
}

/* Even the reference device's stages found no memory; its code needs none, but results that are left to the library do. */
static void run_without_stages(struct svmx__part *part) {
    if (part->library_bytes && !part->library) {
        (void)snprintf(part->reason, sizeof part->reason, "no memory for results that are left to the library");
        part->status = SVMX_ERR_MEMORY;
        fail(part);
        return;
    }
    for (uint32_t t = 0; t < part->task_count; t++)
        svmx__reference_run(part->op, part->slots + (size_t)t * part->op->param_count);
    part->done_ns = svmx__clock_ns();
    part->status = SVMX_OK;
}

/* ---- one part --------------------------------------------------------------------------------------------------- */

/* Copies back to the host; there are none where the device writes its results there. */
static uint32_t readbacks_of(const struct svmx__part *part) {
    uint32_t count = 0;
    for (size_t i = 0; i < part->command_count && !part->device->host_memory; i++)
        count += part->commands[i].kind == SVMX_COMMAND_COPY_OUT;
    return count;
}

static enum svmx_status run_stages(struct svmx__part *part) {
    enum svmx_status status = svmx__stage(part);
    if (status == SVMX_OK) status = svmx__dispatch(part);
    status = svmx__collect(part, status);
    if (status != SVMX_OK) return status;
    part->launches++;
    part->readbacks += readbacks_of(part);
    return SVMX_OK;
}

/* The tasks [from, to) of a part as a part of their own, on the same device. `units` has room for their first_unit. */
static struct svmx__part slice(const struct svmx__part *part, uint32_t from, uint32_t to, uint64_t *units) {
    struct svmx__part sliced = *part;
    for (uint32_t t = from; t <= to; t++) units[t - from] = part->first_unit[t] - part->first_unit[from];
    sliced.slots = part->slots + (size_t)from * part->op->param_count;
    sliced.first_unit = units;
    sliced.task_count = to - from;
    sliced.units = units[to - from];
    sliced.work = part->units ? (uint64_t)((double)part->work * (double)sliced.units / (double)part->units) : 0;
    sliced.pipeline = NULL;
    sliced.launches = sliced.readbacks = 0;
    return sliced;
}

/* What a slice brought, for the receipt and the counters of the whole. */
static void take_over(struct svmx__part *part, const struct svmx__part *sliced) {
    part->launches += sliced->launches;
    part->readbacks += sliced->readbacks;
    part->copied_bytes = sliced->copied_bytes; /* counted on from that of the whole */
    part->compared &= sliced->compared;
    part->done_ns = sliced->done_ns;
    memcpy(part->reason, sliced->reason, sizeof part->reason);
}

static enum svmx_status run_on_device(struct svmx__part *part);

/* A device that has no memory for all tasks at once may have it for half of them. */
static enum svmx_status run_halves(struct svmx__part *part) {
    uint64_t *units = malloc(((size_t)part->task_count + 2) * sizeof *units), first_ns = part->dispatch_ns;
    if (!units) return SVMX_ERR_MEMORY;
    enum svmx_status status = SVMX_OK;
    part->compared = true; /* if each of them is */
    for (uint32_t half = 0; half < 2 && status == SVMX_OK; half++) {
        uint32_t middle = part->task_count / 2;
        struct svmx__part sliced = slice(part, half ? middle : 0, half ? part->task_count : middle, units);
        status = run_on_device(&sliced);
        if (!half) first_ns = sliced.dispatch_ns;
        take_over(part, &sliced);
        part->pipeline = sliced.pipeline;
    }
    part->dispatch_ns = first_ns;
    free(units);
    return status;
}

static enum svmx_status run_on_device(struct svmx__part *part) {
    enum svmx_status status = run_stages(part);
    bool can_halve = !part->device->host_memory && part->task_count > 1 && !part->library_bytes;
    return status == SVMX_ERR_MEMORY && can_halve ? run_halves(part) : status;
}

/* Stages 4 to 7 of all levels of a stretch. If that fails, go_on has its first level begin anew. */
static void run_stretch(struct svmx__part *head) {
    head->start_ns = svmx__clock_ns();
    head->status = svmx__stretch_run(head);
    if (head->status != SVMX_OK) return;
    head->end_ns = svmx__clock_ns();
    svmx__learn(head);
}

/* Whatever became of it: its results are in place, or the batch fails. */
static void conclude(struct svmx__part *part) {
    if (part->status != SVMX_OK && part->policy == SVMX_POLICY_GPU)
        fail(part);
    else if (part->status != SVMX_OK)
        run_without_stages(part);
    part->end_ns = part->device->host_memory ? part->done_ns : svmx__clock_ns();
    svmx__learn(part);
}

/* Stages 4 to 7. Ends with the results in place: the last device to try is the reference code. */
static void run_part(struct svmx__part *part) {
    if (part->stretched) {
        run_stretch(part);
        return;
    }
    part->start_ns = part->queued_ns ? svmx__clock_ns() : 0;
    /* each launch of a device that is watched is compared, and what passes cannot be */
    if (part->links && svmx__health_is_watched(&part->device->health)) svmx__chain_undo(part);
    if (!part->refused) do {
            part->status = part->links ? svmx__chain_run(part) : run_on_device(part);
        } while (svmx__route_again(part));
    conclude(part);
}

/* The same of a part whose thread was given up inside a call of the driver: from the failure on. */
static void run_elsewhere(struct svmx__part *part) {
    struct svmx_batch *batch = part->batch;
    svmx__set_aside(part);
    part->pinned = false;
    part->status = SVMX_TIMEOUT;
    (void)snprintf(part->reason, sizeof part->reason, "a call of the driver did not return");
    batch->commands_left |= part->stretched || part->links;
    if (part->stretched) {
        svmx__stretch_forsake(part);
        return;
    }
    if (part->links) svmx__chain_undo(part);
    while (svmx__route_again(part)) part->status = run_on_device(part);
    conclude(part);
}

/* true: that was the last part of its level, and the level is the caller's of this function to go on from. */
static bool was_last(struct svmx_batch *batch) {
    /* acq_rel: what other threads wrote for their parts is seen by whoever goes on */
    return atomic_fetch_sub_explicit(&batch->parts_left, 1, memory_order_acq_rel) == 1;
}

/* From now on it is part of what its device has still to do; learn takes it out again. */
static void charge(const struct svmx__part *part) {
    if (part->chosen) svmx__charge(&part->batch->executor->choices, &part->answer);
}

static uint32_t route_level(struct svmx_batch *batch) {
    uint32_t count = 0;
    const uint32_t parts = batch->part_count; /* a piece is behind them, and routed already */
    svmx__results_resolve(batch);
    batch->chain_command_count = 0;
    if (batch->commands_left) {
        batch->chain_commands = NULL;
        batch->chain_command_capacity = 0;
        batch->commands_left = false;
    }
    if (svmx__stretch_join(batch)) {
        charge(&batch->parts[batch->by_level[batch->level_start[batch->level]]]);
        atomic_store_explicit(&batch->parts_left, 1, memory_order_relaxed);
        return 1;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (batch->parts[i].level != batch->level || batch->parts[i].joined) continue;
        svmx__route(&batch->parts[i]);
        svmx__chain_join(batch, i);
        count++;
        if (batch->parts[i].policy == SVMX_POLICY_SPLIT && svmx__split(batch, i)) {
            charge(&batch->parts[batch->part_count - 1]);
            count++;
        }
        charge(&batch->parts[i]);
    }
    atomic_store_explicit(&batch->parts_left, count, memory_order_relaxed);
    return count;
}

static void forsake(struct svmx__work *work);

/* To the queue of its device, or first to the device's builder. The part may be gone when this returns. */
static void send(struct svmx__part *part) {
    part->queued_ns = svmx__clock_ns();
    part->errand.run = svmx__pipeline_part;
    part->errand.forsake = forsake;
    atomic_fetch_add_explicit(&part->device->pending, 1, memory_order_relaxed);
    svmx__pressure_look(part->device);
    if (part->cold)
        svmx__build_request(part->device, part->op, part->bucket, part);
    else
        svmx__queue_push(&part->device->queue, &part->errand.link);
}

/*
 * Sends every part of the current level on its way: to its device's queue or, with `here`, inline ones through this
 * thread. true: this thread finished the last one. A batch may complete and be gone as soon as its last part is in a
 * queue, so nothing of it is touched after that: `left` counts what is still ours.
 */
static bool start_level(struct svmx_batch *batch, bool here) {
    uint32_t left = route_level(batch), local = 0;
    if (left == 0) return true; /* all of it went with levels before */
    for (uint32_t i = 0; left > local; i++) {
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level || part->joined) continue;
        part->here = here && part->device->inline_;
        if (part->here) {
            local++;
            continue;
        }
        left--;
        send(part);
    }
    bool last = false;
    for (uint32_t i = 0; local > 0; i++) { /* only with `here`: the batch stays until svmx_run returns */
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level || part->joined || !part->here) continue;
        local--;
        part->queued_ns = 0;
        run_part(part);
        last = was_last(batch);
    }
    return last;
}

/* Why a batch failed: the first part of the level that did. */
static enum svmx_status failure_of(struct svmx_batch *batch) {
    if (!atomic_load_explicit(&batch->failed, memory_order_relaxed)) return SVMX_OK;
    for (uint32_t i = 0; i < batch->part_count; i++) {
        const struct svmx__part *part = &batch->parts[i];
        if (part->level == batch->level && part->status != SVMX_OK)
            return svmx__fail(&batch->error, part->status, "%s: %s", part->op->name, part->reason);
    }
    return SVMX_ERR_BACKEND;
}

/* To the next level, or once more to that of a stretch that fell apart. false: there is none. */
static bool next_level(struct svmx_batch *batch) {
    if (!batch->stretch.apart) return ++batch->level < batch->level_count;
    batch->stretch.apart = false;
    return true;
}

/* Called by whoever finished a level: starts the next ones, completes the batch after the last. */
static void go_on(struct svmx_batch *batch, bool here) {
    do {
        enum svmx_status failure = failure_of(batch);
        if (failure != SVMX_OK || !next_level(batch)) {
            svmx__complete(batch, failure);
            return;
        }
    } while (start_level(batch, here));
}

void svmx__pipeline_part(struct svmx__work *work) {
    struct svmx__part *part = (struct svmx__part *)(void *)work;
    struct svmx_batch *batch = part->batch;
    struct svmx__device *device = part->device; /* whose queue this is: it may be redone elsewhere */
    uint32_t state = SVMX__QUEUED;
    /* The first part to start makes it RUNNING: from then on cancel comes too late. acq_rel: its partner is the change to
     * CANCELLING in svmx_cancel. */
    bool cancelled = !atomic_compare_exchange_strong_explicit(&batch->state, &state, SVMX__RUNNING,
                                                              memory_order_acq_rel, memory_order_acquire) &&
                     state == SVMX__CANCELLING;
    if (!cancelled)
        run_part(part);
    else if (part->chosen)
        svmx__uncharge(&batch->executor->choices, &part->answer, 0);
    svmx__post_drop(work);
    atomic_fetch_sub_explicit(&device->pending, 1, memory_order_relaxed);
    if (!was_last(batch)) return;
    if (cancelled)
        svmx__complete(batch, SVMX_CANCELLED);
    else
        go_on(batch, false);
}

/* By who looked at posts: the submitter that had it never comes back. */
static void forsake(struct svmx__work *work) {
    struct svmx__part *part = (struct svmx__part *)(void *)work;
    struct svmx_batch *batch = part->batch;
    struct svmx__device *device = part->device;
    run_elsewhere(part);
    atomic_fetch_sub_explicit(&device->pending, 1, memory_order_relaxed);
    if (was_last(batch)) go_on(batch, false);
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
    status = svmx__stretches_begin(batch);
    if (status != SVMX_OK) {
        svmx__submit_undo(batch);
        return status;
    }
    batch->laid_out = batch->recorded;
    batch->verified = batch->verify && svmx__verify_draw(batch->executor, batch->verify);
    svmx__chains_find(batch);
    svmx__buffers_begin(batch);
    batch->error.line[0] = '\0';
    atomic_store_explicit(&batch->failed, false, memory_order_relaxed);
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
