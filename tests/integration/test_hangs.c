/*
 * test_hangs.c: devices that keep a ticket past its deadline: the answer comes from elsewhere, the device is given up and
 * left alone with what it has, and when it wakes up late it harms nobody.
 *
 * What such a device keeps stays allocated on purpose: a suite of its own, without the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faults_fixture.h"

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
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1, "%u submits to a device that hangs",
                 fake.calls[FAKE_SUBMIT] - submits);
    svmx_close(executor);
    expect_abandoned();
}

Test(hangs, check_hanging) {
    static const char *const scripts[] = {"submit@1=hang", "submit@2=hang", "submit@3=hang", "wait@4=hang"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_script(scripts[i], 1);
}
