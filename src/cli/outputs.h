/*
 * outputs.h: how many items the outputs of a task have, which no signature says: by examples of the operation.
 *
 *   in small examples as many as the first array   ->  so here too           grid_flip_u8
 *   else                                           ->  as in an example of as many units      merkle_root_sha256
 *
 * A guess, if a good one: svmx_batch_add has the last word, and its text. Called by items.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_OUTPUTS_H
#define SVMX_CLI_OUTPUTS_H

#include <stdbool.h>
#include <svmx/svmx.h>

enum { CLI_ITEMS_PARAMS = 16 };

struct cli_outputs {
    const svmx_executor_t *executor;
    const struct svmx_op *op;
    bool looked;                 /* `same` is set */
    bool same[CLI_ITEMS_PARAMS]; /* as many items as the first array */
    bool asked;                  /* `units` and `items` are set, by the last example */
    uint64_t units;
    uint64_t items[CLI_ITEMS_PARAMS]; /* of its outputs */
};

/* Items of output `param` where the first array has `items`. Another status than SVMX_OK: there is no such example. */
enum svmx_status cli_outputs_items(struct cli_outputs *outputs, uint32_t param, uint64_t items, uint64_t *out);

/* The first array, ragged or not: what a task's items are counted by. param_count: there is none. */
uint32_t cli_outputs_measure(const struct svmx_op *op);

#endif
