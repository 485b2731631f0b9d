/*
 * tally.c: see tally.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/tally.h"

#include "base/clock.h"
#include "base/versioned.h"
#include "executor/batch.h"
#include "executor/executor.h"
#include "executor/stages.h"

enum { FIRST_OP_STATS = SVMX__THROUGH(struct svmx_op_stats, regret_ppm) };

/* ---- counting ---------------------------------------------------------------------------------------------------- */

static void add(_Atomic uint64_t *counter, uint64_t value) {
    atomic_fetch_add_explicit(counter, value, memory_order_relaxed);
}

/* A branch that is always taken the same way costs less than an addition that others must see. */
static void add_some(_Atomic uint64_t *counter, uint64_t value) {
    if (value) add(counter, value);
}

static struct svmx__tally *tally_of(const struct svmx__part *part) { return &part->device->tallies[part->op->id]; }

static uint32_t line_of(uint64_t ns) {
    const uint32_t log2 = svmx__log2_up(ns);
    return log2 < SVMX_LATENCY_LINES ? log2 : SVMX_LATENCY_LINES - 1;
}

void svmx__tally_part(const struct svmx__part *part, const struct svmx__sample *sample) {
    struct svmx__tally *tally = tally_of(part);
    const uint64_t wait_ns = svmx__clock_since(part->start_ns, part->queued_ns);
    const uint64_t stage_ns = svmx__clock_since(part->dispatch_ns, part->start_ns);
    const uint64_t run_ns = svmx__clock_since(part->done_ns, part->dispatch_ns), own_ns = svmx__own_ns(part);
    const uint64_t collect_ns = svmx__clock_since(part->end_ns, part->done_ns);
    add(&tally->tasks, part->task_count);
    add(&tally->bytes_in, part->bytes_in);
    add(&tally->bytes_out, part->bytes_out);
    add(&tally->run_ns, own_ns);
    add(&tally->decisions[part->answer.why < SVMX_WHY_LINES ? part->answer.why : 0], 1);
    add(&tally->latency[line_of(wait_ns + stage_ns + run_ns + collect_ns)], 1);
    add_some(&tally->more_launches, (uint64_t)part->launches - 1);
    add_some(&tally->wait_ns, wait_ns + run_ns - own_ns);
    add_some(&tally->stage_ns, stage_ns);
    add_some(&tally->collect_ns, collect_ns);
    add_some(&tally->setup_ns, sample->setup_ns);
    add_some(&tally->transfer_ns, sample->transfer_ns);
    if (part->device->host_memory) return; /* where all of it is computing */
    add(&tally->compute_ns, sample->compute_ns);
    add(&tally->busy_ns, own_ns - sample->setup_ns);
    add_some(&tally->device_ns, part->device_ns);
}

static enum svmx_failure failure_of(enum svmx_status status) {
    switch (status) {
    case SVMX_TIMEOUT: return SVMX_FAILED_TIMEOUT;
    case SVMX_ERR_DEVICE_LOST: return SVMX_FAILED_DEVICE_LOST;
    case SVMX_ERR_WRONG_RESULT: return SVMX_FAILED_WRONG_RESULT;
    case SVMX_ERR_MEMORY: return SVMX_FAILED_MEMORY;
    default: return SVMX_FAILED_BACKEND;
    }
}

void svmx__tally_failure(const struct svmx__part *part) { add(&tally_of(part)->failures[failure_of(part->status)], 1); }

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static uint64_t read(const _Atomic uint64_t *counter) { return atomic_load_explicit(counter, memory_order_relaxed); }

bool svmx__tally_is_used(const struct svmx__tally *tally) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < SVMX_WHY_LINES; i++) any |= read(&tally->decisions[i]);
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++) any |= read(&tally->failures[i]);
    return any != 0;
}

