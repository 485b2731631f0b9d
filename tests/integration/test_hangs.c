/*
 * test_hangs.c: devices that keep a ticket past its deadline: the answer comes from elsewhere, the device is given up and
 * left alone with what it has, and when it wakes up late it harms nobody.
 *
 * What such a device keeps stays allocated on purpose: a suite of its own, without the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"
#include "recovery_fixture.h"

SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

/* After a hang: the device is off, is never closed, and keeps what it had. */
static void expect_abandoned(void) {
    cr_assert_eq(fake.closes, 0, "an instance with an open ticket was closed");
    cr_assert_gt(fake.memories, 0, "memory that a ticket uses was freed");
    cr_assert_gt(fake.pipelines, 0, "a pipeline that a ticket uses was freed");
}

Test(hangs, a_hang_costs_the_deadline_and_the_device) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.gate_closed = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "timeout"), "'%s'", receipt.reason);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.fallbacks_timeout, 1);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    for (int i = 0; i < 3; i++) {
        receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 1);
        cr_assert_eq(receipt.redone, 0);
    }
    cr_assert_eq(fake.calls[FAKE_SUBMIT], submits, "a device that was given up got work");
    svmx_close(executor);
    expect_abandoned();
}

Test(hangs, a_wait_that_always_says_timeout_at_once_is_asked_until_the_deadline) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    fake.gate_closed = fake.forgets_gate = true;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cr_assert_eq(run_trial(executor).redone, 1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ms = (long)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    cr_assert_geq(ms, TIMEOUT_MS - 1);
    svmx_close(executor);
    expect_abandoned();
}

/* ---- how long a device has ------------------------------------------------------------------------------------ */

/* A second device, so that there is something to choose and launches are learned from. It never gets work. */
static svmx_executor_t *open_learning(uint32_t timeout_ms, uint32_t timeout_min_ms) {
    struct svmx_options options = fake_options();
    options.backends = "fake,twin,stop";
    options.static_plugins = fake_and_twin;
    options.static_plugin_count = 2;
    options.log = silent;
    options.timeout_ms = timeout_ms;
    options.timeout_min_ms = timeout_min_ms;
    svmx_executor_t *executor = open_with(&options);
    svmx__contention_stop(executor); /* what else runs on this machine is no part of the test */
    return executor;
}

enum { ENOUGH_TO_LEARN = 12 };

/* Nothing but the text of the receipt tells which deadline it was: times of a busy machine prove nothing. */
static void expect_deadline(svmx_executor_t *executor, int launches, const char *origin) {
    for (int i = 0; i < launches; i++) cr_assert_eq(run_trial(executor).device, 0);
    fake.gate_closed = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, origin), "'%s' has not: %s", receipt.reason, origin);
    svmx_close(executor);
}

Test(hangs, while_nothing_is_learned_the_deadline_is_timeout_ms) {
    fake_start();
    expect_deadline(open_learning(TIMEOUT_MS, 1), 1, "of 40 ms (timeout_ms)");
}

Test(hangs, short_launches_have_timeout_min_ms) {
    fake_start();
    expect_deadline(open_learning(60000, 2000), ENOUGH_TO_LEARN, "of 2e+03 ms (timeout_min_ms)");
}

Test(hangs, longer_launches_have_eight_times_what_nearly_all_took) {
    fake_start();
    fake.delay_ms = 5;
    expect_deadline(open_learning(60000, 1), ENOUGH_TO_LEARN, "(8 times what 99 % of such launches took)");
}

/* Of some 250 ms: three times as much. */
Test(hangs, a_long_launch_that_is_whole_has_more_time) {
    fake_start();
    fake.delay_ms = 230;
    expect_deadline(open_learning(TIMEOUT_MS, 1), 4, "(timeout_ms for each 100 ms that it was expected to take)");
}

Test(hangs, a_driver_on_the_hosts_cores_always_has_timeout_ms) {
    fake_start();
    fake.flags = SVMX_DEVICE_SHARES_CORES;
    expect_deadline(open_learning(TIMEOUT_MS, 1), ENOUGH_TO_LEARN, "of 40 ms (timeout_ms)");
}

Test(hangs, a_batch_has_a_deadline_of_its_own) {
    fake_start();
    svmx_executor_t *executor = open_learning(60000, 60000);
    cr_assert_eq(run_trial(executor).device, 0);
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_set_timeout(batch, 30000000), SVMX_OK);
    fake.gate_closed = true;
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_not_null(strstr(receipt.reason, "of 30 ms (svmx_batch_set_timeout)"), "'%s'", receipt.reason);
    cr_assert_eq(svmx_batch_set_timeout(NULL, 1), SVMX_ERR_ARGUMENT);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* ---- what becomes of it ---------------------------------------------------------------------------------------- */

