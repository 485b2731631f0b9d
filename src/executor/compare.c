/*
 * compare.c: a launch computed a second time, on another backend, and compared byte by byte.
 *
 *   the device's results  ==  the witness's           they are given out
 *                         !=                          the reference code is the third, and decides: who differs from it
 *                                                     was wrong, and does not get the operation again
 *
 * Called by collect.c, of a device that is watched or a launch that was drawn (verify.c), before its results
 * are given out: nothing of them reaches the caller, unless the device computed them in the caller's memory, where they are
 * then redone. The second run has memory of its own and goes through the stages like any other. Bytes are
 * compared, not numbers: a NaN is equal to itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, REASON_BYTES = 128 };

/* Another run of a part: its slots, with outputs in memory of their own. */
struct shadow {
    struct svmx_slot *slots;
    uint64_t *first_unit; /* behind them */
    unsigned char *block;
};

static bool is_output(const struct svmx__op *op, uint32_t at) { return op->params[at].direction == SVMX_OUT; }

static void shadow_free(struct shadow *shadow) {
    free(shadow->slots);
    free(shadow->block);
}

/* false: no memory. To be freed either way. */
static bool shadow_make(const struct svmx__part *part, struct shadow *shadow) {
    const uint32_t params = part->op->param_count;
    const size_t count = (size_t)part->task_count * params;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (is_output(part->op, (uint32_t)(i % params))) bytes += svmx__align(part->slots[i].bytes, ALIGNMENT);
    const size_t unit_bytes = ((size_t)part->task_count + 1) * sizeof *shadow->first_unit;
    shadow->slots = malloc(count * sizeof *shadow->slots + unit_bytes);
    shadow->block = svmx__aligned_alloc(bytes ? (size_t)bytes : ALIGNMENT, ALIGNMENT);
    if (!shadow->slots || !shadow->block) return false;
    memset(shadow->block, 0,
           bytes ? (size_t)bytes : ALIGNMENT); /* its pages are not to be paid for by who is timed there */
    shadow->first_unit = (uint64_t *)(void *)(shadow->slots + count);
    memcpy(shadow->slots, part->slots, count * sizeof *shadow->slots);
    memcpy(shadow->first_unit, part->first_unit, unit_bytes);
    uint64_t at = (uintptr_t)shadow->block;
    for (size_t i = 0; i < count; i++) {
        if (!is_output(part->op, (uint32_t)(i % params))) continue;
        shadow->slots[i].at = at;
        at += svmx__align(shadow->slots[i].bytes, ALIGNMENT);
    }
    return true;
}

/* ---- the second run ---------------------------------------------------------------------------------------------- */

/* Who computes in the calling thread and calls no driver there, is of another backend, and is beyond doubt. */
static struct svmx__device *witness_for(const struct svmx__part *part) {
    struct svmx_executor *executor = part->device->executor;
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (device->backend != part->device->backend && device->inline_ && device->host_memory &&
            !svmx__health_is_watched(&device->health) && svmx__device_serves(device, part->op->id))
            return device;
    }
    return svmx__reference_of(executor);
}

static void run_reference(const struct svmx__part *part, const struct shadow *shadow) {
    for (uint32_t t = 0; t < part->task_count; t++)
        svmx__reference_run(part->op, shadow->slots + (size_t)t * part->op->param_count);
}

/* A witness that computes in host memory and keeps its ticket may write there at any time: it keeps that memory, and the
 * reference code gets other. false: there is none. */
static bool shadow_leave(const struct svmx__part *part, struct shadow *shadow) {
    *shadow = (struct shadow){NULL, NULL, NULL};
    return shadow_make(part, shadow);
}

/* Who did it, and what it took on a device: from when it was handed over, as in the receipts of devices that compute in the calling
 * thread. NULL: nobody, for want of memory. */
