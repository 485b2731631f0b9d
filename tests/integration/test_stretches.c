/*
 * test_stretches.c: levels of a batch in one submission, on a device with memory of its own and on one that uses staging
 * memory in place: one upload, one readback, the bytes of separate runs; and what happens when such a submission fails, at
 * any call, or hangs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "executor/executor.h"
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

static uint32_t inputs_of(uint32_t op) {
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].op == op) return operations[i].inputs;
    return 0;
}

static struct graph graph_of(unsigned seed) {
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
static struct graph line_of(uint32_t count) {
    struct graph graph = graph_of(1);
    graph.count = count;
    for (uint32_t t = 0; t < count; t++)
        graph.tasks[t] = (struct task){SVMX_OP_VEC_ADD_F32, t + 1 == count ? TO_HOST : TO_NOBODY, {(int)t - 1, -2}};
    return graph;
}

static struct svmx_arg input_of(const struct task *task, int i) {
    const int from = task->from[i];
    return from < 0 ? svmx_in(SVMX_F32, host[-1 - from], N) : svmx_result_of(SVMX_F32, (uint32_t)from, 0);
}

static svmx_batch_t *batch_for(svmx_executor_t *executor, const struct graph *graph, float (*to)[N], bool all) {
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

static void compute_expected(const struct graph *graph) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = batch_for(executor, graph, expected, true);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

static void expect_right(svmx_batch_t *batch, const struct graph *graph) {
    for (uint32_t t = 0; t < graph->count; t++) {
        void *data = outs[t];
        if (graph->tasks[t].where == TO_NOBODY) continue;
        cr_assert_eq(svmx_result(batch, t, 0, &data, NULL), SVMX_OK);
        cr_assert_arr_eq(data, expected[t], sizeof expected[t], "task %u", t);
    }
}

static void run_and_expect(svmx_batch_t *batch, const struct graph *graph, bool waits) {
    memset(outs, 0xff, sizeof outs);
    if (svmx_poll(batch) == SVMX_OK) cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(waits ? svmx_run(batch) : svmx_submit(batch, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK, "%s", svmx_batch_error(batch));
    expect_right(batch, graph);
}

static uint32_t stretched(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++)
        count += (receipt.flags & SVMX_RECEIPT_STRETCH) != 0;
    return count;
}

/* ---- it is one submission ------------------------------------------------------------------------------------------ */

static void one_submission(uint32_t flags, unsigned copies) {
    const struct graph graph = line_of(6);
    compute_expected(&graph);
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true); /* pipelines are built meanwhile */
    const unsigned submits = fake.calls[FAKE_SUBMIT], in = fake.copies_in, out = fake.copies_out, all = fake.launches;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 6);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1);
    cr_assert_eq(fake.copies_in - in, copies);
    cr_assert_eq(fake.copies_out - out, copies);
    cr_assert_eq(fake.launches - all, 6);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint64_t readbacks = 0, copied = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        readbacks += receipt.readbacks;
        copied += receipt.copied_bytes;
        cr_assert_eq(receipt.launches, 1);
        cr_assert_eq(receipt.learned, 0, "its time is not its own");
    }
    cr_assert_eq(readbacks, copies);
    cr_assert_eq(copied, 3 * sizeof *outs, "two inputs, one of which all take, and the last result");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, one_upload_and_one_readback) { one_submission(0, 1); }
Test(stretches, no_copies_where_staging_memory_is_used) { one_submission(SVMX_DEVICE_SHARES_MEMORY, 0); }

/* ---- links of it are one launch ------------------------------------------------------------------------------------- */

static uint32_t fused(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++)
        count += (receipt.flags & SVMX_RECEIPT_FUSED) != 0;
    return count;
}

/* Until the kernel for links is built, or known not to work. */
static void await_links(svmx_executor_t *executor) {
    uint64_t bucket = 1;
    while (bucket < N) bucket *= 2;
    svmx__build_wait(&executor->devices[0], svmx__op_chain_f32(), bucket);
}

