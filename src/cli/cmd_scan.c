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

static const struct cli_option scan_options[SCAN_OPTION_COUNT] = {
    [SCAN_OP] = {.name = "op",
                 .value = "LIST",
                 .help = "operations, with commas, or all; default vec_add_f32, sigmoid_f32, matmul_f32,\n"
                         "sha256 and keccak256"},
    [SCAN_SIZES] = {.name = "sizes",
                    .value = "LIST",
                    .help = "sizes, with commas: 1024,4K, or from 1K to 4M times 4: 1K:4M:x4 or 1K:4M:2\n"
                            "(times 2^2); default 1K:4M:x4, of matmul_f32 100,500,1000"},
    [SCAN_SAMPLES] = {.name = "samples",
                      .value = "N",
                      .number = true,
                      .minimum = 1,
                      .maximum = 10000,
                      .standard = "5",
                      .help = "runs of each side that count"},
    [SCAN_MAX_SAMPLES] = {.name = "max-samples",
                          .value = "N",
                          .number = true,
                          .minimum = 1,
                          .maximum = 10000,
                          .help = "up to so many while the winner is not certain; default 25,\nor --samples if that is "
                                  "more, or 1"},
    [SCAN_WARMUP] = {.name = "warmup",
                     .value = "N",
                     .number = true,
                     .maximum = 10000,
                     .standard = "2",
                     .help = "runs before those, beside the first, which is checked"},
    [SCAN_CPU] = {.name = "cpu",
                  .value = "SIDE",
                  .standard = "all",
                  .help = "what GPUs are compared with: SIMD with all threads (all) or one, the\n"
                          "scalar reference code (scalar), or a device NAME:DEVICE"},
    [SCAN_LIMIT] = {.name = "limit",
                    .value = "S",
                    .number = true,
                    .maximum = 86400,
                    .standard = "10",
                    .help = "sizes whose row would take more than S seconds are left out; 0: none is"},
    [SCAN_OUTPUT] = {.name = "output",
                     .value = "FILE",
                     .standard = "threshold-scan.csv",
                     .help = "where the CSV goes, written anew; - is standard output"},
    [SCAN_APPEND] = {.name = "append", .help = "add to FILE; its columns must be the same"},
    [SCAN_FORMAT] = {.name = "format",
                     .value = "F",
                     .standard = "csv",
                     .help = "csv; prototype: size,device,duration_ms,first,backend_mask_hint,\na line a device"},
    [SCAN_SEED] = {.name = "seed",
                   .value = "S",
                   .number = true,
                   .maximum = UINT64_MAX,
                   .standard = "1",
                   .help = "of the made-up data"},
    [SCAN_VERIFY] = {.name = "verify", .help = "compare with the reference code after every run, not only the first"},
    [SCAN_QUIET] = {.name = "quiet", .letter = 'q', .help = "say nothing but errors"},
};

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

/* ---- options ---------------------------------------------------------------------------------------------------- */

static enum cli_exit samples_take(struct scan *scan) {
    const struct cli_value *own = scan->args->own;
    struct scan_settings *settings = &scan->settings;
    settings->samples = settings->max_samples = (uint32_t)own[SCAN_SAMPLES].number;
    if (settings->samples > 1 && settings->samples < 25) settings->max_samples = 25;
    if (own[SCAN_MAX_SAMPLES].given) settings->max_samples = (uint32_t)own[SCAN_MAX_SAMPLES].number;
    if (settings->max_samples < settings->samples)
        return cli_args_refuse(scan->args->command, "--max-samples is less than --samples, which is %u",
                               settings->samples);
    if (settings->samples == 1 && settings->max_samples > 1)
        return cli_args_refuse(scan->args->command,
                               "--samples 1 means one, and a file without medians: give --samples 2 or more");
    return CLI_OK;
}

static enum cli_exit options_take(struct scan *scan) {
    const struct cli_value *own = scan->args->own;
    const struct cli_command *command = scan->args->command;
    const char *policy = scan->args->common[CLI_POLICY].text, *format = own[SCAN_FORMAT].text;
    scan->settings.warmup = (uint32_t)own[SCAN_WARMUP].number;
    scan->settings.verify = own[SCAN_VERIFY].given;
    scan->settings.limit_ns = own[SCAN_LIMIT].number ? own[SCAN_LIMIT].number * 1000000000u : UINT64_MAX;
    if (strcmp(format, "csv") != 0 && strcmp(format, "prototype") != 0)
        return cli_args_refuse(command, "--format: '%s' is neither csv nor prototype", format);
    if (policy && strcmp(policy, "cpu") != 0 && strcmp(policy, "gpu") != 0)
        return cli_args_refuse(command, "--policy: a scan compares both sides (gpu) or measures the CPU alone (cpu)");
    if (cli_args_json(scan->args) && own[SCAN_OUTPUT].given && strcmp(own[SCAN_OUTPUT].text, "-") == 0)
        return cli_args_refuse(command, "--json and --output - would mix: give a file");
    if (own[SCAN_APPEND].given && strcmp(own[SCAN_OUTPUT].text, "-") == 0)
        return cli_args_refuse(command, "--append needs a file: --output FILE");
    return samples_take(scan);
}

