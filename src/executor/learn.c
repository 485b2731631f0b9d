/*
 * learn.c: stage 7: fold what was measured into the counters of the device.
 *
 * Called by pipeline.c once a part has its results. Lock-free: any number of threads learn at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

static void add(atomic_uint_fast64_t *counter, uint64_t value) {
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

void svmx__learn(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    add(&device->tasks, part->task_count);
    add(&device->launches, part->launches);
    add(&device->bytes_in, part->bytes_in);
    add(&device->bytes_out, part->bytes_out);
    add(&device->busy_ns, part->done_ns - part->dispatch_ns);
}
