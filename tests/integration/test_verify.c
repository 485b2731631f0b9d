/*
 * test_verify.c: launches that are computed on a second backend and compared: what is drawn, who is found to be wrong, and
 * that the right answer reaches the caller whoever it was.
 *
 * Device 0 is that of fake.h, device 1 that of liar.h, device 2 the reference code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "executor/executor.h"
#include "faults_fixture.h"
#include "liar.h"

#include <math.h>

enum { FAKE, LIAR, REFERENCE };

static const struct svmx_plugin *const both[] = {&fake_plugin, &liar_plugin};

static svmx_executor_t *open_both(const char *verify) {
    struct svmx_options options = fake_options();
    options.backends = "fake,liar,stop";
    options.static_plugins = both;
    options.static_plugin_count = 2;
    options.verify = verify;
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    return open_with(&options);
}

/* Both have proved themselves. */
static svmx_executor_t *open_warm(const char *verify) {
    fake_start();
    liar_lies = 0;
    svmx_executor_t *executor = open_both(verify);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    cr_assert_eq(run_trial(executor).device, FAKE);
    return executor;
}

static void close_clean(svmx_executor_t *executor) {
    svmx_close(executor);
    expect_all_returned();
}

static struct svmx_stats stats_of(svmx_executor_t *executor) {
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    return stats;
}

/* ---- what is compared -------------------------------------------------------------------------------------------- */

Test(verify, full_compares_every_launch_and_off_none) {
    svmx_executor_t *executor = open_warm("full");
    for (int i = 0; i < 5; i++) cr_assert(run_trial(executor).flags & SVMX_RECEIPT_COMPARED);
    cr_assert_eq(stats_of(executor).compared, 6);
    cr_assert_eq(stats_of(executor).differed, 0);
    close_clean(executor);
    executor = open_warm(NULL);
    for (int i = 0; i < 5; i++) cr_assert(!(run_trial(executor).flags & SVMX_RECEIPT_COMPARED));
    cr_assert_eq(stats_of(executor).compared, 0);
    close_clean(executor);
}

Test(verify, the_time_of_the_other_device_is_in_the_receipt) {
    svmx_executor_t *executor = open_warm("full");
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_gt(receipt.shadow_ns, 0);
    cr_assert_eq(receipt.shadow_device, LIAR);
    liar_lies = 1; /* it is the witness: what takes the time is wrong */
    receipt = run_trial(executor);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED);
    cr_assert_eq(receipt.shadow_ns, 0, "the time of wrong bytes");
    receipt = run_trial(executor); /* with the reference code for a witness: nothing is routed there */
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED);
    cr_assert_eq(receipt.shadow_ns, 0);
    close_clean(executor);
    executor = open_warm("off");
    cr_assert_eq(run_trial(executor).shadow_ns, 0);
    close_clean(executor);
}

/* Of work that a device is expected to take long for, and gets in several submissions. Under the policy gpu, since the other one
 * would be chosen for it. */
Test(verify, several_submissions_have_the_time_of_all_and_none_of_comparing) {
    enum { TASKS = 8, LONG_MS = 250, WITNESS_MS = 100 };
    static struct trial trials[TASKS];
    struct svmx_options options = fake_options();
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch;
    fake_start();
    liar_lies = 0;
    options.backends = "fake,liar,stop";
    options.static_plugins = both;
    options.static_plugin_count = 2;
    options.timeout_ms = options.timeout_min_ms = 60000;
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    for (unsigned i = 0; i < TASKS; i++) {
        trial_fill(&trials[i], i);
        cr_assert_eq(trial_add(&trials[i], batch), SVMX_OK);
    }
    for (int i = 0; i < 12 && receipt.launches < 2; i++) {
        cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        fake.delay_ms = LONG_MS; /* after the first, which proves its kernel */
    }
    cr_assert_gt(receipt.launches, 1, "never cut, although a launch takes %d ms", LONG_MS);
    fake.delay_ms = 0;
    liar_delay_ms = WITNESS_MS;
    cr_assert_eq(svmx_batch_set_verify(batch, "full"), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    liar_delay_ms = 0;
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED);
    cr_assert_gt(receipt.launches, 1);
    cr_assert_eq(receipt.shadow_device, LIAR);
    cr_assert_geq(receipt.shadow_ns, receipt.launches * WITNESS_MS * 1000000u);
    const uint64_t cost_ns = receipt.setup_ns + receipt.transfer_ns + receipt.compute_ns;
    cr_assert_lt(cost_ns, receipt.shadow_ns / 4, "%u launches: %llu ns", receipt.launches, (unsigned long long)cost_ns);
    svmx_batch_destroy(batch);
    close_clean(executor);
}

