/*
 * prepare.c: the pipeline of a part: from the cache, or built now and proved by known answers before it serves.
 *
 * Called by stage.c. A device that cannot, or answers wrongly, is remembered with its verdict and not asked again: for
 * this operation it is off, and route.c goes round it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>

static void drop(struct svmx__device *device, struct svmx_pipeline *compiled) {
    if (compiled) device->backend->instance.ops->pipeline_free(device->backend->instance.self, compiled);
}

/* Builds and proves. The verdict, with its reason in `why`, counts for ever, unless it is MEMORY. */
static enum svmx_status build(struct svmx__device *device, const struct svmx__op *op, struct svmx__pipeline *made,
                              struct svmx__text *why) {
    const struct svmx_op_desc op_desc = svmx__op_desc(op);
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op_desc, .bucket = made->key.bucket};
    const struct svmx_backend *instance = &device->backend->instance;
    enum svmx_status status = instance->ops->pipeline_build(instance->self, device->index, &desc, &made->compiled);
    if (status != SVMX_OK) {
        char line[256];
        made->compiled = NULL;
        svmx__host_take_error(device->backend, line, sizeof line);
        return svmx__fail(why, status, "building %s: %s%s%s", op->name, svmx_status_name(status),
                          status == SVMX_ERR_UNSUPPORTED ? "" : ": ", status == SVMX_ERR_UNSUPPORTED ? "" : line);
    }
    /* A plugin may serve several buckets with one pipeline; it needs proof once. */
    if (svmx__pipeline_cache_knows(&device->executor->pipelines, device->id, made->compiled)) return SVMX_OK;
    status = svmx__selftest(device, op, made, why);
    if (status != SVMX_OK) {
        if (status != SVMX_TIMEOUT) drop(device, made->compiled); /* else the device may still be running it */
        made->compiled = NULL;
    }
    return status;
}

static void announce(struct svmx__device *device, const struct svmx__op *op, enum svmx_status verdict,
                     const char *reason) {
    enum svmx_log_level level = verdict == SVMX_ERR_UNSUPPORTED ? SVMX_LOG_DEBUG : SVMX_LOG_WARN;
    svmx__log(&device->executor->log, level, "%s on %s is off: %s", op->name, device->info.name, reason);
}

/* A build that failed for want of memory, or on a device that is gone, says nothing of the operation. */
static bool is_about_the_operation(enum svmx_status verdict) {
    return verdict != SVMX_ERR_MEMORY && verdict != SVMX_ERR_DEVICE_LOST && verdict != SVMX_TIMEOUT;
}

static enum svmx_status prepare_new(struct svmx__part *part, const struct svmx__key *key) {
    struct svmx__device *device = part->device;
    struct svmx__pipeline made = {.key = *key};
    struct svmx__text why = {""};
    made.verdict = build(device, part->op, &made, &why);
    if (made.verdict != SVMX_OK)
        (void)snprintf(part->reason, sizeof part->reason, "%.*s", (int)sizeof part->reason - 1, why.line);
    if (!is_about_the_operation(made.verdict)) return made.verdict;

    atomic_store_explicit(&device->fitness[part->op->id], made.verdict == SVMX_OK ? SVMX__FIT : SVMX__UNFIT,
                          memory_order_relaxed);
    if (made.verdict != SVMX_OK) {
        announce(device, part->op, made.verdict, why.line);
        svmx__route_publish(device->executor, part->op->id);
    }
    enum svmx_status status = svmx__pipeline_cache_insert(&device->executor->pipelines, &made, &part->pipeline);
    if (status != SVMX_OK || part->pipeline->compiled != made.compiled) drop(device, made.compiled);
    return status != SVMX_OK ? status : part->pipeline->verdict;
}

enum svmx_status svmx__prepare(struct svmx__part *part) {
    const struct svmx__key key = {part->device->id, part->op->id, part->bucket, 0};
    part->pipeline = svmx__pipeline_cache_find(&part->device->executor->pipelines, &key);
    if (!part->pipeline) return prepare_new(part, &key);
    if (part->pipeline->verdict != SVMX_OK)
        (void)snprintf(part->reason, sizeof part->reason, "%s is off on %s", part->op->name, part->device->info.name);
    return part->pipeline->verdict;
}
