/*
 * cut.c: see cut.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/cut.h"

#include "executor/executor.h"
#include "executor/post.h"
#include <stdlib.h>

/* ---- life --------------------------------------------------------------------------------------------------------- */

static void release(struct svmx__cut *cut) {
    /* acq_rel: who frees it has seen what all others did with it */
    if (atomic_fetch_sub_explicit(&cut->references, 1, memory_order_acq_rel) > 1) return;
    pthread_mutex_destroy(&cut->lock);
    free(cut->units);
    free(cut->slots);
    free(cut);
}

static struct svmx__cut *make(void) {
    struct svmx__cut *cut = calloc(1, sizeof *cut);
    if (!cut) return NULL;
    pthread_mutex_init(&cut->lock, NULL); /* cannot fail with default attributes */
    atomic_init(&cut->references, 1);
    return cut;
}

struct svmx__cut *svmx__cut_make(struct svmx_batch *batch) {
    struct svmx__cut *cut = batch->spare_cuts;
    if (cut)
        batch->spare_cuts = cut->next;
    else
        cut = make();
    if (!cut) return NULL;
    cut->batch = batch;
    cut->next = batch->cuts;
    cut->started = false;
    cut->share_count = 0;
    batch->cuts = cut;
    return cut;
}

void svmx__cuts_undo(struct svmx_batch *batch) {
    struct svmx__cut *cut;
    while ((cut = batch->cuts)) {
        batch->cuts = cut->next;
        batch->parts[cut->at] = cut->whole;
        batch->part_count = cut->first;
        /* acquire: a share that let go of it touches it no more */
        if (atomic_load_explicit(&cut->references, memory_order_acquire) == 1) {
            cut->next = batch->spare_cuts;
            batch->spare_cuts = cut;
        } else {
            release(cut); /* a share is still in a queue */
        }
    }
}

void svmx__cuts_free(struct svmx_batch *batch) {
    svmx__cuts_undo(batch);
    for (struct svmx__cut *cut = batch->spare_cuts, *next; cut; cut = next) {
        next = cut->next;
        release(cut);
    }
}

/* ---- taking chunks ------------------------------------------------------------------------------------------------ */

static uint32_t left_of(const struct svmx__share *share) { return share->end - share->next; }

static bool serves(const struct svmx__share *share) { return svmx__health_serves(&share->device->health); }

/* Whose chunk to take when the own ones are gone: of those who would be busy with theirs longer than it takes here, who
 * would be so the longest. The last share asks nobody how long: who left its chunks behind does not come back for them, also
 * if its device is well again. NULL: nobody's. Under the lock. */
static struct svmx__share *whom_to_help(const struct svmx__share *share) {
    struct svmx__cut *cut = share->cut;
    struct svmx__share *most = NULL;
    double most_ns = 0;
    for (uint32_t i = 0; i < cut->share_count; i++) {
        struct svmx__share *other = &cut->shares[i];
        if (left_of(other) == 0) continue;
        const double rest_ns = (left_of(other) + 1) * other->chunk_ns; /* it is at one */
        if (cut->live > 1 && serves(other) && rest_ns < share->chunk_ns) continue;
        if (!most || rest_ns > most_ns) most = other, most_ns = rest_ns;
    }
    return most;
}

uint32_t svmx__share_take(struct svmx__share *share) {
    struct svmx__cut *cut = share->cut;
    uint32_t chunk = UINT32_MAX;
    pthread_mutex_lock(&cut->lock);
    /* What a device that was given up has left is for the others; the last of them does all, elsewhere if need be. */
    if (serves(share) || cut->live == 1) {
        struct svmx__share *other = left_of(share) ? NULL : whom_to_help(share);
        if (left_of(share)) chunk = share->next++;
        if (other) chunk = --other->end;
    }
    if (chunk == UINT32_MAX) cut->live--;
    pthread_mutex_unlock(&cut->lock);
    return chunk;
}

static struct svmx__part *part_of(const struct svmx__cut *cut, uint32_t chunk) {
    return &cut->batch->parts[chunk ? cut->first + chunk - 1 : cut->at];
}

/* Another device has it than was expected. */
static void move_to(struct svmx__part *part, struct svmx__device *device) {
    struct svmx__choices *choices = &device->executor->choices;
    svmx__uncharge(choices, &part->answer, 0);
    svmx__route_to(part, device->id);
    part->answer.why = SVMX_WHY_SPLIT;
    svmx__charge(choices, &part->answer);
}

void svmx__share_run(struct svmx__work *work) {
    struct svmx__share *share = (struct svmx__share *)(void *)work;
    struct svmx__device *device = share->device;
    const uint32_t chunk = svmx__share_take(share);
    svmx__post_drop(work); /* it calls no driver; the chunk does */
    if (chunk == UINT32_MAX) {
        release(share->cut);
        return;
    }
    struct svmx__part *part = part_of(share->cut, chunk); /* which keeps the batch until it has run */
    if (part->device != device) move_to(part, device);
    atomic_fetch_add_explicit(&device->pending, 1, memory_order_relaxed);
    svmx__pressure_look(device);
    svmx__queue_push(&device->queue, &share->errand.link);
    svmx__post_hold(&part->errand);
    svmx__pipeline_part(&part->errand);
}

/* ---- starting ----------------------------------------------------------------------------------------------------- */

static void start(struct svmx__cut *cut) {
    const uint32_t count = cut->share_count;
    cut->started = true;
    cut->live = count;
    for (uint32_t i = 0; i < count; i++) cut->shares[i].errand.run = svmx__share_run;
    /* relaxed: the queues hand it over; one more until all are in one */
    atomic_fetch_add_explicit(&cut->references, count + 1, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++) svmx__queue_push(&cut->shares[i].device->queue, &cut->shares[i].errand.link);
    release(cut);
}

void svmx__cuts_start(struct svmx_batch *batch) {
    for (struct svmx__cut *cut = batch->cuts, *next; cut && !cut->started; cut = next) {
        next = cut->next && !cut->next->started ? cut->next : NULL; /* looked at while the batch is sure to be there */
        start(cut);
    }
}
