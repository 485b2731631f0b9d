/*
 * prepare.c: the pipeline of a part: from the cache, or, on a device that computes in the calling thread, built now and
 * proved by known answers before it serves. Other devices have a builder (builder.c).
 *
 * Called by stage.c and builder.c. A device that cannot, or answers wrongly, is remembered with its verdict and not asked
 * again: for this operation it is off, and route.c goes round it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "executor/stages.h"

#include <stdio.h>
#include <string.h>

void svmx__pipeline_drop(struct svmx__life *life, struct svmx_pipeline *compiled) {
    if (!compiled || svmx__life_is_abandoned(life)) return;
    svmx__call_begin(life, (struct svmx__call){"pipeline_free", NULL}, 0);
    life->backend->instance.ops->pipeline_free(life->backend->instance.self, compiled);
    svmx__call_end();
}

enum svmx_status svmx__pipeline_build(struct svmx__device *device, const struct svmx__op *op,
                                      const struct svmx_pipeline_desc *desc, struct svmx__pipeline *made,
                                      struct svmx__text *why) {
    const struct svmx_backend *instance = &made->life->backend->instance;
    svmx__call_begin(made->life, (struct svmx__call){"pipeline_build", op->name}, svmx__first_ns(device->executor));
    svmx__host_listen();
    enum svmx_status status = instance->ops->pipeline_build(instance->self, device->index, desc, &made->compiled);
    svmx__call_end();
    if (status == SVMX_OK && made->compiled) return SVMX_OK;
    if (status == SVMX_OK) return svmx__fail(why, SVMX_ERR_BACKEND, "building %s: it gave no pipeline", op->name);
    char line[256];
    made->compiled = NULL;
    if (status == SVMX_ERR_UNSUPPORTED) {
        const char *heard = svmx__host_heard();
        return svmx__fail(why, status, "%s", *heard ? heard : "the backend does not have it");
    }
    svmx__host_take_error(made->life->backend, line, sizeof line);
    return svmx__fail(why, status, "building %s: %s: %s", op->name, svmx_status_name(status), line);
}

bool svmx__verdict_counts(enum svmx_status verdict) {
    return verdict != SVMX_ERR_MEMORY && verdict != SVMX_ERR_DEVICE_LOST && verdict != SVMX_TIMEOUT;
}

static void announce(struct svmx__device *device, const struct svmx__op *op, enum svmx_status verdict,
                     const char *reason) {
    enum svmx_log_level level = verdict == SVMX_ERR_UNSUPPORTED ? SVMX_LOG_DEBUG : SVMX_LOG_WARN;
    svmx__log(&device->executor->log, level, "%s on %s is off: %s", op->name, device->info.name, reason);
}

/* What the verdict means for the operation on this device: of the present life, and never out of quarantine. */
static void judge(struct svmx__device *device, const struct svmx__op *op, const struct svmx__pipeline *made) {
    _Atomic uint8_t *fitness = &device->fitness[op->id];
    uint8_t before = atomic_load_explicit(fitness, memory_order_relaxed);
    if (made->life != svmx__life_of(device)) return;
    if (made->verdict == SVMX_ERR_WRONG_RESULT) {
        svmx__quarantine(device, op, made->reason);
        return;
    }
    const uint8_t now = made->verdict == SVMX_OK ? SVMX__FIT : SVMX__UNFIT;
    if (now == SVMX__UNFIT) svmx__refusal_note(device, op, made->verdict, made->reason);
    /* release: pairs with the acquire of svmx__fitness_of */
    while (before != SVMX__QUARANTINED &&
           !atomic_compare_exchange_weak_explicit(fitness, &before, now, memory_order_release, memory_order_relaxed)) {
    }
    if (made->verdict != SVMX_OK) announce(device, op, made->verdict, made->reason);
}

enum svmx_status svmx__pipeline_file(struct svmx__device *device, const struct svmx__op *op,
                                     const struct svmx__pipeline *made, const struct svmx__pipeline **entry) {
    judge(device, op, made);
    bool filed = false;
    enum svmx_status status = svmx__pipeline_cache_insert(&device->executor->pipelines, made, entry, &filed);
    if (!filed) svmx__pipeline_drop(made->life, made->compiled); /* one free a build, also where a pointer came twice */
    return status;
}

enum svmx_status svmx__pipeline_make(struct svmx__device *device, const struct svmx__op *op,
                                     struct svmx__pipeline *made, struct svmx__text *why) {
    const struct svmx_op_desc op_desc = svmx__op_desc(op);
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op_desc, .bucket = made->key.bucket};
    enum svmx_status status = svmx__pipeline_build(device, op, &desc, made, why);
    if (status != SVMX_OK) return status;
    /* A plugin may serve several buckets with one pipeline; it needs proof once for each operation. */
    if (svmx__pipeline_cache_knows(&device->executor->pipelines, &made->key, made->compiled)) return SVMX_OK;
    status = svmx__selftest(device, op, made, why);
    if (status != SVMX_OK) {
        if (status != SVMX_TIMEOUT) svmx__pipeline_drop(made->life, made->compiled); /* else it may still be running */
        made->compiled = NULL;
    }
    return status;
}

static enum svmx_status prepare_here(struct svmx__part *part, const struct svmx__key *key) {
    struct svmx__device *device = part->device;
    struct svmx__pipeline made = {.key = *key, .life = part->life};
    struct svmx__text why = {""};
    made.verdict = svmx__pipeline_make(device, part->op, &made, &why);
    (void)snprintf(made.reason, sizeof made.reason, "%.*s", (int)sizeof made.reason - 1, why.line);
    if (made.verdict != SVMX_OK) memcpy(part->reason, made.reason, sizeof part->reason);
    if (!svmx__verdict_counts(made.verdict)) return made.verdict;
    enum svmx_status status = svmx__pipeline_file(device, part->op, &made, &part->pipeline);
    if (made.verdict != SVMX_OK) svmx__route_publish(device->executor, part->op->id);
    if (status != SVMX_OK) return status;
    return made.verdict != SVMX_OK ? made.verdict : part->pipeline->verdict;
}

/* What the builder filed. It was there when the part was routed; since then it may have been emptied to make room. */
static enum svmx_status prepare_pinned(struct svmx__part *part, const struct svmx__pipeline *entry) {
    part->pinned = entry && svmx__pipeline_pin(&part->device->executor->pipelines, entry);
    if (part->pinned) return SVMX_OK;
    part->pipeline = NULL;
    (void)snprintf(part->reason, sizeof part->reason, "its pipeline gave way to others (max_pipelines)");
    return SVMX_ERR_MEMORY;
}

enum svmx_status svmx__prepare(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    const struct svmx__key key = {device->id, part->op->id, part->bucket, part->life->number};
    struct svmx__tally *tally = &device->tallies[part->op->id];
    part->pipeline = svmx__pipeline_cache_find(&device->executor->pipelines, &key);
    svmx__tally_look(&tally->pipeline_hits, &tally->pipeline_misses, part->pipeline != NULL);
    if (part->pipeline && part->pipeline->verdict == SVMX_OK)
        return part->pipeline->bounded ? prepare_pinned(part, part->pipeline) : SVMX_OK;
    if (!part->pipeline && device->inline_) return prepare_here(part, &key);
    if (!part->pipeline && part->built == SVMX_OK) return prepare_pinned(part, NULL);
    if (!part->pipeline) return part->built; /* it waited for a build that came to nothing, and has its reason */
    memcpy(part->reason, part->pipeline->reason, sizeof part->reason);
    return part->pipeline->verdict;
}