static struct svmx__device *compute(const struct svmx__part *part, struct shadow *shadow, uint64_t *ns) {
    struct svmx__device *witness = witness_for(part);
    struct svmx__part second = {.op = part->op,
                                .tenant = svmx__tenant_of(part),
                                .task_count = part->task_count,
                                .units = part->units,
                                .work = part->work,
                                .slots = shadow->slots,
                                .first_unit = shadow->first_unit,
                                .bucket = part->bucket,
                                .device = witness,
                                .life = svmx__life_of(witness)};
    enum svmx_status status = svmx__stage(&second);
    if (status == SVMX_OK) status = svmx__dispatch(&second);
    status = svmx__collect(&second, status);
    *ns = svmx__clock_since(second.done_ns, second.dispatch_ns);
    if (status == SVMX_OK) return witness;
    if (status == SVMX_TIMEOUT && witness->host_memory && !shadow_leave(part, shadow)) return NULL;
    run_reference(part, shadow);
    return svmx__reference_of(witness->executor);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

enum { NONE = -1 }; /* of the tasks differs */

/* Of what the device answered, wherever that is now. */
static int64_t first_wrong_task(const struct svmx__part *part, const struct shadow *expected) {
    const unsigned char *staged = part->staging_out ? svmx__staged_outputs(part) : NULL;
    const uint32_t params = part->op->param_count;
    for (size_t i = 0; i < (size_t)part->task_count * params; i++) {
        const struct svmx_slot *slot = &part->slots[i];
        if (!is_output(part->op, (uint32_t)(i % params))) continue;
        const void *actual = part->device->host_memory ? (const void *)(uintptr_t)slot->at : staged;
        if (slot->bytes && memcmp(actual, (const void *)(uintptr_t)expected->slots[i].at, (size_t)slot->bytes) != 0)
            return (int64_t)(i / params);
        if (!part->device->host_memory && slot->bytes) staged += svmx__align(slot->bytes, part->layout->alignment);
    }
    return NONE;
}

static bool are_equal(const struct svmx__part *part, const struct shadow *one, const struct shadow *other) {
    const uint32_t params = part->op->param_count;
    for (size_t i = 0; i < (size_t)part->task_count * params; i++) {
        const uint64_t bytes = is_output(part->op, (uint32_t)(i % params)) ? one->slots[i].bytes : 0;
        if (bytes && memcmp((const void *)(uintptr_t)one->slots[i].at, (const void *)(uintptr_t)other->slots[i].at,
                            (size_t)bytes) != 0)
            return false;
    }
    return true;
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

/* The two differ from task `differs` on. Which task the device got wrong, by the reference code; NONE: it was the witness.
 * Without memory for a third run it is the one whose answer was wanted: it is redone, which costs time only. */
static int64_t judge(const struct svmx__part *part, const struct shadow *second, struct svmx__device *witness,
                     int64_t differs) {
    struct shadow third = {NULL, NULL, NULL};
    if (!svmx__is_reference(witness) && shadow_make(part, &third)) {
        run_reference(part, &third);
        differs = first_wrong_task(part, &third);
        if (!are_equal(part, second, &third)) {
            char reason[REASON_BYTES];
            (void)snprintf(reason, sizeof reason, "wrong bytes as a witness for %s, by comparison", part->op->name);
            svmx__quarantine(witness, part->op, reason);
        }
    }
    shadow_free(&third);
    return differs;
}

/* Which task is wrong, or NONE. Without memory it is not compared, and does not count. */
static int64_t compare(struct svmx__part *part) {
    struct svmx_executor *executor = part->device->executor;
    struct shadow second = {NULL, NULL, NULL};
    int64_t wrong = NONE;
    uint64_t ns = 0;
    struct svmx__device *witness = shadow_make(part, &second) ? compute(part, &second, &ns) : NULL;
    if (witness) {
        const int64_t differs = first_wrong_task(part, &second);
        atomic_fetch_add_explicit(&executor->compared, 1, memory_order_relaxed);
        if (differs == NONE && witness->id < executor->routed) {
            part->shadow = witness->id;
            part->shadow_ns = ns;
        }
        if (differs != NONE) {
            atomic_fetch_add_explicit(&executor->differed, 1, memory_order_relaxed);
            wrong = judge(part, &second, witness, differs);
        }
        part->compared = wrong == NONE;
    }
    shadow_free(&second);
    return wrong;
}

enum svmx_status svmx__compare(struct svmx__part *part) {
    const uint64_t start_ns = svmx__clock_ns();
    const int64_t wrong = compare(part);
    part->compare_ns = svmx__clock_since(svmx__clock_ns(), start_ns);
    if (wrong == NONE) return SVMX_OK;
    (void)snprintf(part->reason, sizeof part->reason, "wrong bytes in task %lld of %s, by comparison", (long long)wrong,
                   part->op->name);
    svmx__quarantine(part->device, part->op, part->reason);
    return SVMX_ERR_WRONG_RESULT;
}
