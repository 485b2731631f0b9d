/*
 * test_policies.c: who computes, end to end: a device that a test can see inside, beside the SIMD backend and the reference
 * code. What devices take is told to the model here, so that nothing depends on the speed of a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake.h"

#include "executor/executor.h"
#include "executor/stages.h"
#include <criterion/criterion.h>
#include <stdio.h>

enum { FAKE = 0, SIMD = 1, REFERENCE = 2, TASKS = 64, ITEMS = 4096 };

static svmx_executor_t *executor;
static svmx_batch_t *batch;
static float out[TASKS][ITEMS], a[TASKS][ITEMS], b[TASKS][ITEMS];

static void open_with(const char *policy) {
    struct svmx_options options = fake_options();
    struct svmx_error error;
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    options.backends = "fake,simd,stop";
    options.backend_path = path ? path : "/nonexistent";
    options.policy = policy;
    options.learn = "strict";
    fake_start();
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    if (svmx_device_count(executor) != 3) cr_skip_test("no SIMD backend here");
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint64_t units = ITEMS; units <= TASKS * ITEMS; units *= 2)
        cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, units), SVMX_OK);
}

static void tear_down(void) {
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

TestSuite(policies, .fini = tear_down);

static void fill(uint32_t tasks) {
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    memset(out, 0, sizeof out);
    for (uint32_t t = 0; t < tasks; t++) {
        for (int i = 0; i < ITEMS; i++) a[t][i] = (float)(i + (int)t), b[t][i] = 0.5f * (float)i;
        cr_assert_eq(svmx_vec_add_f32(batch, out[t], a[t], b[t], ITEMS), SVMX_OK);
    }
}

static bool is_right(uint32_t tasks) {
    for (uint32_t t = 0; t < tasks; t++)
        for (int i = 0; i < ITEMS; i++)
            if (out[t][i] != a[t][i] + b[t][i]) return false;
    return true;
}

static struct svmx_receipt receipt_at(uint32_t part) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, part, &receipt), SVMX_OK);
    return receipt;
}

static struct svmx_receipt run(uint32_t tasks) {
    fill(tasks);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert(is_right(tasks));
    return receipt_at(0);
}

/* ns for each unit, at all sizes. */
static void takes(uint32_t device, double ns_a_unit) {
    for (uint64_t units = ITEMS; units <= TASKS * ITEMS; units *= 2) {
        const struct svmx__sample sample = {.compute_ns = (uint64_t)((double)units * ns_a_unit)};
        const struct svmx__load load = {units, units, 12 * units};
        for (int i = 0; i < 8; i++)
            cr_assert(svmx__model_learn(&executor->model, SVMX_OP_VEC_ADD_F32, device, &load, &sample));
    }
}

Test(policies, each_word_for_all) {
    static const struct {
        const char *policy;
        uint32_t device;
    } cases[] = {{"order", FAKE}, {"cpu", SIMD},     {"gpu", FAKE},
                 {"auto", SIMD},  {"fixed:1", FAKE}, {"fixed:9999999", SIMD}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i > 0) tear_down();
        open_with(cases[i].policy);
        const struct svmx_receipt receipt = run(1);
        cr_expect_eq(receipt.device, cases[i].device, "%s: %u", cases[i].policy, receipt.device);
    }
}

Test(policies, of_a_batch) {
    open_with("cpu");
    cr_assert_eq(run(1).device, SIMD);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    const struct svmx_receipt receipt = run(1);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_eq(receipt.policy, SVMX_POLICY_GPU);
    cr_assert_eq(svmx_batch_set_policy(batch, 0), SVMX_OK);
    cr_assert_eq(run(1).device, SIMD);
    cr_assert_eq(svmx_batch_set_policy(batch, 77), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_set_policy(NULL, 0), SVMX_ERR_ARGUMENT);
}