static void one_launch(uint32_t flags) {
    const struct graph graph = line_of(6);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    fake.flags = flags | SVMX_DEVICE_LINKS;
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    await_links(executor);
    const unsigned submits = fake.calls[FAKE_SUBMIT], all = fake.launches;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1);
    cr_assert_eq(fake.launches - all, 1);
    cr_assert_eq(stretched(batch), 6);
    for (uint32_t i = 0; i < 6; i++) {
        cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
        cr_assert_eq(receipt.launches, i == 0);
        cr_assert_eq((receipt.flags & SVMX_RECEIPT_FUSED) != 0, i > 0);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, links_are_one_launch) { one_launch(0); }
Test(stretches, links_are_one_launch_in_staging_memory) { one_launch(SVMX_DEVICE_SHARES_MEMORY); }

/* A kernel for links that computes wrongly is found out before it serves; links are launches of their own then. */
Test(stretches, links_by_a_wrong_kernel_are_none) {
    const struct graph graph = line_of(6);
    compute_expected(&graph);
    fake_start();
    fake.flags = SVMX_DEVICE_LINKS;
    fake.wrong_op = SVMX__CHAIN_NAME;
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    await_links(executor);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 6);
    cr_assert_eq(fused(batch), 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

static void negate(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / sizeof(float); i++)
        ((float *)args[0].data)[i] = -((const float *)args[1].data)[i];
}

static uint32_t register_negate(svmx_executor_t *executor) {
    static const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                               {"a", SVMX_IN, SVMX_F32, SVMX_ARRAY, 0, 1}};
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = "negate",
                                    .unit = "element",
                                    .params = params,
                                    .param_count = 2,
                                    .exactness = SVMX_EXACT,
                                    .run = negate,
                                    .opencl_c = "the fake device reads no text",
                                    .local = 1,
                                    .grain = 1};
    struct svmx_error error;
    uint32_t op = 0;
    cr_assert_eq(svmx_op_register(executor, &def, &op, &error), SVMX_OK, "%s", error.text);
    return op;
}

/* An operation of the program's own is no link: two runs, and it between them. */
Test(stretches, links_end_at_an_operation_of_the_programs_own) {
    float out[N];
    (void)graph_of(2);
    fake_start();
    fake.flags = SVMX_DEVICE_LINKS;
    svmx_executor_t *executor = open_fake();
    const uint32_t own = register_negate(executor);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t t = 0; t < 5; t++) {
        const struct svmx_arg args[] = {t == 4 ? svmx_out(SVMX_F32, out, N) : svmx_out_passing(SVMX_F32, N),
                                        t ? svmx_result_of(SVMX_F32, t - 1, 0) : svmx_in(SVMX_F32, host[0], N),
                                        svmx_in(SVMX_F32, host[1], N)};
        cr_assert_eq(svmx_batch_add(batch, t == 2 ? own : (uint32_t)SVMX_OP_VEC_ADD_F32, args, t == 2 ? 2 : 3),
                     SVMX_OK);
    }
    for (int run = 0; run < 2; run++) {
        const unsigned all = fake_count(&fake.launches);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int i = 0; i < N; i++) {
            volatile float sum = host[0][i] + host[1][i];
            sum = sum + host[1][i];
            sum = -sum + host[1][i];
            cr_assert_eq(out[i], sum + host[1][i]);
        }
        if (run) cr_assert_eq(fake_count(&fake.launches) - all, 3);
        if (run) cr_assert_eq(fused(batch), 2);
        await_links(executor);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* The operation is the core's own. */
Test(stretches, nobody_else_has_links) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch;
    uint32_t op;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX__CHAIN_ID, NULL, 0), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_op_find(executor, SVMX__CHAIN_NAME, &op, NULL), SVMX_ERR_UNKNOWN);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

static void any_graph(uint32_t flags) {
    uint32_t count = 0;
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_fake();
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        const struct graph graph = graph_of(seed);
        compute_expected(&graph);
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, run != 1);
        count += stretched(batch);
        svmx_batch_destroy(batch);
    }
    cr_assert_gt(count, 0);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, any_graph) { any_graph(0); }
Test(stretches, any_graph_in_staging_memory) { any_graph(SVMX_DEVICE_SHARES_MEMORY); }

