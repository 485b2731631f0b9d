/*
 * route.c: stage 3: choose the device of a part.
 *
 * In this version the choice is the user's order of backends: the first device that is usable and has not refused the
 * operation. Where its pipeline is still to be built, one that computes in the calling thread answers meanwhile; only if
 * there is none but the reference does the part wait. The answers are kept in a table by operation and bucket that is
 * published anew when something changes, so that the decision itself is one load:
 *
 *   [ flags | wanted | device ]   device: who computes; COLD: it has no pipeline yet, the part waits for it
 *                                 wanted: whose pipeline is to be built; WANTS: there is such a device
 *
 * Called by pipeline.c; svmx__route_publish by whoever learns that a device, an operation or a pipeline is on or off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

enum { DEVICE_BITS = 12, DEVICE_MASK = (1 << DEVICE_BITS) - 1, COLD = 1 << 30, WANTS = 1 << 29 };

static bool serves(const struct svmx__device *device, uint32_t op) {
    return atomic_load_explicit(&device->usable, memory_order_relaxed) &&
           atomic_load_explicit(&device->fitness[op], memory_order_relaxed) != SVMX__UNFIT;
}

/* The line of the table for a bucket. */
static uint32_t line_of(uint64_t bucket) {
    uint32_t log2 = (uint32_t)__builtin_ctzll(bucket);
    return log2 < SVMX__BUCKETS ? log2 : SVMX__BUCKETS - 1;
}

/* ---- publishing ------------------------------------------------------------------------------------------------- */

static bool is_built(const struct svmx__device *device, uint32_t op, uint64_t bucket) {
    const struct svmx__key key = {device->id, op, bucket, 0};
    return device->inline_ || svmx__pipeline_cache_peek(&device->executor->pipelines, &key) != NULL;
}

/* The first device of any kind, or of those that compute in the calling thread; the reference if there is none. */
static uint32_t first_serving(const struct svmx_executor *executor, uint32_t op, bool inline_only) {
    uint32_t reference = executor->device_count - 1;
    for (uint32_t i = 0; i < reference; i++)
        if (serves(&executor->devices[i], op) && (executor->devices[i].inline_ || !inline_only)) return i;
    return reference;
}

void svmx__route_publish(struct svmx_executor *executor, uint32_t op) {
    pthread_mutex_lock(&executor->publishing); /* the last to look is the last to write */
    uint32_t best = first_serving(executor, op, false), meanwhile = first_serving(executor, op, true);
    bool nobody_else = meanwhile == executor->device_count - 1;
    for (uint32_t line = 0; line < SVMX__BUCKETS; line++) {
        uint32_t route = best;
        if (!is_built(&executor->devices[best], op, UINT64_C(1) << line))
            route = nobody_else ? best | COLD : meanwhile | best << DEVICE_BITS | WANTS;
        /* relaxed: an old answer is a device that just went off; the part is then redone like any that it fails */
        atomic_store_explicit(&executor->routes[op][line], route, memory_order_relaxed);
    }
    pthread_mutex_unlock(&executor->publishing);
}

void svmx__route_publish_all(struct svmx_executor *executor) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) svmx__route_publish(executor, op);
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

void svmx__route(struct svmx__part *part) {
    struct svmx_executor *executor = part->batch->executor;
    uint32_t route = atomic_load_explicit(&executor->routes[part->op->id][line_of(part->bucket)], memory_order_relaxed);
    part->device = &executor->devices[route & DEVICE_MASK];
    part->cold = (route & COLD) != 0;
    if (route & WANTS)
        svmx__build_request(&executor->devices[route >> DEVICE_BITS & DEVICE_MASK], part->op, part->bucket, NULL);
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
