/*
 * ask.c: see ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/ask.h"

#include "base/clock.h"
#include "executor/executor.h"
#include "executor/post.h"
#include <stdlib.h>

/* The caller's and the submitter's; whoever is the last to know of it frees it. */
struct request {
    struct svmx__work errand; /* first */
    struct svmx__device *device;
    uint64_t tenant, bytes;
    uint32_t usage;
    /* The submitter's until `done`. */
    struct svmx__life *life;
    struct svmx__staging *staging;
    enum svmx_status status;
    pthread_mutex_t lock; /* guards the next two */
    pthread_cond_t changed;
    bool done, left; /* by the submitter; by the caller */
};

static void free_request(struct request *request) {
    pthread_cond_destroy(&request->changed);
    pthread_mutex_destroy(&request->lock);
    free(request);
}

/* ---- in the submitter --------------------------------------------------------------------------------------------- */

static void finish(struct request *request, enum svmx_status status) {
    pthread_mutex_lock(&request->lock);
    request->status = status;
    request->done = true;
    const bool left = request->left;
    pthread_cond_signal(&request->changed); /* under the lock: it goes once the other one has seen `done` */
    pthread_mutex_unlock(&request->lock);
    if (!left) return;
    if (status == SVMX_OK) svmx__memory_return(request->life, request->staging);
    free_request(request);
}

static enum svmx_status acquire(struct svmx__life *life, const struct request *request,
                                struct svmx__staging **staging) {
    if (atomic_load_explicit(&life->over, memory_order_relaxed)) return SVMX_ERR_DEVICE_LOST;
    return svmx__staging_acquire_for(&life->pool, request->tenant, SVMX_MEMORY_STAGING, request->usage, request->bytes,
                                     staging);
}

void svmx__ask_run(struct svmx__work *work) {
    struct request *request = (struct request *)(void *)work;
    svmx__sweep_now(request->device); /* what others gave back makes room first */
    request->life = svmx__life_of(request->device);
    const enum svmx_status status = acquire(request->life, request, &request->staging);
    svmx__post_drop(work);
    finish(request, status);
}

/* The driver never returned. */
static void forsake(struct svmx__work *work) {
    struct request *request = (struct request *)(void *)work;
    svmx__post_drop(work);
    finish(request, SVMX_TIMEOUT);
}

/* ---- in the caller ------------------------------------------------------------------------------------------------ */

static struct request *make(const struct request *wishes) {
    struct request *request = malloc(sizeof *request);
    if (!request) return NULL;
    *request = *wishes;
    pthread_mutex_init(&request->lock, NULL); /* neither can fail with default attributes */
    pthread_cond_init(&request->changed, NULL);
    request->errand.run = svmx__ask_run;
    request->errand.forsake = forsake;
    return request;
}

/* false: the time is over, and the request is the submitter's alone. */
static bool await(struct request *request, uint64_t ns) {
    const struct timespec end = svmx__clock_deadline(ns);
    int error = 0;
    pthread_mutex_lock(&request->lock);
    while (!request->done && !error)
        error = pthread_cond_clockwait(&request->changed, &request->lock, CLOCK_MONOTONIC, &end);
    const bool done = request->done;
    request->left = !done;
    pthread_mutex_unlock(&request->lock);
    return done;
}

static enum svmx_status have_asked(const struct request *wishes, struct svmx__life **life,
                                   struct svmx__staging **staging) {
    struct svmx__device *device = wishes->device;
    struct request *request = make(wishes);
    if (!request) return SVMX_ERR_MEMORY;
    /* a little more than a call of a driver has: whoever looks at posts is to be the first who knows, but of isolated backends */
    const uint64_t patience_ns = device->executor->patience_ns, ns = patience_ns + patience_ns / 4;
    const bool waits = !svmx__post_mine();
    request->left = !waits;
    svmx__queue_push_first(&device->queue, &request->errand.link);
    if (!waits || !await(request, ns)) return SVMX_TIMEOUT;
    const enum svmx_status status = request->status;
    if (status == SVMX_OK) {
        *life = request->life;
        *staging = request->staging;
    }
    free_request(request);
    return status;
}

enum svmx_status svmx__ask_memory(struct svmx__device *device, uint64_t tenant, uint32_t usage, uint64_t bytes,
                                  struct svmx__life **life, struct svmx__staging **staging) {
    const struct request wishes = {.device = device, .tenant = tenant, .usage = usage, .bytes = bytes};
    struct svmx__life *present = svmx__life_of(device);
    struct svmx__staging *found = svmx__staging_reuse(&present->pool, tenant, SVMX_MEMORY_STAGING, usage, bytes);
    if (!found && !device->host_memory && !svmx__is_submitter_of(device)) return have_asked(&wishes, life, staging);
    const enum svmx_status status = found ? SVMX_OK : acquire(present, &wishes, &found);
    if (status != SVMX_OK) return status;
    *life = present;
    *staging = found;
    return SVMX_OK;
}
