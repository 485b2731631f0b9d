/*
 * turns.c: see turns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/turns.h"

#include "base/clock.h"
#include <signal.h>

static void fini(struct svmx__turns *turns) {
    pthread_cond_destroy(&turns->changed);
    pthread_mutex_destroy(&turns->lock);
}

bool svmx__turns_start(struct svmx__turns *turns, const char *name, void *(*run)(void *), void *user) {
    pthread_condattr_t attributes;
    sigset_t all, before;
    if (pthread_condattr_init(&attributes)) return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&turns->changed, &attributes); /* cannot fail with this clock */
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&turns->lock, NULL);
    turns->stopping = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    turns->has_thread = pthread_create(&turns->thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (turns->has_thread)
        (void)pthread_setname_np(turns->thread, name);
    else
        fini(turns);
    return turns->has_thread;
}

bool svmx__turns_next(struct svmx__turns *turns, uint64_t ns) {
    const struct timespec end = svmx__clock_deadline(ns);
    pthread_mutex_lock(&turns->lock);
    int error = 0;
    while (!turns->stopping && error == 0) error = pthread_cond_timedwait(&turns->changed, &turns->lock, &end);
    const bool stopping = turns->stopping;
    pthread_mutex_unlock(&turns->lock);
    return !stopping;
}

void svmx__turns_stop(struct svmx__turns *turns) {
    if (!turns->has_thread) return;
    pthread_mutex_lock(&turns->lock);
    turns->stopping = true;
    pthread_cond_signal(&turns->changed);
    pthread_mutex_unlock(&turns->lock);
    pthread_join(turns->thread, NULL);
    turns->has_thread = false;
    fini(turns);
}