/* `device` is what measurement would choose. */
static void expect_bounds(uint64_t low, uint64_t high, uint32_t device) {
    cr_assert_eq(svmx_batch_set_bounds(batch, low, high), SVMX_OK);
    cr_expect_eq(run(1).device,
                 ITEMS < low     ? SIMD
                 : ITEMS >= high ? FAKE
                                 : device,
                 "%lu..%lu", (unsigned long)low, (unsigned long)high);
}

Test(policies, bounds_of_a_batch) {
    open_with("auto");
    takes(FAKE, 1);
    takes(SIMD, 10);
    expect_bounds(ITEMS + 1, ITEMS + 1, FAKE);
    cr_expect_eq(run(2).device, FAKE, "a launch of two tasks has twice the units");
    expect_bounds(ITEMS, ITEMS, FAKE);
    expect_bounds(ITEMS + 1, UINT64_MAX, FAKE);
    expect_bounds(ITEMS, UINT64_MAX, FAKE);
    expect_bounds(0, UINT64_MAX, FAKE);
    tear_down();
    open_with("auto");
    takes(FAKE, 10);
    takes(SIMD, 1);
    expect_bounds(0, ITEMS + 1, SIMD);
    expect_bounds(1, ITEMS, SIMD);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_CPU), SVMX_OK);
    cr_expect_eq(run(1).device, SIMD, "bounds are of auto and split");
    cr_assert_eq(svmx_batch_set_policy(batch, 0), SVMX_OK);
    cr_expect_eq(run(1).device, FAKE, "they stay");
    cr_assert_eq(svmx_batch_set_bounds(batch, 2, 1), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_set_bounds(NULL, 1, 2), SVMX_ERR_ARGUMENT);
    cr_expect_eq(run(1).device, FAKE, "what is refused changes nothing");
}

Test(policies, bounds_of_a_batch_count_instead_of_the_executors) {
    open_with("fixed:1");
    cr_assert_eq(run(1).device, FAKE);
    cr_assert_eq(svmx_batch_set_bounds(batch, ITEMS + 1, UINT64_MAX), SVMX_OK);
    cr_expect_eq(run(1).device, SIMD);
    cr_assert_eq(svmx_batch_set_bounds(batch, 0, 0), SVMX_OK);
    cr_expect_eq(run(1).device, FAKE, "no more");
}

Test(policies, auto_follows_what_was_measured_and_says_so) {
    open_with("auto");
    takes(FAKE, 1);
    takes(SIMD, 10);
    struct svmx_receipt receipt = run(4);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_eq(receipt.why, SVMX_WHY_BEST);
    cr_assert_eq(receipt.expected_ns, 4 * ITEMS);
    cr_assert_eq(receipt.candidate_count, 2);
    cr_assert_eq(receipt.candidates[FAKE].verdict, SVMX_CHOSEN);
    cr_assert_eq(receipt.candidates[SIMD].verdict, SVMX_SLOWER);
    cr_assert_eq(receipt.candidates[SIMD].expected_ns, 10 * 4 * ITEMS);
    cr_assert_eq(receipt.candidates[SIMD].backlog_ns, 0);
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, FAKE, &device), SVMX_OK);
    cr_assert_eq(device.backlog_ns, 0, "what was expected is taken back when it is done");
}

/* Another batch is under way on the fake device, behind its gate. */
static svmx_batch_t *keep_busy(void) {
    static float other[ITEMS];
    svmx_batch_t *ahead;
    fake_gate(true);
    cr_assert_eq(svmx_batch_create(executor, &ahead), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(ahead, other, a[0], b[0], ITEMS), SVMX_OK);
    const unsigned waits = fake_count(&fake.calls[FAKE_WAIT]);
    cr_assert_eq(svmx_submit(ahead, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_WAIT], waits + 1);
    return ahead;
}

