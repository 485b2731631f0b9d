/*
 * scan_measure.c: one row: an operation in one size on the CPU and on one GPU.
 *
 *   first run of each, compared with the reference code -> warm-up -> samples, the sides in turns
 *   more samples while the winner is not certain -> medians of times and receipts
 *
 * Sides take turns so that what slows the machine for a while slows both, and change who begins so that neither always
 * finds the caches as the other leaves them. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdlib.h>

enum { CLOCK_TRIES = 20 };

/* What was seen of one side. */
struct seen {
    struct scan_side *side;
    uint64_t *times_ns; /* max_samples of them; a copy is sorted, since more may follow */
    uint64_t first_ns;
    struct svmx_receipt *receipts;
};

struct measuring {
    struct scan_row *row;
    const struct scan_task *task;
    const struct scan_settings *settings;
    struct seen cpu, gpu;
    uint32_t samples;
    uint32_t judge_at; /* as soon as there are so many */
    uint64_t start_ns;
};

/* ---- runs ------------------------------------------------------------------------------------------------------- */

static enum scan_outcome run_failed(const struct measuring *m, const struct seen *seen, enum svmx_status status,
                                    const char *why) {
    if (status == SVMX_ERR_UNSUPPORTED && seen == &m->gpu) return SCAN_NOT_OFFERED;
    if ((status == SVMX_ERR_MEMORY || status == SVMX_ERR_OVERFLOW) && seen == &m->gpu) return SCAN_TOO_LARGE;
    cli_error("%s, size %llu, on %s: %s: %s", m->task->op->op.name, (unsigned long long)m->task->size,
              seen->side->label, svmx_status_name(status), why);
    return SCAN_FAILED;
}

static void compare(const struct measuring *m, const struct seen *seen) {
    if (scan_task_agrees(m->task)) return;
    if (m->row->verified)
        cli_error("%s, size %llu: the result of %s is not that of the reference code", m->task->op->op.name,
                  (unsigned long long)m->task->size, seen->side->label);
    m->row->verified = false;
}

static enum scan_outcome run_once(struct measuring *m, struct seen *seen, bool checked, uint64_t *ns,
                                  struct svmx_receipt *receipt) {
    char why[SCAN_WHY_BYTES] = "";
    if (!seen->side) return SCAN_MEASURED;
    if (scan_stop_asked()) return SCAN_STOPPED;
    if (checked) scan_task_dirty(m->task);
    enum svmx_status status = scan_side_run(seen->side, ns, receipt, why);
    if (status != SVMX_OK) return run_failed(m, seen, status, why);
    if (checked) compare(m, seen);
    return SCAN_MEASURED;
}

/* Puts the task in, and runs it for the first time. */
static enum scan_outcome begin(struct measuring *m, struct seen *seen) {
    struct svmx_receipt receipt;
    if (!seen->side) return SCAN_MEASURED;
    if (scan_side_load(seen->side, m->task) != CLI_OK) return SCAN_FAILED;
    return run_once(m, seen, true, &seen->first_ns, &receipt);
}

static enum scan_outcome warm_up(struct measuring *m) {
    enum scan_outcome outcome = SCAN_MEASURED;
    struct svmx_receipt receipt;
    uint64_t ns;
    for (uint32_t i = 0; i < 2 * m->settings->warmup && outcome == SCAN_MEASURED; i++)
        outcome = run_once(m, i % 2 ? &m->gpu : &m->cpu, false, &ns, &receipt);
    return outcome;
}

static enum scan_outcome sample(struct measuring *m) {
    enum scan_outcome outcome = SCAN_MEASURED;
    const uint32_t at = m->samples;
    for (uint32_t i = 0; i < 2 && outcome == SCAN_MEASURED; i++) {
        struct seen *seen = (at + i) % 2 ? &m->gpu : &m->cpu;
        if (seen->side) outcome = run_once(m, seen, m->settings->verify, &seen->times_ns[at], &seen->receipts[at]);
    }
    if (outcome == SCAN_MEASURED) m->samples++;
    return outcome;
}

/* ---- what they say ---------------------------------------------------------------------------------------------- */

static struct scan_spread spread_of(const struct measuring *m, const struct seen *seen) {
    uint64_t *sorted = cli_grow(NULL, m->samples, sizeof *sorted);
    for (uint32_t i = 0; i < m->samples; i++) sorted[i] = seen->times_ns[i];
    const struct scan_spread spread = scan_spread_of(sorted, m->samples);
    free(sorted);
    return spread;
}

/* Sorts all samples, so the more there are, the more must come before it is worth doing again. */
static void judge(struct measuring *m) {
    m->judge_at = m->samples + 1 + m->samples / 32;
    m->row->samples = m->samples;
    m->row->cpu_ns = spread_of(m, &m->cpu);
    if (m->gpu.side) m->row->gpu_ns = spread_of(m, &m->gpu);
    m->row->decided = !m->gpu.side || scan_is_decided(&m->row->cpu_ns, &m->row->gpu_ns);
}

