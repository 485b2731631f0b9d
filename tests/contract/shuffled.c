/*
 * shuffled.c: the same tasks, cut into batches, in an order, on a variant and on a number of threads that dice decide: the
 * bytes of the reference code, whatever the dice say.
 *
 * contract.c goes through what was thought of, one thing after the other; this suite mixes it. A round makes tasks of every
 * operation with the reference's answers; they run several ways:
 *
 *   way   order: shuffled anew | batches: of 1 task to all | each: svmx_run, or svmx_submit and svmx_wait
 *         variant: any that the CPU has | threads: 1 to 8
 *
 * The dice's seed is printed, and is part of what a failed check says; SVMX_TEST_SEED throws the same again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/wild.h"
#include "compare.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OF_EACH = FEWER ? 2 : 5, ROUNDS = FEWER ? 1 : 2, WAYS = FEWER ? 6 : 16, MAX_THREADS = 8 };

static uint64_t dice, seed;
static struct task tasks[MAX_OPS * OF_EACH];
static size_t count;

static void seed_dice(void) {
    const char *wish = getenv("SVMX_TEST_SEED");
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    seed = wish ? strtoull(wish, NULL, 0) : (uint64_t)now.tv_sec << 20 ^ (uint64_t)now.tv_nsec;
    dice = seed;
    fprintf(stderr, "shuffled: SVMX_TEST_SEED=%" PRIu64 "\n", seed);
}

/* Few large enough to be shared by threads, many small. */
static uint64_t any_size(const struct svmx_op *op) {
    const uint64_t limit = cli_wild_limit(op->name), size = cli_random(&dice) >> (14 + cli_random_below(&dice, 18));
    return size <= limit ? size : size % (limit + 1);
}

static void make_tasks(const struct pair *pair) {
    count = 0;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        for (unsigned i = 0; i < OF_EACH; i++, count++)
            tasks[count] = task_make(pair->reference, pair->reference_batch, &op, any_size(&op), i ? WILD : PLAIN,
                                     cli_random(&dice), cli_random_below(&dice, 64));
    }
}

static void shuffle(void) {
    for (size_t left = count; left > 1; left--) {
        const size_t other = cli_random_below(&dice, (uint32_t)left);
        const struct task last = tasks[left - 1];
        tasks[left - 1] = tasks[other];
        tasks[other] = last;
    }
}

/* How many of those that are left go into the next batch: one, all, or anything between, small numbers as likely as large. */
static size_t any_batch(size_t left) {
    const size_t some = 1 + (cli_random(&dice) >> (16 + cli_random_below(&dice, 16)));
    return some < left ? some : left;
}

static struct target any_target(void) {
    static const char *const variants[] = {"scalar", "avx2", "avx512"};
    struct target target = {.backends = "+simd,stop", .threads = 1 + cli_random_below(&dice, MAX_THREADS)};
    const char *variant;
    do variant = variants[cli_random_below(&dice, 3)];
    while (!cpu_has(variant));
    snprintf(target.variant, sizeof target.variant, "%s", variant);
    return target;
}

static void run_some_way(void) {
    const struct target target = any_target();
    struct pair pair = pair_open(&target);
    snprintf(pair.name, sizeof pair.name, "SVMX_TEST_SEED=%" PRIu64 ", %s of %u threads", seed, target.variant,
             target.threads);
    shuffle();
    for (size_t at = 0, next; at < count; at += next) {
        next = any_batch(count - at);
        run_batch(&pair, tasks + at, next, cli_random(&dice) & 1 ? svmx_run : submit_and_wait);
    }
    pair_close(&pair);
}

Test(contract, shuffled) {
    seed_dice();
    struct pair reference = pair_open(&(struct target){.backends = "none"});
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_tasks(&reference);
        for (unsigned way = 0; way < WAYS; way++) run_some_way();
        for (size_t t = 0; t < count; t++) task_free(&tasks[t]);
    }
    pair_close(&reference);
}
