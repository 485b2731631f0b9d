/*
 * collect.c: stage 6: wait for a part up to its deadline, take its results, give its memory back.
 *
 * Results reach the caller's memory only here and only after the device said OK: a device that fails, or wakes up late,
 * has written into the library's memory at most. Memory that a device may still be using is set aside, never reused.
 * Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/arena.h"
#include "executor/executor.h"
#include "executor/stages.h"
#include "executor/stretch.h"

#include <stdio.h>
#include <string.h>

/* What is left of its time. That counts from when it was handed over, or from when the launch ahead of it was over. */
static uint64_t left_of(const struct svmx__part *part, const struct svmx__deadline *deadline) {
    const uint64_t from = part->ahead_ns > part->dispatch_ns ? part->ahead_ns : part->dispatch_ns;
    const uint64_t close_by = atomic_load_explicit(&part->device->executor->close_by_ns, memory_order_relaxed);
    uint64_t end = deadline->ns < UINT64_MAX - from ? from + deadline->ns : UINT64_MAX;
    if (close_by && close_by < end) end = close_by;
    const uint64_t now = svmx__clock_ns();
    return now < end ? end - now : 0;
}

/* Waits for so long; a driver that takes more is given what is `left` of the part's time. */
static enum svmx_status ask(struct svmx__part *part, uint64_t ns, uint64_t left) {
    const struct svmx_backend *instance = &part->life->backend->instance;
    struct svmx_timing timing = part->timing; /* not the part's: who never comes back does not answer into it */
    const uint64_t first_ns = svmx__launch_ns(part);
    svmx__call_begin(part->life, svmx__call_of(part, "wait"), left > first_ns ? left : first_ns);
    const enum svmx_status status = instance->ops->wait(instance->self, part->device->index, part->ticket, ns, &timing);
    svmx__call_end();
    part->timing = timing;
    return status;
}

/* A final status of the ticket, or TIMEOUT. */
static enum svmx_status wait_for_ticket(struct svmx__part *part, const struct svmx__deadline *deadline) {
    if (part->retired) return part->outcome;
    for (;;) {
        const uint64_t left = left_of(part, deadline);
        const enum svmx_status status = ask(part, left, left);
        if (status != SVMX_TIMEOUT || left == 0) return status;
    }
}

bool svmx__collect_look(struct svmx__part *part, uint64_t ns) {
    if (!part->ticket || svmx__life_is_abandoned(part->life)) return true;
    const struct svmx__deadline deadline = svmx__deadline_of(part);
    const uint64_t left = left_of(part, &deadline);
    if (left <= ns) return true; /* collect waits for the rest */
    part->outcome = ask(part, ns, left);
    part->retired = part->outcome != SVMX_TIMEOUT;
    return part->retired;
}

/* Takes results from the staging buffer to where the caller wants them, or leaves them there for the caller to look at.
 * Offsets are counted again as stage counted them: the table in staging memory is a device's to spoil. */
static void take_results(struct svmx__part *part) {
    if (!part->staging_out) return;
    const bool stay =
        part->library_bytes && !part->library; /* else a device before this one failed, and they have a place */
    if (part->callers_bytes_out || !stay) {
        svmx__copy_out(part, svmx__staged_outputs(part), part->bytes_out);
        part->copied_bytes += stay ? part->callers_bytes_out : part->bytes_out;
    }
    if (stay) svmx__results_stay(part);
}

/* No driver is called for it, but of a device that any thread calls: what was answered is not to be lost in a call that does
 * not return. */
static void release_all(struct svmx__part *part) {
    struct svmx__staging **const held[] = {&part->staging_in, &part->staging_out, &part->inputs, &part->outputs,
                                           &part->scratch};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (part->device->inline_)
            svmx__staging_release(&part->life->pool, *held[i]);
        else
            svmx__memory_return(part->life, *held[i]);
        *held[i] = NULL;
    }
}

/* The driver still has them: they stay allocated until the process ends, and the device is closed by nobody. */
void svmx__set_aside(struct svmx__part *part) {
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    if (part->block) part->block->aside = true;
    atomic_store_explicit(&part->life->abandoned, true, memory_order_relaxed); /* see svmx__life_is_abandoned */
}

