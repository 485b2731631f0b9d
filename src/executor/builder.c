/*
 * builder.c: builds pipelines beside the work: a thread for each device that has a queue, so that compiling holds up
 * neither a caller nor the device.
 *
 *   route finds no pipeline  ->  svmx__build_request     the part goes elsewhere meanwhile, or is parked here
 *   builder thread               builds every variant    (prepare.c; the plugin compiles)
 *     -> the device's queue      proves it               (selftest.c, in the submitter: only it may submit)
 *     -> the device's queue      those that are proved race (trial.c)
 *   builder thread               files the fastest, publishes the route, sends parked parts on
 *
 * Nothing here waits for a device: proofs have their deadline. Called by route.c, pipeline.c and svmx_prewarm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "executor/stages.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_VARIANTS = 8 };

/* One pipeline that is wanted. In the device's list until it is settled. */
struct svmx__build {
    struct svmx__work errand; /* first: what the submitter has to do for it */
    struct svmx__build *next;
    struct svmx__device *device;
    struct svmx__life *life; /* of the device, that it is built in */
    const struct svmx__op *op;
    struct svmx__key key;
    struct svmx__part *parked; /* that wait for it, newest first, by their links; under builder->lock */

    /* The builder's until the errand is pushed, the submitter's until `done`, then the builder's. */
    struct svmx__pipeline candidate; /* under proof */
    struct svmx__racer racers[MAX_VARIANTS];
    uint32_t racer_count;
    struct svmx__text why;
    enum svmx_status verdict;
    bool done; /* under builder->lock */
};

/* ---- proof and race, in the submitter -------------------------------------------------------------------------- */

static void tell_done(struct svmx__build *build) {
    struct svmx__builder *builder = &build->device->builder;
    pthread_mutex_lock(&builder->lock);
    build->done = true;
    pthread_cond_broadcast(&builder->changed);
    pthread_mutex_unlock(&builder->lock);
}

/* The submitter that had it is gone: on TIMEOUT nothing of it is freed. */
static void forsake(struct svmx__work *work) {
    struct svmx__build *build = (struct svmx__build *)(void *)work;
    build->verdict = svmx__fail(&build->why, SVMX_TIMEOUT, "%s: a call of the driver did not return", build->op->name);
    for (uint32_t i = 0; i < build->racer_count; i++) build->racers[i].status = SVMX_TIMEOUT;
    svmx__post_drop(work);
    tell_done(build);
}

static void prove(struct svmx__work *work) {
    struct svmx__build *build = (struct svmx__build *)(void *)work;
    build->verdict = svmx__selftest(build->device, build->op, &build->candidate, &build->why);
    svmx__post_drop(work);
    tell_done(build);
}

static void race(struct svmx__work *work) {
    struct svmx__build *build = (struct svmx__build *)(void *)work;
    svmx__trial(build->device, build->op, build->racers, build->racer_count, &build->why);
    svmx__post_drop(work);
    tell_done(build);
}

/* Has the submitter do it, and waits. */
static void have_done(struct svmx__build *build, void (*errand)(struct svmx__work *work)) {
    struct svmx__builder *builder = &build->device->builder;
    build->done = false;
    build->errand.run = errand;
    build->errand.forsake = forsake;
    svmx__queue_push(&build->device->queue, &build->errand.link);
    pthread_mutex_lock(&builder->lock);
    while (!build->done) pthread_cond_wait(&builder->changed, &builder->lock);
    pthread_mutex_unlock(&builder->lock);
}

/* ---- building, in the builder's thread ------------------------------------------------------------------------ */

/* What is left after all variants were tried. */
struct outcome {
    struct svmx_pipeline *best;
    uint32_t variant;
    bool kept;                /* it came from disk */
    enum svmx_status verdict; /* OK if there is a best; else that of the first that failed */
    struct svmx__text why;
};

/* A device that is gone, or has no memory, says so; else the first reason is told: that of the plugin's best guess. */
static void note_failure(struct outcome *outcome, enum svmx_status status, const struct svmx__text *why) {
    if (!outcome->why.line[0]) {
        outcome->verdict = status;
        outcome->why = *why;
    }
    if (!svmx__verdict_counts(status)) outcome->verdict = status;
}