Test(policies, a_receipt_has_the_backlogs_that_the_choice_was_made_by) {
    open_with("auto");
    takes(FAKE, 1);
    takes(SIMD, 10);
    svmx_batch_t *ahead = keep_busy();
    fill(1);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(ahead, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    const struct svmx_receipt receipt = receipt_at(0);
    cr_assert_eq(receipt.device, FAKE, "ten times as slow is slower than to wait");
    cr_assert_eq(receipt.candidates[FAKE].backlog_ns, ITEMS);
    cr_assert_eq(receipt.candidates[SIMD].backlog_ns, 0);
    cr_assert_eq(run(1).candidates[FAKE].backlog_ns, 0);
    svmx_batch_destroy(ahead);
}

/* ---- gpu: an error, never the CPU in silence ---- */

static void expect_error(enum svmx_status status, const char *word) {
    fill(1);
    cr_assert_eq(svmx_run(batch), status, "%s", svmx_batch_error(batch));
    cr_assert_not_null(strstr(svmx_batch_error(batch), word), "'%s'", svmx_batch_error(batch));
    cr_assert_eq(svmx_poll(batch), status, "it stays so");
    struct svmx_device device = {.size = sizeof device};
    for (uint32_t d = SIMD; d <= REFERENCE; d++) {
        cr_assert_eq(svmx_device_get(executor, d, &device), SVMX_OK);
        cr_assert_eq(device.tasks, 0, "device %u computed it", d);
        cr_assert_eq(device.backlog_ns, 0);
    }
}

Test(policies, gpu_without_one_is_an_error) {
    open_with("gpu");
    atomic_store(&executor->devices[FAKE].health.state, SVMX_RESTING);
    svmx__route_publish_all(executor);
    expect_error(SVMX_ERR_UNSUPPORTED, "policy is gpu");
}

Test(policies, gpu_that_fails_is_an_error) {
    open_with("gpu");
    pthread_mutex_lock(&fake.lock);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    fake.silent = true;
    pthread_mutex_unlock(&fake.lock);
    expect_error(SVMX_ERR_BACKEND, "vec_add_f32: submit");
    cr_assert_eq(run(1).device, FAKE, "the next one works");
}

/* ---- what was expected is taken back, however it ends ---- */

static uint64_t backlog_of(uint32_t device) { return atomic_load(&executor->choices.backlog_ns[device]); }

Test(policies, a_cancelled_batch_is_nobodys_backlog) {
    open_with("auto");
    executor->devices[FAKE].window.depth = 1; /* what comes second stays in the queue */
    takes(FAKE, 1);
    takes(SIMD, 10);
    svmx_batch_t *ahead = keep_busy();
    fill(1);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(backlog_of(FAKE), 2 * ITEMS);
    cr_assert_eq(svmx_cancel(batch), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_CANCELLED);
    cr_assert_eq(svmx_wait(ahead, UINT64_MAX), SVMX_OK);
    cr_assert_eq(backlog_of(FAKE), 0);
    svmx_batch_destroy(ahead);
}

Test(policies, a_batch_that_is_redone_is_nobodys_backlog) {
    open_with("auto");
    takes(FAKE, 1);
    takes(SIMD, 10);
    pthread_mutex_lock(&fake.lock);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
    const struct svmx_receipt receipt = run(1);
    cr_assert_eq(receipt.device, SIMD);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_eq(receipt.learned, 0);
    cr_assert_eq(backlog_of(FAKE), 0);
    cr_assert_eq(backlog_of(SIMD), 0);
}

/* ---- split ---- */

/* Of all chunks of a part that was cut. */
static struct svmx_receipt sum_of_receipts(void) {
    struct svmx_receipt sum = {.size = sizeof sum};
    for (uint32_t i = 0; i < svmx_receipt_count(batch); i++) {
        const struct svmx_receipt receipt = receipt_at(i);
        cr_assert_eq(receipt.why, SVMX_WHY_SPLIT);
        sum.tasks += receipt.tasks;
        sum.units += receipt.units;
        sum.bytes_in += receipt.bytes_in;
        sum.redone += receipt.redone;
    }
    return sum;
}

Test(policies, split_between_two_devices_gives_the_same_bytes) {
    open_with("split");
    takes(FAKE, 10);
    takes(SIMD, 30); /* so that it leaves the other one some, however fast it is */
    executor->choices.frozen = true;
    for (int round = 0; round < 3; round++) {
        (void)run(TASKS);
        cr_assert_geq(svmx_receipt_count(batch), 2);
        cr_assert_eq(sum_of_receipts().tasks, TASKS);
        cr_assert_eq(sum_of_receipts().units, TASKS * ITEMS);
        cr_assert_eq(sum_of_receipts().bytes_in, 8 * TASKS * ITEMS);
        /* the same tasks again: the cut is undone and made anew */
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        memset(out, 0, sizeof out);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert(is_right(TASKS));
        cr_assert_eq(sum_of_receipts().tasks, TASKS);
        for (uint32_t d = 0; d < 2; d++) cr_assert_eq(atomic_load(&executor->choices.backlog_ns[d]), 0);
    }
}

Test(policies, split_leaves_whole_what_does_not_gain) {
    open_with("split");
    takes(FAKE, 1000);
    takes(SIMD, 10);
    (void)run(TASKS);
    cr_assert_eq(svmx_receipt_count(batch), 1, "the other one is a hundred times slower");
    (void)run(1);
    cr_assert_eq(svmx_receipt_count(batch), 1, "one task is not cut");
}

Test(policies, a_piece_whose_device_fails_is_redone) {
    open_with("split");
    takes(FAKE, 10);
    takes(SIMD, 30); /* so that it leaves the other one some, however fast it is */
    executor->choices.frozen = true;
    pthread_mutex_lock(&fake.lock);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
    (void)run(TASKS);
    cr_assert_geq(svmx_receipt_count(batch), 2);
    cr_assert_eq(sum_of_receipts().redone, 1);
}

/* ---- the device's clock ---- */

static struct svmx_device fake_device(void) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, FAKE, &device), SVMX_OK);
    return device;
}

