/*
 * profile_view.c: the cells of a profile that the options leave, with their devices, and `svmx profile show`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "profile.h"
#include "table.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static bool is_same_device(const struct svmx_profile_entry *a, const struct svmx_profile_entry *b) {
    return strcmp(a->backend, b->backend) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0 &&
           strcmp(a->variant, b->variant) == 0 && strcmp(a->pci, b->pci) == 0 && a->threads == b->threads;
}

static unsigned device_number(struct profile_view *view, const struct svmx_profile_entry *entry) {
    for (unsigned i = 0; i < view->device_count; i++)
        if (is_same_device(&view->devices[i], entry)) return i;
    view->devices = cli_grow(view->devices, view->device_count + 1, sizeof *view->devices);
    view->devices[view->device_count] = *entry;
    return view->device_count++;
}

/* Is this the device that --device means: its number, or a part of its label? */
static bool is_device(const struct profile_view *view, unsigned device, const char *wanted) {
    uint64_t number;
    if (!wanted) return true;
    if (cli_number_parse(wanted, &number)) return number == device;
    return strstr(profile_label(&view->devices[device]).line, wanted) != NULL;
}

static bool is_op(const char *op, const char *wanted) { return !wanted || strcmp(op, wanted) == 0; }

/* Says that --op or --device leaves nothing, though there is something. */
static enum cli_exit nothing_left(const struct profile_view *view, const char *op, const char *device) {
    struct svmx_profile_entry entry = {.size = sizeof entry};
    struct cli_guess guess = cli_guess_start(op ? op : "", op ? strlen(op) : 0);
    bool known = !op;
    for (uint32_t i = 0; svmx_profile_get(view->profile, i, &entry) == SVMX_OK; i++) {
        known = known || strcmp(entry.op, op) == 0;
        cli_guess_try(&guess, entry.op);
    }
    if (known && device)
        cli_error("nothing was measured%s%s on a device '%s'; see svmx profile show", op ? " of " : "", op ? op : "",
                  device);
    else if (guess.best)
        cli_error("nothing was measured of '%s' (did you mean %s?); see svmx profile show", op, guess.best);
    else
        cli_error("nothing was measured of '%s'; see svmx profile show", op);
    return CLI_BAD_INPUT;
}

enum cli_exit profile_view_read(struct profile_view *view, const struct cli_args *args, const svmx_profile_t *profile) {
    const char *op = args->own[PROFILE_OP].text, *device = args->own[PROFILE_DEVICE].text;
    *view = (struct profile_view){.profile = profile};
    struct profile_cell cell = {.entry = {.size = sizeof cell.entry}};
    for (uint32_t i = 0; svmx_profile_get(profile, i, &cell.entry) == SVMX_OK; i++) {
        cell.device = device_number(view, &cell.entry);
        if (!is_op(cell.entry.op, op) || !is_device(view, cell.device, device)) continue;
        view->cells = cli_grow(view->cells, view->cell_count + 1, sizeof *view->cells);
        view->cells[view->cell_count++] = cell;
    }
    if (view->cell_count || svmx_profile_count(profile) == 0) return CLI_OK;
    return nothing_left(view, op, device);
}

void profile_view_free(struct profile_view *view) {
    free(view->devices);
    free(view->cells);
    *view = (struct profile_view){.profile = NULL};
}

/* A CPU behind a driver: those that compute in the caller's memory have kernels of their own, and say for which instructions. */
static bool profile_is_cpu_device(const struct svmx_profile_entry *device) {
    return device->kind == SVMX_DEVICE_CPU && !*device->variant;
}

/* What tells devices apart at a glance: of CPUs variant and threads, unless the name has these, of others the driver. */
struct profile_label profile_label(const struct svmx_profile_entry *device) {
    struct profile_label label;
    struct cli_text threads = cli_counted(device->threads, "thread");
    const bool variant = *device->variant != '\0', named = strstr(device->device, threads.line) != NULL;
    snprintf(label.line, sizeof label.line, "%.32s: %.64s (%.32s%s%.64s)%s%s%s", device->backend, device->device,
             device->variant, variant && !named ? ", " : "",
             !variant ? device->driver
             : named  ? ""
                      : threads.line,
             profile_is_cpu_device(device) ? " [CPU DEVICE]" : "",
             device->kind == SVMX_DEVICE_MODEL ? " [MODELLED]" : "",
             device->flags & SVMX_DEVICE_TEST ? " [TEST DEVICE]" : "");
    return label;
}

/* ---- show ------------------------------------------------------------------------------------------------------- */

static struct cli_text rounded(double ns) { return cli_duration((uint64_t)(ns + 0.5)); }

