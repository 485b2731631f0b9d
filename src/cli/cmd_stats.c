/*
 * cmd_stats.c: `svmx stats`: a short load, then every counter that the executor kept of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "load.h"
#include "table.h"
#include "text.h"
#include <stddef.h>
#include <stdio.h>

/* ---- the counters ----------------------------------------------------------------------------------------------- */

struct counter {
    const char *group, *name; /* group "": of the executor itself */
    size_t field;
};

#define COUNTER(group, name, field)                                                                                    \
    { group, name, offsetof(struct svmx_stats, field) }

static const struct counter counters[] = {
    COUNTER("work", "batches", batches),
    COUNTER("work", "tasks", tasks),
    COUNTER("work", "launches", launches),
    COUNTER("work", "cancelled", cancelled),
    COUNTER("work", "failed", failed),
    COUNTER("work", "fallbacks", fallbacks),
    COUNTER("work", "compared", compared),
    COUNTER("work", "differed", differed),
    COUNTER("work", "overloads", overloads),
    COUNTER("fallbacks", "timeout", fallbacks_timeout),
    COUNTER("fallbacks", "lost", fallbacks_lost),
    COUNTER("fallbacks", "memory", fallbacks_memory),
    COUNTER("fallbacks", "wrong", fallbacks_wrong),
    COUNTER("fallbacks", "error", fallbacks_error),
    COUNTER("pipelines", "hits", pipeline_hits),
    COUNTER("pipelines", "misses", pipeline_misses),
    COUNTER("pipelines", "evictions", pipeline_evictions),
    COUNTER("layouts", "hits", layout_hits),
    COUNTER("layouts", "misses", layout_misses),
    COUNTER("pools", "hits", pool_hits),
    COUNTER("pools", "misses", pool_misses),
    COUNTER("pools", "bytes", pool_bytes),
    COUNTER("pools", "bytes_peak", pool_bytes_peak),
    COUNTER("pools", "evictions", pool_evictions),
    COUNTER("pools", "refusals", pool_refusals),
    COUNTER("pools", "allocs_refused", allocs_refused),
    COUNTER("pools", "allocs_late", allocs_late),
    COUNTER("cache", "hits", cache_hits),
    COUNTER("cache", "misses", cache_misses),
    COUNTER("cache", "stored", cache_stored),
    COUNTER("cache", "removed", cache_removed),
    COUNTER("cache", "evicted", cache_evicted),
    COUNTER("choices", "probes", probes),
    COUNTER("choices", "probe_ns", probe_ns),
    COUNTER("choices", "drifts", drifts),
    COUNTER("choices", "flips", flips),
    COUNTER("choices", "regret_ppm", regret_ppm),
    COUNTER("choices", "regret_low_ppm", regret_low_ppm),
    COUNTER("choices", "regret_high_ppm", regret_high_ppm),
    COUNTER("choices", "receipts", receipts),
};
enum { COUNTERS = sizeof counters / sizeof *counters };

static uint64_t counter_read(const struct svmx_stats *stats, const struct counter *counter) {
    return *(const uint64_t *)(const void *)((const char *)stats + counter->field);
}

static bool starts_group(size_t i) { return i == 0 || counters[i].group != counters[i - 1].group; }

/* The sizes of an operation; false if it was not asked for. */
static bool sizes_read(const svmx_executor_t *executor, const struct svmx_op *op, uint64_t counts[SVMX_SIZE_LINES]) {
    uint64_t sum = 0;
    if (svmx_sizes_get(executor, op->id, counts) != SVMX_OK) return false;
    for (uint32_t i = 0; i < SVMX_SIZE_LINES; i++) sum += counts[i];
    return sum > 0;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void counters_text(const struct svmx_stats *stats) {
    struct cli_table table = cli_table_start(3);
    table.right = 1u << 2;
    cli_table_row(&table, (const char *[]){"COUNTER", "", "VALUE"});
    for (size_t i = 0; i < COUNTERS; i++) {
        struct cli_text value = cli_count(counter_read(stats, &counters[i]));
        cli_table_row(&table, (const char *[]){starts_group(i) ? counters[i].group : "", counters[i].name, value.line});
    }
    cli_table_print(&table);
}

/* Regret is an estimate: it has an interval, or there is none. */
static void regret_text(const struct svmx_stats *stats) {
    if (stats->probes == 0) {
        puts("\nRegret: not known, because no launch was sent to a device to learn.");
        return;
    }
    printf("\nRegret: launches could have been faster elsewhere by %.2f %% of their time, as %s showed\n",
           (double)stats->regret_ppm / 1e4, cli_counted(stats->probes, "probe").line);
    if (stats->probes < 2)
        puts("(one says nothing of how far others differ: no interval).");
    else
        printf("(%.2f %% to %.2f %% with 95 %% confidence).\n", (double)stats->regret_low_ppm / 1e4,
               (double)stats->regret_high_ppm / 1e4);
}

static void device_notes(struct cli_table *table, const struct svmx_device *device) {
    char note[320];
    if (device->clock == SVMX_CLOCK_REFUSED)
        cli_table_note(table, 7, "what its own clock says cannot be: host time counts");
    snprintf(note, sizeof note, "%s of work still to do", cli_duration(device->backlog_ns).line);
    if (device->backlog_ns) cli_table_note(table, 7, note);
    snprintf(note, sizeof note, "load is %s: %s of %s in use, launches pending: %s", cli_device_load(device),
             cli_bytes(device->memory_used).line, cli_bytes(device->memory_bytes).line,
             cli_count(device->pending).line);
    if (device->load != SVMX_LOAD_NORMAL) cli_table_note(table, 7, note);
    const struct cli_health_note health = cli_health_note(device);
    if (*health.line) cli_table_note(table, 7, health.line);
}

static void devices_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(8);
    table.right = 0x7f;
    cli_table_row(&table,
                  (const char *[]){"TASKS", "LAUNCHES", "IN", "OUT", "BUSY", "BY ITS CLOCK", "FAILURES", "DEVICE"});
    struct svmx_device device = {.size = sizeof device};
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++) {
        struct cli_text tasks = cli_count(device.tasks), launches = cli_count(device.launches);
        struct cli_text in = cli_bytes(device.bytes_in), out = cli_bytes(device.bytes_out);
        struct cli_text busy = cli_duration(device.busy_ns), failures = cli_count(device.failures);
        struct cli_text own = cli_duration(device.device_ns);
        struct cli_device_label label = cli_device_label(&device);
        cli_table_row(&table,
                      (const char *[]){tasks.line, launches.line, in.line, out.line, busy.line,
                                       device.clock == SVMX_CLOCK_USED ? own.line : "-", failures.line, label.line});
        device_notes(&table, &device);
    }
    putchar('\n');
    cli_table_print(&table);
}

