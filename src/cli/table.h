/*
 * table.h: aligned columns, on standard output unless told otherwise, as wide as their widest cell.
 *
 *   struct cli_table table = cli_table_start(2);
 *   cli_table_row(&table, (const char *[]){"NAME", "SUMMARY"});
 *   cli_table_note(&table, 1, "more about it, under the second column");
 *   cli_table_print(&table);                                           // and frees it
 *
 * Cells are copied; what would disturb a terminal is shown as '?'.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_TABLE_H
#define SVMX_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { CLI_TABLE_COLUMNS = 8 };

struct cli_table_row {
    char *cells[CLI_TABLE_COLUMNS];
    bool note; /* its one cell takes no part in the widths */
};

struct cli_table {
    unsigned columns;
    unsigned right;  /* bit i: column i is set to the right */
    unsigned indent; /* blanks before each line */
    FILE *out;       /* NULL: standard output */
    struct cli_table_row *rows;
    size_t row_count;
};

struct cli_table cli_table_start(unsigned columns);
void cli_table_row(struct cli_table *table, const char *const *cells);

/* A line of its own that starts at a column and may run over those to its right. */
void cli_table_note(struct cli_table *table, unsigned column, const char *text);

void cli_table_print(struct cli_table *table);

#endif