static void note_wait_failure(struct svmx__part *part, enum svmx_status status, const struct svmx__deadline *deadline) {
    char line[96];
    svmx__host_take_error(part->life->backend, line, sizeof line);
    if (status == SVMX_TIMEOUT)
        (void)snprintf(part->reason, sizeof part->reason, "no answer within the timeout of %.3g ms (%s)",
                       (double)deadline->ns / 1e6, deadline->origin);
    else
        (void)snprintf(part->reason, sizeof part->reason, "wait: %s: %s", svmx_status_name(status), line);
}

/* A device that works in the caller's memory must be done when submit returns: one that is not could write there after the
 * answer was given. Its ticket is waited for, for timeout_ms at least, so that it is out of that memory, and it is not used
 * again. One that keeps the ticket for longer cannot be kept from writing there late; the self-test meets most of them
 * first, in memory of the library. */
static struct svmx__deadline patience_with(const struct svmx__part *part) {
    const struct svmx__deadline deadline = svmx__deadline_of(part);
    const uint64_t least = part->device->executor->config.number[SVMX__TIMEOUT_MS] * SVMX__NS_PER_MS;
    if (!part->device->host_memory || deadline.ns >= least) return deadline;
    return (struct svmx__deadline){least, "timeout_ms"};
}

static enum svmx_status refuse_ticket(struct svmx__part *part, enum svmx_status status) {
    (void)snprintf(part->reason, sizeof part->reason, "submit answered a ticket, but HOST_MEMORY must be done at once");
    svmx__device_lost(part, true);
    return status == SVMX_OK ? SVMX_ERR_BACKEND : status;
}

/* The launch ahead of it in the window was kept past its deadline: its instance is asked for nothing more. */
static enum svmx_status leave_ticket(struct svmx__part *part) {
    (void)snprintf(part->reason, sizeof part->reason, "%s kept a launch ahead of it past its deadline",
                   part->device->info.name);
    return SVMX_TIMEOUT;
}

static enum svmx_status retire_ticket(struct svmx__part *part) {
    if (!part->retired && part->windowed && svmx__life_is_abandoned(part->life)) return leave_ticket(part);
    const struct svmx__deadline deadline = patience_with(part);
    enum svmx_status status = wait_for_ticket(part, &deadline);
    if (status != SVMX_OK) note_wait_failure(part, status, &deadline);
    /* A process that was killed writes no more: what it had can be used again. */
    if (status == SVMX_TIMEOUT && svmx__life_kill(part->life, "it kept a launch past its deadline and was killed"))
        status = SVMX_ERR_DEVICE_LOST;
    return part->device->host_memory ? refuse_ticket(part, status) : status;
}

/* Of a device that is watched each launch is, and whatever was drawn, but for what the reference code did: there is nothing
 * to compare it with. Chains and stretches are not: what is to be compared is in none. */
static bool is_to_compare(const struct svmx__part *part) {
    const struct svmx__device *device = part->device;
    if (!part->batch || part->links || part->joined || part->stretched) return false;
    return (part->batch->verified && device->id + 1 != device->executor->device_count) ||
           svmx__health_is_watched(&device->health);
}

enum svmx_status svmx__collect(struct svmx__part *part, enum svmx_status so_far) {
    enum svmx_status status = so_far;
    if (status == SVMX_OK && part->ticket != 0) status = retire_ticket(part);
    part->done_ns = svmx__clock_ns();
    if (part->windowed) part->device->window.over_ns = part->done_ns;
    part->compared = false;
    part->compare_ns = part->shadow_ns = 0;
    if (status == SVMX_OK && !part->device->host_memory) status = svmx__guard_check(part);
    if (status == SVMX_OK && is_to_compare(part)) status = svmx__compare(part);
    if (status == SVMX_OK && part->stretched)
        svmx__stretch_take(part);
    else if (status == SVMX_OK && !part->device->host_memory)
        take_results(part);
    if (status != SVMX_OK) svmx__guard_forget(part);
    if (status == SVMX_TIMEOUT)
        svmx__set_aside(part);
    else
        release_all(part);
    if (part->pinned && status != SVMX_TIMEOUT) svmx__pipeline_unpin(part->pipeline); /* else it may still be running */
    part->pinned = false;
    if (status == SVMX_TIMEOUT || status == SVMX_ERR_DEVICE_LOST) svmx__device_lost(part, false);
    return status;
}
