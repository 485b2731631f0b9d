/*
 * items.h: items written as lines of hex, gathered into the arguments of tasks.
 *
 *   line "616263 -"      ->  a column for each input: bytes end to end, and where each line's begin
 *   outputs of the task  ->  a line of hex for each item
 *
 * Two kinds of operations, told apart by the signature:
 *
 *   no scalars     a line is an item: one record of each array; all lines make one task
 *   with scalars   a line is a task, since a scalar is one for a whole task: arrays have any number of records, and how many
 *                  the outputs have is known from examples of the operation
 *
 * For operations on bytes: what is no scalar is an array of u8, or ragged u8 with its offsets; outputs are arrays of u8.
 * Called by run_stdin.c (and by cmd_ops.c, which asks whether an operation is one).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_ITEMS_H
#define SVMX_CLI_ITEMS_H

#include "outputs.h"
#include <stdbool.h>
#include <stdio.h>
#include <svmx/svmx.h>

enum { CLI_WHY_BYTES = 256 };

/* The bytes of one parameter, of all lines. */
struct cli_column {
    uint8_t *data;
    size_t bytes, capacity;
    uint64_t *offsets; /* line i has offsets[i] to offsets[i + 1]; of OFFSETS itself: two a line, 0 and its length */
    size_t offset_capacity;
};

struct cli_items {
    const struct svmx_op *op;
    struct cli_outputs outputs; /* for operations with scalars */
    struct cli_column columns[CLI_ITEMS_PARAMS];
    size_t count;
    size_t input_bytes; /* of all columns */
};

/* Does the operation take lines? If not, `why` (CLI_WHY_BYTES) names the parameter. */
bool cli_items_possible(const struct svmx_op *op, char *why);

/* The executor is asked for examples, and must outlive the items. */
void cli_items_init(struct cli_items *items, const svmx_executor_t *executor, const struct svmx_op *op);

/* Adds one line. False: nothing was added, and `why` says what is wrong with it. */
bool cli_items_add(struct cli_items *items, const char *line, size_t length, char *why);

/* Tasks that the lines make: one, or as many as lines. */
size_t cli_items_tasks(const struct cli_items *items);

/* Arguments of a task, op->param_count of them. Valid until the next line is added. */
void cli_items_args(const struct cli_items *items, size_t task, struct svmx_arg *args);

/* The bytes of output `param` that belong to a line. */
const uint8_t *cli_items_output(const struct cli_items *items, uint32_t param, size_t line, size_t *bytes);

void cli_items_clear(struct cli_items *items);
void cli_items_free(struct cli_items *items);

#endif
