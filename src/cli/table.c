/*
 * table.c: aligned columns. table.h shows how.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"
#include "text.h"
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A copy that a terminal shows as it is: control characters and what is no UTF-8 become '?'. */
static char *tame(const char *text) {
    char *copy = cli_grow(NULL, strlen(text) + 1, 1), *to = copy;
    while (*text != '\0') {
        const char *start = text;
        int32_t point = cli_utf8_next(&text);
        bool plain = point >= 0x20 && (point < 0x7f || point > 0x9f);
        if (!plain)
            *to++ = '?';
        else
            to = (char *)memcpy(to, start, (size_t)(text - start)) + (text - start);
    }
    *to = '\0';
    return copy;
}

/* Characters, not bytes. */
static unsigned width_of(const char *text) {
    unsigned width = 0;
    for (; *text != '\0'; width++) cli_utf8_next(&text);
    return width;
}

struct cli_table cli_table_start(unsigned columns) {
    assert(columns <= CLI_TABLE_COLUMNS);
    return (struct cli_table){.columns = columns};
}

static struct cli_table_row *row_add(struct cli_table *table) {
    table->rows = cli_grow(table->rows, table->row_count + 1, sizeof *table->rows);
    struct cli_table_row *row = &table->rows[table->row_count++];
    *row = (struct cli_table_row){.note = false};
    return row;
}

void cli_table_row(struct cli_table *table, const char *const *cells) {
    struct cli_table_row *row = row_add(table);
    for (unsigned i = 0; i < table->columns; i++) row->cells[i] = tame(cells[i]);
}

void cli_table_note(struct cli_table *table, unsigned column, const char *text) {
    assert(column < table->columns);
    struct cli_table_row *row = row_add(table);
    row->note = true;
    row->cells[column] = tame(text);
}

/* Blanks are held back until something follows them: no line ends in blanks. */
static void row_print(const struct cli_table *table, const struct cli_table_row *row, const unsigned *widths) {
    FILE *out = table->out ? table->out : stdout;
    unsigned blanks = table->indent;
    for (unsigned i = 0; i < table->columns; i++) {
        const char *cell = row->cells[i] ? row->cells[i] : "";
        unsigned width = width_of(cell), pad = width < widths[i] ? widths[i] - width : 0;
        bool right = table->right >> i & 1 && !row->note;
        if (*cell != '\0') {
            fprintf(out, "%*s%s", (int)(blanks + (right ? pad : 0)), "", cell);
            blanks = 0;
        }
        blanks += (right && *cell != '\0' ? 0 : pad) + 2;
    }
    fputc('\n', out);
}

void cli_table_print(struct cli_table *table) {
    unsigned widths[CLI_TABLE_COLUMNS] = {0};
    for (size_t r = 0; r < table->row_count; r++) {
        for (unsigned i = 0; i < table->columns && !table->rows[r].note; i++) {
            unsigned width = width_of(table->rows[r].cells[i]);
            if (width > widths[i]) widths[i] = width;
        }
    }
    for (size_t r = 0; r < table->row_count; r++) {
        row_print(table, &table->rows[r], widths);
        for (unsigned i = 0; i < table->columns; i++) free(table->rows[r].cells[i]);
    }
    free(table->rows);
    *table = (struct cli_table){.columns = 0};
}
