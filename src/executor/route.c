/*
 * route.c: stage 3: choose the device of a part.
 *
 *   who serves it          published when a device, an operation or a pipeline comes or goes      serving, ready
 *   who may                the policy of the batch or of the operation                            policy.c
 *   who finishes first     by what was measured                                                   choice.c
 *
 * All of it is a few loads. A device whose pipeline is still to be built gets it built, and one that computes in the calling
 * thread answers meanwhile; only if there is none but the reference does the part wait. Device d is bit d of a mask, in
 * the user's order of preference; the reference code is in none.
 *
 * Called by pipeline.c; svmx__route_publish by whoever learns that a device, an operation or a pipeline is on or off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "executor/line.h"
#include "executor/stages.h"

#include <stdio.h>

/* ---- publishing ------------------------------------------------------------------------------------------------- */

static bool is_built(const struct svmx__device *device, uint32_t op, uint64_t bucket) {
    const struct svmx__key key = {device->id, op, bucket, svmx__life_of(device)->number};
    return device->inline_ || svmx__pipeline_cache_find(&device->executor->pipelines, &key) != NULL;
}

void svmx__route_publish(struct svmx_executor *executor, uint32_t op) {
    pthread_mutex_lock(&executor->publishing); /* the last to look is the last to write */
    uint32_t serving = 0;
    for (uint32_t d = 0; d < executor->routed; d++)
        if (svmx__device_serves(&executor->devices[d], op)) serving |= UINT32_C(1) << d;
    for (uint32_t line = 0; line < SVMX__BUCKETS; line++) {
        uint32_t ready = executor->cpus;
        for (uint32_t d = 0; d < executor->routed; d++)
            if (is_built(&executor->devices[d], op, UINT64_C(1) << line)) ready |= UINT32_C(1) << d;
        /* relaxed: an old answer is a device that just went off; the part is then redone like any that it fails */
        atomic_store_explicit(&executor->ready[op][line], ready, memory_order_relaxed);
    }
    atomic_store_explicit(&executor->serving[op], serving, memory_order_relaxed);
    pthread_mutex_unlock(&executor->publishing);
}

void svmx__route_publish_all(struct svmx_executor *executor) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) svmx__route_publish(executor, op);
}

/* ---- choosing --------------------------------------------------------------------------------------------------- */

/* The line of `ready` for a bucket. */
static uint32_t line_of(uint64_t bucket) {
    uint32_t log2 = (uint32_t)__builtin_ctzll(bucket);
    return log2 < SVMX__BUCKETS ? log2 : SVMX__BUCKETS - 1;
}

static uint32_t ready_for(const struct svmx_executor *executor, uint32_t op, uint64_t bucket) {
    return atomic_load_explicit(&executor->ready[op][line_of(bucket)], memory_order_relaxed);
}

bool svmx__route_is_ready(const struct svmx_executor *executor, uint32_t op, uint64_t bucket, uint32_t device) {
    return ready_for(executor, op, bucket) >> device & 1;
}

