/*
 * conform_report.c: verdicts of `svmx conform` as text and as JSON. Called by cmd_conform.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conform.h"
#include "json.h"
#include "table.h"
#include "text.h"

static const char *const verdict_names[CONFORM_VERDICTS] = {"exact", "WRONG", "refused", "not supported"};
static const char *const verdict_keys[CONFORM_VERDICTS] = {"exact", "wrong", "refused", "not_supported"};

struct sums {
    uint32_t of[CONFORM_VERDICTS];
};

static struct sums sums_make(const struct conform *conform) {
    struct sums sums = {{0}};
    for (uint32_t i = 0; i < conform->result_count; i++) sums.of[conform->results[i].verdict]++;
    return sums;
}

bool conform_good(const struct conform *conform) {
    const struct sums sums = sums_make(conform);
    return sums.of[CONFORM_EXACT] > 0 && sums.of[CONFORM_WRONG] == 0 && sums.of[CONFORM_REFUSED] == 0;
}

bool conform_empty(const struct conform *conform) {
    return sums_make(conform).of[CONFORM_UNSUPPORTED] == conform->result_count;
}

void conform_text(const struct conform *conform) {
    const struct sums sums = sums_make(conform);
    struct cli_table table = cli_table_start(4);
    table.right = 1u << 2 | 1u << 3;
    cli_table_row(&table, (const char *[]){"OPERATION", "VERDICT", "BATCHES", "TASKS"});
    for (uint32_t i = 0; i < conform->result_count; i++) {
        const struct conform_result *result = &conform->results[i];
        struct cli_text batches = cli_count(result->batches), tasks = cli_count(result->tasks);
        cli_table_row(&table,
                      (const char *[]){result->op.name, verdict_names[result->verdict], batches.line, tasks.line});
        if (result->verdict == CONFORM_WRONG || result->verdict == CONFORM_REFUSED)
            cli_table_note(&table, 1, result->reason);
    }
    printf("%s\n\n", cli_device_label(&conform->device).line);
    cli_table_print(&table);
    printf("\n%u exact, %u wrong, %u refused, %u not supported\n", sums.of[CONFORM_EXACT], sums.of[CONFORM_WRONG],
           sums.of[CONFORM_REFUSED], sums.of[CONFORM_UNSUPPORTED]);
}

static void result_json(struct cli_json *json, const struct conform_result *result) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", result->op.name);
    cli_json_text(json, "verdict", verdict_keys[result->verdict]);
    cli_json_number(json, "batches", result->batches);
    cli_json_number(json, "tasks", result->tasks);
    cli_json_text(json, "reason", result->reason);
    cli_json_close(json);
}

static void device_json(struct cli_json *json, const struct conform *conform) {
    const struct sums sums = sums_make(conform);
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "backend", conform->device.backend);
    cli_json_text(json, "name", conform->device.name);
    cli_json_text(json, "kind", cli_device_kind(&conform->device));
    cli_json_text(json, "variant", conform->device.variant);
    cli_json_text(json, "driver", conform->device.driver);
    cli_json_bool(json, "test", conform->device.flags & SVMX_DEVICE_TEST);
    cli_json_bool(json, "modelled", conform->device.kind == SVMX_DEVICE_MODEL);
    cli_json_open(json, "operations", '[');
    for (uint32_t i = 0; i < conform->result_count; i++) result_json(json, &conform->results[i]);
    cli_json_close(json);
    for (uint32_t v = 0; v < CONFORM_VERDICTS; v++) cli_json_number(json, verdict_keys[v], sums.of[v]);
    cli_json_bool(json, "conforms", conform_good(conform));
    cli_json_close(json);
}

void conform_json(const struct conform *devices, uint32_t count, const char *plugin, bool good) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "plugin", plugin);
    cli_json_open(&json, "devices", '[');
    for (uint32_t i = 0; i < count; i++) device_json(&json, &devices[i]);
    cli_json_close(&json);
    cli_json_bool(&json, "conforms", good);
    cli_json_close(&json);
}
