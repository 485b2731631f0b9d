/*
 * compare.c: see compare.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compare.h"

#include "cli/wild.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the executors ---------------------------------------------------------------------------------------- */

bool cpu_has(const char *variant) {
    if (strcmp(variant, "avx2") != 0 && strcmp(variant, "avx512") != 0) return true;
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
    if (strcmp(variant, "avx2") == 0) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
    return false;
#endif
}

/* A backend that was built and is not found is a fault, not a reason to skip. */
static bool simd_was_built(void) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s/simd.so", folder ? folder : "");
    return folder && access(path, F_OK) == 0;
}

svmx_executor_t *open_one(const struct target *target) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = target->backends,
                                         .variant = *target->variant ? target->variant : NULL,
                                         .threads = target->threads,
                                         .patience_ms = 3600000, /* oclgrind computes within a call */
                                         .log_level = SVMX_LOG_ERROR};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *executor = NULL;
    enum svmx_status status = svmx_open(&executor, &options, &error);
    if (status == SVMX_ERR_UNKNOWN && !simd_was_built()) cr_skip_test("this build has no such backend: %s", error.text);
    cr_assert_eq(status, SVMX_OK, "%s: %s", target->backends, error.text);
    return executor;
}

/* The device under test must be what was asked for. Of a device with device code the variant is that of each kernel. */
static void check_device(const struct pair *pair, const struct target *target) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(pair->tested, 0, &device), SVMX_OK);
    if (!*target->variant || strcmp(device.backend, "opencl") == 0) return;
    cr_assert_str_eq(device.backend, "simd");
    cr_assert_str_eq(device.variant, target->variant);
    cr_assert_eq(device.threads, target->threads);
}

struct pair pair_open(const struct target *target) {
    if (!cpu_has(target->variant)) cr_skip_test("this machine has no %s", target->variant);
    const struct target none = {.backends = "none"};
    struct pair pair = {.tested = open_one(target),
                        .reference = open_one(&none),
                        .strict = *target->variant != '\0',
                        .batch = BATCH,
                        .random_sizes = RANDOM_SIZES};
    snprintf(pair.name, sizeof pair.name, "%s %s of %u threads", target->backends, target->variant, target->threads);
    check_device(&pair, target);
    cr_assert_eq(svmx_batch_create(pair.tested, &pair.tested_batch), SVMX_OK);
    cr_assert_eq(svmx_batch_create(pair.reference, &pair.reference_batch), SVMX_OK);
    return pair;
}

void pair_close(struct pair *pair) {
    svmx_batch_destroy(pair->tested_batch);
    svmx_batch_destroy(pair->reference_batch);
    svmx_close(pair->tested);
    svmx_close(pair->reference);
}

uint32_t op_count(const struct pair *pair) {
    const uint32_t count = svmx_op_count(pair->reference);
    cr_assert(count >= FIRST_OPS && count <= MAX_OPS);
    return count;
}

struct svmx_op op_at(const struct pair *pair, uint32_t index) {
    struct svmx_op op = {.size = sizeof op};
    cr_assert_eq(svmx_op_get(pair->reference, index, &op), SVMX_OK);
    cr_assert_leq(op.param_count, MAX_ARGS);
    return op;
}

/* ---- run and compare -------------------------------------------------------------------------------------- */

static void check_receipts(const struct pair *pair) {
    for (uint32_t part = 0; part < svmx_receipt_count(pair->tested_batch); part++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(pair->tested_batch, part, &receipt), SVMX_OK);
        if (pair->strict)
            cr_assert(receipt.device == 0 && receipt.redone == 0, "%s: operation %u was answered by device %u: %s",
                      pair->name, receipt.op, receipt.device, receipt.reason);
    }
}

static void check_task(const struct pair *pair, const struct task *task, size_t number) {
    const char *where = pair->name;
    for (uint32_t i = 0; i < task->op.param_count; i++) {
        if (!is_output(task, i)) continue;
        const struct block *got = &task->blocks[i], *want = &task->expected[i];
        cr_assert(guards_stand(got), "%s: %s, task %zu: bytes around %s were written", where, task->op.name, number,
                  task->op.params[i].name);
        cr_assert(guards_stand(want), "%s, task %zu: the reference wrote around %s", task->op.name, number,
                  task->op.params[i].name);
        if (memcmp(got->at, want->at, (size_t)got->bytes) == 0) continue;
        uint64_t byte = 0;
        while (got->at[byte] == want->at[byte]) byte++;
        cr_assert_fail("%s: %s, task %zu: %s differs from byte %" PRIu64 " of %" PRIu64, where, task->op.name, number,
                       task->op.params[i].name, byte, got->bytes);
    }
}

