/*
 * pipeline.c: the spine. Takes a batch through its seven stages. Self-tests, comparisons, chains and stretches call some of
 * them for themselves (stages.h says which).
 *
 *   svmx_run, svmx_submit     submit, bucket          once, in the caller's thread
 *     start_level             route                   for every part of a level
 *       run_part              stage, dispatch, collect (again on another device after a failure), learn
 *       start, finish         the same of a part in the window of its device: others are handed over between the two
 *
 * A part for an inline device that computes in host memory runs in the caller's thread under svmx_run; every other part goes
 * through its device's queue to its submitter. Who finishes the last part of a level starts the next one, who finishes the last level
 * completes the batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/building.h"
#include "executor/chain.h"
#include "executor/cut.h"
#include "executor/gather.h"
#include "executor/lay.h"
#include "executor/stages.h"
#include "executor/stretch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long the submitter looks at the oldest part of a window that has room before it looks for what came meanwhile: half
 * of what that has taken so far, within these. To be woken costs some us, and that core may be the device's. */
#define LOOK_MIN_NS UINT64_C(200000)
#define LOOK_MAX_NS UINT64_C(2000000)

enum { BRIEF_NS = 5000 };

#define CLOSED "the executor was closed"

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

static enum svmx_status begin_stages(struct svmx__part *part) {
    const enum svmx_status status = svmx__stage(part);
    return status == SVMX_OK ? svmx__dispatch(part) : status;
}

static enum svmx_status end_stages(struct svmx__part *part, enum svmx_status so_far) {
    const enum svmx_status status = svmx__collect(part, so_far);
    if (status != SVMX_OK) return status;
    part->launches++;
    part->readbacks += readbacks_of(part);
    return SVMX_OK;
}

/* One of so many pieces of a part as a part of its own, on the same device. `room` is for it alone. */
static struct svmx__part slice(const struct svmx__part *part, uint32_t piece, uint32_t count, struct svmx__room room) {
    struct svmx__part sliced = *part;
    svmx__lay(&sliced, svmx__slice_at(part, piece, count), svmx__slice_at(part, piece + 1, count),
              svmx__slices_within(part, count), &room);
    sliced.question.load =
        svmx__load_of(sliced.units, sliced.work, sliced.bytes_in + sliced.bytes_out, sliced.task_count);
    sliced.library_bytes = 0; /* they have a place by now */
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
    part->shadow_ns += sliced->shadow_ns;
    part->timing.copy_in_ns += sliced->timing.copy_in_ns;
    part->timing.compute_ns += sliced->timing.compute_ns;
    part->timing.copy_out_ns += sliced->timing.copy_out_ns;
    part->done_ns = sliced->done_ns - part->compare_ns; /* comparing those before it took no time of the device */
    part->compare_ns += sliced->compare_ns;
    memcpy(part->reason, sliced->reason, sizeof part->reason);
}

static enum svmx_status run_at_once(struct svmx__part *part);

/* In several submissions, one after another. Of those before one that fails nothing counts: all is redone. */
static enum svmx_status run_pieces(struct svmx__part *part, uint32_t count) {
    const size_t tasks = part->task_count, rows = svmx__slices_within(part, count) ? tasks * part->op->param_count : 0;
    struct svmx__room room = {.slots = malloc(rows * sizeof *room.slots + (tasks + 1) * sizeof *room.units)};
    const uint32_t launches = part->launches, readbacks = part->readbacks;
    uint64_t first_ns = part->dispatch_ns;
    if (!room.slots) return SVMX_ERR_MEMORY;
    room.units = (uint64_t *)(void *)(room.slots + rows);
    enum svmx_status status =
        svmx__results_in_host_memory(part, svmx__life_of(svmx__reference_of(part->device->executor)));
    part->compared = true; /* if each of them is */
    part->compare_ns = part->shadow_ns = 0;
    bool shadowed = true; /* if each of them is, by the same device */
    part->timing = (struct svmx_timing){.size = sizeof part->timing};
    for (uint32_t i = 0; i < count && status == SVMX_OK; i++) {
        struct svmx__part sliced = slice(part, i, count, room);
        status = run_at_once(&sliced);
        if (i == 0) {
            first_ns = sliced.dispatch_ns;
            part->shadow = sliced.shadow;
        }
        shadowed = shadowed && sliced.shadow_ns && sliced.shadow == part->shadow;
        take_over(part, &sliced);
        part->pipeline = sliced.pipeline;
    }
    part->dispatch_ns = first_ns;
    if (!shadowed) part->shadow_ns = 0;
    if (status != SVMX_OK) {
        part->launches = launches;
        part->readbacks = readbacks;
    }
    free(room.slots);
    return status;
}