static struct svmx_receipt run_timed(bool honest, struct svmx_timing timing) {
    pthread_mutex_lock(&fake.lock);
    fake.honest_clock = honest;
    fake.timing = timing;
    pthread_mutex_unlock(&fake.lock);
    const struct svmx_receipt receipt = run(TASKS);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_eq(receipt.setup_ns + receipt.transfer_ns + receipt.compute_ns,
                 receipt.stage_ns + receipt.run_ns + receipt.collect_ns, "cut another way, it is the same time");
    return receipt;
}

Test(policies, a_clock_that_can_be_believed) {
    open_with("gpu");
    const struct svmx_receipt receipt = run_timed(true, (struct svmx_timing){.size = 0});
    cr_assert_eq(fake_device().clock, SVMX_CLOCK_USED);
    cr_assert_eq(fake_device().device_ns, receipt.compute_ns);
    cr_assert_lt(receipt.compute_ns, receipt.run_ns);
    cr_assert_eq(receipt.setup_ns, receipt.run_ns - receipt.compute_ns);
    cr_assert_eq(receipt.device_ns, receipt.compute_ns);
    cr_assert_eq(receipt.upload_ns, receipt.stage_ns);
}

Test(policies, copies_by_the_devices_clock_are_of_the_transfer) {
    open_with("gpu");
    const struct svmx_receipt receipt =
        run_timed(false, (struct svmx_timing){.copy_in_ns = 4000, .compute_ns = 5000, .copy_out_ns = 6000});
    if (receipt.device_ns == 0) cr_skip_test("it took less than 15 us, or so long that they are next to nothing");
    cr_assert_eq(receipt.device_ns, 15000);
    cr_assert_eq(receipt.upload_ns, receipt.stage_ns + 4000);
    cr_assert_eq(receipt.transfer_ns - receipt.upload_ns, receipt.collect_ns + 6000);
}

