/*
 * scan_json.c: a scan as one JSON document: the columns of the CSV file as fields, and the crossovers. Called by cmd_scan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include <string.h>

/* `decided` is a word in the file, where only rows with several samples have it; here every row has it, as true or false. */
static void row_json(struct cli_json *json, const struct scan_row *row) {
    struct scan_cells cells;
    scan_cells_of(&cells, row, row->samples > 1 ? SCAN_LONG : SCAN_SHORT);
    cli_json_open(json, NULL, '{');
    for (unsigned i = 0; i < cells.count; i++) {
        const struct scan_cell *cell = &cells.cells[i];
        if (strcmp(cell->name, "decided") == 0) continue;
        if (!cell->number)
            cli_json_text(json, cell->name, cell->text);
        else
            cli_json_literal(json, cell->name, *cell->text ? cell->text : "null");
    }
    cli_json_bool(json, "decided", row->decided);
    cli_json_close(json);
}

static void crossing_json(struct cli_json *json, const struct scan_crossing *crossing) {
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "op", crossing->op->op.name);
    cli_json_text(json, "backend", crossing->gpu->device.backend);
    cli_json_text(json, "device", crossing->gpu->label);
    if (crossing->found)
        cli_json_number(json, "crossover", crossing->size);
    else
        cli_json_text(json, "crossover", NULL);
    cli_json_number(json, "largest", crossing->largest);
    cli_json_number(json, "undecided", crossing->undecided);
    cli_json_close(json);
}

void scan_json(const struct scan_rows *rows, const struct scan_side *cpu) {
    struct cli_json json = cli_json_start(stdout, CLI_JSON_TALL);
    struct scan_crossing crossing;
    size_t at = 0;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "cpu", cpu->label);
    cli_json_open(&json, "rows", '[');
    for (size_t i = 0; i < rows->count; i++) row_json(&json, &rows->rows[i]);
    cli_json_close(&json);
    cli_json_open(&json, "crossovers", '[');
    while (scan_crossing_next(rows, &at, &crossing)) crossing_json(&json, &crossing);
    cli_json_close(&json);
    cli_json_number(&json, "wrong", rows->wrong);
    cli_json_number(&json, "failed", rows->failed);
    cli_json_number(&json, "left_out", rows->left_out);
    cli_json_bool(&json, "interrupted", rows->stopped);
    cli_json_close(&json);
}
