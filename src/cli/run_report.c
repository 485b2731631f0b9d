/*
 * run_report.c: prints a trial: text, JSON, or the hash alone. Called by run_example.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "table.h"
#include "text.h"
#include "trial.h"
#include <stdarg.h>

/* The middle one, or the mean of the two in the middle. */
static uint64_t median_ns(const struct trial *trial) {
    const uint64_t *times = trial->times_ns;
    uint32_t middle = trial->repeat / 2;
    return trial->repeat % 2 ? times[middle] : times[middle - 1] + (times[middle] - times[middle - 1]) / 2;
}

static uint64_t per_second(uint64_t count, uint64_t ns) {
    return (uint64_t)((double)count * 1e9 / (double)(ns ? ns : 1));
}

/* ---- text ---- */

static struct svmx_device device_of(const struct trial *trial, const struct svmx_receipt *receipt) {
    struct svmx_device device = {.size = sizeof device, .backend = "", .name = "", .variant = ""};
    (void)svmx_device_get(trial->run->session.executor, receipt->device, &device); /* answer.c has asked already */
    return device;
}

__attribute__((format(printf, 3, 4))) static void line_add(struct cli_table *table, const char *name,
                                                           const char *format, ...) {
    char text[320];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cli_table_row(table, (const char *[]){name, text});
}

/* One line for each launch: who answered, and how large a launch the pipeline was made for. */
static void parts_text(const struct trial *trial, struct cli_table *table) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (uint32_t i = 0; svmx_receipt_get(trial->batch, i, &receipt) == SVMX_OK; i++) {
        struct svmx_device device = device_of(trial, &receipt);
        line_add(table, "device", "%s", cli_device_label(&device).line);
        line_add(table, "bucket", "%s", cli_count(receipt.bucket).line);
    }
    line_add(table, "launches", "%s", cli_count(trial->answer.parts).line);
}

static void trial_text(const struct trial *trial) {
    const uint64_t median = median_ns(trial), units = trial->size * trial->tasks;
    struct cli_table table = cli_table_start(2);
    table.indent = 2;
    parts_text(trial, &table);
    line_add(&table, "first run", "%s", cli_duration(trial->first_ns).line);
    line_add(&table, "median", "%s of %s (%s to %s)", cli_duration(median).line, cli_counted(trial->repeat, "run").line,
             cli_duration(trial->times_ns[0]).line, cli_duration(trial->times_ns[trial->repeat - 1]).line);
    line_add(&table, "rate", "%s, %s in and out", cli_rate(per_second(units, median), trial->run->op.unit).line,
             cli_byte_rate(per_second(trial->bytes_in + trial->bytes_out, median)).line);
    if (trial->answer.tries)
        line_add(&table, "tries", "%s of all launches, to learn what another device takes",
                 cli_count(trial->answer.tries).line);
    line_add(&table, "fallback", "%s", trial->answer.redone ? trial->answer.reason : "none");
    line_add(&table, "sha256", "%s", trial->hash);
    printf("%s: %s, %s each, seed %llu\n", trial->run->op.name, cli_counted(trial->tasks, "task").line,
           cli_counted(trial->size, trial->run->op.unit).line, (unsigned long long)trial->seed);
    cli_table_print(&table);
}

/* ---- JSON ---- */

static void part_json(struct cli_json *json, const struct trial *trial, const struct svmx_receipt *receipt) {
    struct svmx_device device = device_of(trial, receipt);
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "device", receipt->device);
    cli_json_text(json, "backend", device.backend);
    cli_json_text(json, "name", device.name);
    cli_json_text(json, "variant", device.variant);
    cli_json_text(json, "kind", cli_device_kind(&device));
    cli_json_bool(json, "test", device.flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", device.kind == SVMX_DEVICE_MODEL);
    cli_json_number(json, "tasks", receipt->tasks);
    cli_json_number(json, "units", receipt->units);
    cli_json_number(json, "bucket", receipt->bucket);
    cli_json_number(json, "redone", receipt->redone);
    cli_json_text(json, "reason", receipt->reason);
    cli_json_number(json, "wait_ns", receipt->wait_ns);
    cli_json_number(json, "stage_ns", receipt->stage_ns);
    cli_json_number(json, "run_ns", receipt->run_ns);
    cli_json_number(json, "collect_ns", receipt->collect_ns);
    cli_json_close(json);
}

static void times_json(struct cli_json *json, const struct trial *trial) {
    const uint64_t median = median_ns(trial);
    cli_json_number(json, "first_ns", trial->first_ns);
    cli_json_number(json, "median_ns", median);
    cli_json_number(json, "min_ns", trial->times_ns[0]);
    cli_json_number(json, "max_ns", trial->times_ns[trial->repeat - 1]);
    cli_json_number(json, "units_per_s", per_second(trial->size * trial->tasks, median));
    cli_json_number(json, "bytes_in", trial->bytes_in);
    cli_json_number(json, "bytes_out", trial->bytes_out);
    cli_json_number(json, "bytes_per_s", per_second(trial->bytes_in + trial->bytes_out, median));
}

static void trial_json(const struct trial *trial) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "operation", trial->run->op.name);
    cli_json_text(&json, "unit", trial->run->op.unit);
    cli_json_number(&json, "size", trial->size);
    cli_json_number(&json, "tasks", trial->tasks);
    cli_json_number(&json, "repeat", trial->repeat);
    cli_json_number(&json, "seed", trial->seed);
    times_json(&json, trial);
    cli_json_number(&json, "launches", trial->answer.parts);
    cli_json_number(&json, "tries", trial->answer.tries);
    cli_json_number(&json, "fallbacks", trial->answer.redone);
    cli_json_text(&json, "fallback_reason", trial->answer.reason);
    cli_json_open(&json, "parts", '[');
    for (uint32_t i = 0; svmx_receipt_get(trial->batch, i, &receipt) == SVMX_OK; i++) part_json(&json, trial, &receipt);
    cli_json_close(&json);
    cli_json_text(&json, "sha256", trial->hash);
    cli_json_close(&json);
}

void trial_print(const struct trial *trial) {
    if (trial->run->json)
        trial_json(trial);
    else if (trial->run->quiet)
        puts(trial->hash);
    else
        trial_text(trial);
}