/* A device that has no memory for all tasks at once may have it for half of them. */
static enum svmx_status end_on_device(struct svmx__part *part, enum svmx_status so_far) {
    enum svmx_status status = end_stages(part, so_far);
    bool can_halve = !part->device->host_memory && part->task_count > 1 && !part->library_bytes;
    return status == SVMX_ERR_MEMORY && can_halve ? run_pieces(part, 2) : status;
}

static enum svmx_status run_at_once(struct svmx__part *part) { return end_on_device(part, begin_stages(part)); }

static enum svmx_status run_on_device(struct svmx__part *part) {
    const uint32_t pieces = svmx__slice_count(part);
    part->cuts = pieces - 1;
    return pieces > 1 ? run_pieces(part, pieces) : run_at_once(part);
}

/* Stages 6 and 7 of all levels of a stretch. If that fails, go_on has its first level begin anew. */
static void end_stretch(struct svmx__part *head, enum svmx_status so_far) {
    head->status = svmx__stretch_end(head, so_far);
    if (head->status != SVMX_OK) return;
    head->end_ns = svmx__clock_ns();
    svmx__learn(head);
}

/* The executor is closed without waiting for work: it is not redone, nor begun. */
static void end_without_answer(struct svmx__part *part) {
    part->status = SVMX_CANCELLED;
    (void)snprintf(part->reason, sizeof part->reason, CLOSED);
    fail(part);
}

static enum svmx_status run_once(struct svmx__part *part) {
    return part->links ? svmx__chain_run(part) : run_on_device(part);
}

/* After the first device: others where it failed, then stage 7. Ends with the results in place: the last device to try is
 * the reference code. */
static void settle(struct svmx__part *part) {
    const struct svmx_executor *executor = part->device->executor;
    while (!part->refused && !svmx__gives_up(executor) && svmx__route_again(part)) part->status = run_once(part);
    if (part->status != SVMX_OK && svmx__gives_up(executor))
        end_without_answer(part);
    else if (part->status != SVMX_OK && part->policy == SVMX_POLICY_GPU)
        fail(part);
    else if (part->status != SVMX_OK)
        run_without_stages(part);
    part->end_ns = part->device->host_memory ? part->done_ns : svmx__clock_ns();
    svmx__learn(part);
}

/* A part whose thread was given up inside a call of the driver: from the failure on. */
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
    settle(part);
}

/* Stages 4 to 7. */
static void run_part(struct svmx__part *part) {
    part->start_ns = part->queued_ns ? svmx__clock_ns() : 0;
    if (part->stretched) {
        end_stretch(part, svmx__stretch_begin(part));
        return;
    }
    /* each launch of a device that is watched is compared, and what passes cannot be */
    if (part->links && svmx__health_is_watched(&part->device->health)) svmx__chain_undo(part);
    if (!part->refused) part->status = run_once(part);
    settle(part);
}

/* true: that was the last part of its level, and the level is the caller's of this function to go on from. */
static bool was_last(struct svmx_batch *batch) {
    /* acquire, acq_rel: what other threads wrote for their parts is seen by whoever goes on. Who finds one left has it, and
     * nobody else counts any more: no need to. */
    return atomic_load_explicit(&batch->parts_left, memory_order_acquire) == 1 ||
           atomic_fetch_sub_explicit(&batch->parts_left, 1, memory_order_acq_rel) == 1;
}

/* From now on it is part of what its device has still to do; learn takes it out again. Not what this thread is done with before
 * somebody else could mind. */
static void charge(struct svmx__part *part, bool here) {
    const bool is_brief = here && part->device->inline_ && part->answer.expected_ns < BRIEF_NS;
    if (part->chosen && !is_brief) svmx__charge(&part->batch->executor->choices, &part->answer);
}

static void forsake(struct svmx__work *work);

static void make_errand(struct svmx__part *part) {
    part->queued_ns = svmx__clock_ns();
    part->errand.run = svmx__pipeline_part;
    part->errand.forsake = forsake;
}