static void sizes_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(3);
    table.right = 1u << 1 | 1u << 2;
    cli_table_row(&table, (const char *[]){"OPERATION", "UNITS UP TO", "PARTS"});
    struct svmx_op op = {.size = sizeof op};
    uint64_t counts[SVMX_SIZE_LINES];
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++) {
        const char *name = op.name;
        for (uint32_t line = 0; sizes_read(executor, &op, counts) && line < SVMX_SIZE_LINES; line++) {
            if (counts[line] == 0) continue;
            struct cli_text units = cli_count(UINT64_C(1) << line), parts = cli_count(counts[line]);
            cli_table_row(&table, (const char *[]){name, units.line, parts.line});
            name = "";
        }
    }
    putchar('\n');
    cli_table_print(&table);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void counters_json(struct cli_json *json, const struct svmx_stats *stats) {
    for (size_t i = 0; i < COUNTERS; i++) {
        if (starts_group(i)) cli_json_open(json, counters[i].group, '{');
        cli_json_number(json, counters[i].name, counter_read(stats, &counters[i]));
        if (i + 1 == COUNTERS || starts_group(i + 1)) cli_json_close(json);
    }
}

static void device_json(struct cli_json *json, uint32_t index, const struct svmx_device *device) {
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "index", index);
    cli_json_text(json, "backend", device->backend);
    cli_json_text(json, "name", device->name);
    cli_json_bool(json, "test", device->flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", device->kind == SVMX_DEVICE_MODEL);
    cli_json_number(json, "tasks", device->tasks);
    cli_json_number(json, "launches", device->launches);
    cli_json_number(json, "bytes_in", device->bytes_in);
    cli_json_number(json, "bytes_out", device->bytes_out);
    cli_json_number(json, "busy_ns", device->busy_ns);
    cli_json_number(json, "failures", device->failures);
    cli_device_health_json(json, device);
    cli_json_text(json, "load", cli_device_load(device));
    cli_json_number(json, "memory_used", device->memory_used);
    cli_json_number(json, "pending", device->pending);
    cli_json_text(json, "clock", cli_device_clock(device));
    cli_json_close(json);
}

static void op_json(struct cli_json *json, const struct svmx_op *op, const uint64_t counts[SVMX_SIZE_LINES]) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", op->name);
    cli_json_open(json, "sizes", '[');
    for (uint32_t line = 0; line < SVMX_SIZE_LINES; line++) {
        if (counts[line] == 0) continue;
        cli_json_open(json, NULL, '{');
        cli_json_number(json, "units", UINT64_C(1) << line);
        cli_json_number(json, "parts", counts[line]);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

static void stats_json(const svmx_executor_t *executor, const struct svmx_stats *stats) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_device device = {.size = sizeof device};
    struct svmx_op op = {.size = sizeof op};
    uint64_t counts[SVMX_SIZE_LINES];
    cli_json_open(&json, NULL, '{');
    counters_json(&json, stats);
    cli_json_open(&json, "devices", '[');
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++) device_json(&json, i, &device);
    cli_json_close(&json);
    cli_json_open(&json, "operations", '[');
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++)
        if (sizes_read(executor, &op, counts)) op_json(&json, &op, counts);
    cli_json_close(&json);
    cli_json_close(&json);
}

/* ---- the command ------------------------------------------------------------------------------------------------ */

static enum cli_exit stats_print(const struct cli_session *session, const struct cli_args *args) {
    struct svmx_stats stats = {.size = sizeof stats};
    enum svmx_status status = svmx_stats_get(session->executor, &stats);
    if (status != SVMX_OK) return cli_session_failed("svmx_stats_get", status, "");
    if (cli_args_json(args)) {
        stats_json(session->executor, &stats);
        return CLI_OK;
    }
    counters_text(&stats);
    regret_text(&stats);
    devices_text(session->executor);
    sizes_text(session->executor);
    return CLI_OK;
}

static enum cli_exit stats_run(const struct cli_args *args) {
    struct cli_session session;
    enum cli_exit code = cli_session_open(&session, args, false);
    if (code != CLI_OK) return code;
    code = load_run(&session, args);
    if (code == CLI_OK) code = stats_print(&session, args);
    cli_session_close(&session);
    return code;
}

const struct cli_command cli_stats = {
    .name = "stats",
    .operands = "",
    .summary = "run a short mixed load and show every counter",
    .details = "Counters live in an executor, so this one runs a load of its own: batches with tasks of a\n"
               "few operations and of many sizes. A part is all tasks of one operation in a batch.\n",
    .executor = true,
    .options = load_options,
    .option_count = LOAD_OPTION_COUNT,
    .run = stats_run,
};