void svmx__tally_read(const struct svmx__device *device, uint32_t op, struct svmx_op_stats *sum) {
    const struct svmx__tally *tally = &device->tallies[op];
    const uint64_t run_ns = read(&tally->run_ns);
    uint64_t parts = 0;
    for (uint32_t i = 0; i < SVMX_WHY_LINES; i++) {
        const uint64_t count = read(&tally->decisions[i]);
        sum->decisions[i] += count;
        parts += count;
    }
    for (uint32_t i = 0; i < SVMX_LATENCY_LINES; i++) sum->latency[i] += read(&tally->latency[i]);
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++) sum->failures[i] += read(&tally->failures[i]);
    sum->parts += parts;
    sum->launches += parts + read(&tally->more_launches);
    sum->tasks += read(&tally->tasks);
    sum->bytes_in += read(&tally->bytes_in);
    sum->bytes_out += read(&tally->bytes_out);
    sum->wait_ns += read(&tally->wait_ns);
    sum->stage_ns += read(&tally->stage_ns);
    sum->run_ns += run_ns;
    sum->collect_ns += read(&tally->collect_ns);
    sum->setup_ns += read(&tally->setup_ns);
    sum->transfer_ns += read(&tally->transfer_ns);
    sum->compute_ns += device->host_memory ? run_ns : read(&tally->compute_ns);
    sum->busy_ns += device->host_memory ? run_ns : read(&tally->busy_ns);
    sum->device_ns += read(&tally->device_ns);
    sum->pipeline_hits += read(&tally->pipeline_hits);
    sum->pipeline_misses += read(&tally->pipeline_misses);
    sum->layout_hits += read(&tally->layout_hits);
    sum->layout_misses += read(&tally->layout_misses);
}

void svmx__tally_looks(const struct svmx__device *device, struct svmx_stats *sum) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        sum->pipeline_hits += read(&device->tallies[op].pipeline_hits);
        sum->pipeline_misses += read(&device->tallies[op].pipeline_misses);
        sum->layout_hits += read(&device->tallies[op].layout_hits);
        sum->layout_misses += read(&device->tallies[op].layout_misses);
    }
}

void svmx__tally_device(const struct svmx__device *device, struct svmx_op_stats *sum) {
    const struct svmx__operations *operations = device->executor->operations;
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        if (svmx__operations_by_id(operations, op) && svmx__tally_is_used(&device->tallies[op]))
            svmx__tally_read(device, op, sum);
}

static void read_choices(const struct svmx__choices *choices, uint32_t op, struct svmx_op_stats *stats) {
    stats->flips = read(&choices->of_op[op].flips);
    stats->probes = read(&choices->of_op[op].probes);
    stats->regret_ppm = stats->probes ? read(&choices->of_op[op].regret_ppm) / stats->probes : 0;
}

enum svmx_status svmx_op_stats_get(const svmx_executor_t *executor, uint32_t op, uint32_t device,
                                   struct svmx_op_stats *stats) {
    if (!executor || !svmx__is_served(stats, FIRST_OP_STATS)) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    if (!svmx__operations_by_id(executor->operations, op)) return SVMX_ERR_UNKNOWN;
    if (device >= executor->device_count && device != SVMX_ALL_DEVICES) return SVMX_ERR_UNKNOWN;
    struct svmx_op_stats now = {.size = sizeof now};
    for (uint32_t d = 0; d < executor->device_count; d++)
        if (d == device || device == SVMX_ALL_DEVICES) svmx__tally_read(&executor->devices[d], op, &now);
    read_choices(&executor->choices, op, &now);
    svmx__give(stats, &now, sizeof now);
    return SVMX_OK;
}

static const char *const failure_words[] = {[SVMX_FAILED_BACKEND] = "backend",
                                            [SVMX_FAILED_TIMEOUT] = "timeout",
                                            [SVMX_FAILED_DEVICE_LOST] = "device_lost",
                                            [SVMX_FAILED_WRONG_RESULT] = "wrong_result",
                                            [SVMX_FAILED_MEMORY] = "memory"};

const char *svmx_failure_name(uint32_t failure) {
    return failure < SVMX_FAILURE_LINES ? failure_words[failure] : "unknown";
}