/* Cuts a part, if several devices are faster than one. Returns into how many. */
static uint32_t cut(struct svmx_batch *batch, uint32_t at) {
    const struct svmx__part *part = &batch->parts[at];
    const bool worth = batch->executor->spreads && part->chosen && part->answer.expected_ns >= SVMX__WORTH_A_LOOK_NS;
    const uint32_t first = batch->part_count, made = worth ? svmx__split(batch, at) : 0;
    if (made) make_errand(&batch->parts[at]);
    for (uint32_t i = first; i < batch->part_count; i++) make_errand(&batch->parts[i]);
    return made;
}

/* Returns how many parts are to be sent; *chunks: how many go with shares of cuts. */
static uint32_t route_level(struct svmx_batch *batch, bool here, uint32_t *chunks) {
    uint32_t count = 0;
    const uint32_t parts = batch->part_count; /* chunks are behind them, and routed already */
    svmx__results_resolve(batch);
    batch->chain_command_count = 0;
    if (batch->commands_left) {
        batch->chain_commands = NULL;
        batch->chain_command_capacity = 0;
        batch->commands_left = false;
    }
    if (svmx__stretch_join(batch)) {
        charge(&batch->parts[batch->by_level[batch->level_start[batch->level]]], here);
        atomic_store_explicit(&batch->parts_left, 1, memory_order_relaxed);
        return 1;
    }
    for (uint32_t i = 0; i < parts; i++) {
        if (batch->parts[i].level != batch->level || batch->parts[i].joined) continue;
        svmx__route(&batch->parts[i]);
        svmx__chain_join(batch, i);
        const uint32_t made = cut(batch, i);
        *chunks += made;
        if (made) continue;
        count++;
        charge(&batch->parts[i], here);
    }
    atomic_store_explicit(&batch->parts_left, count + *chunks, memory_order_relaxed);
    return count;
}

/* To the queue of its device, or first to the device's builder. The part may be gone when this returns. */
static void send(struct svmx__part *part) {
    make_errand(part);
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
    uint32_t chunks = 0, left = route_level(batch, here, &chunks), local = 0;
    if (left + chunks == 0) return true; /* all of it went with levels before */
    for (uint32_t i = 0; left > local; i++) {
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level || part->joined || part->chunk) continue;
        /* one with memory of its own has a driver, which may hang: its submitter is watched, this thread is not */
        part->here = here && part->device->inline_ && part->device->host_memory;
        if (part->here) {
            local++;
            continue;
        }
        left--;
        send(part);
    }
    if (chunks) svmx__cuts_start(batch);
    bool last = false;
    for (uint32_t i = 0; local > 0; i++) { /* only with `here`: the batch stays until svmx_run returns */
        struct svmx__part *part = &batch->parts[i];
        if (part->level != batch->level || part->joined || part->chunk || !part->here) continue;
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
    if (svmx__gives_up(batch->executor)) return svmx__fail(&batch->error, SVMX_CANCELLED, CLOSED);
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
        const bool more = failure == SVMX_OK && next_level(batch);
        if (more && svmx__gives_up(batch->executor)) failure = svmx__fail(&batch->error, SVMX_CANCELLED, CLOSED);
        if (failure != SVMX_OK || !more) {
            svmx__complete(batch, failure);
            return;
        }
    } while (start_level(batch, here));
}

/* ---- in the submitter ---------------------------------------------------------------------------------------------- */

/* A part is over, on whichever device. */
static void leave(struct svmx__device *device, struct svmx__part *part, bool cancelled) {
    struct svmx_batch *batch = part->batch;
    svmx__post_drop(&part->errand);
    atomic_fetch_sub_explicit(&device->pending, 1, memory_order_relaxed);
    if (!was_last(batch)) return;
    if (cancelled)
        svmx__complete(batch, SVMX_CANCELLED);
    else
        go_on(batch, false);
}

/* With nothing else on its device. */
static void run_alone(struct svmx__part *part) {
    struct svmx__device *device = part->device; /* it may be redone elsewhere */
    svmx__pipeline_drain(device);
    run_part(part);
    leave(device, part, false);
}

/* Members of a launch that was gathered, each by itself; a failure that was held against the device is in their receipts. What
 * is under way is collected before: that may be other such launches, but no new one. */
