/*
 * compare.h: two executors side by side, one with the device under test and one with the reference code alone, and the
 * comparisons that every device has to stand: byte for byte, one task and many, any size, any alignment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CONTRACT_COMPARE_H
#define TESTS_CONTRACT_COMPARE_H

#include "../sanitized.h"
#include "tasks.h"

/* Under the address sanitizer everything takes ten times as long, and what it looks for does not hide in large sizes or
 * in many of the same: fewer targets, tasks and sizes there, of every operation and variant still some. */
enum {
    FEWER = UNDER_ADDRESS_SANITIZER,
    BATCH = FEWER ? 150 : 400,
    RANDOM_SIZES = FEWER ? 15 : 60,
    LARGEST_POWER = FEWER ? 13 : 16
};

enum { MAX_OPS = 256 };

/* Fixed-size text: Criterion copies parameters into the process of the test. */
struct target {
    char backends[64], variant[16];
    uint32_t threads;
};

struct pair {
    char name[96]; /* of what is tested */
    svmx_executor_t *tested, *reference;
    svmx_batch_t *tested_batch, *reference_batch;
    bool strict; /* every operation must run on device 0, else this would compare the reference with itself */
    bool left_out[MAX_OPS];       /* by number: operations that the device does not do */
    uint64_t size_cap;            /* no task is larger; 0: no such limit */
    uint32_t batch, random_sizes; /* tasks in a large batch, and sizes to be tried: less for slow devices */
    const struct pair *also;      /* another that runs the same tasks: to make them takes longer than to run them */
};

bool cpu_has(const char *variant);

/* Skips the test where the machine or the build does not have the target. */
svmx_executor_t *open_one(const struct target *target);
struct pair pair_open(const struct target *target);
void pair_close(struct pair *pair);

uint32_t op_count(const struct pair *pair);
struct svmx_op op_at(const struct pair *pair, uint32_t index);

/* One task of an operation; also proves, where the pair is strict, that device 0 answered it. */
void run_one(struct pair *pair, const struct svmx_op *op, uint64_t size, enum style style, uint64_t seed,
             unsigned shift);

/* Tasks as one batch of the tested executor; `run` is svmx_run or does the like. The tasks stay the caller's. */
void run_batch(const struct pair *pair, struct task *tasks, size_t count, enum svmx_status (*run)(svmx_batch_t *));
enum svmx_status submit_and_wait(svmx_batch_t *batch);

/* Largest size of an operation that is compared. */
uint64_t size_limit(const struct pair *pair, const struct svmx_op *op);

/* ---- comparisons ---- */
/* Of dear operations a few tasks; from then on they are left out. */
void few_of(struct pair *pair, bool (*is_dear)(const struct svmx_op *op));
void powers_of_two(struct pair *pair);
void random_sizes(struct pair *pair);
void all_alignments(struct pair *pair);
void many_tasks(struct pair *pair);
void mixed_operations(struct pair *pair);
/* Reductions over more partials than one block holds; vectors that no cache holds. */
void large(struct pair *pair);

#endif
