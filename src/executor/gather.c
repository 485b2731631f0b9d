/*
 * gather.c: see gather.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/gather.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"
#include <stdlib.h>
#include <string.h>

/* A launch has a price of its own; what copies for longer than that is better launched beside others. */
enum { MEMBER_BYTES = 64 << 10, WHOLE_BYTES = 1 << 20, WHOLE_TASKS = 4096 };

/* ---- who goes with whom ------------------------------------------------------------------------------------------- */

static uint64_t bytes_of(const struct svmx__part *part) { return part->bytes_in + part->bytes_out; }

/* Rows of the caller's memory, and nothing that is one part's own: memory of the library, buffers, another device's answer to
 * compare with, a deadline, a try that is to be measured. */
static bool is_plain(const struct svmx__part *part) {
    const struct svmx_batch *batch = part->batch;
    if (part->refused || part->links || part->stretched || part->chunk || part->built != SVMX_OK) return false;
    if (batch->verified || batch->hash || batch->use_count || batch->blocks || batch->timeout_ns) return false;
    return !part->library_bytes && part->answer.why != SVMX_WHY_PROBE && bytes_of(part) <= MEMBER_BYTES;
}

bool svmx__gather_takes(const struct svmx__part *part) {
    const struct svmx__device *device = part->device;
    return device->executor->config.number[SVMX__GATHER_US] != SVMX__GATHER_OFF && !device->inline_ &&
           !device->host_memory && is_plain(part) && !svmx__health_is_watched(&device->health) &&
           svmx__slice_count(part) == 1;
}

/* Is there room, and a pipeline for so many units? */
static bool has_room(const struct svmx__part *whole, const struct svmx__part *part) {
    const struct svmx_executor *executor = whole->device->executor;
    const uint64_t bucket = svmx__bucket_of(executor, whole->op, whole->units + part->units);
    return bytes_of(whole) + bytes_of(part) <= WHOLE_BYTES &&
           (uint64_t)whole->task_count + part->task_count <= WHOLE_TASKS &&
           svmx__route_is_ready(executor, whole->op->id, bucket, whole->device->id);
}

/* The next of the queue, under its lock. Nothing of a tenant is launched with another's. */
static bool goes_with(const struct svmx__link *link, void *user) {
    const struct svmx__part *whole = &((const struct svmx__gather *)user)->whole;
    const struct svmx__work *work = (const struct svmx__work *)(const void *)link;
    if (work->run != svmx__pipeline_part) return false;
    const struct svmx__part *part = (const struct svmx__part *)(const void *)work;
    return svmx__tenant_of(part) == svmx__tenant_of(whole) && part->op == whole->op && part->policy == whole->policy &&
           is_plain(part) && has_room(whole, part);
}

/* ---- taking ------------------------------------------------------------------------------------------------------- */

/* One that is not under way; NULL: no memory. */
static struct svmx__gather *idle(struct svmx__device *device) {
    const struct svmx__window *window = &device->window;
    for (uint32_t i = 0; i <= SVMX__MAX_WINDOW; i++) {
        struct svmx__gather **gather = &device->gathers[i];
        bool busy = false;
        for (uint32_t k = 0; *gather && k < window->count; k++) busy = busy || window->parts[k] == &(*gather)->whole;
        if (busy) continue;
        if (!*gather) *gather = calloc(1, sizeof **gather);
        return *gather;
    }
    return NULL;
}

/* A launch of one part. Nothing is expected of it: members are charged by themselves. */
static void begin(struct svmx__gather *gather, struct svmx__part *first) {
    struct svmx__part *whole = &gather->whole;
    *whole = *first;
    whole->gather = gather;
    whole->pipeline = NULL;
    whole->launches = whole->readbacks = whole->redone = 0;
    whole->copied_bytes = 0;
    whole->reason[0] = '\0';
    whole->answer.expected_ns = 0;
    gather->members[0] = first;
    gather->count = 1;
}

static void add(struct svmx__gather *gather, struct svmx__part *part) {
    struct svmx__part *whole = &gather->whole;
    gather->members[gather->count++] = part;
    whole->task_count += part->task_count;
    whole->units += part->units;
    whole->work += part->work;
    whole->bytes_in += part->bytes_in;
    whole->bytes_out += part->bytes_out;
    whole->callers_bytes_out += part->callers_bytes_out;
    whole->bucket = svmx__bucket_of(whole->device->executor, whole->op, whole->units);
    whole->question.load = svmx__load_of(whole->units, whole->work, bytes_of(whole), whole->task_count);
}

