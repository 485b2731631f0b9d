/*
 * window.c: see window.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/window.h"

#include "executor/executor.h"
#include <string.h>

#define ON_CORES_BYTES (UINT64_C(4) << 20)

void svmx__window_init(struct svmx__device *device) {
    const uint64_t wanted = device->executor->config.number[SVMX__WINDOW];
    const uint32_t most = device->info.max_in_flight;
    device->window.depth = (uint32_t)wanted;
    if (most && most < wanted) device->window.depth = most;
    if (device->inline_ || device->host_memory) device->window.depth = 1;
}

bool svmx__window_takes(const struct svmx__part *part) {
    const struct svmx__device *device = part->device;
    return device->window.depth > 1 && !part->refused && !part->links && !part->batch->verified &&
           !svmx__health_is_watched(&device->health) && svmx__slice_count(part) == 1;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Does it compute in the heap of the device? Of one that was staged. */
static bool is_in_heap(const struct svmx__part *part) { return part->stretched && svmx__has_residents(part->batch); }

bool svmx__window_is_in_heap(const struct svmx__device *device) {
    for (uint32_t i = 0; i < device->window.count; i++)
        if (is_in_heap(device->window.parts[i])) return true;
    return false;
}

void svmx__window_heap_span(const struct svmx__device *device, uint64_t *low, uint64_t *high) {
    for (uint32_t i = 0; i < device->window.count; i++) {
        const struct svmx__part *part = device->window.parts[i];
        const struct svmx__stretch *stretch = &part->batch->stretch;
        if (!is_in_heap(part)) continue;
        if (stretch->base < *low) *low = stretch->base;
        if (stretch->base + stretch->arena_bytes > *high) *high = stretch->base + stretch->arena_bytes;
    }
}

/* Does one under way upload a buffer that this one names? Until it is collected that is not there. */
static bool waits_for_upload(const struct svmx__part *part, const struct svmx__part *under_way) {
    const struct svmx_batch *batch = part->batch, *other = under_way->batch;
    if (!part->stretched || !is_in_heap(under_way)) return false;
    for (uint32_t i = 0; i < batch->use_count; i++)
        for (uint32_t k = 0; k < other->use_count; k++)
            if (other->uses[k].upload && other->uses[k].buffer == batch->uses[i].buffer) return true;
    return false;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct svmx__part *part) { return part->bytes_in + part->bytes_out; }

/* Bytes that may be under way. On the host's cores there are no engines beside them: more than their caches hold costs time
 * and wins none. Elsewhere half of the memory of the device: the other is for buffers, and for pools. 0: no limit. */
static uint64_t most_bytes(const struct svmx__device *device) {
    return device->info.flags & SVMX_DEVICE_SHARES_CORES ? ON_CORES_BYTES : device->info.memory_bytes / 2;
}

static bool is_too_much(const struct svmx__part *part) {
    const struct svmx__window *window = &part->device->window;
    const uint64_t most = most_bytes(part->device);
    uint64_t sum = bytes_of(part);
    for (uint32_t i = 0; i < window->count; i++) sum += bytes_of(window->parts[i]);
    return most && sum > most;
}

bool svmx__window_holds_up(const struct svmx__part *part) {
    const struct svmx__window *window = &part->device->window;
    if (window->count == window->depth || (window->count && is_too_much(part))) return true;
    for (uint32_t i = 0; i < window->count; i++)
        if (waits_for_upload(part, window->parts[i])) return true;
    return false;
}

/* ---- in and out --------------------------------------------------------------------------------------------------- */

void svmx__window_push(struct svmx__part *part) {
    struct svmx__window *window = &part->device->window;
    part->windowed = true;
    part->overlapped = window->count > 0;
    for (uint32_t i = 0; i < window->count; i++) window->parts[i]->overlapped = true;
    window->parts[window->count++] = part;
}

struct svmx__part *svmx__window_pop(struct svmx__device *device) {
    struct svmx__window *window = &device->window;
    struct svmx__part *part = window->parts[0];
    window->count--;
    memmove(window->parts, window->parts + 1, window->count * sizeof *window->parts);
    return part;
}