static void run_apart(const struct svmx__gather *gather, bool failed) {
    for (uint32_t i = 0; i < gather->count; i++) {
        struct svmx__part *part = gather->members[i];
        part->redone = failed;
        if (failed) memcpy(part->reason, gather->whole.reason, sizeof part->reason);
        run_alone(part);
    }
}

/* The device is gone with what it had. */
static void run_elsewhere_apart(struct svmx__device *device, const struct svmx__gather *gather) {
    for (uint32_t i = 0; i < gather->count; i++) {
        struct svmx__part *part = gather->members[i];
        part->status = gather->whole.status;
        part->life = gather->whole.life;
        part->start_ns = gather->whole.start_ns;
        part->dispatch_ns = gather->whole.dispatch_ns;
        memcpy(part->reason, gather->whole.reason, sizeof part->reason);
        settle(part);
        leave(device, part, false);
    }
}

/* After stage 6 of a launch that was gathered: what its members have of it. Each may be gone once it was left. The last is left
 * first: who has several under way waits for the oldest, and finds all of them done when it is woken, once. */
static void scatter(struct svmx__device *device, struct svmx__part *whole, enum svmx_status status) {
    struct svmx__gather *gather = whole->gather;
    whole->status = status;
    if (status == SVMX_TIMEOUT || status == SVMX_ERR_DEVICE_LOST) {
        run_elsewhere_apart(device, gather);
    } else if (status != SVMX_OK) {
        const bool failed = status != SVMX_ERR_MEMORY && status != SVMX_ERR_UNSUPPORTED;
        if (failed) svmx__count_failure(whole);
        run_apart(gather, failed);
    } else {
        whole->end_ns = svmx__clock_ns();
        svmx__learn_whole(whole);
        svmx__gather_share(gather);
        for (uint32_t i = 0; i < gather->count; i++) {
            gather->members[i]->end_ns = whole->end_ns;
            svmx__learn(gather->members[i]);
            gather->members[i]->answered = true;
        }
        for (uint32_t i = gather->count; i-- > 0;) leave(device, gather->members[i], false);
    }
}

/* Stages 6 and 7 of a part of the window, or of one that did not get into it. */
static void finish(struct svmx__device *device, struct svmx__part *part, enum svmx_status so_far) {
    if (part->gather) {
        scatter(device, part, end_stages(part, so_far));
        return;
    }
    if (part->stretched) {
        end_stretch(part, so_far);
    } else {
        part->status = end_on_device(part, so_far);
        settle(part);
    }
    leave(device, part, false);
}

static void finish_oldest(struct svmx__device *device) {
    struct svmx__part *part = svmx__window_pop(device);
    part->ahead_ns = device->window.over_ns;
    finish(device, part, SVMX_OK);
}

void svmx__pipeline_turn(struct svmx__device *device) {
    struct svmx__part *oldest = device->window.parts[0];
    const uint64_t waited_ns = svmx__clock_since(svmx__clock_ns(), oldest->dispatch_ns);
    uint64_t look_ns = waited_ns / 2;
    if (look_ns < LOOK_MIN_NS) look_ns = LOOK_MIN_NS;
    if (look_ns > LOOK_MAX_NS) look_ns = LOOK_MAX_NS;
    if (device->window.count == device->window.depth || svmx__collect_look(oldest, look_ns)) finish_oldest(device);
}

void svmx__pipeline_drain(struct svmx__device *device) {
    while (device->window.count) finish_oldest(device);
}

/* What failed beside others may go well alone: they hold memory, and places in the driver's queue. */
static void start_alone(struct svmx__part *part, enum svmx_status failure) {
    (void)(part->stretched ? svmx__stretch_collect(part, failure) : svmx__collect(part, failure));
    if (part->gather) {
        run_apart(part->gather, false);
        return;
    }
    part->pipeline = NULL; /* it is not pinned any more */
    part->copied_bytes = 0;
    run_alone(part);
}

/* Stages 4 and 5: then it is in the window, or over. */
static void start(struct svmx__device *device, struct svmx__part *part) {
    while (svmx__window_holds_up(part)) finish_oldest(device);
    part->start_ns = svmx__clock_ns();
    const enum svmx_status status = part->stretched ? svmx__stretch_begin(part) : begin_stages(part);
    if (status == SVMX_OK)
        svmx__window_push(part);
    else if (device->window.count)
        start_alone(part, status);
    else
        finish(device, part, status);
}

