/*
 * stretches_fixture.h: what the suites of stretches share: made-up graphs of tasks as batches, the bytes that they have to give, and
 * how many parts of a run were in one submission or one launch. Included by each, one copy: all is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_STRETCHES_FIXTURE_H
#define TESTS_STRETCHES_FIXTURE_H

#include "executor/building.h"
#include "faults_fixture.h"
#include "ops/chain_f32.h"

enum { N = 47, /* no multiple of an alignment */ TASKS = 40, SEEDS = 12 };

static float host[6][N], expected[TASKS][N], outs[TASKS][N];

/* ---- a made-up graph ---------------------------------------------------------------------------------------------- */

enum where { TO_HOST, TO_LIBRARY, TO_NOBODY };

struct task {
    uint32_t op;
    enum where where;
    int from[2]; /* an earlier task, or -1 - a row of `host` */
};

struct graph {
    uint32_t count;
    struct task tasks[TASKS];
};

static const struct {
    uint32_t op, inputs;
} operations[] = {{SVMX_OP_VEC_ADD_F32, 2}, {SVMX_OP_VEC_MUL_F32, 2}, {SVMX_OP_RELU_F32, 1}, {SVMX_OP_GELU_F32, 1}};

static inline uint32_t inputs_of(uint32_t op) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].op == op) return operations[i].inputs;
    return 0;
}

static inline struct graph graph_of(unsigned seed) {
    struct graph graph = {.count = 2 + seed * 3 % (TASKS - 1)};
    srand(seed);
    for (int h = 0; h < 6; h++)
        for (int i = 0; i < N; i++) host[h][i] = (float)(rand() % 401 - 200) / 64;
    for (uint32_t t = 0; t < graph.count; t++) {
        struct task *task = &graph.tasks[t];
        task->op = operations[rand() % 4].op;
        task->where = (enum where)(rand() % 3);
        for (int i = 0; i < 2; i++) task->from[i] = t && rand() % 4 ? rand() % (int)t : -1 - rand() % 6;
    }
    return graph;
}

/* A straight chain, of which only the last result is asked for. */
static inline struct graph line_of(uint32_t count) {
    struct graph graph = graph_of(1);
    graph.count = count;
    for (uint32_t t = 0; t < count; t++)
        graph.tasks[t] = (struct task){SVMX_OP_VEC_ADD_F32, t + 1 == count ? TO_HOST : TO_NOBODY, {(int)t - 1, -2}};
    return graph;
}

static inline struct svmx_arg input_of(const struct task *task, int i) {
    const int from = task->from[i];
    return from < 0 ? svmx_in(SVMX_F32, host[-1 - from], N) : svmx_result_of(SVMX_F32, (uint32_t)from, 0);
}

static inline svmx_batch_t *batch_for(svmx_executor_t *executor, const struct graph *graph, float (*to)[N], bool all) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t t = 0; t < graph->count; t++) {
        const struct task *task = &graph->tasks[t];
        const struct svmx_arg args[] = {all || task->where == TO_HOST ? svmx_out(SVMX_F32, to[t], N)
                                        : task->where == TO_LIBRARY   ? svmx_out_library(SVMX_F32, N)
                                                                      : svmx_out_passing(SVMX_F32, N),
                                        input_of(task, 0), input_of(task, 1)};
        cr_assert_eq(svmx_batch_add(batch, task->op, args, 1 + inputs_of(task->op)), SVMX_OK, "%s",
                     svmx_batch_error(batch));
    }
    return batch;
}

static inline void compute_expected(const struct graph *graph) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = batch_for(executor, graph, expected, true);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

static inline void expect_right(svmx_batch_t *batch, const struct graph *graph) {
    for (uint32_t t = 0; t < graph->count; t++) {
        void *data = outs[t];
        if (graph->tasks[t].where == TO_NOBODY) continue;
        cr_assert_eq(svmx_result(batch, t, 0, &data, NULL), SVMX_OK);
        cr_assert_arr_eq(data, expected[t], sizeof expected[t], "task %u", t);
    }
}

static inline void run_and_expect(svmx_batch_t *batch, const struct graph *graph, bool waits) {
    memset(outs, 0xff, sizeof outs);
    if (svmx_poll(batch) == SVMX_OK) cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(waits ? svmx_run(batch) : svmx_submit(batch, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK, "%s", svmx_batch_error(batch));
    expect_right(batch, graph);
}

static inline uint32_t stretched(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++)
        count += (receipt.flags & SVMX_RECEIPT_STRETCH) != 0;
    return count;
}

static inline uint32_t fused(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++)
        count += (receipt.flags & SVMX_RECEIPT_FUSED) != 0;
    return count;
}

/* Until the kernel for links is built, or known not to work. */
static inline void await_links(svmx_executor_t *executor) {
    uint64_t bucket = 1;
    while (bucket < N) bucket *= 2;
    svmx__build_wait(&executor->devices[0], svmx__op_chain_f32(), bucket);
}

#endif