/* Seed by seed until links of some were one launch: the kernel is built beside the work. */
static void any_graph_with_links(uint32_t flags) {
    uint32_t count = 0;
    fake_start();
    fake.flags = flags | SVMX_DEVICE_LINKS;
    svmx_executor_t *executor = open_fake();
    for (unsigned seed = 1; seed <= 5 * SEEDS; seed++) {
        const struct graph graph = graph_of(seed);
        compute_expected(&graph);
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, run != 1);
        count += fused(batch);
        svmx_batch_destroy(batch);
    }
    cr_assert_gt(count, 5);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, any_graph_with_links) { any_graph_with_links(0); }
Test(stretches, any_graph_with_links_in_staging_memory) { any_graph_with_links(SVMX_DEVICE_SHARES_MEMORY); }

/* A long one is several, and what passes from one to the next comes back between. */
Test(stretches, longer_than_one_may_be) {
    enum { LENGTH = 150 };
    static float long_outs[LENGTH][N];
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *batch;
    (void)graph_of(3);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t t = 0; t < LENGTH; t++) {
        const struct svmx_arg args[] = {
            t + 1 == LENGTH ? svmx_out(SVMX_F32, long_outs[t], N) : svmx_out_passing(SVMX_F32, N),
            t ? svmx_result_of(SVMX_F32, t - 1, 0) : svmx_in(SVMX_F32, host[0], N), svmx_in(SVMX_F32, host[1], N)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    }
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    const unsigned submits = fake.calls[FAKE_SUBMIT];
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 3);
    for (int i = 0; i < N; i++) {
        volatile float sum = host[0][i];
        for (int t = 0; t < LENGTH; t++) sum = sum + host[1][i];
        cr_assert_eq(long_outs[LENGTH - 1][i], sum);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* What passes has no bytes for the hash, whichever way it went. */
Test(stretches, the_hash_of_results_does_not_depend_on_the_way) {
    const struct graph graph = graph_of(5);
    uint64_t hashes[2][TASKS] = {{0}};
    for (int way = 0; way < 2; way++) {
        const struct svmx_options plain = plain_options();
        fake_start();
        svmx_executor_t *executor = way ? open_fake() : open_with(&plain);
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_batch_set_hash(batch, true), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(stretched(batch) > 0, way == 1);
        for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) hashes[way][i] = receipt.result_hash;
        svmx_batch_destroy(batch);
        svmx_close(executor);
    }
    cr_assert_arr_eq(hashes[0], hashes[1], sizeof hashes[0]);
}

/* The check plugin looks at every command: spans, usages, alignments, and that nothing between two barriers touches what
 * another writes. Here and in a process of its own. */
static void keeps_the_rules(const char *isolate) {
    const char *drivers = getenv("SVMX_TEST_DRIVER_PATH"), *plugins = getenv("SVMX_TEST_BACKEND_PATH");
    if (!drivers || !plugins) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    struct complaints complaints = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char path[8192];
    uint32_t count = 0;
    (void)snprintf(path, sizeof path, "%s:%s", drivers, plugins);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+check,stop",
                                         .policy = "order",
                                         .backend_path = path,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                         .log_level = SVMX_LOG_ERROR,
                                         .isolate = isolate,
                                         .log = note_complaint,
                                         .log_user = &complaints};
    svmx_executor_t *executor = open_with(&options);
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        const struct graph graph = graph_of(seed);
        compute_expected(&graph);
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, run != 1);
        count += stretched(batch);
        svmx_batch_destroy(batch);
    }
    cr_assert_eq(complaints.count, 0, "%s", complaints.first);
    cr_assert_gt(count, 0);
    svmx_close(executor);
}

Test(stretches, keep_the_rules_of_the_abi) { keeps_the_rules(NULL); }
Test(stretches, keep_the_rules_in_a_process_of_their_own) { keeps_the_rules("check"); }

/* ---- it fails ------------------------------------------------------------------------------------------------------ */

