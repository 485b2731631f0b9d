/*
 * cmd_scan.c: `svmx threshold-scan`: from which size on does a GPU win, on this machine? A CSV file, and the crossovers.
 *
 *   plan (operations x sizes) -> for each a task, checked by the reference code -> a row for each GPU beside the CPU
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

struct scan {
    const struct cli_args *args;
    struct scan_settings settings;
    struct cli_session reference;
    struct scan_plan plan;
    struct scan_side cpu, *gpus;
    unsigned gpu_count;
    struct scan_csv csv;
    struct scan_progress progress;
    FILE *words; /* for people; NULL: quiet */
    struct scan_rows rows;
};

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static enum cli_exit sides_open(struct scan *scan) {
    const char *policy = scan->args->common[CLI_POLICY].text;
    enum cli_exit code = scan_cpu_open(&scan->cpu, scan->args);
    if (code == CLI_OK && (!policy || strcmp(policy, "cpu") != 0))
        code = scan_gpus_open(&scan->gpus, &scan->gpu_count, scan->args);
    for (unsigned i = 0; code == CLI_OK && i < scan->gpu_count; i++)
        if (scan_same_device(&scan->cpu, &scan->gpus[i]))
            code = cli_args_refuse(scan->args->command,
                                   "--cpu %s is the device that is measured, %s:%u: give all, one, scalar or another",
                                   scan->args->own[SCAN_CPU].text, scan->cpu.device.backend, scan->cpu.device.index);
    return code;
}

static enum cli_exit output_open(struct scan *scan) {
    const struct cli_value *own = scan->args->own;
    const bool json = cli_args_json(scan->args);
    if (!own[SCAN_QUIET].given) scan->words = json || strcmp(own[SCAN_OUTPUT].text, "-") == 0 ? stderr : stdout;
    if (json && !own[SCAN_OUTPUT].given) return CLI_OK; /* the document is there instead */
    return scan_csv_open(&scan->csv, scan->args, scan_format_of(&scan->settings, scan->args));
}

/* Whether there is none, or an option leaves it out. A list of backends may have asked for one that is not there. */
static void say_no_gpu(struct scan *scan) {
    const struct cli_value *common = scan->args->common;
    if (common[CLI_POLICY].text && strcmp(common[CLI_POLICY].text, "cpu") == 0)
        scan_progress_say(&scan->progress, "gpu: none asked for (--policy cpu): the CPU is measured alone");
    else if (common[CLI_DEVICE].text)
        scan_progress_say(&scan->progress, "gpu: none asked for (--device %s): the CPU is measured alone",
                          common[CLI_DEVICE].text);
    else if (common[CLI_BACKEND].text)
        scan_progress_say(&scan->progress, "gpu: none by --backend %s, so the CPU is measured alone",
                          common[CLI_BACKEND].text);
    else
        scan_progress_say(&scan->progress, "gpu: none, so the CPU is measured alone");
}

static void say_sides(struct scan *scan) {
    scan_progress_say(&scan->progress, "cpu: %s: %s", scan->cpu.shown, scan->cpu.label);
    for (unsigned i = 0; i < scan->gpu_count; i++)
        scan_progress_say(&scan->progress, "gpu: %s: %s", scan->gpus[i].shown, scan->gpus[i].label);
    if (!scan->gpu_count) say_no_gpu(scan);
}

/* ---- the scan --------------------------------------------------------------------------------------------------- */

/* The state of an operation on a GPU, or on the CPU where that is measured alone. */
static struct scan_side *state_of(struct scan *scan, struct scan_side *gpu) { return gpu ? gpu : &scan->cpu; }

static struct scan_side *gpu_at(struct scan *scan, unsigned at) { return scan->gpu_count ? &scan->gpus[at] : NULL; }

static unsigned turns(const struct scan *scan) { return scan->gpu_count ? scan->gpu_count : 1; }

/* Rows that took less are mostly latency, and tell nothing of larger ones. */
static const double TELLING_NS = 1e7;

/* Whether a size would take too long, by what the one before took. */
static void length_check(struct scan *scan, struct scan_side *state, const struct scan_op *op, uint64_t size) {
    if (state->out || state->last_size == 0 || state->last_ns < TELLING_NS) return;
    const double expected = state->last_ns * scan_work(op, size) / scan_work(op, state->last_size);
    if (expected <= (double)scan->settings.limit_ns) return;
    state->out = true;
    state->too_long = true;
    scan_progress_say(&scan->progress, "%-18s %11s  left out on %s: would take about %.0f s, --limit is %llu",
                      op->op.name, cli_count(size).line, state->shown, expected / 1e9,
                      (unsigned long long)scan->args->own[SCAN_LIMIT].number);
}

