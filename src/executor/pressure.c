/*
 * pressure.c: how much of what a device has is in use: its memory, and its place in the queue.
 *
 *   memory    what staging pools have given out, of the memory that the device says it has
 *   queue     parts that wait for the device or run there, of the batches that may be under way (queue_depth), or of 16 for
 *             each submission that the device takes at once, if it says how many and that is less
 *
 * From load_warning percent of either on, new work prefers other devices; from load_critical on it is refused there, and the
 * reference code does it if nobody else may; only under the policy `gpu` there is nobody else, and it waits. While it is
 * memory that runs short, the pool keeps less of it idle: a quarter of its limit, then nothing. Limits are the device's own:
 * one that tells of none has none.
 *
 * Looked at when a part goes to a queue and when the caller gets memory of a device; published as two masks in one word,
 * which route reads. While any bit is set route has it looked at again, so that a device comes back by itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

/* At so many percent of a limit? */
static bool is_at(uint64_t percent, uint64_t used, uint64_t limit) {
    return limit && (double)used * 100 >= (double)limit * (double)percent;
}

/* Idle memory goes back to a device that is short of it, when its submitter next sweeps: not here, in a caller's
 * thread. A long queue is no reason. */
static void squeeze_pools(const struct svmx__device *device, uint64_t used) {
    const uint64_t *setting = device->executor->config.number, memory = device->info.memory_bytes;
    const uint32_t level = is_at(setting[SVMX__LOAD_CRITICAL], used, memory)  ? 2
                           : is_at(setting[SVMX__LOAD_WARNING], used, memory) ? 1
                                                                              : 0;
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before)
        svmx__staging_squeeze(&life->pool, level);
}

static void look_at_pools(const struct svmx__device *device, struct svmx__pressure *load) {
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before) {
        pthread_mutex_lock(&life->pool.lock);
        load->memory_used += life->pool.held_bytes - life->pool.idle_bytes;
        load->squeezed |= life->pool.idle_limit_now != life->pool.idle_limit_bytes;
        pthread_mutex_unlock(&life->pool.lock);
    }
}

enum { WAITING_EACH = 16 }; /* behind each submission that a device can have open */

static uint64_t queue_limit(const struct svmx__device *device) {
    const uint64_t depth = device->executor->config.number[SVMX__QUEUE_DEPTH],
                   own = (uint64_t)device->info.max_in_flight * WAITING_EACH;
    return own && own < depth ? own : depth;
}

struct svmx__pressure svmx__pressure_of(const struct svmx__device *device) {
    const uint64_t *setting = device->executor->config.number;
    struct svmx__pressure load = {.pending = atomic_load_explicit(&device->pending, memory_order_relaxed),
                                  .level = SVMX_LOAD_NORMAL};
    look_at_pools(device, &load);
    const uint64_t memory = device->info.memory_bytes, depth = queue_limit(device);
    for (uint32_t level = SVMX_LOAD_WARNING; level <= SVMX_LOAD_CRITICAL; level++) {
        const uint64_t percent = setting[level == SVMX_LOAD_WARNING ? SVMX__LOAD_WARNING : SVMX__LOAD_CRITICAL];
        if (is_at(percent, load.memory_used, memory) || is_at(percent, load.pending, depth)) load.level = level;
    }
    return load;
}

void svmx__pressure_look(const struct svmx__device *device) {
    struct svmx_executor *executor = device->executor;
    if (device->inline_ || device->id >= executor->routed) return;
    const struct svmx__pressure load = svmx__pressure_of(device);
    const uint32_t level = load.level;
    const uint64_t bit = UINT64_C(1) << device->id;
    const uint64_t now = (level >= SVMX_LOAD_WARNING ? bit : 0) | (level == SVMX_LOAD_CRITICAL ? bit << 32 : 0);
    /* relaxed: each bit is a word on its own; an old one is a part that went where it need not have gone, or not */
    const uint64_t before = atomic_load_explicit(&executor->loaded, memory_order_relaxed) & (bit | bit << 32);
    /* squeezed: who looked at the same time may have had the last word on pools, and not on the bits */
    if ((now | before) || load.squeezed) squeeze_pools(device, load.memory_used);
    if (now & ~before) atomic_fetch_or_explicit(&executor->loaded, now, memory_order_relaxed);
    if (before & ~now) atomic_fetch_and_explicit(&executor->loaded, ~(before & ~now), memory_order_relaxed);
}

void svmx__pressure_yield(struct svmx__part *part) {
    struct svmx_executor *executor = part->batch->executor;
    for (uint32_t d = 0; d < executor->routed; d++) svmx__pressure_look(&executor->devices[d]);
    const uint64_t loaded = atomic_load_explicit(&executor->loaded, memory_order_relaxed);
    const uint32_t warning = (uint32_t)loaded, critical = (uint32_t)(loaded >> 32), fitting = part->fitting;
    if (fitting & ~warning)
        part->fitting = fitting & ~warning;
    else if (part->policy != SVMX_POLICY_GPU)
        part->fitting = fitting & ~critical;
    part->yielded = fitting & ~part->fitting;
    if (part->yielded) atomic_fetch_add_explicit(&executor->overloads, 1, memory_order_relaxed);
}
