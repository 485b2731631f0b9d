/*
 * run.h: the parts of `svmx run`.
 *
 *   cmd_run.c      options, operation, executor
 *   run_example.c  made-up data: how fast, where, and a hash of the result
 *   run_stdin.c    data from standard input, a line an item
 *   answer.c       which devices answered a batch, by its receipts
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_RUN_H
#define SVMX_CLI_RUN_H

#include "session.h"

/* Options of `run`, in the order of its table. */
enum { RUN_SIZE, RUN_TASKS, RUN_REPEAT, RUN_SEED, RUN_STDIN, RUN_QUIET, RUN_OPTION_COUNT };

struct run {
    struct cli_session session;
    struct svmx_op op;
    const struct cli_args *args;
    bool json, quiet;
};

enum cli_exit run_example(const struct run *run);
enum cli_exit run_stdin(const struct run *run);

/* What happened in the batches of a run, seen through their receipts. */
struct run_answer {
    uint32_t parts, redone; /* of the last batch; of all */
    char reason[160];       /* why something was first redone, or "" */
};

/* Reads the receipts of a batch that is done. CLI_FAILED when --device demanded a device and another one answered. */
enum cli_exit run_answer_read(const struct run *run, svmx_batch_t *batch, struct run_answer *answer);

#endif