static void row_remember(struct scan *scan, struct scan_side *state, const struct scan_task *task,
                         const struct scan_row *row) {
    const double runs = scan->settings.warmup + scan->settings.samples + 1;
    state->last_size = row->size;
    state->last_ns = (double)task->reference_ns + runs * (row->cpu_ns.mean + row->gpu_ns.mean);
    scan->rows.rows = cli_grow(scan->rows.rows, scan->rows.count + 1, sizeof *row);
    scan->rows.rows[scan->rows.count++] = *row;
    scan->rows.wrong += !row->verified;
}

/* Nor will it have a larger one. */
static void leave_out(struct scan *scan, struct scan_side *state, const struct scan_op *op, uint64_t size,
                      const char *whom) {
    state->out = state->too_large = true;
    scan->rows.too_large++;
    scan_progress_say(&scan->progress, "%-18s %11s  left out on %s: too large for %s", op->op.name,
                      cli_count(size).line, state->shown, whom);
}

static enum cli_exit row_scan(struct scan *scan, struct scan_side *gpu, const struct scan_task *task) {
    struct scan_side *state = state_of(scan, gpu);
    struct scan_row row;
    switch (scan_measure(&row, &scan->cpu, gpu, task, &scan->settings)) {
    case SCAN_MEASURED: break;
    case SCAN_NOT_OFFERED:
        state->out = true;
        scan_progress_say(&scan->progress, "%-18s %11s  %s does not offer it", task->op->op.name, "", state->shown);
        return CLI_OK;
    case SCAN_TOO_LARGE: leave_out(scan, state, task->op, task->size, "it"); return CLI_OK;
    case SCAN_FAILED:
        state->out = true;
        scan->rows.failed++;
        return CLI_OK;
    case SCAN_NO_CLOCK: scan->rows.failed++; return CLI_OK;
    case SCAN_STOPPED: return CLI_OK;
    }
    row_remember(scan, state, task, &row);
    scan_progress_row(&scan->progress, &row);
    return scan->csv.out ? scan_csv_row(&scan->csv, &row) : CLI_OK;
}

/* No device gets this size, nor a larger one: there is no memory for it, or the reference code failed. */
static void size_failed(struct scan *scan) {
    for (unsigned i = 0; i < turns(scan); i++) {
        struct scan_side *state = state_of(scan, gpu_at(scan, i));
        scan->rows.failed += !state->out;
        state->out = true;
    }
}

/* All devices that are still to have a size. */
static enum cli_exit rows_scan(struct scan *scan, const struct scan_op *op, uint64_t size) {
    struct scan_task task;
    enum cli_exit code = scan_task_make(&task, &scan->reference, op, size, scan->args->own[SCAN_SEED].number);
    if (code != CLI_OK) {
        scan_task_free(&task);
        if (code == CLI_FAILED) size_failed(scan);
        for (unsigned i = 0; code == CLI_USAGE && i < turns(scan); i++)
            leave_out(scan, state_of(scan, gpu_at(scan, i)), op, size, "the operation");
        return CLI_OK;
    }
    for (unsigned i = 0; i < turns(scan) && code == CLI_OK && !scan_stop_asked(); i++)
        if (!state_of(scan, gpu_at(scan, i))->out) code = row_scan(scan, gpu_at(scan, i), &task);
    for (unsigned i = 0; i < turns(scan); i++) (void)svmx_batch_reset(state_of(scan, gpu_at(scan, i))->batch);
    (void)svmx_batch_reset(scan->cpu.batch); /* it names memory of the task */
    scan_task_free(&task);
    return code;
}

static enum cli_exit size_scan(struct scan *scan, const struct scan_op *op, uint64_t size) {
    unsigned wanted = 0;
    for (unsigned i = 0; i < turns(scan); i++) {
        struct scan_side *state = state_of(scan, gpu_at(scan, i));
        length_check(scan, state, op, size);
        wanted += !state->out;
        scan->rows.left_out += state->too_long;
        scan->rows.too_large += state->too_large;
    }
    enum cli_exit code = wanted ? rows_scan(scan, op, size) : CLI_OK;
    for (unsigned i = 0; i < turns(scan); i++) scan_progress_step(&scan->progress, op, size);
    return code;
}

