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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_MS = 20, IDLE_TURN_MS = 250, SHARE = 10 };

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

static void *watch(void *user) {
    struct svmx_executor *executor = user;
    struct svmx__contention *contention = &executor->contention;
    uint64_t before = 0, before_ns = svmx__clock_ns(), batches = 0, turn_ms = IDLE_TURN_MS;
    if (!waited_ns(contention->file, &before)) return NULL;
    while (svmx__turns_next(&contention->turns, turn_ms * SVMX__NS_PER_MS)) {
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
    uint64_t unused;
    if (executor->routed < 2) return;
    contention->file = open("/proc/pressure/cpu", O_RDONLY | O_CLOEXEC);
    if (contention->file < 0) return;
    if (!waited_ns(contention->file, &unused) || !svmx__turns_start(&contention->turns, "svmx-watch", watch, executor))
        close(contention->file);
}

void svmx__contention_stop(struct svmx_executor *executor) {
    struct svmx__contention *contention = &executor->contention;
    if (!contention->turns.has_thread) return;
    svmx__turns_stop(&contention->turns);
    close(contention->file);
}