static uint32_t first_of(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

/* What is kept out of the way of most parts: with no call on it that way needs no registers saved. */
#define APART __attribute__((noinline))

/* What is expected where nothing is asked. */
static const struct svmx__price unknown = {.ns = 0};

/* Asks the table. */
static void ask(struct svmx_executor *executor, struct svmx__part *part) {
    part->chosen = part->policy != SVMX_POLICY_ORDER && executor->routed > 1;
    if (part->chosen)
        svmx__choose(&executor->choices, &part->question, &part->answer);
    else if (part->policy == SVMX_POLICY_ORDER)
        svmx__answer_set(&part->answer, first_of(part->question.allowed), SVMX_WHY_ORDER, unknown);
    else
        svmx__answer_set(&part->answer, part->question.fallback, SVMX_WHY_ONLY, unknown);
}

/* Asks the table for one of the devices in a mask. */
APART static void choose(struct svmx_executor *executor, struct svmx__part *part, uint32_t allowed) {
    part->question.allowed = allowed;
    part->question.fallback = svmx__fallback_of(allowed, executor->cpus);
    ask(executor, part);
}

/* The chosen device has no pipeline yet: it is wanted, and another one that is ready answers meanwhile; if none is, the part
 * waits. Under the policy `gpu` no CPU is among `allowed`. */
APART static void choose_meanwhile(struct svmx_executor *executor, struct svmx__part *part, uint32_t allowed,
                                   uint32_t ready) {
    struct svmx__device *wanted = &executor->devices[part->answer.device];
    if (part->chosen) svmx__unchoose(&executor->choices, &part->answer);
    /* In order of preference somebody else's pipeline is no reason to go there. */
    const uint32_t meanwhile = allowed & ready & (part->policy == SVMX_POLICY_ORDER ? executor->cpus : UINT32_MAX);
    if (meanwhile) {
        svmx__build_request(wanted, part->op, part->bucket, NULL);
        choose(executor, part, meanwhile);
    } else if (part->chosen) {
        choose(executor, part, UINT32_C(1) << wanted->id); /* so that what it takes counts */
    }
    part->cold = !meanwhile;
}

/* No device may, or none does: the reference code does it, unless the user wants a GPU or nothing. */
APART static void choose_reference(struct svmx_executor *executor, struct svmx__part *part) {
    part->device = svmx__reference_of(executor);
    svmx__answer_set(&part->answer, part->device->id, SVMX_WHY_ONLY, unknown);
    part->refused = part->policy == SVMX_POLICY_GPU;
    if (!part->refused) return;
    part->status = SVMX_ERR_UNSUPPORTED;
    (void)snprintf(part->reason, sizeof part->reason,
                   "the policy is gpu, and no device but the CPU serves it (svmx devices tells which there are)");
}

/* What of the caller's hint falls to one part: it is one number for the whole batch. */
APART static double hint_of(const struct svmx__part *part) {
    return (double)part->batch->hint_ns / (double)part->batch->part_count;
}

/* What the batch itself says of who may have its parts, instead of the executor. */
APART static uint32_t fitting_own(struct svmx__part *part, const struct svmx__policy *policy, uint32_t serving) {
    const struct svmx_batch *batch = part->batch;
    struct svmx__policy own = *policy;
    if (batch->policy) own.kind = batch->policy;
    if (batch->bounded) own.low = batch->low, own.high = batch->high;
    part->policy = own.kind;
    return svmx__policy_allows(&own, own.kind, serving, batch->executor->cpus, part->units);
}

/* What is asked, but for a hint. */
static inline void put_question(struct svmx__part *part, uint32_t op, uint32_t serving, uint32_t cpus) {
    struct svmx__question *question = &part->question;
    question->op = op;
    question->load = svmx__load_of(part->units, part->work, part->bytes_in + part->bytes_out, part->task_count);
    question->allowed = question->serving = serving;
    question->fallback = question->serving_fallback = svmx__fallback_of(serving, cpus);
    part->yielded = 0;
    part->cold = part->chosen = part->refused = part->compared = false;
}

uint32_t svmx__route_consider(struct svmx__part *part) {
    const struct svmx_executor *executor = part->batch->executor;
    const uint32_t op = part->op->id;
    const uint32_t serving = atomic_load_explicit(&executor->serving[op], memory_order_relaxed);
    const struct svmx__policy *policy = &executor->policies[op];
    part->policy = policy->kind;
    if (part->batch->decides)
        part->fitting = fitting_own(part, policy, serving);
    else
        part->fitting = svmx__policy_allows(policy, policy->kind, serving, executor->cpus, part->units);
    put_question(part, op, serving, executor->cpus);
    part->question.hint_ns = part->batch->hint_ns ? hint_of(part) : 0;
    if (atomic_load_explicit(&executor->loaded, memory_order_relaxed)) svmx__pressure_yield(part);
    return serving;
}

APART static void route_at_length(struct svmx__part *part) {
    struct svmx_executor *executor = part->batch->executor;
    const uint32_t op = part->op->id;
    if (atomic_load_explicit(&executor->look_ns, memory_order_relaxed) != SVMX__NEVER) svmx__recovery_look(executor);
    const uint32_t serving = svmx__route_consider(part);
    if (!part->fitting) {
        choose_reference(executor, part);
        return;
    }
    choose(executor, part, part->fitting);
    if (!(executor->cpus >> part->answer.device & 1)) {
        const uint32_t ready = ready_for(executor, op, part->bucket);
        if (!(ready >> part->answer.device & 1)) choose_meanwhile(executor, part, part->fitting, ready);
    }
    part->device = &executor->devices[part->answer.device];
    part->question.allowed = serving; /* what is learned is for all policies */
    part->question.fallback = part->question.serving_fallback;
}

/* Whoever is asked first where there is but one. */
static inline bool answer_only(const struct svmx_executor *executor, uint32_t serving, struct svmx__answer *answer) {
    if (executor->routed > 1 || serving != 1) return false;
    svmx__answer_set(answer, 0, SVMX_WHY_ONLY, unknown);
    return true;
}

/* Most parts: nobody rests or has too much to do, whoever serves the operation may have it, and the answer is settled. Nothing
 * is done that cannot be done again: false, and the whole way is gone from its begin. */
static inline bool route_settled(struct svmx__part *part) {
    const struct svmx_batch *batch = part->batch;
    struct svmx_executor *executor = batch->executor;
    const uint32_t op = part->op->id;
    if (atomic_load_explicit(&executor->look_ns, memory_order_relaxed) != SVMX__NEVER) return false;
    if (atomic_load_explicit(&executor->loaded, memory_order_relaxed)) return false;
    if (batch->decides || batch->hint_ns || !executor->policies[op].anybody) return false;
    const uint32_t serving = atomic_load_explicit(&executor->serving[op], memory_order_relaxed);
    put_question(part, op, serving, executor->cpus);
    part->question.hint_ns = 0;
    part->chosen = svmx__choose_settled(&executor->choices, &part->question, &part->answer);
    if (!part->chosen && !answer_only(executor, serving, &part->answer)) return false;
    const uint32_t device = part->answer.device;
    if (!svmx__is_in(executor->cpus, device) && !svmx__is_in(ready_for(executor, op, part->bucket), device))
        return false;
    part->policy = executor->policies[op].kind;
    part->fitting = serving;
    part->device = &executor->devices[device];
    return true;
}

void svmx__route(struct svmx__part *part) {
    if (!route_settled(part)) route_at_length(part);
}

void svmx__route_to(struct svmx__part *part, uint32_t device) {
    struct svmx_executor *executor = part->batch->executor;
    const struct svmx__question all = part->question;
    choose(executor, part, UINT32_C(1) << device);
    part->device = &executor->devices[device];
    part->question.allowed = all.allowed;
    part->question.fallback = all.fallback;
}

/* ---- after a failure -------------------------------------------------------------------------------------------- */

static enum svmx__cause cause_of(enum svmx_status status) {
    switch (status) {
    case SVMX_TIMEOUT: return SVMX__CAUSE_TIMEOUT;
    case SVMX_ERR_DEVICE_LOST: return SVMX__CAUSE_LOST;
    case SVMX_ERR_MEMORY: return SVMX__CAUSE_MEMORY;
    case SVMX_ERR_WRONG_RESULT: return SVMX__CAUSE_WRONG;
    default: return SVMX__CAUSE_ERROR;
    }
}

void svmx__count_failure(struct svmx__part *part) {
    struct svmx_executor *executor = part->batch->executor;
    atomic_fetch_add_explicit(&executor->causes[cause_of(part->status)], 1, memory_order_relaxed);
    part->redone++;
    svmx__tally_failure(part);
    atomic_fetch_add_explicit(&executor->fallbacks, 1, memory_order_relaxed);
    svmx__log(&executor->log, SVMX_LOG_INFO, "%s %s: %s: %s", part->op->name,
              part->policy == SVMX_POLICY_GPU ? "fails" : "is redone elsewhere", part->device->info.name, part->reason);
    svmx__device_failed(part);
}

bool svmx__route_again(struct svmx__part *part) {
    if (part->status == SVMX_OK) return false;
    struct svmx_executor *executor = part->batch->executor;
    struct svmx__device *failed = part->device;
    bool built = part->pipeline && part->pipeline->verdict == SVMX_OK;
    /* a device that has no such operation did not fail */
    if (part->status != SVMX_ERR_UNSUPPORTED || built) svmx__count_failure(part);
    part->pipeline = NULL;
    if (part->policy == SVMX_POLICY_GPU) return false; /* an error, never the CPU in silence */
    /* In order of preference, so the next one after an inline device that failed is tried once, and the reference is
     * the end: it does not fail. */
    uint32_t from = failed->inline_ ? failed->id + 1 : 0;
    for (uint32_t i = from; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (device == failed || !device->inline_ || !svmx__device_serves(device, part->op->id)) continue;
        part->device = device;
        return true;
    }
    part->device = svmx__reference_of(executor);
    return failed != part->device;
}

/* ---- life ------------------------------------------------------------------------------------------------------- */

enum svmx__seat svmx__device_place(const struct svmx_device_info *info) {
    if (info->flags & SVMX_DEVICE_HOST_MEMORY) return SVMX__ON_HOST;
    if (info->flags & SVMX_DEVICE_SHARES_CORES) return SVMX__ON_CORES;
    return info->flags & SVMX_DEVICE_SHARES_MEMORY ? SVMX__ON_SHARED : SVMX__ON_DEVICE;
}

void svmx__route_init(struct svmx_executor *executor) {
    struct svmx__model_device devices[SVMX__ROUTED] = {0};
    uint32_t on_cores = 0;
    executor->routed = executor->device_count - 1;
    if (executor->routed > SVMX__ROUTED) {
        svmx__log(&executor->log, SVMX_LOG_WARN, "there are %u devices: the first %d are used", executor->routed,
                  SVMX__ROUTED);
        executor->routed = SVMX__ROUTED;
    }
    for (uint32_t d = 0; d < executor->routed; d++) {
        const struct svmx_device_info *info = &executor->devices[d].info;
        devices[d] = svmx__model_assume(svmx__device_place(info));
        if (executor->devices[d].inline_) executor->cpus |= UINT32_C(1) << d;
        if (!executor->devices[d].inline_ && !executor->devices[d].host_memory) executor->owners |= UINT32_C(1) << d;
        if (info->flags & (SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_HOST_MEMORY)) on_cores |= UINT32_C(1) << d;
    }
    executor->spreads = executor->routed - (uint32_t)__builtin_popcount(on_cores) + (on_cores != 0) > 1;
    svmx__model_init(&executor->model, devices, executor->routed);
    /* a launch that is long enough to be worth another device uses all cores, so launches wait for one another */
    svmx__choices_init(&executor->choices, &executor->model, on_cores);
}

void svmx__route_fini(struct svmx_executor *executor) {
    svmx__choices_fini(&executor->choices);
    svmx__model_fini(&executor->model);
}