Test(policies, a_clock_that_tells_nonsense_is_named_and_host_time_counts) {
    const struct svmx_timing nonsense[] = {{.compute_ns = 0},                                 /* nothing */
                                           {.compute_ns = UINT64_C(3600000000000)},           /* more than passed */
                                           {.compute_ns = (uint64_t)-5},                      /* less than nothing */
                                           {.copy_in_ns = UINT64_MAX, .compute_ns = 1000000}, /* a sum that wraps */
                                           {.compute_ns = 1}};                                /* whatever it did */
    open_with("gpu");
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        const struct svmx_receipt receipt = run_timed(false, nonsense[i]);
        cr_expect_eq(fake_device().clock, SVMX_CLOCK_REFUSED, "%zu", i);
        cr_expect_eq(receipt.compute_ns, receipt.run_ns, "%zu", i);
        cr_expect_eq(receipt.device_ns, 0, "%zu", i);
        cr_expect_eq(receipt.upload_ns, receipt.stage_ns, "%zu", i);
    }
    cr_expect_eq(fake_device().device_ns, 0);
    (void)run_timed(true, (struct svmx_timing){.size = 0});
    cr_expect_eq(fake_device().clock, SVMX_CLOCK_USED, "the last launch counts");
}

/* A launch of 5 us is not 5,000 times what its device computed: a clock that says 1 ns always is refused however short
 * launches are, so that it cannot slip in between two long ones. */
Test(policies, a_clock_that_says_1_ns_is_refused_at_any_length) {
    const uint64_t lengths_ns[] = {2, 100, 5000, 99999, 100001, 1000000000};
    for (size_t i = 0; i < sizeof lengths_ns / sizeof *lengths_ns; i++) {
        const struct svmx_timing tick = {.compute_ns = 1}, ticks = {.copy_in_ns = 1, .compute_ns = 1, .copy_out_ns = 1};
        cr_expect_eq(svmx__device_time(&tick, lengths_ns[i]), 0, "%zu", i);
        cr_expect_eq(svmx__device_time(&ticks, lengths_ns[i]), 0, "%zu", i);
    }
    cr_expect_eq(svmx__device_time(&(struct svmx_timing){.compute_ns = 700}, 5000), 700);
    cr_expect_eq(svmx__device_time(&(struct svmx_timing){.compute_ns = 700}, 99999), 700, "held up, but it may be");
}

/* ---- explain ---- */

Test(policies, explain_says_what_would_be_done) {
    struct svmx_candidate candidates[4];
    size_t count;
    uint64_t crossover;
    for (int i = 0; i < 4; i++) candidates[i].size = sizeof *candidates;
    open_with("auto");
    cr_assert_eq(svmx_explain(executor, SVMX_OP_VEC_ADD_F32, ITEMS, candidates, 4, &count, &crossover), SVMX_OK);
    cr_assert_eq(count, 2);
    cr_assert_eq(candidates[0].device, SIMD);
    cr_assert_eq(candidates[0].verdict, SVMX_CHOSEN);
    cr_assert_eq(candidates[1].verdict, SVMX_UNMEASURED);
    cr_assert_eq(crossover, UINT64_MAX, "nothing is known");
    takes(FAKE, 1);
    takes(SIMD, 10);
    cr_assert_eq(svmx_explain(executor, SVMX_OP_VEC_ADD_F32, ITEMS, candidates, 4, &count, &crossover), SVMX_OK);
    cr_assert_eq(candidates[0].device, FAKE);
    cr_assert_eq(candidates[0].kind, SVMX_COST_MEASURED);
    cr_assert_eq(candidates[0].samples, 8);
    cr_assert_eq(candidates[1].device, SIMD);
    cr_assert_eq(candidates[1].verdict, SVMX_SLOWER);
    cr_assert_leq(crossover, ITEMS);
    cr_assert_eq(svmx_explain(executor, 9999, 1, candidates, 4, &count, NULL), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_explain(NULL, 1, 1, candidates, 4, &count, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_explain(executor, SVMX_OP_VEC_ADD_F32, UINT64_MAX, candidates, 4, &count, NULL),
                 SVMX_ERR_OVERFLOW);
}
