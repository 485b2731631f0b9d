/*
 * post.c: see post.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/post.h"

#include "base/clock.h"
#include "executor/executor.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GONE    UINT64_MAX
#define TURN_NS (100 * SVMX__NS_PER_MS)

static _Thread_local struct svmx__post *mine;

/* ---- a thread at its post ----------------------------------------------------------------------------------------- */

static void *stand(void *user) {
    mine = user;
    return mine->main(mine->user);
}

int svmx__post_open(struct svmx_executor *executor, void *(*main)(void *user), void *user, const char *name,
                    struct svmx__post **post) {
    struct svmx__post *made = calloc(1, sizeof *made);
    sigset_t all, before;
    if (!made) return ENOMEM;
    made->executor = executor;
    made->main = main;
    made->user = user;
    sigfillset(&all); /* signals are the embedding program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&made->thread, NULL, stand, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        free(made);
        return error;
    }
    (void)pthread_setname_np(made->thread, name);
    *post = made;
    return 0;
}

bool svmx__post_join(struct svmx__post *post) {
    const struct timespec end = svmx__clock_deadline(TURN_NS);
    if (pthread_clockjoin_np(post->thread, NULL, CLOCK_MONOTONIC, &end) != 0) return false;
    free(post);
    return true;
}

void svmx__post_hold(struct svmx__work *work) {
    if (!mine) return;
    work->held = mine->held;
    mine->held = work;
}

void svmx__post_drop(struct svmx__work *work) {
    struct svmx__work **at = mine ? &mine->held : NULL;
    while (at && *at && *at != work) at = &(*at)->held;
    if (at && *at) *at = work->held;
}

/* ---- calls -------------------------------------------------------------------------------------------------------- */

void svmx__call_begin(struct svmx__life *life, uint64_t allowed_ns) {
    if (!mine || (life && life->device->host_memory)) return;
    const uint64_t now_ns = svmx__clock_ns(), limit_ns = GONE - 1 - now_ns - mine->executor->patience_ns;
    mine->life = life;
    /* release: pairs with the compare-and-swap of svmx__post_leave, which then sees what the thread has in hand */
    atomic_store_explicit(&mine->due_ns,
                          now_ns + mine->executor->patience_ns + (allowed_ns < limit_ns ? allowed_ns : limit_ns),
                          memory_order_release);
}

/* All that this thread had is another's, or the driver's: not even its stack may go. */
static _Noreturn void sleep_for_ever(void) {
    for (;;) (void)pause();
}

void svmx__call_end(void) {
    if (!mine) return;
    uint64_t due_ns = atomic_load_explicit(&mine->due_ns, memory_order_relaxed);
    if (!due_ns) return; /* it was not watched */
    if (due_ns == GONE ||
        !atomic_compare_exchange_strong_explicit(&mine->due_ns, &due_ns, 0, memory_order_relaxed, memory_order_relaxed))
        sleep_for_ever();
}

bool svmx__post_leave(struct svmx__post *post) {
    uint64_t due_ns = atomic_load_explicit(&post->due_ns, memory_order_relaxed);
    if (!due_ns || due_ns == GONE || svmx__clock_ns() < due_ns) return false;
    if (!atomic_compare_exchange_strong_explicit(&post->due_ns, &due_ns, GONE, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    (void)pthread_detach(post->thread);
    return true;
}

/* ---- looking ------------------------------------------------------------------------------------------------------ */

/* The instance is left alone with what it has, and the device is lost. */
static void abandon(const struct svmx__post *gone, struct svmx__device *device) {
    struct svmx__part part = {.device = device, .life = gone->life};
    if (!gone->life) return;
    (void)snprintf(part.reason, sizeof part.reason, "a call of its driver did not return within %.3g s",
                   (double)device->executor->patience_ns / 1e9);
    atomic_store_explicit(&gone->life->abandoned, true, memory_order_relaxed);
    atomic_store_explicit(&gone->life->over, true, memory_order_relaxed);
    svmx__life_strand(gone->life);
    svmx__device_lost(&part, false);
}

/* Without a new thread what waits for the device would wait for ever: it is tried again at the next look. */
static void look_at_submitter(struct svmx__device *device) {
    struct svmx__post *gone = device->post;
    if (!gone) {
        if (device->has_submitter) (void)svmx__submitter_open(device);
        return;
    }
    if (!svmx__post_leave(gone)) return;
    device->post = NULL;
    abandon(gone, device);
    (void)svmx__submitter_open(device);
    for (struct svmx__work *work = gone->held, *next; work; work = next) {
        next = work->held;
        work->forsake(work); /* it may be gone then */
    }
}

static void look_at_builder(struct svmx__device *device) {
    struct svmx__post *gone = device->builder.post;
    if (!gone || !svmx__post_leave(gone)) return;
    abandon(gone, device);
    svmx__builder_forsake(device);
}

/* One at a time, and once the executor is closed only who closes it. */
static bool claim(struct svmx_executor *executor, bool closing) {
    pthread_mutex_lock(&executor->admission);
    const bool mine_now =
        !executor->looking && (closing || !atomic_load_explicit(&executor->closed, memory_order_relaxed));
    if (mine_now) executor->looking = true;
    pthread_mutex_unlock(&executor->admission);
    return mine_now;
}

void svmx__posts_look(struct svmx_executor *executor, bool closing) {
    if (!claim(executor, closing)) return;
    for (uint32_t i = 0; i < executor->device_count; i++) {
        look_at_submitter(&executor->devices[i]);
        if (closing) look_at_builder(&executor->devices[i]);
    }
    pthread_mutex_lock(&executor->admission);
    executor->looking = false;
    pthread_cond_broadcast(&executor->room);
    pthread_mutex_unlock(&executor->admission);
}

/* ---- closing ------------------------------------------------------------------------------------------------------ */

static bool has_drivers(const struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++)
        if (!executor->devices[i].host_memory) return true;
    return false;
}

static void *unmake_main(void *user) {
    struct svmx_executor *executor = user;
    executor->unmake(executor);
    return NULL;
}

/* Its log lines have no one to go to any more, nor have those of instances that are not closed now. */
static void orphan_all(const struct svmx__post *gone) {
    const struct svmx__registry *registry = &gone->executor->registry;
    if (gone->life) svmx__host_orphan(gone->life->backend);
    for (uint32_t i = 0; i < registry->backend_count; i++)
        if (registry->backends[i].host) svmx__host_orphan(&registry->backends[i]);
}

bool svmx__post_unmake(struct svmx_executor *executor, void (*unmake)(struct svmx_executor *executor)) {
    struct svmx__post *post;
    executor->unmake = unmake;
    if (!has_drivers(executor) || svmx__post_open(executor, unmake_main, executor, "svmx-close", &post) != 0) {
        unmake(executor);
        return true;
    }
    while (!svmx__post_join(post)) {
        if (!svmx__post_leave(post)) continue;
        svmx__log(&executor->log, SVMX_LOG_ERROR, "a driver does not return: what is left of it stays");
        orphan_all(post);
        return false;
    }
    return true;
}