/* Fails call after call of a kind, once and for good, until none is left to fail. */
static void fail_each(enum fake_call call, enum svmx_status how, unsigned times, uint32_t flags) {
    const struct graph graph = flags & SVMX_DEVICE_LINKS ? line_of(6) : graph_of(7);
    compute_expected(&graph);
    bool failed = true;
    for (unsigned at = 1; failed && at < 200; at++) {
        fake_start();
        fake.flags = flags;
        svmx_executor_t *executor = open_quiet_fake();
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        run_and_expect(batch, &graph, true);
        if (flags & SVMX_DEVICE_LINKS) await_links(executor);
        pthread_mutex_lock(&fake.lock);
        fake.fail[call].from = fake.calls[call] + at;
        fake.fail[call].count = times;
        fake.fail[call].status = how;
        pthread_mutex_unlock(&fake.lock);
        for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, run != 1);
        failed = fake.calls[call] >= fake.fail[call].from;
        svmx_batch_destroy(batch);
        svmx_close(executor);
        expect_all_returned();
    }
    cr_assert(!failed, "there was no end of it");
}

Test(stretches, any_submit_fails) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1, 0); }
Test(stretches, any_wait_fails) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1, 0); }
Test(stretches, any_memory_fails) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, 0); }
Test(stretches, any_memory_fails_where_it_is_shared) {
    fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, SVMX_DEVICE_SHARES_MEMORY);
}
Test(stretches, any_submit_of_links_fails) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1, SVMX_DEVICE_LINKS); }
Test(stretches, any_wait_for_links_fails) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1, SVMX_DEVICE_LINKS); }
Test(stretches, any_memory_for_links_fails) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, SVMX_DEVICE_LINKS); }
Test(stretches, lost_at_any_wait_for_links) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, SVMX_DEVICE_LINKS); }
Test(stretches, lost_at_any_submit) { fail_each(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, 0); }
Test(stretches, lost_at_any_wait) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, 0); }

Test(stretches, a_failure_is_in_the_receipt_of_the_first_part) {
    const struct graph graph = line_of(4);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + 1;
    fake.fail[FAKE_WAIT].count = 1;
    fake.fail[FAKE_WAIT].status = SVMX_ERR_BACKEND;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 0, "it fell apart");
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.redone, 1);
    cr_assert(strstr(receipt.reason, "wait told to fail"), "%s", receipt.reason);
    cr_assert_eq(device_at(executor, 0).failures, 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- guard bytes --------------------------------------------------------------------------------------------------- */

/* A launch of the stretch writes a byte too many, or bytes are missing of what is read back: it falls apart and is right, and the
 * next one is a stretch again. */
static void expect_guarded(uint32_t flags, int stray, unsigned launch, uint64_t missing, const char *reason) {
    const struct graph graph = line_of(6);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    for (int i = 0; i < 2; i++) run_and_expect(batch, &graph, true);
    if (flags & SVMX_DEVICE_LINKS) await_links(executor);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 6);
    fake.stray = stray;
    fake.stray_launch = fake.launches + launch;
    fake.short_bytes = missing;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 0, "launch %u, %d: not seen", launch, stray);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(strstr(receipt.reason, reason), "launch %u, %d: %s", launch, stray, receipt.reason);
    fake.stray = 0;
    fake.short_bytes = 0;
    if (!missing) cr_assert_eq(device_at(executor, 0).failures, 1);
    run_and_expect(batch, &graph, true);
    if (!missing) cr_assert_eq(stretched(batch), 6, "memory that was written to is not guarded anew");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, a_byte_too_many_is_seen) {
    static const uint32_t flags[] = {0, SVMX_DEVICE_SHARES_MEMORY};
    for (size_t i = 0; i < 2; i++) {
        expect_guarded(flags[i], 1, 6, 0, "wrote behind the outputs");
        expect_guarded(flags[i], -1, 6, 0, "wrote before the outputs");
        expect_guarded(flags[i], 1, 5, 0, "wrote before the outputs"); /* behind the last one that passes */
        expect_guarded(flags[i] | SVMX_DEVICE_LINKS, 1, 1, 0, "wrote behind the outputs");
    }
}

Test(stretches, a_readback_that_is_short_is_seen) {
    static const uint64_t missing[] = {1, 63, 64, 65, 200};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        expect_guarded(0, 0, 0, missing[i], missing[i] < 64 ? "wrote behind the outputs" : "not read back as a whole");
}

