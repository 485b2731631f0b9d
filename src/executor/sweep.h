/*
 * sweep.h: memory goes back to a driver in the thread of the device's submitter, and in no other.
 *
 *   any thread    svmx__memory_return    into the pool of its life, for whoever acquires next; too much: an errand
 *   submitter     svmx__sweep_run        between launches: frees what is too much      (also before it fetches more: ask.c)
 *                 svmx__sweep_all        at its end: frees all
 *
 * The list of what is to be freed is the pool itself, so nothing is allocated for it. It cannot grow without limit: only the
 * submitter makes memory, and sweeps before it does more, so that pools hold what was in use at once and what they may keep.
 * A driver that keeps the sweep is given up like any (post.h): its life is over then, and the sweep of the next submitter
 * calls it no more. A device in whose launches any thread may be (INLINE) is called by these as well.
 *
 * Called by arena.c, collect.c, device.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_SWEEP_H
#define SVMX_EXECUTOR_SWEEP_H

#include "executor/batch.h"

struct svmx__device;
struct svmx__life;

/* The errand; one a device. */
struct svmx__sweep {
    struct svmx__work errand; /* first */
    struct svmx__device *device;
    atomic_bool wanted; /* from when it goes to the queue until no driver is called for it any more */
};

void svmx__sweep_init(struct svmx__device *device);

/* Gives staging memory back to the pool of its life. No driver is called, in whichever thread. NULL is fine. */
void svmx__memory_return(struct svmx__life *life, struct svmx__staging *staging);

/* The errand's. */
void svmx__sweep_run(struct svmx__work *work);
/* What is too much, now. By the submitter, with nothing in hand that must not be lost. */
void svmx__sweep_now(struct svmx__device *device);
/* All that the device has in its lives, heaps and what batches hold too. By the submitter, or whoever is in its place, once its queue is closed. */
void svmx__sweep_all(struct svmx__device *device);

#endif
