/*
 * test_stretches.c: levels of a batch in one submission, on a device with memory of its own and on one that uses staging
 * memory in place: one upload, one readback, links in one launch, the bytes of separate runs. What happens when such a submission
 * fails is in test_stretches_faults.c, when there is one in test_stretches_weighed.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stretches_fixture.h"

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

/* Told to the model as if it had been measured: what a level computes for. */
static void teach(svmx_executor_t *executor, const svmx_batch_t *batch, uint64_t ns) {
    const struct svmx__sample sample = {.compute_ns = ns};
    for (int i = 0; i < 8; i++)
        (void)svmx__model_learn(&executor->model, SVMX_OP_VEC_ADD_F32, 0, &batch->parts[0].question.load, &sample);
}

/* Six levels of 40 ms: more than two in a submission would compute for longer than one may. */
Test(stretches, long_levels_are_several_submissions) {
    const struct graph graph = line_of(6);
    compute_expected(&graph);
    fake_start();
    struct svmx_options options = fake_options();
    options.learn = "frozen";
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true); /* pipelines are built meanwhile */
    for (unsigned round = 0; round < 2; round++) {
        if (round) teach(executor, batch, 40000000);
        const unsigned submits = fake.calls[FAKE_SUBMIT], all = fake.launches;
        run_and_expect(batch, &graph, true);
        cr_assert_eq(stretched(batch), 6);
        cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, round ? 3 : 1);
        cr_assert_eq(fake.launches - all, 6);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- links of it are one launch ------------------------------------------------------------------------------------- */

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