/* A part that was popped. false: it was taken back, and is over. */
static bool enter_device(struct svmx__part *part) {
    struct svmx_batch *batch = part->batch;
    uint32_t state = SVMX__QUEUED;
    /* The first part to start makes it RUNNING: from then on cancel comes too late. acq_rel: its partner is the change to
     * CANCELLING in svmx_cancel. */
    const bool cancelled = !atomic_compare_exchange_strong_explicit(&batch->state, &state, SVMX__RUNNING,
                                                                    memory_order_acq_rel, memory_order_acquire) &&
                           state == SVMX__CANCELLING;
    /* The driver has nothing of it yet, whatever becomes of this thread while others are collected. */
    part->home = part->device;
    part->life = svmx__life_of(part->device);
    part->block = NULL;
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    part->pinned = part->windowed = part->overlapped = part->retired = part->answered = false;
    part->cuts = 0;
    part->start_ns = svmx__clock_ns(); /* in a launch with others it has no other */
    part->dispatch_ns = 0;
    const bool given_up = !cancelled && svmx__gives_up(batch->executor);
    if (!cancelled && !given_up) return true;
    if (given_up) end_without_answer(part); /* others of the batch may have begun, or be done */
    if (part->chosen) svmx__uncharge(&batch->executor->choices, &part->answer, 0);
    leave(part->device, part, cancelled);
    return false;
}

void svmx__pipeline_part(struct svmx__work *work) {
    struct svmx__part *part = (struct svmx__part *)(void *)work;
    struct svmx__device *device = part->device; /* whose queue this is: it may be redone elsewhere */
    if (!enter_device(part)) return;
    if (svmx__gather_takes(part)) part = svmx__gather(part, enter_device, run_alone);
    if (!part) return;
    if (part->gather || svmx__window_takes(part))
        start(device, part);
    else
        run_alone(part);
}

/* The submitter that had it never comes back: this is the next one. */
static void forsake(struct svmx__work *work) {
    struct svmx__part *part = (struct svmx__part *)(void *)work;
    struct svmx__device *home = part->home;   /* the call may have been one of another that it was redone on */
    if (!part->answered) run_elsewhere(part); /* else it was a call within the callback of another of its launch */
    leave(home, part, false);
}

/* The first level. */
static void begin(struct svmx_batch *batch, bool here) {
    svmx__buffers_begin(batch);
    if (batch->level_count == 0)
        svmx__complete(batch, SVMX_OK);
    else if (start_level(batch, here))
        go_on(batch, here);
}

void svmx__pipeline_begin(struct svmx_batch *batch) { begin(batch, false); }

/* Stages 1 and 2, then the first level, unless others come before it. */
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
    batch->error.line[0] = '\0';
    atomic_store_explicit(&batch->failed, false, memory_order_relaxed);
    batch->level = 0;
    batch->in_order = (flags & SVMX_SUBMIT_IN_ORDER) != 0;
    if (batch->in_order) svmx__join_order(batch);
    const enum svmx__turn turn = batch->use_count ? svmx__order_join(batch, here) : SVMX__TURN_STARTS;
    if (turn == SVMX__TURN_HANGS) {
        svmx__submit_undo(batch);
        return svmx__fail(
            &batch->error, SVMX_ERR_STATE,
            "svmx_run in a callback would wait for a batch that names the same buffer: submit it instead");
    }
    if (turn == SVMX__TURN_STARTS) begin(batch, here);
    return SVMX_OK;
}

enum svmx_status svmx_run(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = enter(batch, true, 0);
    return status == SVMX_OK ? svmx_wait(batch, UINT64_MAX) : status;
}

enum svmx_status svmx_submit(svmx_batch_t *batch, uint32_t flags) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    const uint32_t known = SVMX_SUBMIT_NONBLOCK | SVMX_SUBMIT_IN_ORDER;
    if (flags & ~known) {
        if (svmx_poll(batch) == SVMX_BUSY) return SVMX_ERR_STATE;
        return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT, "flags is 0x%x: this version knows none but 0x%x", flags,
                          (unsigned)known);
    }
    return enter(batch, false, flags);
}
