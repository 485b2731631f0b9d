/*
 * inspect.c: the questions that an executor answers about itself: devices, load report, operations, settings,
 * counters. Never stops work: counters are read one by one. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/versioned.h"
#include "executor/executor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What version 0.1.0 had: callers of then are served for ever. A field that is added later changes nothing here. */
enum {
    FIRST_DEVICE = SVMX__THROUGH(struct svmx_device, failures),
    FIRST_DEVICE_OP = SVMX__THROUGH(struct svmx_device_op, reason),
    FIRST_LOAD_ENTRY = SVMX__THROUGH(struct svmx_load_entry, status),
    FIRST_OP = SVMX__THROUGH(struct svmx_op, params),
    FIRST_CONFIG_ENTRY = SVMX__THROUGH(struct svmx_config_entry, reserved),
    FIRST_STATS = SVMX__THROUGH(struct svmx_stats, pool_bytes_peak)
};

enum { WHOLE_PPM = 1000000 }; /* more than all of its time no launch can lose */

static bool is_open(const struct svmx_executor *executor) { return executor && !svmx__is_closed(executor); }

static uint64_t read(const _Atomic uint64_t *counter) { return atomic_load_explicit(counter, memory_order_relaxed); }

static uint64_t backlog(const struct svmx_executor *executor, uint32_t device) {
    return (uint64_t)svmx__backlog_ns(&executor->choices, device);
}

/* What it did, over all operations. */
static void tell_work(const struct svmx__device *from, struct svmx_device *device) {
    struct svmx_op_stats sum = {.size = sizeof sum};
    svmx__tally_device(from, &sum);
    device->tasks = sum.tasks;
    device->launches = sum.launches;
    device->bytes_in = sum.bytes_in;
    device->bytes_out = sum.bytes_out;
    device->busy_ns = sum.busy_ns;
    device->run_ns = sum.run_ns;
    device->setup_ns = sum.setup_ns;
    device->transfer_ns = sum.transfer_ns;
    device->device_ns = sum.device_ns;
    device->wait_ns = sum.wait_ns;
    device->stage_ns = sum.stage_ns;
    device->collect_ns = sum.collect_ns;
    device->compute_ns = sum.compute_ns;
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++) device->failures += sum.failures[i];
}

/* Of all its lives. */
static void tell_pools(const struct svmx__device *from, struct svmx_device *device) {
    for (struct svmx__life *life = svmx__life_of(from); life; life = life->before) {
        pthread_mutex_lock(&life->pool.lock);
        device->pool_bytes += life->pool.held_bytes;
        device->pool_bytes_peak += life->pool.held_bytes_peak;
        device->pool_idle_bytes += life->pool.idle_bytes;
        pthread_mutex_unlock(&life->pool.lock);
    }
}

/* What concerns the whole device first; of one that is healthy, what it was quarantined for last. */
static void tell_health(struct svmx__device *from, struct svmx_device *device) {
    struct svmx__health_word word;
    svmx__health_tell(&from->health, &word);
    device->health = word.state;
    device->strikes = word.strikes;
    memcpy(device->health_reason, word.reason, sizeof device->health_reason);
    const struct svmx__quarantined *first = svmx__quarantine_of(from);
    for (const struct svmx__quarantined *at = first; at; at = at->next) device->quarantined++;
    if (word.state != SVMX_HEALTHY || !first) return;
    device->health = SVMX_QUARANTINED;
    (void)snprintf(device->health_reason, sizeof device->health_reason, "%s: %.90s", first->op->name, first->reason);
}

/* What its driver says, and what was found out. */
static void tell_abilities(const struct svmx__device *from, struct svmx_device *device) {
    device->max_group = from->info.max_group;
    device->timer_ns = from->info.timer_ns;
    device->fp32 = from->info.fp32;
    device->fp64 = from->info.fp64;
    device->local_bytes = from->info.local_bytes;
    memcpy(device->uuid, from->info.uuid, sizeof device->uuid);
    const struct svmx__op *op;
    for (uint32_t i = 0; (op = svmx__operations_at(from->executor->operations, i)); i++) {
        const struct svmx__quarantined *why;
        const uint32_t fitness = svmx__fitness_of(from, op, &why);
        device->proved += fitness == SVMX_FITNESS_PROVED;
        device->refused += fitness > SVMX_FITNESS_PROVED;
    }
}

uint32_t svmx_device_count(const svmx_executor_t *executor) { return is_open(executor) ? executor->device_count : 0; }

