/*
 * cmd_devices.c: `svmx devices`: what computes here, in order of preference, and what became of every backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "devices.h"
#include "json.h"
#include "text.h"

enum { DEVICES_VERBOSE, DEVICES_PROBE, DEVICES_OPTION_COUNT, NOTES_AT = 2 };

static const struct cli_option devices_options[DEVICES_OPTION_COUNT] = {
    [DEVICES_VERBOSE] = {.name = "verbose",
                         .letter = 'v',
                         .help = "limits, clock and floats of each device, and why it does\nnot get an operation"},
    [DEVICES_PROBE] = {.name = "probe",
                       .help = "try every operation on every device first: compiles what\nwas never compiled, which "
                               "may take minutes"},
};

static const char *verdict_name(uint32_t verdict) {
    switch ((enum svmx_load_verdict)verdict) {
    case SVMX_LOADED: return "loaded";
    case SVMX_SKIPPED: return "skipped";
    case SVMX_REFUSED: return "refused";
    }
    return "unknown";
}

static const char *or_dash(const char *text) { return *text ? text : "-"; }

/* ---- text ---- */

/* What follows a device on lines of its own: driver, place, and labels that must not be overlooked. */
static void device_notes(struct cli_table *table, const struct svmx_device *device) {
    char line[160];
    snprintf(line, sizeof line, "driver %s%s%s", or_dash(device->driver), *device->pci ? ", pci " : "", device->pci);
    cli_table_note(table, 6, line);
    if (device->flags & SVMX_DEVICE_TEST) cli_table_note(table, 6, "TEST DEVICE: made for tests, not for work");
    if (device->kind == SVMX_DEVICE_MODEL) cli_table_note(table, 6, "MODELLED: its times are made up");
    if (cli_device_behind_driver(device)) cli_table_note(table, 6, "CPU DEVICE: a CPU behind a driver, no GPU");
    const struct cli_health_note health = cli_health_note(device);
    if (*health.line) cli_table_note(table, 6, health.line);
}

static void device_row(struct cli_table *table, uint32_t index, const struct svmx_device *device) {
    struct cli_text number = cli_count(index), threads = cli_count(device->threads);
    struct cli_text memory = cli_bytes(device->memory_bytes);
    bool host = device->flags & SVMX_DEVICE_HOST_MEMORY;
    cli_table_row(table,
                  (const char *[]){number.line, device->backend, cli_device_kind(device), or_dash(device->variant),
                                   threads.line, host ? "host" : memory.line, device->name});
    device_notes(table, device);
}

static void devices_text(const svmx_executor_t *executor, bool verbose, bool probed) {
    struct cli_table table = cli_table_start(7);
    table.right = 1u << 4 | 1u << 5;
    cli_table_row(&table, (const char *[]){"#", "BACKEND", "KIND", "VARIANT", "THREADS", "MEMORY", "DEVICE"});
    struct svmx_device device = {.size = sizeof device};
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++) {
        device_row(&table, i, &device);
        if (probed && !verbose) devices_untried_note(&table, NOTES_AT, executor, &device);
        devices_notes(&table, NOTES_AT, executor, i, &device, verbose);
    }
    puts("Devices, in order of preference:\n");
    cli_table_print(&table);
}

static void report_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(5);
    cli_table_row(&table, (const char *[]){"BACKEND", "VERDICT", "VERSION", "LICENCE", "FILE"});
    struct svmx_load_entry entry = {.size = sizeof entry};
    for (uint32_t i = 0; svmx_load_report_get(executor, i, &entry) == SVMX_OK; i++) {
        cli_table_row(&table, (const char *[]){entry.name, verdict_name(entry.verdict), or_dash(entry.version),
                                               or_dash(entry.licence), *entry.path ? entry.path : "(linked in)"});
        if (entry.noted) cli_table_note(&table, 1, entry.reason);
    }
    puts("\nBackends that were found, and what became of them:\n");
    cli_table_print(&table);
}

/* ---- JSON ---- */

/* What the driver says: an array of words; null if it says nothing. */
static void fp_json(struct cli_json *json, const char *key, uint32_t flags, bool known) {
    if (!known) {
        cli_json_text(json, key, NULL);
        return;
    }
    cli_json_open(json, key, '[');
    for (unsigned i = 0; devices_fp_name(i); i++)
        if (flags >> i & 1) cli_json_text(json, NULL, devices_fp_name(i));
    cli_json_close(json);
}

