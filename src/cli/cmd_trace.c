/*
 * cmd_trace.c: `svmx trace LOG`: a log of receipts as a picture of time, for a viewer of trace events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "args.h"
#include "json.h"
#include "text.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [OUTPUT] = {.name = "output",
                .letter = 'o',
                .value = "FILE",
                .standard = "-",
                .help = "write the trace there; '-' is standard output"},
};

/* ---- lines ---- */

/* What the engines of the device did, where the receipt tells. */
static void engines_read(struct trace_launch *launch) {
    uint64_t device_ns = 0, compute_ns = 0, upload_ns = 0;
    (void)cli_field_number(launch->line, "device_ns", &device_ns);
    (void)cli_field_number(launch->line, "compute_ns", &compute_ns);
    (void)cli_field_number(launch->line, "upload_ns", &upload_ns); /* with what the host took for it */
    if (device_ns == 0 || device_ns > launch->stage_ns[TRACE_RUN] || compute_ns > device_ns) return;
    const uint64_t copied_ns = device_ns - compute_ns, staged_ns = launch->stage_ns[TRACE_STAGE];
    const uint64_t in_ns = upload_ns > staged_ns ? upload_ns - staged_ns : 0;
    launch->stage_ns[TRACE_COPY_IN] = in_ns < copied_ns ? in_ns : copied_ns;
    launch->stage_ns[TRACE_COMPUTE] = compute_ns;
    launch->stage_ns[TRACE_COPY_OUT] = copied_ns - launch->stage_ns[TRACE_COPY_IN];
}

/* What is missing or wrong; NULL: nothing. */
static const char *launch_read(struct trace_launch *launch, struct cli_slice line) {
    static const char *const stages[TRACE_STAGES] = {"wait_ns", "stage_ns", "run_ns", "collect_ns"};
    uint64_t end_ns, sum = 0;
    *launch = (struct trace_launch){.line = line};
    if (!cli_field_number(line, "time_ns", &end_ns)) return "time_ns";
    if (!cli_field_number(line, "device", &launch->device)) return "device";
    if (!cli_field_text(line, "operation").at) return "operation";
    launch->backend = cli_field_text(line, "backend");
    if (!launch->backend.at) return "backend";
    launch->name = cli_field_text(line, "name");
    if (!launch->name.at) return "name";
    for (size_t i = 0; i < TRACE_STAGES; i++)
        if (!cli_field_number(line, stages[i], &launch->stage_ns[i]) || launch->stage_ns[i] > end_ns - sum)
            return stages[i];
        else
            sum += launch->stage_ns[i];
    launch->start_ns = end_ns - sum;
    engines_read(launch);
    return NULL;
}

static bool is_blank(struct cli_slice line) {
    for (size_t i = 0; i < line.length; i++)
        if (!strchr(" \t\r", line.at[i])) return false;
    return true;
}

static void launch_bad(struct cli_log *log, uint64_t number, const char *field) {
    char reason[80];
    snprintf(reason, sizeof reason, "no receipt: %s is missing, or is not what it should be", field);
    cli_log_bad(log, number, reason);
}

/* Bad lines are told of and left out. */
static void log_parse(struct cli_log *log, struct trace *trace) {
    struct cli_slice rest = {log->text, log->length}, line;
    uint64_t number = 0;
    size_t room = 0;
    while (cli_log_line(&rest, &line)) {
        number++;
        if (is_blank(line)) continue;
        if (trace->count == room) {
            room = 2 * room + 1024;
            trace->launches = cli_grow(trace->launches, room, sizeof *trace->launches);
        }
        const char *wrong = launch_read(&trace->launches[trace->count], line);
        if (!wrong)
            trace->count++;
        else
            launch_bad(log, number, wrong);
    }
    cli_log_bad_end(log);
}

/* ---- the command ---- */

static void summary(const struct cli_args *args, const struct trace *trace, size_t lanes, uint64_t bad) {
    const char *path = args->own[OUTPUT].text;
    if (!cli_args_json(args)) {
        printf("%s: %s in %s; scripts/trace-html or ui.perfetto.dev show it\n", path,
               cli_counted(trace->count, "receipt").line, cli_counted(lanes, "lane").line);
        return;
    }
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "output", path);
    cli_json_number(&json, "receipts", trace->count);
    cli_json_number(&json, "lanes", lanes);
    cli_json_number(&json, "bad_lines", bad);
    cli_json_close(&json);
}

static enum cli_exit cannot_write(const char *path) {
    cli_error("--output: cannot write to %s: %s", path, strerror(errno));
    return CLI_FAILED;
}

static enum cli_exit write_out(const struct cli_args *args, const struct trace *trace, uint64_t bad) {
    const char *path = args->own[OUTPUT].text;
    if (strcmp(path, "-") == 0) {
        (void)trace_write(trace, stdout);
        return CLI_OK;
    }
    FILE *out = fopen(path, "we");
    if (!out) return cannot_write(path);
    const size_t lanes = trace_write(trace, out);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed) return cannot_write(path);
    summary(args, trace, lanes, bad);
    return CLI_OK;
}

static enum cli_exit trace_run(const struct cli_args *args) {
    struct cli_log log;
    struct trace trace = {NULL, 0};
    enum cli_exit code = cli_log_read(&log, args->operands[0]);
    if (code == CLI_OK) {
        log_parse(&log, &trace);
        code = write_out(args, &trace, log.bad);
    }
    free(trace.launches);
    cli_log_free(&log);
    return code == CLI_OK && log.bad ? CLI_BAD_INPUT : code;
}

const struct cli_command cli_trace = {
    .name = "trace",
    .operands = "LOG",
    .summary = "draw a log of receipts on a line of time, for scripts/trace-html or Perfetto",
    .details = "LOG, or standard input for '-', has lines as svmx run --receipt and svmx_receipt_json write\n"
               "them. The result is one document of trace events: a group of lanes for each device, a lane\n"
               "for each stage (waiting, placing inputs, device, taking results), one for each engine (copying\n"
               "in, computing, copying out) where the device's clock can be believed, and more of a lane where\n"
               "several launches were under way at once. Each event has its receipt's numbers beside it.\n"
               "  svmx run keccak256 --repeat 20 --receipt keccak.log\n"
               "  svmx trace keccak.log --output keccak.json\n"
               "Bad lines are named and left out; then the exit status is 1. The document is JSON with and\n"
               "without --json, which is about the line that tells of a file that was written.\n",
    .operand_min = 1,
    .operand_max = 1,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = trace_run,
};