Test(hangs, a_hang_in_the_self_test_leaves_the_pipeline_to_the_device) {
    fake_start();
    fake.gate_closed = true;
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_gt(fake.pipelines, 0, "pipeline_free while a ticket that runs it is open");
    cr_assert_eq(fake_finish_late(), 1);
    svmx_close(executor);
    expect_abandoned();
}

Test(hangs, a_driver_that_wakes_up_late_harms_nobody) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake.gate_closed = true;
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    trial_fill(&trial, 99); /* the memory is the caller's again */
    svmx_close(executor);
    cr_assert_eq(fake_finish_late(), 1);
    cr_assert(trial_is_untouched(&trial), "a late device wrote into the caller's memory");
    expect_abandoned();
}

Test(hangs, upcalls_of_an_abandoned_backend_after_close_are_harmless) {
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    char *variant = strdup("scalar");
    options.variant = variant;
    svmx_executor_t *executor = open_with(&options);
    free(variant);
    fake.gate_closed = true;
    cr_assert_eq(run_trial(executor).redone, 1);
    svmx_close(executor);
    const struct svmx_host *host = fake.host; /* its thread wakes up now */
    host->log(host, SVMX_LOG_ERROR, "I am late");
    cr_assert_neq(host->now(host), 0);
    (void)host->option(host, "variant");
    (void)host->option(host, "threads");
    void *memory = host->alloc(host, 100, 64);
    cr_assert_not_null(memory);
    host->release(host, memory);
}

Test(hangs, batches_behind_a_hang_do_not_wait_for_deadlines_of_their_own) {
    enum { BATCHES = 12 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    fake.gate_closed = true;
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batches[i], 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, 1);
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_leq(fake.calls[FAKE_SUBMIT] - submits, WINDOW, "%u submits to a device that hangs",
                  fake.calls[FAKE_SUBMIT] - submits);
    svmx_close(executor);
    expect_abandoned();
}

/* The instance that hangs is left alone with its ticket, for ever; a new one serves. */
Test(hangs, a_device_that_hung_comes_back_in_a_new_instance) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    stop_clock(executor);
    (void)run_trial(executor);
    fake_gate(true);
    cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_LOST);
    fake_gate(false);
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor);
    await_health(executor, SVMX_SUSPECT);
    for (int i = 0; i < SVMX__COMPARED; i++) cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_eq(device_at(executor, 0).health, SVMX_HEALTHY);
    cr_assert_eq(fake_finish_late(), 1, "the ticket of the old one");
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
    cr_assert_eq(fake.opens, 2);
    cr_assert_eq(fake.closes, 1, "the one that hung is never closed");
}

/* A call of an instance that hangs may never return: neither does it build, nor get back what it gave. */
Test(hangs, nothing_more_is_asked_of_an_instance_that_hangs) {
    float out[4], a[4] = {1, 2, 3, 4};
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_vec_mul_f32(batch, out, a, a, 4), SVMX_OK);
    fake_gate(true);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial) && out[3] == 16);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    cr_assert_eq(fake.calls[FAKE_BUILD], 1, "built where a self-test hangs");
    expect_abandoned();
}

Test(hangs, memory_of_an_instance_that_hangs_stays_with_it) {
    const float in[4] = {1, 2, 3, 4};
    const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, 4), svmx_in(SVMX_F32, in, 4), svmx_in(SVMX_F32, in, 4)};
    svmx_batch_t *batch;
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    options.pool_bytes = 1; /* what is released goes back at once */
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    fake_gate(true);
    cr_assert_eq(run_trial(executor).redone, 1);
    const unsigned memories = fake_count(&fake.memories);
    svmx_batch_destroy(batch);
    cr_assert_eq(fake_count(&fake.memories), memories, "memory_free while a ticket is open");
    svmx_close(executor);
    expect_abandoned();
}

Test(hangs, one_that_hangs_again_in_its_test_rests_on) {
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = 1; /* a self-test has twenty times that */
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    stop_clock(executor);
    fake.gate_closed = true;
    while (device_at(executor, 0).usable) (void)run_trial(executor);
    pass_time(executor, SVMX__REST_NS);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], 1);
    await_rest(executor);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_eq(run_trial(executor).device, 1);
    svmx_close(executor);
}

Test(hangs, check_hanging) {
    static const char *const scripts[] = {"submit@1=hang", "submit@2=hang", "submit@3=hang", "wait@4=hang"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_script(scripts[i], 1);
}
