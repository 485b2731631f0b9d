/*
 * test_chains.c: tasks that take the results of earlier tasks of their batch: order, levels, mixtures, long chains, on a
 * device of its own memory, on host memory, and where the device fails in the middle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>

enum { N = 64 };

static svmx_executor_t *open_kind(bool device) {
    struct svmx_options options = device ? fake_options() : plain_options();
    svmx_executor_t *executor = NULL;
    struct svmx_error error;
    options.log_level = SVMX_LOG_ERROR;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static void quiet(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

static svmx_batch_t *batch_on(svmx_executor_t *executor) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    return batch;
}

/* out = result of `task` + b */
static void add_to_result(svmx_batch_t *batch, float *out, uint32_t task, const float *b) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, task, 0),
                                    svmx_in(SVMX_F32, b, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
}

/* A straight chain: x, x + b, x + 2b, ... */
static void straight(bool device, uint32_t length, bool asynchronous) {
    fake_start();
    svmx_executor_t *executor = open_kind(device);
    svmx_batch_t *batch = batch_on(executor);
    float(*outs)[N] = calloc(length, sizeof *outs);
    float a[N], b[N];
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(i % 5);
    for (int round = 0; round < 2; round++) {
        memset(outs, 0xff, length * sizeof *outs);
        cr_assert_eq(svmx_vec_add_f32(batch, outs[0], a, b, N), SVMX_OK);
        for (uint32_t t = 1; t < length; t++) add_to_result(batch, outs[t], t - 1, b);
        cr_assert_eq(asynchronous ? svmx_submit(batch, 0) : svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
        for (uint32_t t = 0; t < length; t++)
            for (int i = 0; i < N; i++) cr_assert_eq(outs[t][i], a[i] + (float)(t + 1) * b[i], "task %u item %d", t, i);
        cr_assert_eq(svmx_receipt_count(batch), length, "one part a level");
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    free(outs);
    cr_assert_eq(fake.memories, 0);
}

Test(chains, two_levels) { straight(false, 2, false); }
Test(chains, two_levels_on_a_device) { straight(true, 2, false); }
Test(chains, a_thousand_levels) { straight(false, 1000, false); }
Test(chains, a_thousand_levels_asynchronously) { straight(false, 1000, true); }
Test(chains, a_thousand_levels_on_a_device) { straight(true, 1000, false); }
Test(chains, a_thousand_levels_on_a_device_asynchronously) { straight(true, 1000, true); }

/* A random graph: each task an operation on earlier results or on host memory; computed again by hand. */
static void random_graph(bool device, unsigned seed) {
    enum { TASKS = 300 };
    static float outs[TASKS][N], host[8][N], expected[TASKS][N];
    fake_start();
    svmx_executor_t *executor = open_kind(device);
    svmx_batch_t *batch = batch_on(executor);
    srand(seed);
    for (int h = 0; h < 8; h++)
        for (int i = 0; i < N; i++) host[h][i] = (float)(rand() % 3 - 1);
    for (uint32_t t = 0; t < TASKS; t++) {
        const float *values[2];
        struct svmx_arg args[3] = {svmx_out(SVMX_F32, outs[t], N)};
        for (int p = 0; p < 2; p++) {
            uint32_t from = t ? (uint32_t)rand() % t : 0;
            bool chained = t && rand() % 2;
            values[p] = chained ? expected[from] : host[rand() % 8];
            args[p + 1] = chained ? svmx_result_of(SVMX_F32, from, 0) : svmx_in(SVMX_F32, values[p], N);
        }
        bool product = rand() % 2;
        for (int i = 0; i < N; i++) {
            volatile float x = values[0][i], y = values[1][i];
            expected[t][i] = product ? x * y : x + y;
        }
        cr_assert_eq(svmx_batch_add(batch, product ? SVMX_OP_VEC_MUL_F32 : SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    }
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t t = 0; t < TASKS; t++)
        for (int i = 0; i < N; i++)
            cr_assert(outs[t][i] == expected[t][i] || (outs[t][i] != outs[t][i] && expected[t][i] != expected[t][i]),
                      "seed %u task %u item %d: %g, not %g", seed, t, i, (double)outs[t][i], (double)expected[t][i]);
    uint64_t tasks = 0;
    for (uint32_t p = 0; p < svmx_receipt_count(batch); p++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batch, p, &receipt), SVMX_OK);
        tasks += receipt.tasks;
    }
    cr_assert_eq(tasks, TASKS, "every task is in exactly one part");
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(chains, random_graphs) {
    for (unsigned seed = 1; seed <= 10; seed++) random_graph(false, seed);
}
Test(chains, random_graphs_on_a_device) {
    for (unsigned seed = 1; seed <= 10; seed++) random_graph(true, seed);
}

Test(chains, independent_tasks_join_the_first_level) {
    static float outs[4][N], a[N], b[N];
    fake_start();
    svmx_executor_t *executor = open_kind(true);
    svmx_batch_t *batch = batch_on(executor);
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 1;
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], a, b, N), SVMX_OK);
    add_to_result(batch, outs[1], 0, b);
    cr_assert_eq(svmx_vec_add_f32(batch, outs[2], a, a, N), SVMX_OK);
    add_to_result(batch, outs[3], 2, b);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 2, "two levels of one operation are two launches");
    for (int i = 0; i < N; i++) {
        cr_assert_eq(outs[1][i], (float)(i + 2));
        cr_assert_eq(outs[3][i], (float)(2 * i + 1));
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(chains, a_hash_of_hashes) {
    static uint8_t digests[4 * 32], root[32], expected[32], message[12] = "abcdefghijkl";
    const uint64_t cuts[] = {0, 3, 6, 9, 12}, whole[] = {0, 128};
    struct svmx_options options = plain_options();
    svmx_executor_t *executor;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    svmx_batch_t *batch = batch_on(executor);
    cr_assert_eq(svmx_keccak256(batch, digests, message, cuts, 4), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, root, 32), svmx_result_of(SVMX_U8, 0, 0),
                                    svmx_in(SVMX_U64, whole, 2)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_KECCAK256, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_keccak256(batch, expected, digests, whole, 1), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(memcmp(root, expected, 32), 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(chains, a_result_must_have_the_length_that_is_needed) {
    static float out[N], sum, a[N];
    struct svmx_options options = plain_options();
    svmx_executor_t *executor;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    svmx_batch_t *batch = batch_on(executor);
    cr_assert_eq(svmx_sum_f32(batch, &sum, a, N), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, 0, 0),
                                    svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_task_count(batch), 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* The device goes away between levels: what it gave before counts, the rest is done elsewhere. */
Test(chains, a_device_lost_in_the_middle) {
    enum { LENGTH = 20 };
    static float outs[LENGTH][N], a[N], b[N];
    for (unsigned lost_at = 1; lost_at < 30; lost_at += 3) {
        fake_start();
        fake.fail[FAKE_SUBMIT].from = lost_at;
        fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
        fake.fail[FAKE_SUBMIT].status = SVMX_ERR_DEVICE_LOST;
        struct svmx_options options = fake_options();
        svmx_executor_t *executor;
        options.log = quiet;
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        svmx_batch_t *batch = batch_on(executor);
        for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = (float)(i % 7);
        memset(outs, 0xff, sizeof outs);
        cr_assert_eq(svmx_vec_add_f32(batch, outs[0], a, b, N), SVMX_OK);
        for (uint32_t t = 1; t < LENGTH; t++) add_to_result(batch, outs[t], t - 1, b);
        cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
        cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
        for (int i = 0; i < N; i++) cr_assert_eq(outs[LENGTH - 1][i], a[i] + LENGTH * b[i]);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
    }
}