static enum cli_exit op_scan(struct scan *scan, const struct scan_op *op) {
    enum cli_exit code = CLI_OK;
    for (unsigned i = 0; i < turns(scan); i++) {
        struct scan_side *state = state_of(scan, gpu_at(scan, i));
        state->out = state->too_long = state->too_large = false;
        state->last_size = 0;
    }
    for (unsigned k = 0; k < op->sizes.count && code == CLI_OK && !scan_stop_asked(); k++)
        code = size_scan(scan, op, op->sizes.size[k]);
    return code;
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static enum cli_exit verdict(const struct scan *scan) {
    if (scan->rows.stopped) {
        cli_error("interrupted: %s measured", cli_counted(scan->rows.count, "row").line);
        return CLI_INTERRUPTED;
    }
    if (scan->rows.wrong) cli_error("%s: not the reference code's", cli_counted(scan->rows.wrong, "result").line);
    if (scan->rows.failed) cli_error("%s could not be measured", cli_counted(scan->rows.failed, "row").line);
    if (scan->rows.count == 0 && scan->rows.too_large)
        cli_error("every size is too large for its device or operation: try smaller --sizes");
    return scan->rows.wrong || scan->rows.failed || (scan->rows.count == 0 && scan->rows.too_large) ? CLI_FAILED
                                                                                                    : CLI_OK;
}

static enum cli_exit scan_all(struct scan *scan) {
    enum cli_exit code = CLI_OK;
    scan_stop_watch();
    scan_progress_start(&scan->progress, scan->words, &scan->plan, scan->gpu_count);
    say_sides(scan);
    for (unsigned i = 0; i < scan->plan.count && code == CLI_OK && !scan_stop_asked(); i++)
        code = op_scan(scan, &scan->plan.ops[i]);
    scan_progress_end(&scan->progress);
    scan->rows.stopped = scan_stop_asked();
    if (code != CLI_OK) return code;
    if (scan->words) scan_crossings_text(&scan->rows, scan->words);
    if (scan->words && scan->csv.out && scan->csv.out != stdout)
        fprintf(scan->words, "%s: %s\n", scan->csv.path, cli_counted(scan->rows.count, "row").line);
    if (cli_args_json(scan->args)) scan_json(&scan->rows, &scan->cpu);
    return verdict(scan);
}

static void scan_free(struct scan *scan) {
    scan_side_close(&scan->cpu);
    for (unsigned i = 0; i < scan->gpu_count; i++) scan_side_close(&scan->gpus[i]);
    free(scan->gpus);
    free(scan->rows.rows);
    scan_plan_free(&scan->plan);
    cli_session_close(&scan->reference);
}

static enum cli_exit scan_run(const struct cli_args *args) {
    struct scan scan = {.args = args};
    enum cli_exit code = scan_options_take(&scan.settings, args);
    if (code == CLI_OK) code = cli_session_open_bare(&scan.reference);
    if (code == CLI_OK) code = scan_plan_make(&scan.plan, &scan.reference, args);
    if (code == CLI_OK) code = sides_open(&scan);
    if (code == CLI_OK) code = output_open(&scan);
    if (code == CLI_OK) code = scan_all(&scan);
    code = scan_csv_close(&scan.csv, code);
    scan_free(&scan);
    return code;
}

const struct cli_command cli_scan = {
    .name = "threshold-scan",
    .operands = "",
    .summary = "measure from which size on a GPU wins, into a CSV file",
    .details = "Runs operations in growing sizes on the CPU and on every GPU that is found, in turns, and\n"
               "writes a row for each; then says from which size on the GPU's median is below 0.9 of the\n"
               "CPU's, also at all larger sizes. Every result is compared with the reference code first.\n"
               "A GPU is whatever does not compute in the caller's memory, also a CPU behind OpenCL,\n"
               "which is labelled so. Sizes are elements; bytes of messages of 32 for hashes; rows and\n"
               "columns for matmul_f32. Ctrl-C leaves what was measured. docs/THRESHOLDS.md has the columns.\n"
               "  svmx threshold-scan --op keccak256 --sizes 1K:1M:x2 --output keccak.csv\n"
               "A size that a device has no memory for is left out there, and said. The exit status is 4 if a\n"
               "result was wrong or a row could not be measured, 130 after Ctrl-C.\n",
    .executor = true,
    .options = scan_options,
    .option_count = SCAN_OPTION_COUNT,
    .run = scan_run,
};