static void take_others(struct svmx__gather *gather, bool (*enter)(struct svmx__part *part)) {
    struct svmx__device *device = gather->whole.device;
    const uint64_t delay_ns = device->executor->config.number[SVMX__GATHER_US] * 1000;
    /* with launches under way nobody waits: they would be collected late */
    const uint64_t until_ns = delay_ns && !device->window.count ? svmx__clock_ns() + delay_ns : 0;
    do {
        struct svmx__link *link = svmx__queue_take_if(&device->queue, goes_with, gather, until_ns);
        if (!link) return;
        struct svmx__part *part = (struct svmx__part *)(void *)link;
        svmx__post_hold(&part->errand);
        if (enter(part)) add(gather, part);
    } while (gather->count < SVMX__MOST_GATHERED && svmx__slice_count(&gather->whole) == 1);
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static bool lay_rows(struct svmx__gather *gather) {
    struct svmx__part *whole = &gather->whole;
    const uint32_t params = whole->op->param_count;
    if (!svmx__grow((void **)&gather->slots, &gather->slot_capacity, (size_t)whole->task_count * params,
                    sizeof *gather->slots) ||
        !svmx__grow((void **)&gather->first_unit, &gather->unit_capacity, (size_t)whole->task_count + 1,
                    sizeof *gather->first_unit))
        return false;
    struct svmx_slot *slots = gather->slots;
    uint64_t *units = gather->first_unit, before = 0;
    for (uint32_t i = 0; i < gather->count; i++) {
        const struct svmx__part *part = gather->members[i];
        memcpy(slots, part->slots, (size_t)part->task_count * params * sizeof *slots);
        slots += (size_t)part->task_count * params;
        for (uint32_t t = 0; t < part->task_count; t++) *units++ = before + part->first_unit[t];
        before += part->units;
    }
    *units = before;
    whole->slots = gather->slots;
    whole->first_unit = gather->first_unit;
    return true;
}

struct svmx__part *svmx__gather(struct svmx__part *first, bool (*enter)(struct svmx__part *part),
                                void (*apart)(struct svmx__part *part)) {
    struct svmx__device *device = first->device;
    const bool waits = device->executor->config.number[SVMX__GATHER_US] != 0;
    if (!waits && svmx__queue_looks_empty(&device->queue)) return first;
    struct svmx__gather *gather = idle(device);
    if (!gather) return first;
    begin(gather, first);
    take_others(gather, enter);
    if (gather->count == 1) return first;
    if (lay_rows(gather)) return &gather->whole;
    for (uint32_t i = 0; i < gather->count; i++) apart(gather->members[i]);
    return NULL;
}

/* ---- afterwards --------------------------------------------------------------------------------------------------- */

/* The first has the times of the launch; for the others all of it was waiting, so that sums are those of the device. */
static void share(const struct svmx__part *whole, struct svmx__part *part, bool is_first) {
    part->status = SVMX_OK;
    part->launches = is_first ? whole->launches : 0;
    part->readbacks = is_first ? whole->readbacks : 0;
    part->copied_bytes = part->bytes_in + part->callers_bytes_out;
    part->timing = is_first ? whole->timing : (struct svmx_timing){.size = sizeof part->timing};
    part->start_ns = is_first ? whole->start_ns : whole->end_ns;
    part->dispatch_ns = is_first ? whole->dispatch_ns : whole->end_ns;
    part->done_ns = is_first ? whole->done_ns : whole->end_ns;
    part->ahead_ns = is_first ? whole->ahead_ns : 0;
    part->compared = whole->compared;
    part->compare_ns = is_first ? whole->compare_ns : 0;
    part->shadow = whole->shadow;
    part->shadow_ns = is_first ? whole->shadow_ns : 0;
}

void svmx__gather_share(struct svmx__gather *gather) {
    for (uint32_t i = 0; i < gather->count; i++) {
        share(&gather->whole, gather->members[i], i == 0);
        gather->members[i]->gathered = gather->count - 1;
    }
}

void svmx__gathers_free(struct svmx__device *device) {
    for (uint32_t i = 0; i <= SVMX__MAX_WINDOW; i++) {
        struct svmx__gather *gather = device->gathers[i];
        if (!gather) continue;
        free(gather->slots);
        free(gather->first_unit);
        free(gather);
    }
}