/* What is out is freed, unless the device may still be running it. */
static void drop(struct svmx__life *life, struct svmx_pipeline *compiled, enum svmx_status status) {
    if (status != SVMX_TIMEOUT) svmx__pipeline_drop(life, compiled);
}

/* Builds and proves the candidate. UNKNOWN: there is no variant of that number. DEVICE_LOST also where the device was given
 * up meanwhile: an instance that hangs would keep this thread. */
static enum svmx_status make_candidate(struct svmx__build *build, uint32_t variant, const void *binary, size_t bytes) {
    struct svmx__device *device = build->device;
    const struct svmx_op_desc op_desc = svmx__op_desc(build->op);
    const struct svmx_pipeline_desc desc = {.size = sizeof desc,
                                            .op = &op_desc,
                                            .bucket = build->key.bucket,
                                            .binary = binary,
                                            .binary_bytes = bytes,
                                            .variant = variant};
    build->why.line[0] = '\0';
    if (atomic_load_explicit(&build->life->over, memory_order_relaxed))
        return svmx__fail(&build->why, SVMX_ERR_DEVICE_LOST, "building %s: the device was given up", build->op->name);
    build->candidate = (struct svmx__pipeline){.key = build->key, .life = build->life};
    enum svmx_status status = svmx__pipeline_build(device, build->op, &desc, &build->candidate, &build->why);
    if (status != SVMX_OK) return status;
    if (svmx__pipeline_cache_knows(&device->executor->pipelines, &build->key, build->candidate.compiled))
        return SVMX_OK;
    have_done(build, prove);
    if (build->verdict != SVMX_OK) drop(build->life, build->candidate.compiled, build->verdict);
    return build->verdict;
}

/* From what an earlier process compiled, if that proves itself, or anew. */
static enum svmx_status try_variant(struct svmx__build *build, uint32_t variant) {
    struct svmx__device *device = build->device;
    size_t bytes = 0;
    void *binary = svmx__kept_binary(device, build->op, variant, &bytes);
    enum svmx_status status = make_candidate(build, variant, binary, bytes);
    bool kept = binary != NULL;
    free(binary);
    if (kept && status != SVMX_OK && svmx__verdict_counts(status)) {
        svmx__unkeep_binary(device, build->op, variant);
        status = make_candidate(build, variant, NULL, 0);
        kept = false;
    }
    if (status == SVMX_OK)
        build->racers[build->racer_count++] =
            (struct svmx__racer){.pipeline = build->candidate, .variant = variant, .kept = kept};
    return status;
}

/* The fastest of those that were proved; the others go. */
static void pick(struct svmx__build *build, struct outcome *outcome) {
    build->why.line[0] = '\0';
    if (build->racer_count > 1) have_done(build, race);
    const struct svmx__racer *winner = svmx__trial_winner(build->racers, build->racer_count);
    for (uint32_t i = 0; i < build->racer_count; i++) {
        const struct svmx__racer *racer = &build->racers[i];
        if (racer == winner) continue;
        drop(build->life, racer->pipeline.compiled, racer->status);
        if (racer->status != SVMX_OK) note_failure(outcome, racer->status, &build->why);
    }
    build->racer_count = 0;
    if (winner)
        *outcome = (struct outcome){
            .best = winner->pipeline.compiled, .variant = winner->variant, .kept = winner->kept, .verdict = SVMX_OK};
}

/* 1 + the variant that won before, in this process or an earlier one; 0: not known. */
static uint8_t chosen_before(struct svmx__build *build) {
    uint8_t *chosen = &build->device->chosen[build->op->id];
    if (!*chosen) *chosen = svmx__kept_choice(build->device, build->op);
    return *chosen;
}

/* The device is closing, and nobody waits for the build: compilers take their time. */
static bool is_in_vain(const struct svmx__build *build) {
    struct svmx__builder *builder = &build->device->builder;
    pthread_mutex_lock(&builder->lock);
    const bool in_vain = builder->closing && !build->parked;
    pthread_mutex_unlock(&builder->lock);
    return in_vain;
}