static void cell_row(struct cli_table *table, const struct profile_cell *cell) {
    const struct svmx_profile_entry *entry = &cell->entry;
    struct cli_text units = cli_count(entry->units), work = cli_count(entry->work / entry->units),
                    median = rounded(entry->ns), samples = cli_count(entry->samples);
    char device[48], range[64], parts[100];
    snprintf(device, sizeof device, "%u %.32s", cell->device, entry->backend);
    snprintf(range, sizeof range, "%.24s - %.24s", rounded(entry->low_ns).line, rounded(entry->high_ns).line);
    snprintf(parts, sizeof parts, "%.24s + %.24s + %.24s", rounded(entry->setup_ns).line,
             rounded(entry->transfer_ns).line, rounded(entry->compute_ns).line);
    cli_table_row(table,
                  (const char *[]){entry->op, device, units.line, work.line, median.line, range, samples.line, parts});
}

static void print_devices(const struct profile_view *view) {
    struct cli_table table = cli_table_start(4);
    cli_table_row(&table, (const char *[]){"", "DEVICE", "DRIVER", "PLUGIN"});
    for (unsigned i = 0; i < view->device_count; i++) {
        const struct svmx_profile_entry *device = &view->devices[i];
        char number[16], plugin[80];
        snprintf(number, sizeof number, "%u", i);
        snprintf(plugin, sizeof plugin, "%.32s %.32s", device->backend, device->version);
        cli_table_row(&table, (const char *[]){number, profile_label(device).line, device->driver, plugin});
    }
    cli_table_print(&table);
}

void profile_show(const struct profile_view *view) {
    struct cli_table table = cli_table_start(8);
    if (view->cell_count) {
        print_devices(view);
        putchar('\n');
        table.right = 1u << 2 | 1u << 3 | 1u << 4 | 1u << 6;
        cli_table_row(&table, (const char *[]){"OPERATION", "DEVICE", "UNITS TO", "WORK EACH", "MEDIAN", "10 % - 90 %",
                                               "SAMPLES", "SETUP + COPIES + COMPUTE"});
        for (size_t i = 0; i < view->cell_count; i++) cell_row(&table, &view->cells[i]);
        cli_table_print(&table);
        putchar('\n');
    }
    printf("%s, in %s\n", cli_counted(view->cell_count, "cell").line, svmx_profile_path(view->profile));
}

/* ---- as JSON ---------------------------------------------------------------------------------------------------- */

void profile_device_json(struct cli_json *json, const struct profile_view *view, unsigned device) {
    const struct svmx_profile_entry *entry = &view->devices[device];
    cli_json_number(json, "device", device);
    cli_json_text(json, "backend", entry->backend);
    cli_json_text(json, "version", entry->version);
    cli_json_text(json, "name", entry->device);
    cli_json_text(json, "driver", entry->driver);
    cli_json_text(json, "variant", entry->variant);
    cli_json_text(json, "pci", entry->pci);
    cli_json_number(json, "threads", entry->threads);
    cli_json_bool(json, "test", entry->flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "cpu_device", profile_is_cpu_device(entry));
    cli_json_bool(json, "modelled", entry->kind == SVMX_DEVICE_MODEL);
}

static void cell_json(struct cli_json *json, const struct profile_cell *cell) {
    const struct svmx_profile_entry *entry = &cell->entry;
    const struct {
        const char *name;
        double ns;
    } times[] = {{"ns", entry->ns},
                 {"low_ns", entry->low_ns},
                 {"high_ns", entry->high_ns},
                 {"setup_ns", entry->setup_ns},
                 {"transfer_ns", entry->transfer_ns},
                 {"compute_ns", entry->compute_ns},
                 {"first_use_ns", entry->first_use_ns}};
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "operation", entry->op);
    cli_json_number(json, "device", cell->device);
    cli_json_number(json, "units", entry->units);
    cli_json_number(json, "work", entry->work);
    cli_json_number(json, "bytes", entry->bytes);
    cli_json_number(json, "samples", entry->samples);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        cli_json_number(json, times[i].name, (uint64_t)(times[i].ns + 0.5));
    cli_json_close(json);
}

void profile_show_json(const struct profile_view *view) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "path", svmx_profile_path(view->profile));
    cli_json_text(&json, "defect", svmx_profile_defect(view->profile));
    cli_json_open(&json, "devices", '[');
    for (unsigned i = 0; i < view->device_count; i++) {
        cli_json_open(&json, NULL, '{');
        profile_device_json(&json, view, i);
        cli_json_close(&json);
    }
    cli_json_close(&json);
    cli_json_open(&json, "cells", '[');
    for (size_t i = 0; i < view->cell_count; i++) cell_json(&json, &view->cells[i]);
    cli_json_close(&json);
    cli_json_close(&json);
}
