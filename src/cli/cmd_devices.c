/*
 * cmd_devices.c: `svmx devices`: what computes here, in order of preference, and what became of every backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"
#include "session.h"
#include "table.h"
#include "text.h"
#include <string.h>

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

static void devices_text(const svmx_executor_t *executor) {
    struct cli_table table = cli_table_start(7);
    table.right = 1u << 4 | 1u << 5;
    cli_table_row(&table, (const char *[]){"#", "BACKEND", "KIND", "VARIANT", "THREADS", "MEMORY", "DEVICE"});
    struct svmx_device device = {.size = sizeof device};
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++) device_row(&table, i, &device);
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
        if (entry.verdict != SVMX_LOADED) cli_table_note(&table, 1, entry.reason);
    }
    puts("\nBackends that were found, and what became of them:\n");
    cli_table_print(&table);
}

/* ---- JSON ---- */

static void device_json(struct cli_json *json, uint32_t index, const struct svmx_device *device) {
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
    cli_json_text(json, "health", cli_device_health(device));
    cli_json_number(json, "strikes", device->strikes);
    cli_json_number(json, "quarantined", device->quarantined);
    cli_json_text(json, "health_reason", device->health_reason);
    cli_json_number(json, "device_ns", device->device_ns);
    cli_json_number(json, "backlog_ns", device->backlog_ns);
    cli_json_text(json, "clock", cli_device_clock(device));
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
    for (uint32_t i = 0; svmx_device_get(executor, i, &device) == SVMX_OK; i++) device_json(&json, i, &device);
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
    if (cli_args_json(args))
        devices_json(session.executor);
    else {
        devices_text(session.executor);
        report_text(session.executor);
    }
    cli_session_close(&session);
    return CLI_OK;
}

const struct cli_command cli_devices = {
    .name = "devices",
    .operands = "",
    .summary = "devices in order of preference, and what became of every backend",
    .details = "The last device is always the reference code, which serves when nothing else can.\n",
    .executor = true,
    .run = devices_run,
};
