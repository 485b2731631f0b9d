/*
 * route.c: stage 3: choose the device of a part.
 *
 * In this version the choice is the user's order of backends: the first device that is usable and has not refused the
 * operation. The answer is kept in a table that is published anew when something changes, so that the decision itself
 * is one load. Called by pipeline.c; svmx__route_publish by whoever learns that a device or an operation is off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

static bool serves(const struct svmx__device *device, uint32_t op) {
    return atomic_load_explicit(&device->usable, memory_order_relaxed) &&
           atomic_load_explicit(&device->fitness[op], memory_order_relaxed) != SVMX__UNFIT;
}

void svmx__route_publish(struct svmx_executor *executor, uint32_t op) {
    pthread_mutex_lock(&executor->publishing);  /* the last to look is the last to write */
    uint32_t best = executor->device_count - 1; /* the reference code serves everything */
    for (uint32_t i = best; i-- > 0;)
        if (serves(&executor->devices[i], op)) best = i;
    atomic_store_explicit(&executor->best_device[op], best, memory_order_relaxed);
    pthread_mutex_unlock(&executor->publishing);
}

void svmx__route(struct svmx__part *part) {
    struct svmx_executor *executor = part->batch->executor;
    /* relaxed: an old answer is a device that just went off; the part is then redone like any that it fails */
    part->device = &executor->devices[atomic_load_explicit(&executor->best_device[part->op->id], memory_order_relaxed)];
}

bool svmx__route_again(struct svmx__part *part) {
    if (part->status == SVMX_OK) return false;
    struct svmx_executor *executor = part->batch->executor;
    struct svmx__device *failed = part->device;
    bool built = part->pipeline && part->pipeline->verdict == SVMX_OK;
    if (part->status != SVMX_ERR_UNSUPPORTED || built) { /* a device that has no such operation did not fail */
        part->redone++;
        atomic_fetch_add_explicit(&failed->failures, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&executor->fallbacks, 1, memory_order_relaxed);
        svmx__log(&executor->log, SVMX_LOG_INFO, "%s is redone elsewhere: %s: %s", part->op->name, failed->info.name,
                  part->reason);
    }
    part->pipeline = NULL;
    /* In order of preference, so the next one after an inline device that failed is tried once, and the reference is
     * the end: it does not fail. */
    uint32_t from = failed->inline_ ? failed->id + 1 : 0;
    for (uint32_t i = from; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (device == failed || !device->inline_ || !serves(device, part->op->id)) continue;
        part->device = device;
        return true;
    }
    part->device = &executor->devices[executor->device_count - 1];
    return failed != part->device;
}
