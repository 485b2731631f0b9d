/*
 * test_stretches_weighed.c: whether levels of a batch are worth one submission: a device and SIMD, and a model that is taught what
 * launches take.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stretches_fixture.h"

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