static enum scan_format format_of(const struct scan *scan) {
    if (strcmp(scan->args->own[SCAN_FORMAT].text, "prototype") == 0) return SCAN_PROTOTYPE;
    return scan->settings.samples > 1 ? SCAN_LONG : SCAN_SHORT;
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static enum cli_exit sides_open(struct scan *scan) {
    const char *policy = scan->args->common[CLI_POLICY].text;
    enum cli_exit code = scan_cpu_open(&scan->cpu, scan->args);
    if (code == CLI_OK && (!policy || strcmp(policy, "cpu") != 0))
        code = scan_gpus_open(&scan->gpus, &scan->gpu_count, scan->args);
    return code;
}

static enum cli_exit output_open(struct scan *scan) {
    const struct cli_value *own = scan->args->own;
    const bool json = cli_args_json(scan->args);
    if (!own[SCAN_QUIET].given) scan->words = json || strcmp(own[SCAN_OUTPUT].text, "-") == 0 ? stderr : stdout;
    if (json && !own[SCAN_OUTPUT].given) return CLI_OK; /* the document is there instead */
    return scan_csv_open(&scan->csv, scan->args, format_of(scan));
}

static void say_sides(struct scan *scan) {
    scan_progress_say(&scan->progress, "cpu: %s: %s", scan->cpu.device.backend, scan->cpu.label);
    for (unsigned i = 0; i < scan->gpu_count; i++)
        scan_progress_say(&scan->progress, "gpu: %s: %s", scan->gpus[i].device.backend, scan->gpus[i].label);
    if (!scan->gpu_count) scan_progress_say(&scan->progress, "gpu: none, so the CPU is measured alone");
}

/* ---- the scan --------------------------------------------------------------------------------------------------- */

/* The state of an operation on a GPU, or on the CPU where that is measured alone. */
static struct scan_side *state_of(struct scan *scan, struct scan_side *gpu) { return gpu ? gpu : &scan->cpu; }

static struct scan_side *gpu_at(struct scan *scan, unsigned at) { return scan->gpu_count ? &scan->gpus[at] : NULL; }

static unsigned turns(const struct scan *scan) { return scan->gpu_count ? scan->gpu_count : 1; }

/* Whether a size would take too long, by what the one before took. */
static void length_check(struct scan *scan, struct scan_side *state, const struct scan_op *op, uint64_t size) {
    if (state->out || state->last_size == 0) return;
    const double expected = state->last_ns * scan_work(op, size) / scan_work(op, state->last_size);
    if (expected <= (double)scan->settings.limit_ns) return;
    state->out = true;
    state->too_long = true;
    scan_progress_say(&scan->progress, "%-18s %11s  left out on %s: would take about %.0f s, --limit is %llu",
                      op->op.name, cli_count(size).line, state->device.backend, expected / 1e9,
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

static enum cli_exit row_scan(struct scan *scan, struct scan_side *gpu, const struct scan_task *task) {
    struct scan_side *state = state_of(scan, gpu);
    struct scan_row row;
    switch (scan_measure(&row, &scan->cpu, gpu, task, &scan->settings)) {
    case SCAN_MEASURED: break;
    case SCAN_NOT_OFFERED:
        state->out = true;
        scan_progress_say(&scan->progress, "%-18s %11s  %s does not offer it", task->op->op.name, "",
                          state->device.backend);
        return CLI_OK;
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

/* All devices that are still to have a size. */
static enum cli_exit rows_scan(struct scan *scan, const struct scan_op *op, uint64_t size) {
    struct scan_task task;
    enum cli_exit code = scan_task_make(&task, &scan->reference, op, size, scan->args->own[SCAN_SEED].number);
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
    }
    enum cli_exit code = wanted ? rows_scan(scan, op, size) : CLI_OK;
    for (unsigned i = 0; i < turns(scan); i++) scan_progress_step(&scan->progress, op, size);
    return code;
}

static enum cli_exit op_scan(struct scan *scan, const struct scan_op *op) {
    enum cli_exit code = CLI_OK;
    for (unsigned i = 0; i < turns(scan); i++) {
        struct scan_side *state = state_of(scan, gpu_at(scan, i));
        state->out = state->too_long = false;
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
    return scan->rows.wrong || scan->rows.failed ? CLI_FAILED : CLI_OK;
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
    enum cli_exit code = options_take(&scan);
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
               "The exit status is 4 if a result was wrong or a row could not be measured, 130 after Ctrl-C.\n",
    .executor = true,
    .options = scan_options,
    .option_count = SCAN_OPTION_COUNT,
    .run = scan_run,
};