/* Which one is the fastest is not known: none is kept. */
static void break_off(struct svmx__build *build, struct outcome *outcome) {
    for (uint32_t i = 0; i < build->racer_count; i++)
        drop(build->life, build->racers[i].pipeline.compiled, build->racers[i].status);
    build->racer_count = 0;
    outcome->verdict = svmx__fail(&outcome->why, SVMX_TIMEOUT, "building %s: closed meanwhile", build->op->name);
}

/* Builds and proves the variants that there are; only the one that won before, if one did. A device that is gone ends it. */
static void try_all(struct svmx__build *build, uint8_t chosen, struct outcome *outcome) {
    bool asks_for_variants = build->device->backend->plugin->abi_minor >= 1;
    for (uint32_t v = 0; v < MAX_VARIANTS; v++) {
        if (chosen && v + 1 != chosen) continue;
        if (is_in_vain(build)) {
            break_off(build, outcome);
            return;
        }
        if (v > 0 && !asks_for_variants) break;
        enum svmx_status status = try_variant(build, v);
        if (v > 0 && status == SVMX_ERR_UNKNOWN) break;
        if (status == SVMX_OK) continue;
        note_failure(outcome, status, &build->why);
        if (!svmx__verdict_counts(status)) break;
        svmx__log(&build->device->executor->log, SVMX_LOG_INFO, "%s, variant %u on %s: %s", build->op->name, v,
                  build->device->info.name, build->why.line);
    }
    pick(build, outcome);
}

static void drop_entry(void *user, const struct svmx__pipeline *entry) {
    struct svmx_executor *executor = user;
    svmx__pipeline_drop(entry->life, entry->compiled);
    svmx__route_publish(executor, entry->key.op); /* the device is not ready for that bucket any more */
}

/* Files the outcome: what does not count for ever is only told to those who wait, and tried again for the next. */
static void file(struct svmx__build *build, struct outcome *outcome) {
    struct svmx__device *device = build->device;
    struct svmx__pipeline made = {.key = build->key,
                                  .life = build->life,
                                  .verdict = outcome->verdict,
                                  .compiled = outcome->best,
                                  .bounded = true};
    const struct svmx__pipeline *entry;
    (void)snprintf(made.reason, sizeof made.reason, "%.*s", (int)sizeof made.reason - 1, outcome->why.line);
    if (svmx__pipeline_file(device, build->op, &made, &entry) != SVMX_OK)
        outcome->verdict = svmx__fail(&outcome->why, SVMX_ERR_MEMORY, "no memory to keep a pipeline");
    svmx__pipeline_cache_trim(&device->executor->pipelines, device->executor->config.number[SVMX__MAX_PIPELINES],
                              drop_entry, device->executor);
}

/* A device that is gone is given up, also if no part waits that would say so when it fails. */
static void note_loss(const struct svmx__build *build, const struct outcome *outcome) {
    struct svmx__part part = {.device = build->device, .life = build->life};
    (void)snprintf(part.reason, sizeof part.reason, "%.*s", (int)sizeof part.reason - 1, outcome->why.line);
    svmx__device_lost(&part, false);
}

/* Builds, proves, keeps on disk what is new, files. */
static void settle(struct svmx__build *build, struct outcome *outcome) {
    struct svmx__device *device = build->device;
    bool first = device->chosen[build->op->id] == 0; /* a further bucket has the same code */
    uint8_t chosen = chosen_before(build);
    try_all(build, chosen, outcome);
    if (chosen && !outcome->best && svmx__verdict_counts(outcome->verdict)) { /* it is not what it was */
        *outcome = (struct outcome){.verdict = SVMX_ERR_UNSUPPORTED};
        try_all(build, 0, outcome);
    }
    if (outcome->verdict == SVMX_ERR_DEVICE_LOST) note_loss(build, outcome);
    if (!svmx__verdict_counts(outcome->verdict)) return;
    device->chosen[build->op->id] = outcome->best ? (uint8_t)(outcome->variant + 1) : 0;
    if (outcome->best && !outcome->kept && first)
        svmx__keep_binary(build->life, build->op, outcome->variant, outcome->best);
    file(build, outcome);
}

/* ---- the list of what is wanted --------------------------------------------------------------------------------- */