enum svmx_status svmx_device_get(const svmx_executor_t *executor, uint32_t index, struct svmx_device *device) {
    if (!executor || !svmx__is_served(device, FIRST_DEVICE)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    if (index >= executor->device_count) return SVMX_ERR_UNKNOWN;
    struct svmx__device *from = &executor->devices[index];
    struct svmx_device now = {.backend = from->backend->name,
                              .name = from->info.name,
                              .driver = from->info.driver,
                              .variant = from->info.variant,
                              .pci = from->info.pci,
                              .kind = from->info.kind,
                              .flags = from->info.flags,
                              .threads = from->info.threads,
                              .usable = svmx__health_serves(&from->health),
                              .memory_bytes = from->info.memory_bytes,
                              .max_alloc_bytes = from->info.max_alloc_bytes,
                              .index = from->index,
                              .backlog_ns = index < executor->routed ? backlog(executor, index) : 0,
                              .queued = read(&from->queue.count),
                              .clock = atomic_load_explicit(&from->clock, memory_order_relaxed)};
    tell_work(from, &now);
    tell_pools(from, &now);
    tell_health(from, &now);
    tell_abilities(from, &now);
    const struct svmx__pressure load = svmx__pressure_of(from);
    now.load = from->inline_ ? SVMX_LOAD_NORMAL : load.level;
    now.memory_used = load.memory_used;
    now.pending = load.pending;
    svmx__give(device, &now, sizeof now);
    return SVMX_OK;
}

enum svmx_status svmx_device_op_get(const svmx_executor_t *executor, uint32_t device, uint32_t op_id,
                                    struct svmx_device_op *device_op) {
    if (!executor || !svmx__is_served(device_op, FIRST_DEVICE_OP)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, op_id);
    if (device >= executor->device_count || !op) return SVMX_ERR_UNKNOWN;
    const struct svmx__quarantined *why;
    struct svmx_device_op now = {.fitness = svmx__fitness_of(&executor->devices[device], op, &why)};
    if (why) (void)snprintf(now.reason, sizeof now.reason, "%s", why->reason);
    svmx__give(device_op, &now, sizeof now);
    return SVMX_OK;
}

uint32_t svmx_load_report_count(const svmx_executor_t *executor) {
    return is_open(executor) ? executor->registry.entry_count : 0;
}

enum svmx_status svmx_load_report_get(const svmx_executor_t *executor, uint32_t index, struct svmx_load_entry *entry) {
    if (!executor || !svmx__is_served(entry, FIRST_LOAD_ENTRY)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    if (index >= executor->registry.entry_count) return SVMX_ERR_UNKNOWN;
    const struct svmx__load_entry *from = &executor->registry.entries[index];
    const struct svmx_load_entry now = {.name = from->name,
                                        .path = from->path,
                                        .version = from->version,
                                        .licence = from->licence,
                                        .reason = from->reason,
                                        .verdict = from->verdict,
                                        .status = (uint32_t)(from->status < 0 ? -from->status : (int)from->status),
                                        .noted = from->noted};
    svmx__give(entry, &now, sizeof now);
    return SVMX_OK;
}

uint32_t svmx_op_count(const svmx_executor_t *executor) {
    return is_open(executor) ? svmx__operations_count(executor->operations) : 0;
}

enum svmx_status svmx_op_get(const svmx_executor_t *executor, uint32_t index, struct svmx_op *op) {
    if (!executor || !svmx__is_served(op, FIRST_OP)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *from = svmx__operations_at(executor->operations, index);
    if (!from) return SVMX_ERR_UNKNOWN;
    const struct svmx_op now = {.id = from->id,
                                .param_count = from->param_count,
                                .name = from->name,
                                .summary = from->summary,
                                .unit = from->unit,
                                .params = from->params};
    svmx__give(op, &now, sizeof now);
    return SVMX_OK;
}

enum svmx_status svmx_op_find(const svmx_executor_t *executor, const char *name, uint32_t *op,
                              struct svmx_error *error) {
    enum svmx_status status = SVMX_OK;
    const struct svmx__op *found = NULL;
    if (!executor || !name || !op)
        status = SVMX_ERR_ARGUMENT;
    else if (!is_open(executor))
        status = SVMX_ERR_CLOSED;
    else if (!(found = svmx__operations_by_name(executor->operations, name)))
        status = SVMX_ERR_UNKNOWN;
    if (status == SVMX_OK) {
        *op = found->id;
        return SVMX_OK;
    }
    if (!error) return status;
    error->status = status;
    if (status == SVMX_ERR_UNKNOWN)
        (void)snprintf(error->text, sizeof error->text, "no operation is called '%.64s'; svmx ops lists them", name);
    else
        (void)snprintf(error->text, sizeof error->text, "%s",
                       status == SVMX_ERR_CLOSED ? svmx__closed_text(executor) : "executor, name or op is NULL");
    return status;
}

uint32_t svmx_config_count(const svmx_executor_t *executor) { return is_open(executor) ? SVMX__SETTING_COUNT : 0; }

enum svmx_status svmx_config_get(const svmx_executor_t *executor, uint32_t index, struct svmx_config_entry *entry) {
    if (!executor || !svmx__is_served(entry, FIRST_CONFIG_ENTRY)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    if (index >= SVMX__SETTING_COUNT) return SVMX_ERR_UNKNOWN;
    struct svmx_config_entry now;
    svmx__config_entry(&executor->config, index, &now);
    svmx__give(entry, &now, sizeof now);
    return SVMX_OK;
}

enum svmx_status svmx_sizes_get(const svmx_executor_t *executor, uint32_t op, uint64_t counts[SVMX_SIZE_LINES]) {
    if (!executor || !counts) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    if (!svmx__operations_by_id(executor->operations, op)) return SVMX_ERR_UNKNOWN;
    for (uint32_t i = 0; i < SVMX_SIZE_LINES; i++) counts[i] = read(&executor->sizes[op][i]);
    return SVMX_OK;
}

static void add_pool(struct svmx_stats *stats, struct svmx__staging_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    stats->pool_hits += pool->hits;
    stats->pool_misses += pool->misses;
    stats->pool_refusals += pool->refusals;
    stats->pool_evictions += pool->evictions;
    stats->pool_bytes += pool->held_bytes;
    stats->pool_bytes_peak += pool->held_bytes_peak;
    pthread_mutex_unlock(&pool->lock);
}

/* Student's t for 95 %: a few probes know their own spread badly, so their interval is wider. */
static double student(uint64_t degrees) {
    static const double few[] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
    return degrees < sizeof few / sizeof *few ? few[degrees] : 1.96 + 2.5 / (double)degrees;
}

/* What the probes showed: their mean, with its interval. One probe has none: it says nothing of how far others differ. */
static void add_regret(struct svmx_stats *stats, double sum, double squares) {
    const double count = (double)stats->probes, mean = sum / count;
    stats->regret_ppm = (uint64_t)mean;
    stats->regret_high_ppm = WHOLE_PPM;
    if (stats->probes < 2) return;
    const double variance = (squares - sum * mean) / (count - 1);
    const double half = student(stats->probes - 1) * sqrt((variance > 0 ? variance : 0) / count);
    stats->regret_low_ppm = mean > half ? (uint64_t)(mean - half) : 0;
    stats->regret_high_ppm = mean + half < WHOLE_PPM ? (uint64_t)(mean + half) : WHOLE_PPM;
}

static void add_choices(struct svmx_stats *stats, const struct svmx_executor *executor) {
    const struct svmx__choices *choices = &executor->choices;
    stats->probes = read(&choices->probes);
    stats->probe_ns = read(&choices->probe_ns);
    stats->drifts = read(&executor->model.changes);
    stats->receipts = read(&executor->records.next);
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) stats->flips += read(&choices->of_op[op].flips);
    if (stats->probes)
        add_regret(stats, (double)read(&choices->regret_ppm), (double)read(&choices->regret_ppm_squared));
}

static uint64_t under_way(const struct svmx_executor *executor) {
    pthread_mutex_t *admission = (pthread_mutex_t *)(uintptr_t)&executor->admission; /* a lock is no state of it */
    pthread_mutex_lock(admission);
    const uint64_t count = executor->under_way;
    pthread_mutex_unlock(admission);
    return count;
}

enum svmx_status svmx_stats_get(const svmx_executor_t *executor, struct svmx_stats *stats) {
    if (!executor || !svmx__is_served(stats, FIRST_STATS)) return SVMX_ERR_ARGUMENT;
    if (!is_open(executor)) return SVMX_ERR_CLOSED;
    struct svmx_stats now = {.batches = read(&executor->batches),
                             .tasks = read(&executor->tasks),
                             .cancelled = read(&executor->cancelled),
                             .fallbacks = read(&executor->fallbacks),
                             .compared = read(&executor->compared),
                             .differed = read(&executor->differed),
                             .overloads = read(&executor->overloads),
                             .allocs_refused = read(&executor->allocs_refused),
                             .allocs_late = read(&executor->allocs_late),
                             .fallbacks_timeout = read(&executor->causes[SVMX__CAUSE_TIMEOUT]),
                             .fallbacks_lost = read(&executor->causes[SVMX__CAUSE_LOST]),
                             .fallbacks_memory = read(&executor->causes[SVMX__CAUSE_MEMORY]),
                             .fallbacks_wrong = read(&executor->causes[SVMX__CAUSE_WRONG]),
                             .fallbacks_error = read(&executor->causes[SVMX__CAUSE_ERROR]),
                             .failed = read(&executor->failed),
                             .under_way = under_way(executor),
                             .queue_depth = executor->config.number[SVMX__QUEUE_DEPTH],
                             .open_ns = svmx__clock_ns() - executor->opened_ns,
                             .pipeline_evictions = read(&executor->pipelines.evictions),
                             .cache_hits = read(&executor->binaries.hits),
                             .cache_misses = read(&executor->binaries.misses),
                             .cache_stored = read(&executor->binaries.stored),
                             .cache_removed = read(&executor->binaries.removed),
                             .cache_evicted = read(&executor->binaries.evicted)};
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx_op_stats sum = {.size = sizeof sum};
        svmx__tally_device(&executor->devices[i], &sum);
        now.launches += sum.launches;
        svmx__tally_looks(&executor->devices[i], &now);
        for (struct svmx__life *life = svmx__life_of(&executor->devices[i]); life; life = life->before)
            add_pool(&now, &life->pool);
    }
    add_choices(&now, executor);
    svmx__give(stats, &now, sizeof now);
    return SVMX_OK;
}
