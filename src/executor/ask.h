/*
 * ask.h: memory of a device for a caller's thread, by way of the device's submitter.
 *
 * A driver may take long, or never return. So svmx_batch_alloc does not call it: it leaves a request in front of the device's
 * queue and waits for it, for a quarter more than the patience at most: a device that is busy answers after the launch at hand. The submitter stands at a post (post.h): one that does not come back
 * is given up, and the request with it.
 *
 *   the answer comes in time     the caller has the memory, and frees the request
 *   the caller left before       the submitter puts the memory into the pool, for the next who asks, and frees the request
 *   a callback asks              in the submitter's own thread it calls the driver itself; in that of another device it leaves at
 *                                once: two that wait for each other would both be late
 *
 * Called by arena.c; device.c knows its errand, for which the window need not be empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_ASK_H
#define SVMX_EXECUTOR_ASK_H

#include "executor/batch.h"

struct svmx__life;
struct svmx__device;

/* Staging memory of a device for these uses, with the life that it is of. What lies idle is given at once, in any thread.
 * TIMEOUT: it did not answer, or was not waited for; else as svmx__staging_acquire_for. */
enum svmx_status svmx__ask_memory(struct svmx__device *device, uint64_t tenant, uint32_t usage, uint64_t bytes,
                                  struct svmx__life **life, struct svmx__staging **staging);

/* The errand. */
void svmx__ask_run(struct svmx__work *work);

#endif
