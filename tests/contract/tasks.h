/*
 * tasks.h: tasks for the contract suites: made from signatures and examples, with the reference code's answer beside them.
 *
 * Inputs end where their memory ends, so that sanitizers see a read too far; outputs lie between guard bytes.
 *
 *   plain   the example as it is
 *   wild    what is special in its type (src/cli/wild.h); messages of 0 to 600 bytes
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CONTRACT_TASKS_H
#define TESTS_CONTRACT_TASKS_H

#include <stdbool.h>
#include <svmx/svmx.h>

enum { MAX_ARGS = 8, FIRST_OPS = 6 };

/* Memory that starts `shift` bytes behind a 64-byte border, with guards around it if something writes there. */
struct block {
    uint8_t *base, *at;
    uint64_t bytes, guard;
};

bool guards_stand(const struct block *block);

enum style { PLAIN, WILD };

/* One task and what is expected of it. The arguments are those of the run under test. */
struct task {
    struct svmx_op op;
    struct svmx_arg args[MAX_ARGS];
    struct block blocks[MAX_ARGS];   /* inputs, and outputs of the run under test */
    struct block expected[MAX_ARGS]; /* outputs of the reference code */
};

bool is_output(const struct task *task, uint32_t i);

/* A task of `size` units with the answer of `reference`, a batch of an executor without backends. */
struct task task_make(const svmx_executor_t *examples, svmx_batch_t *reference, const struct svmx_op *op, uint64_t size,
                      enum style style, uint64_t seed, unsigned shift);
/* Before each run: outputs hold nothing of an earlier one. */
void task_renew(struct task *task);
void task_free(struct task *task);

#endif