enum svmx_status submit_and_wait(svmx_batch_t *batch) {
    const enum svmx_status status = svmx_submit(batch, 0);
    return status == SVMX_OK ? svmx_wait(batch, UINT64_MAX) : status;
}

void run_batch(const struct pair *pair, struct task *tasks, size_t count, enum svmx_status (*run)(svmx_batch_t *)) {
    svmx_batch_t *batch = pair->tested_batch;
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    for (size_t t = 0; t < count; t++) {
        task_renew(&tasks[t]);
        cr_assert_eq(svmx_batch_add(batch, tasks[t].op.id, tasks[t].args, tasks[t].op.param_count), SVMX_OK, "%s: %s",
                     tasks[t].op.name, svmx_batch_error(batch));
    }
    cr_assert_eq(run(batch), SVMX_OK, "%s: %s", pair->name, svmx_batch_error(batch));
    check_receipts(pair);
    for (size_t t = 0; t < count; t++) check_task(pair, &tasks[t], t);
}

/* On the tested executor and on all that run the same; frees the tasks. */
static void run_and_compare(const struct pair *pair, struct task *tasks, size_t count) {
    for (; pair; pair = pair->also) run_batch(pair, tasks, count, svmx_run);
    for (size_t t = 0; t < count; t++) task_free(&tasks[t]);
}

void run_one(struct pair *pair, const struct svmx_op *op, uint64_t size, enum style style, uint64_t seed,
             unsigned shift) {
    struct task task = task_make(pair->reference, pair->reference_batch, op, size, style, seed, shift);
    run_and_compare(pair, &task, 1);
}

uint64_t size_limit(const struct pair *pair, const struct svmx_op *op) {
    const uint64_t limit = cli_wild_limit(op->name);
    return pair->size_cap && pair->size_cap < limit ? pair->size_cap : limit;
}

static uint64_t within_limit(const struct pair *pair, const struct svmx_op *op, uint64_t size) {
    const uint64_t limit = size_limit(pair, op);
    return size <= limit ? size : size % (limit + 1);
}

/* ---- what is compared ------------------------------------------------------------------------------------- */

void few_of(struct pair *pair, bool (*is_dear)(const struct svmx_op *op)) {
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        if (pair->left_out[o] || !is_dear(&op)) continue;
        for (uint64_t size = 0; size <= size_limit(pair, &op); size = 3 * size + 1) {
            run_one(pair, &op, size, PLAIN, size, 0);
            run_one(pair, &op, size, WILD, size, 5);
        }
        pair->left_out[o] = true;
    }
}

void powers_of_two(struct pair *pair) {
    for (uint32_t o = 0; o < op_count(pair); o++) {
        if (pair->left_out[o]) continue;
        const struct svmx_op op = op_at(pair, o);
        run_one(pair, &op, 0, PLAIN, 2 * o, 0);
        run_one(pair, &op, 0, WILD, 2 * o + 1, 0);
        for (unsigned k = 0; k <= LARGEST_POWER && (UINT64_C(1) << k) < size_limit(pair, &op); k++)
            for (uint64_t size = (UINT64_C(1) << k) - 1; size <= (UINT64_C(1) << k) + 1; size++) {
                run_one(pair, &op, size, PLAIN, size, 0);
                run_one(pair, &op, size, WILD, size + k, 0);
            }
    }
}

void random_sizes(struct pair *pair) {
    uint64_t state = 11;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        if (pair->left_out[o]) continue;
        const struct svmx_op op = op_at(pair, o);
        for (unsigned i = 0; i < pair->random_sizes; i++) {
            const uint64_t size = cli_random(&state) >> (19 + cli_random_below(&state, 13)); /* few large, many small */
            run_one(pair, &op, within_limit(pair, &op, size), WILD, cli_random(&state), cli_random_below(&state, 64));
        }
        run_one(pair, &op, size_limit(pair, &op), WILD, 2, 4);
    }
}

