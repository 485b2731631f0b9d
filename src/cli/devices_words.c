/*
 * devices_words.c: what is to be said of a device under its line: limits, clock, floats, and what it is not given.
 *
 * What a driver says of itself and what was found out are kept apart: the first is shown as reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "devices.h"
#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 320, SHORT_NAMES = 4 };

const char *devices_fitness(uint32_t fitness) {
    switch ((enum svmx_fitness)fitness) {
    case SVMX_FITNESS_UNTRIED: return "untried";
    case SVMX_FITNESS_PROVED: return "proved";
    case SVMX_FITNESS_UNSUPPORTED: return "unsupported";
    case SVMX_FITNESS_FAILED: return "failed";
    case SVMX_FITNESS_QUARANTINED: return "quarantined";
    }
    return "unknown";
}

const char *devices_fp_name(unsigned i) {
    static const char *const names[] = {"denormals", "inf_nan", "round_nearest", "fma", "exact_divide", "soft"};
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

__attribute__((format(printf, 2, 3))) static void append(char line[LINE_BYTES], const char *format, ...) {
    const size_t length = strlen(line);
    va_list values;
    va_start(values, format);
    vsnprintf(line + length, LINE_BYTES - length, format, values);
    va_end(values);
}

/* ---- limits ---- */

static void limits_note(struct cli_table *table, unsigned column, const struct svmx_device *device) {
    char line[LINE_BYTES] = "";
    if (device->memory_bytes)
        append(line, "memory %s, %s at once", cli_bytes(device->memory_bytes).line,
               cli_bytes(device->max_alloc_bytes).line);
    if (device->max_group)
        append(line, "%swork-groups of up to %s", *line ? "; " : "", cli_count(device->max_group).line);
    if (device->local_bytes) append(line, "%s%s local", *line ? ", " : "", cli_bytes(device->local_bytes).line);
    if (*line) cli_table_note(table, column, line);
}

static void clock_note(struct cli_table *table, unsigned column, const struct svmx_device *device) {
    static const char *const words[] = {
        [SVMX_CLOCK_NONE] = "not compared with the host's yet",
        [SVMX_CLOCK_USED] = "believed",
        [SVMX_CLOCK_REFUSED] = "not believed: host time counts",
    };
    char line[LINE_BYTES] = "its own clock: ";
    if (device->flags & SVMX_DEVICE_HOST_MEMORY) return; /* it has none */
    if (device->timer_ns) append(line, "steps of %s, ", cli_duration(device->timer_ns).line);
    append(line, "%s", device->clock < sizeof words / sizeof *words ? words[device->clock] : "unknown");
    cli_table_note(table, column, line);
}

static void floats_append(char line[LINE_BYTES], const char *what, uint32_t flags) {
    static const char *const words[] = {"denormals", "inf and NaN",    "round to nearest",
                                        "fma",       "exact division", "soft"};
    const char *between = ": ";
    append(line, "%s%s", *line ? "; " : "", what);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (flags >> i & 1) {
            append(line, "%s%s", between, words[i]);
            between = ", ";
        }
}

static void floats_note(struct cli_table *table, unsigned column, const struct svmx_device *device) {
    char line[LINE_BYTES] = "";
    if (!device->fp32 && !device->fp64) return;
    floats_append(line, "as reported, float", device->fp32);
    cli_table_note(table, column, line);
    line[0] = '\0';
    if (device->flags & SVMX_DEVICE_NO_F64)
        append(line, "no double");
    else
        floats_append(line, "as reported, double", device->fp64);
    cli_table_note(table, column, line);
}

/* ---- operations ---- */

static bool is_refused(const struct svmx_device_op *known) { return known->fitness > SVMX_FITNESS_PROVED; }

/* "refused: a, b and 3 more (--verbose says why)" */
static void refused_note(struct cli_table *table, unsigned column, const svmx_executor_t *executor, uint32_t index,
                         uint32_t refused) {
    char line[LINE_BYTES] = "refused: ";
    struct svmx_op op = {.size = sizeof op};
    struct svmx_device_op known = {.size = sizeof known};
    uint32_t named = 0;
    for (uint32_t i = 0; named < SHORT_NAMES && svmx_op_get(executor, i, &op) == SVMX_OK; i++)
        if (svmx_device_op_get(executor, index, op.id, &known) == SVMX_OK && is_refused(&known))
            append(line, "%s%.24s", named++ ? ", " : "", op.name);
    if (refused > named) append(line, " and %u more", refused - named);
    append(line, " (--verbose says why)");
    cli_table_note(table, column, line);
}

static uint32_t untried_of(const svmx_executor_t *executor, const struct svmx_device *device) {
    const uint32_t tried = device->proved + device->refused, count = svmx_op_count(executor);
    return count > tried ? count - tried : 0;
}

void devices_untried_note(struct cli_table *table, unsigned column, const svmx_executor_t *executor,
                          const struct svmx_device *device) {
    char line[LINE_BYTES];
    const uint32_t untried = untried_of(executor, device);
    snprintf(line, sizeof line, "%s not tried%s", cli_counted(untried, "operation").line,
             device->usable ? "" : ": the device was given up before");
    if (untried) cli_table_note(table, column, line);
}

static void operations_notes(struct cli_table *table, unsigned column, const svmx_executor_t *executor, uint32_t index,
                             const struct svmx_device *device) {
    char line[LINE_BYTES];
    struct svmx_op op = {.size = sizeof op};
    struct svmx_device_op known = {.size = sizeof known};
    const uint32_t untried = untried_of(executor, device);
    snprintf(line, sizeof line, "operations: %u proved, %u refused, %u not tried%s", device->proved, device->refused,
             untried, untried && device->usable ? " (--probe tries them)" : "");
    cli_table_note(table, column, line);
    for (uint32_t i = 0; device->refused && svmx_op_get(executor, i, &op) == SVMX_OK; i++) {
        if (svmx_device_op_get(executor, index, op.id, &known) != SVMX_OK || !is_refused(&known)) continue;
        snprintf(line, sizeof line, "%.31s, %s: %s", op.name, devices_fitness(known.fitness), known.reason);
        cli_table_note(table, column, line);
    }
}

void devices_notes(struct cli_table *table, unsigned column, const svmx_executor_t *executor, uint32_t index,
                   const struct svmx_device *device, bool all) {
    if (!all) {
        if (device->refused) refused_note(table, column, executor, index, device->refused);
        return;
    }
    limits_note(table, column, device);
    clock_note(table, column, device);
    floats_note(table, column, device);
    operations_notes(table, column, executor, index, device);
}
