/*
 * trial.h: what `svmx run` on made-up data makes (run_example.c) and prints (run_report.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_TRIAL_H
#define SVMX_CLI_TRIAL_H

#include "run.h"

struct trial {
    const struct run *run;
    uint64_t size, seed;
    uint32_t tasks, repeat;
    struct svmx_example *examples; /* `made` of them */
    uint32_t made;
    struct svmx_example *shadows; /* for --shadow, `shadows_made` of the same in other memory */
    uint32_t shadows_made;
    svmx_batch_t *batch;
    svmx_batch_t *shadow;         /* the same tasks once more, for --shadow; else NULL */
    uint64_t bytes_in, bytes_out; /* of all tasks, as named by the arguments */
    uint64_t runs;                /* so far: the tag of the last one */
    uint64_t first_ns, *times_ns; /* `repeat` times, sorted */
    struct run_answer answer;
    char hash[65];
};

/* --shadow: runs the tasks again under the tag of the last run, on the device if the CPU had that, or the other way round, and
 * writes the receipts. */
enum cli_exit trial_shadow(struct trial *trial);

/* Prints a trial that is done: text, JSON, or the hash alone. */
void trial_print(const struct trial *trial);

#endif