Test(verify, a_sample_is_about_as_large_as_asked_for) {
    enum { RUNS = 400 };
    svmx_executor_t *executor = open_warm("sample:0.25");
    unsigned compared = 0;
    for (int i = 0; i < RUNS; i++) compared += (run_trial(executor).flags & SVMX_RECEIPT_COMPARED) != 0;
    cr_assert(compared > RUNS / 10 && compared < RUNS / 2, "%u of %d", compared, RUNS); /* seven deviations off */
    close_clean(executor);
}

Test(verify, a_batch_has_a_wish_of_its_own) {
    svmx_executor_t *executor = open_warm("off");
    static const struct {
        const char *verify;
        uint32_t compared;
    } wishes[] = {{"full", SVMX_RECEIPT_COMPARED}, {"off", 0}, {"sample:1", SVMX_RECEIPT_COMPARED}, {NULL, 0}};
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_batch_set_verify(batch, wishes[i].verify), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.flags & SVMX_RECEIPT_COMPARED, wishes[i].compared, "wish %zu", i);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    cr_assert_eq(svmx_batch_set_verify(batch, "often"), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "sample:P"));
    cr_assert_eq(svmx_batch_set_verify(NULL, "off"), SVMX_ERR_ARGUMENT);
    svmx_batch_destroy(batch);
    close_clean(executor);
}

Test(verify, what_computes_in_the_callers_memory_is_compared_with_the_reference_code) {
    struct svmx_options options = fake_options();
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE;
    options.verify = "full";
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    cr_assert(run_trial(executor).flags & SVMX_RECEIPT_COMPARED);
    fake.wrong_bytes = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert(!(receipt.flags & SVMX_RECEIPT_COMPARED), "there is nothing to compare the reference code with");
    close_clean(executor);
}

/* A sum that is no number on every device is no difference. */
Test(verify, no_number_is_equal_to_itself) {
    svmx_executor_t *executor = open_warm("full");
    float out[4], a[4] = {INFINITY, NAN, -INFINITY, 1}, b[4] = {-INFINITY, 1, INFINITY, NAN};
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out, a, b, 4), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED);
    for (int i = 0; i < 4; i++) cr_assert(isnan(out[i]));
    svmx_batch_destroy(batch);
    close_clean(executor);
}

/* ---- who is wrong ------------------------------------------------------------------------------------------------ */

Test(verify, a_device_that_is_wrong_is_quarantined_and_the_answer_is_right) {
    svmx_executor_t *executor = open_warm("full");
    fake.wrong_bytes = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, LIAR);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "wrong bytes in task 0"), "'%s'", receipt.reason);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED, "the second answer was not compared");
    cr_assert_eq(device_at(executor, FAKE).quarantined, 1);
    cr_assert_eq(device_at(executor, LIAR).quarantined, 0);
    cr_assert_eq(stats_of(executor).differed, 1);
    cr_assert_eq(stats_of(executor).fallbacks_wrong, 1);
    cr_assert_eq(run_trial(executor).device, LIAR, "it got the operation again");
    close_clean(executor);
}

Test(verify, a_witness_that_is_wrong_is_quarantined_and_the_device_is_believed) {
    svmx_executor_t *executor = open_warm("full");
    liar_lies = 1;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_eq(receipt.redone, 0);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED);
    cr_assert_eq(device_at(executor, FAKE).quarantined, 0);
    cr_assert_eq(device_at(executor, LIAR).quarantined, 1);
    cr_assert_not_null(strstr(device_at(executor, LIAR).health_reason, "as a witness"), "'%s'",
                       device_at(executor, LIAR).health_reason);
    receipt = run_trial(executor); /* with the reference code for a witness */
    cr_assert_eq(receipt.device, FAKE);
    cr_assert_eq(stats_of(executor).differed, 1);
    close_clean(executor);
}

Test(verify, if_both_are_wrong_the_reference_code_answers) {
    svmx_executor_t *executor = open_warm("full");
    fake.wrong_bytes = true;
    liar_lies = 2;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, REFERENCE);
    cr_assert_eq(device_at(executor, FAKE).quarantined, 1);
    cr_assert_eq(device_at(executor, LIAR).quarantined, 1);
    close_clean(executor);
}

Test(verify, under_the_policy_gpu_a_wrong_answer_is_an_error) {
    svmx_executor_t *executor = open_warm("full");
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    fake.wrong_bytes = true;
    cr_assert_eq(svmx_run(batch), SVMX_ERR_WRONG_RESULT);
    cr_assert(trial_is_untouched(&trial), "wrong bytes reached the caller");
    svmx_batch_destroy(batch);
    close_clean(executor);
}

/* A witness must be done at once. One that is not is no witness, and what it was to write into stays its own: under the address
 * sanitizer this test fails if that was freed. */
