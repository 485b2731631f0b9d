/*
 * contention.c: does something else want the cores? Samples that were taken meanwhile say less of a device.
 *
 * The kernel tells (wants.c). A thread of its own looks in turns, so that no batch pays for it: often while batches come, now
 * and then otherwise. Where the kernel does not tell, or no device but the CPU is there to choose, there is no thread.
 *
 * Called by executor.c; learn.c reads `now`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"

enum { TURN_MS = 20, IDLE_TURN_MS = 250 };

static void *watch(void *user) {
    struct svmx_executor *executor = user;
    struct svmx__contention *contention = &executor->contention;
    uint64_t batches = 0, turn_ms = IDLE_TURN_MS;
    bool contended = false;
    while (svmx__turns_next(&contention->turns, turn_ms * SVMX__NS_PER_MS)) {
        const uint64_t done = atomic_load_explicit(&executor->batches, memory_order_relaxed);
        if (!svmx__wants_look(&contention->wants, svmx__clock_ns(), &contended)) break;
        atomic_store_explicit(&contention->now, contended, memory_order_relaxed); /* a word on its own */
        turn_ms = done == batches ? IDLE_TURN_MS : TURN_MS;
        batches = done;
    }
    atomic_store_explicit(&contention->now, false, memory_order_relaxed);
    return NULL;
}

void svmx__contention_start(struct svmx_executor *executor) {
    struct svmx__contention *contention = &executor->contention;
    if (executor->routed < 2 || !svmx__wants_open(&contention->wants, "/proc", svmx__clock_ns())) return;
    if (!svmx__turns_start(&contention->turns, "svmx-watch", watch, executor)) svmx__wants_close(&contention->wants);
}

void svmx__contention_stop(struct svmx_executor *executor) {
    struct svmx__contention *contention = &executor->contention;
    if (!contention->turns.has_thread) return;
    svmx__turns_stop(&contention->turns);
    svmx__wants_close(&contention->wants);
}
