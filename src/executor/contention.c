/*
 * contention.c: does something else want the cores? Samples that were taken meanwhile say less of a device.
 *
 * The kernel counts the time in which some task that could run had to wait for a core (/proc/pressure/cpu). A thread of
 * its own looks at that number in turns, so that no batch pays for it: often while batches come, now and then otherwise.
 * Where the kernel does not tell, or no device but the CPU is there to choose, there is no thread.
 *
 *   contended  <=>  some task waited for more than a tenth of the last turn
 *
 * Called by executor.c; learn.c reads `now`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_MS = 20, IDLE_TURN_MS = 250, SHARE = 10 };
#define NS_PER_MS UINT64_C(1000000)

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in us. */
static bool waited_ns(int file, uint64_t *ns) {
    char text[256];
    const ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0) return false;
    text[length] = '\0';
    const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;
    if (!total) return false;
    *ns = strtoull(total + 6, NULL, 10) * 1000;
    return true;
}

/* Sleeps for a turn; false: it is over. */
static bool next_turn(struct svmx__contention *contention, uint64_t ms) {
    const struct timespec end = svmx__clock_deadline(ms * NS_PER_MS);
    pthread_mutex_lock(&contention->lock);
    int error = 0;
    while (!contention->stopping && error == 0)
        error = pthread_cond_timedwait(&contention->changed, &contention->lock, &end);
    const bool stopping = contention->stopping;
    pthread_mutex_unlock(&contention->lock);
    return !stopping;
}

static void *watch(void *user) {
    struct svmx_executor *executor = user;
    struct svmx__contention *contention = &executor->contention;
    uint64_t before = 0, before_ns = svmx__clock_ns(), batches = 0, turn_ms = IDLE_TURN_MS;
    if (!waited_ns(contention->file, &before)) return NULL;
    while (next_turn(contention, turn_ms)) {
        uint64_t waited, now_ns = svmx__clock_ns();
        const uint64_t done = atomic_load_explicit(&executor->batches, memory_order_relaxed);
        if (!waited_ns(contention->file, &waited)) break;
        const bool contended = (waited - before) * SHARE > now_ns - before_ns;
        atomic_store_explicit(&contention->now, contended, memory_order_relaxed); /* a word on its own */
        turn_ms = done == batches ? IDLE_TURN_MS : TURN_MS;
        before = waited;
        before_ns = now_ns;
        batches = done;
    }
    atomic_store_explicit(&contention->now, false, memory_order_relaxed);
    return NULL;
}

void svmx__contention_start(struct svmx_executor *executor) {
    struct svmx__contention *contention = &executor->contention;
    pthread_condattr_t attributes;
    sigset_t all, before;
    uint64_t unused;
    if (executor->routed < 2) return;
    contention->file = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
    if (contention->file < 0) return;
    if (!waited_ns(contention->file, &unused) || pthread_condattr_init(&attributes)) goto close_file;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&contention->changed, &attributes); /* cannot fail with this clock */
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&contention->lock, NULL);
    sigfillset(&all); /* signals are the embedding program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    contention->has_thread = pthread_create(&contention->thread, NULL, watch, executor) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (contention->has_thread) {
        (void)pthread_setname_np(contention->thread, "svmx-watch");
        return;
    }
    pthread_cond_destroy(&contention->changed);
    pthread_mutex_destroy(&contention->lock);
close_file:
    close(contention->file);
}

void svmx__contention_stop(struct svmx_executor *executor) {
    struct svmx__contention *contention = &executor->contention;
    if (!contention->has_thread) return;
    pthread_mutex_lock(&contention->lock);
    contention->stopping = true;
    pthread_cond_signal(&contention->changed);
    pthread_mutex_unlock(&contention->lock);
    pthread_join(contention->thread, NULL);
    contention->has_thread = false;
    pthread_cond_destroy(&contention->changed);
    pthread_mutex_destroy(&contention->lock);
    close(contention->file);
}