void all_alignments(struct pair *pair) {
    static const unsigned shifts[] = {0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 28, 31, 32, 33, 48, 63};
    for (uint32_t o = 0; o < op_count(pair); o++) {
        if (pair->left_out[o]) continue;
        const struct svmx_op op = op_at(pair, o);
        for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
            run_one(pair, &op, within_limit(pair, &op, 100 + shifts[i]), WILD, i, shifts[i]);
            run_one(pair, &op, within_limit(pair, &op, 5000), WILD, i + 1, shifts[i]);
        }
    }
}

/* Sizes of tasks in a batch: many of a few units (of fewer where each is dear), some empty, a few large. */
static uint64_t mixed_size(const struct pair *pair, const struct svmx_op *op, uint64_t *state) {
    enum { FEW = 40 };
    const uint32_t r = cli_random_below(state, 100), few = cli_wild_limit(op->name) <= FEW ? FEW / 8 : FEW;
    if (r < 10) return 0;
    return within_limit(pair, op, r < 90 ? cli_random_below(state, few) : cli_random_below(state, 3000));
}

void many_tasks(struct pair *pair) {
    static struct task tasks[BATCH];
    uint64_t state = 5;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        if (pair->left_out[o]) continue;
        const struct svmx_op op = op_at(pair, o);
        for (size_t t = 0; t < pair->batch; t++)
            tasks[t] = task_make(pair->reference, pair->reference_batch, &op, mixed_size(pair, &op, &state), WILD,
                                 cli_random(&state), cli_random_below(&state, 64));
        run_and_compare(pair, tasks, pair->batch);
    }
}

/* At least one operation is not left out. */
static uint32_t random_op(const struct pair *pair, uint64_t *state) {
    uint32_t op;
    do op = cli_random_below(state, op_count(pair));
    while (pair->left_out[op]);
    return op;
}

void mixed_operations(struct pair *pair) {
    static struct task tasks[BATCH];
    uint64_t state = 6;
    for (unsigned round = 0; round < 3; round++) {
        for (size_t t = 0; t < pair->batch; t++) {
            const struct svmx_op op = op_at(pair, random_op(pair, &state));
            tasks[t] = task_make(pair->reference, pair->reference_batch, &op, mixed_size(pair, &op, &state),
                                 t % 3 ? WILD : PLAIN, cli_random(&state), cli_random_below(&state, 64));
        }
        run_and_compare(pair, tasks, pair->batch);
    }
}

/* A reduction is what has an output that does not grow. */
static bool is_reduction(const struct pair *pair, const struct svmx_op *op) {
    struct svmx_example small, large;
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 1, 1, &small), SVMX_OK);
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 5000, 1, &large), SVMX_OK);
    const bool grows = small.args[0].bytes < large.args[0].bytes;
    svmx_example_destroy(&small);
    svmx_example_destroy(&large);
    return !grows;
}

static uint64_t bytes_per_unit(const struct pair *pair, const struct svmx_op *op) {
    struct svmx_example example;
    uint64_t bytes = 0;
    cr_assert_eq(svmx_example_create(pair->reference, op->id, 1000, 1, &example), SVMX_OK);
    for (size_t i = 0; i < example.arg_count; i++) bytes += example.args[i].bytes;
    svmx_example_destroy(&example);
    return bytes / 1000;
}

void large(struct pair *pair) {
    unsigned reductions = 0;
    for (uint32_t o = 0; o < op_count(pair); o++) {
        if (pair->left_out[o]) continue;
        const struct svmx_op op = op_at(pair, o);
        if (size_limit(pair, &op) < 5000 || (FEWER && op.id > FIRST_OPS)) continue;
        if (is_reduction(pair, &op)) {
            run_one(pair, &op, 4096 * 4096 + 4097, PLAIN, o, 0);
            reductions++;
        } else if (bytes_per_unit(pair, &op) <= 16) {
            /* streaming stores start at the first aligned address: every offset for the first, one for the rest */
            for (unsigned shift = op.id <= FIRST_OPS ? 0 : 4; shift <= 4; shift = 2 * shift + !shift)
                run_one(pair, &op, 3000001, WILD, o, shift);
        }
    }
    cr_assert_geq(reductions, 2, "sum_f32 and dot_f32 were not found");
}
