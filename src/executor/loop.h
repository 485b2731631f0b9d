/*
 * loop.h: a body of tasks that is repeated until conditions hold: svmx_loop_run.
 *
 * loop_plan.c sees which tasks belong to which problem and what is carried on; loop.c runs windows of iterations as batches.
 * docs/adr/0016 has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_LOOP_H
#define SVMX_EXECUTOR_LOOP_H

#include "executor/batch.h"

/* A view that is carried on, sorted by its address. */
struct svmx__carried {
    uintptr_t at;
    uint64_t bytes;
    uint32_t carry; /* its number */
};

struct svmx__loop_plan {
    struct svmx_batch *body;
    const struct svmx_loop *loop;
    struct svmx__carried *carried;
    uint32_t *problem;   /* of each task */
    uint32_t *carry;     /* of each slot of the body: 1 + the carry that an input takes; 0: none */
    uint32_t *wanted;    /* of each task, bit i: output i is looked at, carried on or given to the caller */
    uint32_t *looked_at; /* of each task likewise: it is the condition of a problem */
};

/* Looks through a body. Errors leave their text in the body, and nothing to free. ARGUMENT, MEMORY. */
enum svmx_status svmx__loop_plan_make(struct svmx__loop_plan *plan, struct svmx_batch *body,
                                      const struct svmx_loop *loop);
void svmx__loop_plan_free(struct svmx__loop_plan *plan);

#endif