/* Whether another sample is worth its time. */
static bool wants_more(const struct measuring *m) {
    if (m->samples < m->settings->samples) return true;
    if (m->row->decided || m->samples >= m->settings->max_samples) return false;
    return scan_now_ns() - m->start_ns < m->settings->limit_ns;
}

enum part { SETUP, UPLOAD, COMPUTE, READBACK, DEVICE };

static uint64_t part_ns(const struct svmx_receipt *receipt, enum part part) {
    switch (part) {
    case SETUP: return receipt->setup_ns;
    case UPLOAD: return receipt->upload_ns;
    case COMPUTE: return receipt->compute_ns;
    case READBACK: return receipt->transfer_ns - receipt->upload_ns;
    case DEVICE: return receipt->device_ns;
    }
    return 0;
}

/* The median of one part of a launch over the samples that the device's clock spoke in; 0: it never did. */
static double part_median(const struct measuring *m, enum part part) {
    uint64_t *numbers = cli_grow(NULL, m->samples, sizeof *numbers);
    size_t count = 0;
    for (uint32_t i = 0; i < m->samples; i++)
        if (m->gpu.receipts[i].device_ns) numbers[count++] = part_ns(&m->gpu.receipts[i], part);
    const double median = count ? scan_median(numbers, count) : 0;
    free(numbers);
    return median;
}

static bool clock_spoke(const struct measuring *m) {
    for (uint32_t i = 0; i < m->samples; i++)
        if (m->gpu.receipts[i].device_ns) return true;
    return false;
}

/* A short launch that was held up is one whose clock is not believed: it says next to nothing of what passed. With few
 * samples that may be all of them, so the parts of a launch come from further runs, whose times do not count. */
static enum scan_outcome clock_ask(struct measuring *m) {
    enum scan_outcome outcome = SCAN_MEASURED;
    uint64_t ns;
    for (int i = 0; m->gpu.side && i < CLOCK_TRIES && outcome == SCAN_MEASURED && !clock_spoke(m); i++)
        outcome = run_once(m, &m->gpu, false, &ns, &m->gpu.receipts[0]);
    return outcome;
}

static enum scan_outcome receipts_take(struct measuring *m) {
    struct scan_row *row = m->row;
    row->cpu_first_ns = m->cpu.first_ns;
    row->bucket = (m->gpu.side ? &m->gpu : &m->cpu)->receipts[0].bucket;
    if (!m->gpu.side) return SCAN_MEASURED;
    row->first_ns = m->gpu.first_ns;
    row->setup_ns = part_median(m, SETUP);
    row->upload_ns = part_median(m, UPLOAD);
    row->compute_ns = part_median(m, COMPUTE);
    row->readback_ns = part_median(m, READBACK);
    row->device_ns = part_median(m, DEVICE);
    row->dispatches = m->gpu.receipts[0].launches;
    row->readbacks = m->gpu.receipts[0].readbacks;
    if (row->device_ns > 0) return SCAN_MEASURED;
    cli_error("%s, size %llu, on %s: its clock says nothing that can be believed, so this is no result",
              m->task->op->op.name, (unsigned long long)m->task->size, m->gpu.side->label);
    return SCAN_NO_CLOCK;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static enum scan_outcome measure(struct measuring *m) {
    enum scan_outcome outcome = begin(m, &m->gpu); /* first: a device that has no such operation costs nothing more */
    if (outcome == SCAN_MEASURED) outcome = begin(m, &m->cpu);
    if (outcome == SCAN_MEASURED) outcome = warm_up(m);
    while (outcome == SCAN_MEASURED && wants_more(m)) {
        outcome = sample(m);
        if (outcome == SCAN_MEASURED && m->samples >= m->judge_at) judge(m);
    }
    if (outcome == SCAN_MEASURED && m->row->samples < m->samples) judge(m);
    if (outcome == SCAN_MEASURED) outcome = clock_ask(m);
    return outcome == SCAN_MEASURED ? receipts_take(m) : outcome;
}

static struct seen seen_make(struct scan_side *side, uint32_t samples) {
    return (struct seen){.side = side,
                         .times_ns = cli_grow(NULL, samples, sizeof(uint64_t)),
                         .receipts = cli_grow(NULL, samples, sizeof(struct svmx_receipt))};
}

static void seen_free(struct seen *seen) {
    free(seen->times_ns);
    free(seen->receipts);
}

enum scan_outcome scan_measure(struct scan_row *row, struct scan_side *cpu, struct scan_side *gpu,
                               const struct scan_task *task, const struct scan_settings *settings) {
    *row = (struct scan_row){.op = task->op, .size = task->size, .cpu = cpu, .gpu = gpu, .verified = true};
    struct measuring m = {.row = row,
                          .task = task,
                          .settings = settings,
                          .judge_at = settings->samples,
                          .cpu = seen_make(cpu, settings->max_samples),
                          .gpu = seen_make(gpu, settings->max_samples),
                          .start_ns = scan_now_ns()};
    const enum scan_outcome outcome = measure(&m);
    seen_free(&m.cpu);
    seen_free(&m.gpu);
    return outcome;
}
