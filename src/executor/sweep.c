/*
 * sweep.c: see sweep.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/sweep.h"

#include "executor/executor.h"
#include "executor/post.h"

static void want(struct svmx__device *device) {
    struct svmx__sweep *sweep = &device->sweep;
    /* acq_rel: pairs with the exchange in `end`; who finds it wanted is seen by the look behind that */
    if (atomic_exchange_explicit(&sweep->wanted, true, memory_order_acq_rel)) return;
    sweep->errand.run = svmx__sweep_run;
    svmx__queue_push_first(&device->queue, &sweep->errand.link);
}

void svmx__memory_return(struct svmx__life *life, struct svmx__staging *staging) {
    if (!staging) return;
    if (life->device->host_memory) /* there is no driver */
        svmx__staging_release(&life->pool, staging);
    else if (svmx__staging_leave(&life->pool, staging))
        want(life->device);
}

/* ---- in the submitter --------------------------------------------------------------------------------------------- */

void svmx__sweep_now(struct svmx__device *device) {
    if (!svmx__is_submitter_of(device)) return; /* it has none, and somebody stands in who calls no driver */
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before) svmx__staging_sweep(&life->pool);
}

static bool is_due(const struct svmx__device *device) {
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before)
        if (svmx__staging_is_full(&life->pool)) return true;
    return false;
}

/* It may go to the queue again: no driver is called from here on, so that nobody else puts it there. */
static void end(struct svmx__device *device) {
    svmx__post_drop(&device->sweep.errand);
    (void)atomic_exchange_explicit(&device->sweep.wanted, false, memory_order_acq_rel);
    if (svmx__is_submitter_of(device) && is_due(device)) want(device); /* came meanwhile */
}

void svmx__sweep_run(struct svmx__work *work) {
    struct svmx__device *device = ((struct svmx__sweep *)(void *)work)->device;
    svmx__sweep_now(device);
    end(device);
}

void svmx__sweep_all(struct svmx__device *device) {
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before) {
        const bool frees = !svmx__life_is_abandoned(life); /* else it has them for ever */
        if (frees) svmx__heap_end(life);
        svmx__staging_orphan(&life->pool, frees);
        if (frees) svmx__staging_trim(&life->pool, 0);
    }
}

void svmx__sweep_init(struct svmx__device *device) {
    device->sweep.device = device;
    device->sweep.errand.forsake = svmx__sweep_run; /* the life that kept it is called no more */
}