/* The same stretch again needs none; another one in the same memory does. */
static void expect_fills(uint32_t flags, unsigned per_size) {
    const struct graph longer = line_of(6), shorter = line_of(5);
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *one = batch_for(executor, &longer, outs, false), *two = batch_for(executor, &shorter, outs, false);
    for (int i = 0; i < 3; i++) {
        compute_expected(&longer);
        run_and_expect(one, &longer, true);
        compute_expected(&shorter);
        run_and_expect(two, &shorter, true);
    }
    cr_assert_eq(stretched(one) + stretched(two), 11);
    const unsigned before = fake.fills;
    for (int i = 0; i < 3; i++) run_and_expect(two, &shorter, true);
    cr_assert_eq(fake.fills, before, "the same again");
    compute_expected(&longer);
    run_and_expect(one, &longer, true);
    cr_assert_eq(fake.fills, before + per_size);
    svmx_batch_destroy(one);
    svmx_batch_destroy(two);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, guards_are_filled_in_when_the_size_changes_and_not_again) { expect_fills(0, 2); }
Test(stretches, guards_need_no_command_where_memory_is_shared) { expect_fills(SVMX_DEVICE_SHARES_MEMORY, 0); }

/* One that is late must not write into what is the caller's. */
Test(stretches, a_hang_costs_time_and_a_late_answer_goes_nowhere) {
    abandons = true;
    const struct graph graph = graph_of(9);
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    fake_gate(true);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    memset(outs, 0x77, sizeof outs);
    fake_gate(false);
    cr_assert_eq(fake_finish_late(), 1);
    for (uint32_t t = 0; t < graph.count; t++)
        for (int i = 0; i < N; i++) cr_assert_eq(((const unsigned char *)outs[t])[i], 0x77);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* Under the policy `gpu` a device that is lost is an error, never the CPU in silence; one that lacks memory for all levels at
 * once takes them one after another. */
Test(stretches, under_the_policy_gpu) {
    const struct graph graph = line_of(5);
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    run_and_expect(batch, &graph, true);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 5);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_DEVICE_LOST;
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    const enum svmx_status status = svmx_run(batch);
    cr_assert(status == SVMX_ERR_UNSUPPORTED || status == SVMX_ERR_DEVICE_LOST, "%s", svmx_status_name(status));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- it is weighed -------------------------------------------------------------------------------------------------- */

/* What a launch of the tests takes on a device, told to the model as if it had been measured. */
static void teach(svmx_executor_t *executor, uint32_t op, uint32_t device, struct svmx__sample sample) {
    const struct svmx__load load = {N, N, (1 + inputs_of(op)) * sizeof *outs};
    for (int i = 0; i < 8; i++) (void)svmx__model_learn(&executor->model, op, device, &load, &sample);
}

/* A device and SIMD, which decide by what they are taught. */
static svmx_executor_t *open_two(uint32_t flags) {
    struct svmx_options options = {.size = sizeof options,
                                   .backends = "fake,simd,stop",
                                   .policy = "auto",
                                   .learn = "frozen",
                                   .log_level = SVMX_LOG_ERROR,
                                   .profile = "off",
                                   .static_plugins = fake_plugins,
                                   .static_plugin_count = 1};
    fake_start();
    fake.flags = flags;
    return open_with(&options);
}

/* What a sum takes on SIMD, and on the device with a setup of its own. */
static void teach_sums(svmx_executor_t *executor, uint64_t cpu_ns, uint64_t setup_ns, uint64_t compute_ns) {
    teach(executor, SVMX_OP_VEC_ADD_F32, 1, (struct svmx__sample){.compute_ns = cpu_ns});
    teach(executor, SVMX_OP_VEC_ADD_F32, 0, (struct svmx__sample){.setup_ns = setup_ns, .compute_ns = compute_ns});
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, N), SVMX_OK);
}

/* A link by itself goes to SIMD. */
static void expect_alone_on_simd(svmx_executor_t *executor) {
    const struct graph graph = line_of(1);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 1);
    svmx_batch_destroy(batch);
}

