/*
 * test_guards.c: bytes around the outputs of a launch: writes beyond them and readbacks that are cut short are seen, the
 * answer is right, and the device has a strike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"

static svmx_executor_t *open_warm(uint32_t flags) {
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    return executor;
}

static void close_clean(svmx_executor_t *executor) {
    svmx_close(executor);
    expect_all_returned();
}

/* Until the device rests: each is redone, each is a strike. Then, with the fault gone, all is well in another executor. */
static void expect_caught(svmx_executor_t *executor, const char *reason) {
    for (uint32_t i = 1; i <= SVMX__STRIKES; i++) {
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 1);
        cr_assert_eq(receipt.redone, 1);
        cr_assert_not_null(strstr(receipt.reason, reason), "'%s'", receipt.reason);
        cr_assert_eq(device_at(executor, 0).strikes, i);
    }
    cr_assert_eq(device_at(executor, 0).health, SVMX_RESTING);
    cr_assert_eq(device_at(executor, 0).quarantined, 0);
    close_clean(executor);
}

Test(guards, a_byte_behind_the_outputs_is_seen) {
    svmx_executor_t *executor = open_warm(0);
    fake.stray = 1;
    expect_caught(executor, "wrote behind the outputs");
}

Test(guards, a_byte_before_them_too) {
    svmx_executor_t *executor = open_warm(0);
    fake.stray = -1;
    expect_caught(executor, "wrote before the outputs");
}

Test(guards, also_where_memory_is_shared) {
    for (int stray = -1; stray <= 1; stray += 2) {
        svmx_executor_t *executor = open_warm(SVMX_DEVICE_SHARES_MEMORY);
        fake.stray = stray;
        expect_caught(executor, stray < 0 ? "wrote before the outputs" : "wrote behind the outputs");
    }
}

Test(guards, a_byte_behind_the_inputs_is_seen_where_memory_is_shared) {
    svmx_executor_t *executor = open_warm(SVMX_DEVICE_SHARES_MEMORY);
    fake.stray_input = true;
    expect_caught(executor, "wrote behind the inputs");
}

/* However little is missing of what was to be read back. */
Test(guards, a_readback_that_is_short_is_seen) {
    static const uint64_t missing[] = {1, 63, 64, 65, 200, 64 + TRIAL_ITEMS * sizeof(float)};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++) {
        svmx_executor_t *executor = open_warm(0);
        fake.short_bytes = missing[i];
        expect_caught(executor, missing[i] < 64 ? "wrote behind the outputs" : "not read back as a whole");
    }
}

Test(guards, once_is_forgiven) {
    svmx_executor_t *executor = open_warm(0);
    fake.stray = 1;
    cr_assert_eq(run_trial(executor).redone, 1);
    fake.stray = 0;
    for (int i = 0; i < 3; i++) {
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 0, "memory that was written to is not guarded anew: %s", receipt.reason);
    }
    close_clean(executor);
}

Test(guards, a_pipeline_that_strays_fails_its_self_test) {
    fake_start();
    fake.stray = 1;
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_not_null(strstr(receipt.reason, "behind the outputs"), "'%s'", receipt.reason);
    close_clean(executor);
}

/* Runs one task of so many elements. */
static void run_size(svmx_executor_t *executor, uint64_t count) {
    static float out[4096], a[4096], b[4096];
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out, a, b, count), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0, "%s", receipt.reason);
    svmx_batch_destroy(batch);
}

Test(guards, they_are_filled_in_when_the_size_changes_and_not_again) {
    svmx_executor_t *executor = open_warm(0);
    run_size(executor, 10);
    const unsigned before = fake.fills;
    for (int i = 0; i < 5; i++) run_size(executor, 10);
    cr_assert_eq(fake.fills, before, "the same size again");
    run_size(executor, 11);
    cr_assert_eq(fake.fills, before + 2);
    run_size(executor, 11);
    run_size(executor, 4096); /* in another buffer, perhaps a fresh one */
    run_size(executor, 11);
    cr_assert_leq(fake.fills, before + 4);
    close_clean(executor);
}

Test(guards, where_memory_is_shared_they_need_no_command) {
    svmx_executor_t *executor = open_warm(SVMX_DEVICE_SHARES_MEMORY);
    for (uint64_t count = 1; count < 10; count++) run_size(executor, count);
    cr_assert_eq(fake.fills, 0);
    close_clean(executor);
}