Test(verify, a_witness_that_keeps_its_launch_writes_late_where_nobody_is) {
    svmx_executor_t *executor = open_warm("full");
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    abandons = true;
    svmx_batch_t *batch = batch_of(executor, &trial);
    atomic_store(&liar_keeps, true);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(!atomic_load(&liar_keeps), "or this shows nothing");
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, FAKE);
    cr_assert(receipt.flags & SVMX_RECEIPT_COMPARED, "the reference code is a witness as well");
    cr_assert_eq(device_at(executor, LIAR).usable, 0, "%s", device_at(executor, LIAR).health_reason);
    svmx_batch_destroy(batch);
    liar_finish_late();
    cr_assert(trial_is_right(&trial));
    cr_assert(run_trial(executor).flags & SVMX_RECEIPT_COMPARED);
    svmx_close(executor);
    liar_finish_late();
}

/* Many tasks in one launch: the first wrong one is named, and the others are right too. */
Test(verify, wrong_bytes_of_one_task_of_many_are_found) {
    enum { TASKS = 50 };
    static struct trial trials[TASKS];
    svmx_executor_t *executor = open_warm("full");
    svmx_batch_t *batch;
    fake.wrong_bytes = true;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (unsigned i = 0; i < TASKS; i++) {
        trial_fill(&trials[i], i);
        cr_assert_eq(trial_add(&trials[i], batch), SVMX_OK);
    }
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (unsigned i = 0; i < TASKS; i++) cr_assert(trial_is_right(&trials[i]), "task %u", i);
    svmx_batch_destroy(batch);
    close_clean(executor);
}

/* A loop that is to be verified, on a device that is wrong. */
Test(verify, each_window_of_a_loop_is_compared_if_its_body_is_to_be) {
    enum { ITERATIONS = 6 };
    svmx_executor_t *executor = open_warm("off");
    float state[TRIAL_ITEMS] = {0}, one[TRIAL_ITEMS];
    svmx_buffer_t *buffer;
    svmx_batch_t *body;
    struct svmx_loop_end end;
    for (int i = 0; i < TRIAL_ITEMS; i++) one[i] = 1;
    cr_assert_eq(svmx_buffer_create(executor, sizeof state, &buffer), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    cr_assert_eq(svmx_batch_set_verify(body, "full"), SVMX_OK);
    const struct svmx_arg x = svmx_view(SVMX_F32, buffer, 0, TRIAL_ITEMS);
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, TRIAL_ITEMS), x, svmx_in(SVMX_F32, one, TRIAL_ITEMS)};
    const struct svmx_arg most[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, 0, 0), x};
    cr_assert_eq(svmx_batch_add(body, SVMX_OP_VEC_ADD_F32, sum, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_add(body, SVMX_OP_MAX_ABS_DIFF_F32, most, 3), SVMX_OK);
    const struct svmx_carry carry = {0, 0, buffer, 0};
    const struct svmx_until until = {.task = 1, .kind = SVMX_UNTIL_BELOW, .limit = 0};
    const struct svmx_loop loop = {.size = sizeof loop,
                                   .carries = &carry,
                                   .untils = &until,
                                   .carry_count = 1,
                                   .until_count = 1,
                                   .max_iterations = ITERATIONS,
                                   .check_every = 2};
    fake.wrong_bytes = true;
    cr_assert_eq(svmx_loop_run(body, &loop, &end, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(buffer, 0, state, sizeof state), SVMX_OK);
    for (int i = 0; i < TRIAL_ITEMS; i++) cr_assert_eq(state[i], (float)ITERATIONS, "%d: %g", i, (double)state[i]);
    cr_assert_gt(stats_of(executor).differed, 0, "or the device was not wrong");
    svmx_batch_destroy(body);
    svmx_buffer_destroy(buffer);
    close_clean(executor);
}

/* ---- the setting ------------------------------------------------------------------------------------------------- */

Test(verify, what_may_be_said) {
    static const struct {
        const char *text;
        double share;
    } good[] = {{"off", 0},
                {"full", 1},
                {"sample:0", 0},
                {"sample:1", 1},
                {"sample:1.000", 1},
                {"sample:0.5", 0.5},
                {"sample:0.015625", 0.015625}};
    static const char *const bad[] = {
        "",           "on",          "Full",        "sample",   "sample:",    "sample:.5",   "sample:1.",
        "sample:1.1", "sample:00.1", "sample:-0.5", "sample:2", "sample:0,5", "sample:1e-3", "sample:0.0000000001"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t share = 1234;
        cr_assert(svmx__verify_parse(good[i].text, &share), "%s", good[i].text);
        cr_assert_eq(share, (uint64_t)(good[i].share * (double)SVMX__VERIFY_ALL), "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t share = 1234;
        cr_assert(!svmx__verify_parse(bad[i], &share), "%s", bad[i]);
        cr_assert_eq(share, 1234);
        struct svmx_options options = fake_options();
        struct svmx_error error;
        svmx_executor_t *executor;
        options.verify = bad[i];
        cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_ERR_ARGUMENT);
        cr_assert_not_null(strstr(error.text, "options.verify"), "'%s'", error.text);
    }
}