/* How many parts of a chain of four went to the device together, where each would go to SIMD. */
static uint32_t weighed_on(uint32_t flags, uint64_t cpu_ns, uint64_t setup_ns, uint64_t compute_ns) {
    const struct graph graph = line_of(4);
    compute_expected(&graph);
    svmx_executor_t *executor = open_two(flags);
    teach_sums(executor, cpu_ns, setup_ns, compute_ns);
    expect_alone_on_simd(executor);
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    run_and_expect(batch, &graph, true);
    const uint32_t count = stretched(batch);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return count;
}

static uint32_t weighed(uint64_t cpu_ns, uint64_t setup_ns, uint64_t compute_ns) {
    return weighed_on(0, cpu_ns, setup_ns, compute_ns);
}

Test(stretches, a_chain_goes_where_none_of_its_links_would) {
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    /* links are one pass where SIMD fuses them: (1 + 1/3 + 1/3 + 2/3) x 400 us apart, 300 + 4 x 120 together, 420 alone */
    cr_assert_eq(weighed(400000, 300000, 120000), 4);
    cr_assert_eq(weighed(400000, 900000, 120000), 0, "its setup is not worth it");
    cr_assert_eq(weighed(1000, 300000, 10), 0, "all of it is over before a launch would begin");
}

/* A device that computes links in one launch is weighed so: with launches of their own it would be 300 + 4 x 150 us, more than
 * 933 us less the margin; as one launch it is 300 + (1 + 1/3 + 1/3 + 2/3) x 150. */
Test(stretches, links_are_weighed_as_the_launch_that_they_are) {
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    cr_assert_eq(weighed_on(0, 400000, 300000, 150000), 0);
    cr_assert_eq(weighed_on(SVMX_DEVICE_LINKS, 400000, 300000, 150000), 4);
}

/* Where it is cheaper the chain is cut: the device is good at sums, 300 + 4 x 80 us against 800 on SIMD, and slow at gelu. */
Test(stretches, a_chain_is_cut_where_that_is_cheaper) {
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    struct graph graph = line_of(6);
    for (uint32_t t = 4; t < 6; t++) graph.tasks[t].op = SVMX_OP_GELU_F32;
    compute_expected(&graph);
    svmx_executor_t *executor = open_two(0);
    teach_sums(executor, 400000, 300000, 80000);
    teach(executor, SVMX_OP_GELU_F32, 1, (struct svmx__sample){.compute_ns = 400000});
    teach(executor, SVMX_OP_GELU_F32, 0, (struct svmx__sample){.setup_ns = 300000, .compute_ns = 900000});
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_GELU_F32, N), SVMX_OK);
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, true);
    for (uint32_t t = 0; t < 6; t++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batch, t, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, t < 4 ? 0 : 1, "part %u is on device %u", t, receipt.device);
        cr_assert_eq((receipt.flags & SVMX_RECEIPT_STRETCH) != 0, t < 4);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* What passes within a submission could not be compared. */
Test(stretches, a_batch_that_is_verified_has_none) {
    const struct graph graph = line_of(6);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 6);
    cr_assert_eq(svmx_batch_set_verify(batch, "full"), SVMX_OK);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 0);
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++)
        cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED, "part %u on device %u", i, receipt.device);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* SIMD fuses all of it from the first link on, which only it has been measured with; what is behind would be worth a stretch,
 * but has been computed by then. */
Test(stretches, do_not_take_what_a_chain_has_done) {
    struct graph graph = line_of(5);
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    graph.tasks[0].op = SVMX_OP_RELU_F32;
    compute_expected(&graph);
    svmx_executor_t *executor = open_two(0);
    teach(executor, SVMX_OP_RELU_F32, 1, (struct svmx__sample){.compute_ns = 400000});
    teach_sums(executor, 400000, 300000, 80000); /* 4 x 200 us fused, 300 + 4 x 80 together, 380 alone */
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    for (int run = 0; run < 3; run++) {
        run_and_expect(batch, &graph, true);
        cr_assert_eq(stretched(batch), 0);
        cr_assert_eq(svmx_receipt_count(batch), 5, "a receipt for each");
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
}
