/*
 * run.h: the parts of `svmx run`.
 *
 *   cmd_run.c      options, operation, executor
 *   run_example.c  made-up data: how fast, where, and a hash of the result
 *   run_shadow.c   the same again on the other side, CPU or device, where the user wants both in the log
 *   run_stdin.c    data from standard input, a line an item
 *   run_receipts.c a line of JSON for each launch, where the user wants them
 *   answer.c       which devices answered a batch, by its receipts
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_RUN_H
#define SVMX_CLI_RUN_H

#include "session.h"
#include <stdio.h>

/* Options of `run`, in the order of its table. */
enum {
    RUN_SIZE,
    RUN_TASKS,
    RUN_REPEAT,
    RUN_SEED,
    RUN_HASH,
    RUN_SHADOW,
    RUN_STDIN,
    RUN_QUIET,
    RUN_RECEIPT,
    RUN_OPTION_COUNT
};

struct run {
    struct cli_session session;
    struct svmx_op op;
    const struct cli_args *args;
    bool json, quiet;
    FILE *receipts; /* NULL: they are not wanted */
};

enum cli_exit run_example(const struct run *run);
enum cli_exit run_stdin(const struct run *run);

/* What happened in the batches of a run, seen through their receipts. */
struct run_answer {
    uint32_t parts;         /* of the last batch */
    uint32_t redone, tries; /* of all: launches that were redone, and those that were to learn what a device takes */
    char reason[160];       /* why something was first redone, or "" */
};

/* Reads the receipts of a batch that is done. CLI_FAILED when --device demanded a device and another one answered. */
enum cli_exit run_answer_read(const struct run *run, svmx_batch_t *batch, struct run_answer *answer);

/* Opens what --receipt names; CLI_OK, or another code after a message. Close says if something could not be written. */
enum cli_exit run_receipts_open(struct run *run);
enum cli_exit run_receipts_close(struct run *run, enum cli_exit so_far);
/* Writes a line for each launch of a batch that is done. */
enum cli_exit run_receipts_write(const struct run *run, svmx_batch_t *batch);

#endif