/* Under the lock. */
static struct svmx__build *find_build(struct svmx__builder *builder, const struct svmx__key *key) {
    struct svmx__build *build = builder->builds;
    while (build && !svmx__key_equal(&build->key, key)) build = build->next;
    return build;
}

/* Under the lock. NULL: no memory. */
static struct svmx__build *add_build(struct svmx__life *life, const struct svmx__op *op, const struct svmx__key *key) {
    struct svmx__device *device = life->device;
    struct svmx__build *build = calloc(1, sizeof *build);
    if (!build) return NULL;
    build->device = device;
    build->life = life;
    build->op = op;
    build->key = *key;
    struct svmx__build **at = &device->builder.builds;
    while (*at) at = &(*at)->next;
    *at = build;
    pthread_cond_broadcast(&device->builder.changed);
    return build;
}

/* Under the lock. The build for a key, made if there is none; NULL: it is settled already, or there is no memory. */
static struct svmx__build *want(struct svmx__life *life, const struct svmx__op *op, const struct svmx__key *key) {
    struct svmx__device *device = life->device;
    if (svmx__pipeline_cache_find(&device->executor->pipelines, key)) return NULL;
    struct svmx__build *build = find_build(&device->builder, key);
    return build || device->builder.closing ? build : add_build(life, op, key);
}

void svmx__build_request(struct svmx__device *device, const struct svmx__op *op, uint64_t bucket,
                         struct svmx__part *parked) {
    struct svmx__builder *builder = &device->builder;
    struct svmx__life *life = svmx__life_of(device);
    const struct svmx__key key = {device->id, op->id, bucket, life->number};
    pthread_mutex_lock(&builder->lock);
    struct svmx__build *build = want(life, op, &key);
    if (build && parked) {
        parked->errand.link.next = build->parked ? &build->parked->errand.link : NULL;
        build->parked = parked;
    }
    pthread_mutex_unlock(&builder->lock);
    if (build || !parked) return;
    parked->built = SVMX_ERR_MEMORY; /* counts only if it is not settled after all */
    (void)snprintf(parked->reason, sizeof parked->reason, "no memory to build a pipeline");
    svmx__queue_push(&device->queue, &parked->errand.link);
}

void svmx__build_wait(struct svmx__device *device, const struct svmx__op *op, uint64_t bucket) {
    struct svmx__builder *builder = &device->builder;
    struct svmx__life *life = svmx__life_of(device);
    const struct svmx__key key = {device->id, op->id, bucket, life->number};
    pthread_mutex_lock(&builder->lock);
    if (want(life, op, &key))
        while (find_build(builder, &key)) pthread_cond_wait(&builder->changed, &builder->lock);
    pthread_mutex_unlock(&builder->lock);
}

/* Under the lock. Takes the settled build out of the list and gives the parts that waited for it. */
static struct svmx__part *take_out(struct svmx__builder *builder, struct svmx__build *build) {
    struct svmx__build **at = &builder->builds;
    while (*at != build) at = &(*at)->next;
    *at = build->next;
    pthread_cond_broadcast(&builder->changed);
    return build->parked;
}

/* The next build, or NULL when the device is closing and nobody waits for what is left. */
static struct svmx__build *next_build(struct svmx__builder *builder) {
    struct svmx__build *build;
    pthread_mutex_lock(&builder->lock);
    while (!builder->builds && !builder->closing) pthread_cond_wait(&builder->changed, &builder->lock);
    while ((build = builder->builds) && builder->closing && !build->parked) {
        (void)take_out(builder, build);
        free(build);
    }
    pthread_mutex_unlock(&builder->lock);
    return build;
}

/* To the device's queue, in the order in which they came, with what became of the build. */
static void send_on(struct svmx__device *device, struct svmx__part *parked, const struct outcome *outcome) {
    struct svmx__link *reversed = NULL;
    while (parked) {
        struct svmx__link *next = parked->errand.link.next;
        parked->built = outcome->verdict;
        (void)snprintf(parked->reason, sizeof parked->reason, "%.*s", (int)sizeof parked->reason - 1,
                       outcome->verdict == SVMX_OK ? "" : outcome->why.line);
        parked->errand.link.next = reversed;
        reversed = &parked->errand.link;
        parked = (struct svmx__part *)(void *)next;
    }
    while (reversed) {
        struct svmx__link *next = reversed->next;
        svmx__queue_push(&device->queue, reversed);
        reversed = next;
    }
}

