/*
 * post.c: see post.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/post.h"

#include "base/clock.h"
#include "executor/building.h"
#include "executor/stages.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GONE            UINT64_MAX
#define TURN_NS         (100 * SVMX__NS_PER_MS)
#define LONGEST_TURN_NS (250 * SVMX__NS_PER_MS)
enum { FIRST_TIMES = 6, FIRST_PAUSE_NS = 20000, LAST_PAUSE_NS = 2000000 };

static _Thread_local struct svmx__post *mine;

/* ---- a thread at its post ----------------------------------------------------------------------------------------- */

static void *stand(void *user) {
    mine = user;
    (void)pthread_setname_np(pthread_self(), mine->name); /* before it does anything */
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
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    sigfillset(&all); /* signals are the embedding program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&made->thread, NULL, stand, made);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        free(made);
        return error;
    }
    *post = made;
    return 0;
}

/* By looks that come more and more seldom: pthread_timedjoin_np goes by the wall clock, and thread sanitizers do not know
 * pthread_clockjoin_np. Mostly the thread is at its end already. */
bool svmx__post_join(struct svmx__post *post) {
    const uint64_t end_ns = svmx__clock_ns() + TURN_NS;
    struct timespec pause = {0, FIRST_PAUSE_NS};
    while (pthread_tryjoin_np(post->thread, NULL) != 0) {
        if (svmx__clock_ns() >= end_ns) return false;
        (void)nanosleep(&pause, NULL);
        if (pause.tv_nsec < LAST_PAUSE_NS) pause.tv_nsec *= 2;
    }
    free(post);
    return true;
}

const struct svmx__post *svmx__post_mine(void) { return mine; }

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

void svmx__call_begin(struct svmx__life *life, struct svmx__call call, uint64_t allowed_ns) {
    if (!mine || (life && life->device->host_memory)) return;
    const struct svmx_executor *executor = mine->executor;
    /* one in another process is killed first, and the call returns */
    const uint64_t isolated_ns = life && life->backend->isolated ? executor->isolated_ns : 0;
    const uint64_t least_ns = svmx__clock_ns() + executor->patience_ns + isolated_ns, limit_ns = GONE - 1 - least_ns;
    mine->life = life;
    mine->call = call;
    /* release: pairs with the compare-and-swap of svmx__post_leave, which then sees what the thread has in hand */
    atomic_store_explicit(&mine->due_ns, least_ns + (allowed_ns < limit_ns ? allowed_ns : limit_ns),
                          memory_order_release);
}

uint64_t svmx__first_ns(const struct svmx_executor *executor) { return (FIRST_TIMES - 1) * executor->patience_ns; }

uint64_t svmx__launch_ns(const struct svmx__part *part) {
    const struct svmx__device *device = part->device;
    if (device->host_memory) return 0; /* nobody watches it */
    const bool known = part->batch && !(device->info.flags & SVMX_DEVICE_SHARES_CORES) && svmx__was_launched(part);
    return known ? 0 : svmx__first_ns(device->executor);
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

/* Is a call overdue: by itself, or because the executor closes? */
static bool is_overdue(const struct svmx__post *post, uint64_t due_ns) {
    const uint64_t close_by_ns = atomic_load_explicit(&post->executor->close_by_ns, memory_order_relaxed);
    return svmx__clock_ns() >= (close_by_ns && close_by_ns < due_ns ? close_by_ns : due_ns);
}

bool svmx__post_leave(struct svmx__post *post) {
    uint64_t due_ns = atomic_load_explicit(&post->due_ns, memory_order_relaxed);
    if (!due_ns || due_ns == GONE || !is_overdue(post, due_ns)) return false;
    if (!atomic_compare_exchange_strong_explicit(&post->due_ns, &due_ns, GONE, memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    (void)pthread_detach(post->thread);
    return true;
}

/* ---- looking ------------------------------------------------------------------------------------------------------ */

/* The instance is left alone with what it has, and the device is lost. */
static void abandon(const struct svmx__post *gone) {
    if (!gone->life) return;
    struct svmx__device *device =
        gone->life->device; /* not always the one whose thread it was: an inline one is anybody's */
    struct svmx__part part = {.device = device, .life = gone->life};
    const struct svmx__call *call = &gone->call;
    (void)snprintf(part.reason, sizeof part.reason, "its driver did not return from %s%s%s within its time and %.3g s",
                   call->name, call->op ? " of " : "", call->op ? call->op : "",
                   (double)device->executor->patience_ns / 1e9);
    atomic_store_explicit(&gone->life->abandoned, true, memory_order_relaxed);
    atomic_store_explicit(&gone->life->over, true, memory_order_relaxed);
    svmx__life_strand(gone->life);
    svmx__device_lost(&part, false);
}

/* What a thread that was given up had in hand goes back to the queue: the next submitter has it done elsewhere. So who looks
 * computes nothing, and calls back nobody. */
static void requeue(struct svmx__device *device, struct svmx__work *held) {
    while (held) {
        struct svmx__work *work = held;
        held = work->held; /* it may be gone once it is in the queue */
        work->run = work->forsake;
        svmx__queue_push(&device->queue, &work->link);
    }
}

/* Without a new thread what waits for the device would wait for ever: whoever looks does it then, as far as no driver is called,
 * and a thread is wanted again at the next look. */
static void look_at_submitter(struct svmx__device *device) {
    struct svmx__post *gone = device->post;
    if (gone && svmx__post_leave(gone)) {
        device->post = NULL;
        device->window.count = 0; /* they are among what it holds */
        abandon(gone);
        requeue(device, gone->held);
    }
    if (!device->post && device->has_submitter && svmx__submitter_open(device) != 0) svmx__submitter_stand_in(device);
}

static void look_at_builder(struct svmx__device *device) {
    struct svmx__post *gone = device->builder.post;
    if (gone && svmx__post_leave(gone)) {
        abandon(gone);
        svmx__builder_forsake(device);
    }
    if (!gone) svmx__builder_reopen(device);
}

void svmx__posts_look(struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++) {
        look_at_submitter(&executor->devices[i]);
        look_at_builder(&executor->devices[i]);
    }
}

/* ---- who looks ---------------------------------------------------------------------------------------------------- */

static bool has_drivers(const struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++)
        if (!executor->devices[i].host_memory) return true;
    return false;
}

/* A fraction of the patience: so much later at most is a call given up. */
static uint64_t turn_ns(const struct svmx_executor *executor) {
    const uint64_t ns = executor->patience_ns / 8;
    return ns < LONGEST_TURN_NS ? ns : LONGEST_TURN_NS;
}

static void *watch(void *user) {
    struct svmx_executor *executor = user;
    while (svmx__turns_next(&executor->watch, turn_ns(executor))) svmx__posts_look(executor);
    return NULL;
}

bool svmx__watch_start(struct svmx_executor *executor) {
    return !has_drivers(executor) || svmx__turns_start(&executor->watch, "svmx-posts", watch, executor);
}

void svmx__watch_stop(struct svmx_executor *executor) { svmx__turns_stop(&executor->watch); }

/* ---- closing ------------------------------------------------------------------------------------------------------ */

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
