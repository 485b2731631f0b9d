/*
 * items.h: items written as lines of hex, gathered into the arguments of one task.
 *
 *   line "616263 -"  ->  a column for each input: bytes end to end, and offsets where lengths differ
 *   the task's outputs, one record an item  ->  a line of hex for each item
 *
 * For operations on bytes: every input is an array of u8 with a fixed record, or ragged u8 with its offsets; every output
 * is an array of u8. Called by run_stdin.c (and by cmd_ops.c, which asks whether an operation is one).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_ITEMS_H
#define SVMX_CLI_ITEMS_H

#include <stdbool.h>
#include <stdio.h>
#include <svmx/svmx.h>

enum { CLI_ITEMS_PARAMS = 16, CLI_WHY_BYTES = 256 };

/* The bytes of one parameter. */
struct cli_column {
    uint8_t *data;
    size_t bytes, capacity;
    uint64_t *offsets; /* RAGGED inputs: as many as there are items, plus one */
    size_t offset_capacity;
};

struct cli_items {
    const struct svmx_op *op;
    struct cli_column columns[CLI_ITEMS_PARAMS]; /* one for each parameter; that of OFFSETS stays empty */
    size_t count;
    size_t input_bytes; /* of all columns */
};

/* Does the operation take lines? If not, `why` (CLI_WHY_BYTES) names the parameter. */
bool cli_items_possible(const struct svmx_op *op, char *why);

/* Adds one line. False: nothing was added, and `why` says what is wrong with it. */
bool cli_items_add(struct cli_items *items, const char *line, size_t length, char *why);

/* Arguments of the task for all items; makes room for outputs. args has op->param_count entries. Valid until the next
 * call on `items`. */
void cli_items_args(struct cli_items *items, struct svmx_arg *args);

/* Writes output `param` of item `index` as hex, into 2 x record bytes at `text`; returns the length. */
size_t cli_items_hex(const struct cli_items *items, uint32_t param, size_t index, char *text);

void cli_items_clear(struct cli_items *items);
void cli_items_free(struct cli_items *items);

#endif