static void *builder_main(void *user) {
    struct svmx__device *device = user;
    struct svmx__build *build;
    while ((build = next_build(&device->builder))) {
        struct outcome outcome = {.verdict = SVMX_ERR_UNSUPPORTED};
        settle(build, &outcome);
        svmx__route_publish(device->executor, build->op->id);
        pthread_mutex_lock(&device->builder.lock);
        struct svmx__part *parked = take_out(&device->builder, build);
        pthread_mutex_unlock(&device->builder.lock);
        free(build);
        send_on(device, parked, &outcome);
    }
    return NULL;
}

/* ---- the thread ------------------------------------------------------------------------------------------------- */

static int open_post(struct svmx__device *device) {
    char name[16];
    (void)snprintf(name, sizeof name, "svmx-build-%u", device->id);
    return svmx__post_open(device->executor, builder_main, device, name, &device->builder.post);
}

int svmx__builder_start(struct svmx__device *device) {
    struct svmx__builder *builder = &device->builder;
    pthread_mutex_init(&builder->lock, NULL); /* neither can fail with default attributes */
    pthread_cond_init(&builder->changed, NULL);
    const int error = open_post(device);
    builder->started = !error;
    if (!error) return 0;
    pthread_cond_destroy(&builder->changed);
    pthread_mutex_destroy(&builder->lock);
    return error;
}

void svmx__builder_reopen(struct svmx__device *device) {
    const struct svmx__builder *builder = &device->builder;
    if (!builder->started || !device->has_submitter || builder->closing || builder->post) return;
    if (open_post(device) != 0) /* nobody builds: parts that wait for it go elsewhere meanwhile */
        svmx__builder_unpark(device, SVMX_ERR_DEVICE_LOST, "there is no thread to build in");
}

void svmx__builder_unpark(struct svmx__device *device, enum svmx_status verdict, const char *reason) {
    struct svmx__builder *builder = &device->builder;
    struct outcome outcome = {.verdict = verdict};
    struct svmx__part *parked;
    (void)snprintf(outcome.why.line, sizeof outcome.why.line, "%s", reason);
    if (device->inline_) return; /* it has none */
    do {
        parked = NULL;
        pthread_mutex_lock(&builder->lock);
        for (struct svmx__build *build = builder->builds; build && !parked; build = build->next) {
            parked = build->parked;
            build->parked = NULL;
        }
        pthread_mutex_unlock(&builder->lock);
        send_on(device, parked, &outcome);
    } while (parked);
}

void svmx__builder_forsake(struct svmx__device *device) {
    struct svmx__builder *builder = &device->builder;
    struct outcome outcome = {.verdict = SVMX_TIMEOUT, .why = {"a call of the driver did not return"}};
    builder->post = NULL;
    pthread_mutex_lock(&builder->lock);
    /* the first is under way; it is not freed: the driver may answer into it */
    struct svmx__part *parked = builder->builds ? take_out(builder, builder->builds) : NULL;
    pthread_mutex_unlock(&builder->lock);
    send_on(device, parked, &outcome);
    svmx__builder_reopen(device);
}

void svmx__builder_stop(struct svmx__device *device) {
    struct svmx__builder *builder = &device->builder;
    if (!builder->started) return;
    pthread_mutex_lock(&builder->lock);
    builder->closing = true;
    pthread_cond_broadcast(&builder->changed);
    pthread_mutex_unlock(&builder->lock);
    while (builder->post && !svmx__post_join(builder->post)) svmx__posts_look(device->executor);
    builder->post = NULL;
    for (struct svmx__build *build = builder->builds, *next; build; build = next) { /* its thread was given up */
        next = build->next;
        free(build);
    }
    builder->builds = NULL;
    builder->started = false;
    pthread_cond_destroy(&builder->changed);
    pthread_mutex_destroy(&builder->lock);
}
