/*
 * compare.c: a launch computed a second time, on a device that is trusted, and compared byte by byte.
 *
 * Called by collect.c, of a device that is watched, before anything of its results reaches the caller. The second run has
 * memory of its own and goes through the stages like any other; the reference code is the last to ask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static bool is_output(const struct svmx__op *op, uint32_t at) { return op->params[at].direction == SVMX_OUT; }

/* The slots of a part with outputs in one block of memory of its own; free() takes both. false: no memory. */
static bool shadow_slots(const struct svmx__part *part, struct svmx_slot **slots, unsigned char **block) {
    const uint32_t params = part->op->param_count;
    const size_t count = (size_t)part->task_count * params;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (is_output(part->op, (uint32_t)(i % params))) bytes += svmx__align(part->slots[i].bytes, ALIGNMENT);
    *slots = malloc((count ? count : 1) * sizeof **slots);
    *block = svmx__aligned_alloc(bytes ? (size_t)bytes : ALIGNMENT, ALIGNMENT);
    if (!*slots || !*block) return false;
    memcpy(*slots, part->slots, count * sizeof **slots);
    uint64_t at = (uintptr_t)*block;
    for (size_t i = 0; i < count; i++) {
        if (!is_output(part->op, (uint32_t)(i % params))) continue;
        (*slots)[i].at = at;
        at += svmx__align((*slots)[i].bytes, ALIGNMENT);
    }
    return true;
}

/* Who computes in the calling thread, and is beyond doubt. */
static struct svmx__device *witness_for(const struct svmx__part *part) {
    struct svmx_executor *executor = part->device->executor;
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (device != part->device && device->inline_ && !svmx__health_is_watched(&device->health) &&
            svmx__device_serves(device, part->op->id))
            return device;
    }
    return &executor->devices[executor->device_count - 1];
}

static void compute(const struct svmx__part *part, struct svmx_slot *slots) {
    struct svmx__device *witness = witness_for(part);
    struct svmx__part shadow = {.op = part->op,
                                .task_count = part->task_count,
                                .units = part->units,
                                .work = part->work,
                                .slots = slots,
                                .first_unit = part->first_unit,
                                .bucket = part->bucket,
                                .device = witness,
                                .life = svmx__life_of(witness)};
    enum svmx_status status = svmx__stage(&shadow);
    if (status == SVMX_OK) status = svmx__dispatch(&shadow);
    if (svmx__collect(&shadow, status) == SVMX_OK) return;
    for (uint32_t t = 0; t < part->task_count; t++)
        svmx__reference_run(part->op, slots + (size_t)t * part->op->param_count);
}

/* UINT32_MAX: none of the tasks differs. */
static uint32_t first_difference(const struct svmx__part *part, const struct svmx_slot *expected) {
    const unsigned char *staged = part->staging_out ? part->staging_out->host : NULL;
    const uint32_t params = part->op->param_count;
    for (size_t i = 0; i < (size_t)part->task_count * params; i++) {
        const struct svmx_slot *slot = &part->slots[i];
        if (!is_output(part->op, (uint32_t)(i % params))) continue;
        const void *actual = part->device->host_memory ? (const void *)(uintptr_t)slot->at : staged;
        if (slot->bytes && memcmp(actual, (const void *)(uintptr_t)expected[i].at, (size_t)slot->bytes) != 0)
            return (uint32_t)(i / params);
        if (!part->device->host_memory && slot->bytes) staged += svmx__align(slot->bytes, part->layout->alignment);
    }
    return UINT32_MAX;
}

enum svmx_status svmx__compare(struct svmx__part *part) {
    struct svmx_slot *slots = NULL;
    unsigned char *block = NULL;
    uint32_t differs = UINT32_MAX;
    if (shadow_slots(part, &slots, &block)) {
        compute(part, slots);
        differs = first_difference(part, slots);
        part->compared = true;
    }
    free(slots);
    free(block);
    if (differs == UINT32_MAX) return SVMX_OK; /* without memory it is not compared, and does not count */
    (void)snprintf(part->reason, sizeof part->reason, "wrong bytes in task %u of %s, by comparison", differs,
                   part->op->name);
    svmx__quarantine(part->device, part->op, part->reason);
    return SVMX_ERR_WRONG_RESULT;
}