static void limits_json(struct cli_json *json, const struct svmx_device *device) {
    char uuid[2 * sizeof device->uuid + 1] = "";
    bool known = false;
    for (size_t i = 0; i < sizeof device->uuid; i++) {
        snprintf(uuid + 2 * i, 3, "%02x", device->uuid[i]);
        known = known || device->uuid[i];
    }
    cli_json_text(json, "uuid", known ? uuid : "");
    cli_json_number(json, "max_group", device->max_group);
    cli_json_number(json, "local_bytes", device->local_bytes);
    cli_json_number(json, "timer_ns", device->timer_ns);
    cli_json_bool(json, "fp64", !(device->flags & SVMX_DEVICE_NO_F64));
    fp_json(json, "fp32_reported", device->fp32, device->fp32);
    fp_json(json, "fp64_reported", device->fp64, device->fp32 || device->fp64);
}

/* Every one, with what is known of it there. */
static void operations_json(struct cli_json *json, const svmx_executor_t *executor, uint32_t index) {
    struct svmx_op op = {.size = sizeof op};
    struct svmx_device_op known = {.size = sizeof known};
    cli_json_open(json, "operations", '[');
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++) {
        if (svmx_device_op_get(executor, index, op.id, &known) != SVMX_OK) continue;
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "name", op.name);
        cli_json_text(json, "fitness", devices_fitness(known.fitness));
        cli_json_text(json, "reason", known.reason);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void device_json(struct cli_json *json, const svmx_executor_t *executor, uint32_t index,
                        const struct svmx_device *device) {
    cli_json_open(json, NULL, '{');
    cli_json_number(json, "index", index);
    cli_json_text(json, "backend", device->backend);
    cli_json_text(json, "name", device->name);
    cli_json_text(json, "kind", cli_device_kind(device));
    cli_json_text(json, "variant", device->variant);
    cli_json_number(json, "threads", device->threads);
    cli_json_text(json, "driver", device->driver);
    cli_json_text(json, "pci", device->pci);
    cli_json_number(json, "memory_bytes", device->memory_bytes);
    cli_json_number(json, "max_alloc_bytes", device->max_alloc_bytes);
    cli_json_bool(json, "host_memory", device->flags & SVMX_DEVICE_HOST_MEMORY);
    cli_json_bool(json, "shares_cores", device->flags & SVMX_DEVICE_SHARES_CORES);
    cli_json_bool(json, "test", device->flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", device->kind == SVMX_DEVICE_MODEL);
    cli_json_bool(json, "usable", device->usable);
    cli_device_health_json(json, device);
    cli_json_text(json, "clock", cli_device_clock(device));
    limits_json(json, device);
    cli_json_number(json, "proved", device->proved);
    cli_json_number(json, "refused", device->refused);
    operations_json(json, executor, index);
    cli_json_close(json);
}

static void entry_json(struct cli_json *json, const struct svmx_load_entry *entry) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", entry->name);
    cli_json_text(json, "verdict", verdict_name(entry->verdict));
    cli_json_text(json, "status", svmx_status_name((enum svmx_status) - (int)entry->status));
    cli_json_text(json, "reason", entry->reason);
    cli_json_text(json, "version", entry->version);
    cli_json_text(json, "licence", entry->licence);
    cli_json_text(json, "path", entry->path);
    cli_json_close(json);
}

static void devices_json(const svmx_executor_t *executor) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct svmx_device device = {.size = sizeof device};
    struct svmx_load_entry entry = {.size = sizeof entry};
    cli_json_open(&json, NULL, '{');
    cli_json_open(&json, "devices", '[');
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++)
        device_json(&json, executor, i, &device);
    cli_json_close(&json);
    cli_json_open(&json, "backends", '[');
    for (uint32_t i = 0; svmx_load_report_get(executor, i, &entry) == SVMX_OK; i++) entry_json(&json, &entry);
    cli_json_close(&json);
    cli_json_close(&json);
}

static enum cli_exit devices_run(const struct cli_args *args) {
    struct cli_session session;
    enum cli_exit code = cli_session_open(&session, args, false);
    if (code != CLI_OK) return code;
    const bool probed = args->own[DEVICES_PROBE].given;
    if (probed) code = devices_probe(&session);
    if (code == CLI_OK && cli_args_json(args)) {
        devices_json(session.executor);
    } else if (code == CLI_OK) {
        devices_text(session.executor, args->own[DEVICES_VERBOSE].given, probed);
        report_text(session.executor);
    }
    if (code == CLI_OK && probed) code = devices_given_up(&session);
    cli_session_close(&session);
    return code;
}

const struct cli_command cli_devices = {
    .name = "devices",
    .operands = "",
    .summary = "devices in order of preference, and what became of every backend",
    .details = "The last device is always the reference code, which serves when nothing else can.\n"
               "An operation is tried on a device before its first use there, so one that is refused is known\n"
               "once it was tried: by --probe, or by an earlier process that found wrong bytes. The exit\n"
               "status is 1 if a device was given up while it was probed.\n",
    .options = devices_options,
    .option_count = DEVICES_OPTION_COUNT,
    .executor = true,
    .run = devices_run,
};
