/*
 * test_recovery.c: devices that failed are given up, rest, are rebuilt and tested, are watched, and are trusted again; or
 * not. The device of fake.h, and a clock that the test sets: nothing here takes the time that it is about.
 *
 * Devices that hang, which leave memory behind: test_hangs.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"
#include "recovery_fixture.h"

static svmx_executor_t *open_warm(void) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    stop_clock(executor);
    cr_assert_eq(run_trial(executor).device, 0);
    return executor;
}

static void close_clean(svmx_executor_t *executor) {
    svmx_close(executor);
    expect_all_returned();
}

/* ---- giving up ------------------------------------------------------------------------------------------------- */

Test(recovery, two_failures_are_held_against_it_the_third_gives_it_rest) {
    svmx_executor_t *executor = open_warm();
    for (uint32_t i = 1; i <= 3; i++) {
        fake_fail(FAKE_SUBMIT, 1, SVMX_ERR_BACKEND);
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.redone, 1);
        cr_assert_not_null(strstr(receipt.reason, "submit told to fail"), "'%s'", receipt.reason);
        cr_assert_eq(device_at(executor, 0).strikes, i);
        cr_assert_eq(device_at(executor, 0).health, i < 3 ? SVMX_SUSPECT : SVMX_RESTING);
        cr_assert_eq(device_at(executor, 0).usable, i < 3);
        cr_assert_not_null(strstr(device_at(executor, 0).health_reason, "submit told to fail"));
    }
    unsigned submits = fake.calls[FAKE_SUBMIT];
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(fake.calls[FAKE_SUBMIT], submits, "a device at rest got work");
    close_clean(executor);
}

Test(recovery, good_launches_make_up_for_failures) {
    svmx_executor_t *executor = open_warm();
    for (int i = 0; i < 5; i++) {
        fake_fail(FAKE_WAIT, 1, SVMX_ERR_BACKEND);
        cr_assert_eq(run_trial(executor).redone, 1);
        for (int good = 0; good < SVMX__GOOD; good++) cr_assert_eq(run_trial(executor).device, 0);
        cr_assert_eq(device_at(executor, 0).health, SVMX_HEALTHY, "round %d", i);
    }
    close_clean(executor);
}

Test(recovery, want_of_memory_is_not_held_against_it) {
    svmx_executor_t *executor = open_warm();
    fake_fail(FAKE_SUBMIT, 10, SVMX_ERR_MEMORY);
    for (int i = 0; i < 10; i++) cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_HEALTHY);
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

Test(recovery, the_same_device_in_another_executor_is_another_matter) {
    svmx_executor_t *executor = open_warm(), *other = open_quiet_fake();
    cr_assert_eq(run_trial(other).device, 0);
    fake_fail(FAKE_SUBMIT, 1, SVMX_ERR_DEVICE_LOST);
    cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_LOST);
    cr_assert_eq(device_at(other, 0).health, SVMX_HEALTHY);
    cr_assert_eq(run_trial(other).device, 0);
    svmx_close(other);
    close_clean(executor);
}

/* ---- coming back ----------------------------------------------------------------------------------------------- */

Test(recovery, after_its_rest_it_is_rebuilt_tested_watched_and_trusted) {
    svmx_executor_t *executor = open_warm();
    wear_out(executor);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    pass_time(executor, SVMX__REST_NS);
    cr_assert_eq(run_trial(executor).device, 1, "the batch that sees that the rest is over does not wait for it");
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(fake_count(&fake.opens), 2);
    cr_assert_gt(fake_count(&fake.calls[FAKE_SUBMIT]), submits, "it was not tested");
    for (int i = 0; i < SVMX__COMPARED; i++) {
        cr_assert_eq(device_at(executor, 0).health, SVMX_SUSPECT, "launch %d", i);
        cr_assert_eq(run_trial(executor).device, 0, "launch %d", i);
    }
    cr_assert_eq(device_at(executor, 0).health, SVMX_HEALTHY);
    cr_assert_str_eq(device_at(executor, 0).health_reason, "");
    close_clean(executor);
}

Test(recovery, nobody_asks_before_the_rest_is_over) {
    svmx_executor_t *executor = open_warm();
    wear_out(executor);
    pass_time(executor, SVMX__REST_NS - 1);
    for (int i = 0; i < 5; i++) cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(fake_count(&fake.opens), 1);
    close_clean(executor);
}

Test(recovery, one_that_fails_its_test_rests_for_twice_as_long) {
    svmx_executor_t *executor = open_warm();
    wear_out(executor);
    fake_fail(FAKE_SUBMIT, FAKE_ALL, SVMX_ERR_BACKEND);
    for (unsigned round = 0; round < 3; round++) {
        pass_time(executor, (SVMX__REST_NS << round) - 1);
        cr_assert_eq(run_trial(executor).device, 1);
        cr_assert_eq(fake_count(&fake.opens), round + 1, "round %u: too early", round);
        pass_time(executor, 1);
        cr_assert_eq(run_trial(executor).device, 1);
        fake_await(&fake.closes, round + 1);
        cr_assert_eq(fake_count(&fake.opens), round + 2);
        await_rest(executor);
    }
    cr_assert_not_null(strstr(device_at(executor, 0).health_reason, "self-test"), "'%s'",
                       device_at(executor, 0).health_reason);
    fake_fail(FAKE_SUBMIT, 0, SVMX_OK);
    pass_time(executor, SVMX__REST_MAX_NS);
    (void)run_trial(executor);
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

Test(recovery, a_failure_while_it_is_watched_gives_it_rest_at_once) {
    svmx_executor_t *executor = open_warm();
    come_back(executor);
    cr_assert_eq(run_trial(executor).device, 0);
    fake_fail(FAKE_WAIT, 1, SVMX_ERR_BACKEND);
    cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_RESTING);
    close_clean(executor);
}

/* ---- wrong bytes ----------------------------------------------------------------------------------------------- */

/* The last launch that is compared is wrong: no byte of it reaches the caller. */
static void expect_caught(uint32_t flags) {
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_quiet_fake();
    stop_clock(executor);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_eq(run_mul(executor).device, 0);
    come_back(executor);
    /* the batch that had it rebuilt may have been one of them */
    while (atomic_load(&executor->devices[0].health.to_compare) > 1) cr_assert_eq(run_trial(executor).device, 0);
    fake.wrong_bytes = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "wrong bytes"), "'%s'", receipt.reason);
    fake.wrong_bytes = false;
    struct svmx_device device = device_at(executor, 0);
    cr_assert_eq(device.quarantined, 1);
    cr_assert_eq(run_trial(executor).device, 1, "it got the operation again");
    cr_assert_eq(run_mul(executor).device, 0, "it lost another operation");
    device = device_at(executor, 0);
    cr_assert_eq(device.health, SVMX_QUARANTINED);
    cr_assert_not_null(strstr(device.health_reason, "vec_add_f32: wrong bytes"), "'%s'", device.health_reason);
    come_back(executor);
    cr_assert_eq(run_trial(executor).device, 1, "a rebuild ended the quarantine");
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    cr_assert_eq(run_trial(executor).device, 1, "a new pipeline ended the quarantine");
    close_clean(executor);
}

Test(recovery, wrong_bytes_of_a_watched_device_are_caught) { expect_caught(0); }
Test(recovery, also_where_it_shares_memory) { expect_caught(SVMX_DEVICE_SHARES_MEMORY); }
Test(recovery, also_where_it_computes_in_the_callers_memory) {
    expect_caught(SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE);
}

Test(recovery, operations_that_are_wrong_after_a_rebuild_do_not_keep_the_device_away) {
    svmx_executor_t *executor = open_warm();
    wear_out(executor);
    fake.wrong_bytes = true;
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor);
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(device_at(executor, 0).quarantined, 2, "one for each operation that it served");
    fake.wrong_bytes = false;
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(run_mul(executor).device, 1);
    cr_assert_eq(device_at(executor, 0).usable, 1);
    close_clean(executor);
}

/* ---- across restarts ------------------------------------------------------------------------------------------- */

/* A folder of the test's own with a profile in it. */
static char folder[] = "/tmp/svmx-recovery-XXXXXX", profile[64];

static void make_folder(void) {
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(profile, sizeof profile, "%s/profile", folder);
}

static void drop_folder(void) {
    (void)unlink(profile);
    cr_assert_eq(rmdir(folder), 0);
}

static svmx_executor_t *open_profiled(void) {
    struct svmx_options options = fake_options();
    options.log = silent;
    options.profile = profile;
    return open_with(&options);
}

/* It is on disk before the executor is closed: nobody knows how a process ends. */
Test(recovery, quarantine_holds_in_the_next_process_until_it_is_cleared, .init = make_folder, .fini = drop_folder) {
    fake_start();
    fake.wrong_bytes = true;
    svmx_executor_t *executor = open_profiled();
    cr_assert_not_null(strstr(run_trial(executor).reason, "wrong bytes"));
    cr_assert_eq(access(profile, F_OK), 0, "not written");
    svmx_executor_t *next = open_profiled();
    fake.wrong_bytes = false;
    unsigned builds = fake.calls[FAKE_BUILD];
    struct svmx_receipt receipt = run_trial(next);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(fake.calls[FAKE_BUILD], builds, "it was asked again");
    cr_assert_eq(device_at(next, 0).health, SVMX_QUARANTINED);
    cr_assert_not_null(strstr(device_at(next, 0).health_reason, "vec_add_f32"), "'%s'",
                       device_at(next, 0).health_reason);
    cr_assert_eq(run_mul(next).device, 0, "another operation is off as well");
    svmx_close(next);
    svmx_close(executor);
    svmx_profile_t *handle;
    cr_assert_eq(svmx_profile_open(&handle, profile, NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_defect(handle), "");
    cr_assert_eq(svmx_profile_remove(handle, NULL), SVMX_OK); /* svmx profile clear */
    svmx_profile_close(handle);
    executor = open_profiled();
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

Test(recovery, another_driver_ends_a_quarantine, .init = make_folder, .fini = drop_folder) {
    fake_start();
    fake.wrong_bytes = true;
    svmx_executor_t *executor = open_profiled();
    (void)run_trial(executor);
    svmx_close(executor);
    fake.wrong_bytes = false;
    fake.driver = "fake 2";
    executor = open_profiled();
    cr_assert_eq(device_at(executor, 0).health, SVMX_HEALTHY);
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

/* ---- memory of another life -------------------------------------------------------------------------------------- */

Test(recovery, memory_of_the_old_instance_goes_back_to_it) {
    enum { ITEMS = 1000 };
    svmx_executor_t *executor = open_warm();
    svmx_batch_t *batch;
    float *in = NULL, *out = NULL;
    uint64_t bytes = 0;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_alloc(batch, 2 * ITEMS * sizeof *in, (void **)&in), SVMX_OK);
    for (int i = 0; i < 2 * ITEMS; i++) in[i] = (float)i;
    const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, ITEMS), svmx_in(SVMX_F32, in, ITEMS),
                                    svmx_in(SVMX_F32, in + ITEMS, ITEMS)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_result(batch, 0, 0, (void **)&out, &bytes), SVMX_OK);
        for (int i = 0; i < ITEMS; i++) cr_assert_eq(out[i], in[i] + in[i + ITEMS]);
        if (round < 2) come_back(executor);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    close_clean(executor);
}

/* ---- by hand --------------------------------------------------------------------------------------------------- */

Test(recovery, reset_rebuilds_now_and_forgets_strikes) {
    svmx_executor_t *executor = open_warm();
    fake_fail(FAKE_SUBMIT, 2, SVMX_ERR_BACKEND);
    for (int i = 0; i < 2; i++) (void)run_trial(executor);
    cr_assert_eq(device_at(executor, 0).strikes, 2);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    cr_assert_eq(device_at(executor, 0).strikes, 0);
    await_rebuilt(executor, 1);
    cr_assert_eq(fake_count(&fake.opens), 2);
    cr_assert_eq(run_trial(executor).device, 0);
    wear_out(executor);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_eq(fake_count(&fake.opens), 3);
    close_clean(executor);
}

Test(recovery, one_that_broke_a_rule_comes_back_by_hand_only) {
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE;
    svmx_executor_t *executor = open_quiet_fake();
    stop_clock(executor);
    cr_assert_eq(run_trial(executor).device, 0);
    fake.ticket_first = true;
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(device_at(executor, 0).health, SVMX_LOST);
    fake.ticket_first = false;
    pass_time(executor, SVMX__REST_MAX_NS);
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(fake.opens, 1);
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK);
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

Test(recovery, reset_says_what_it_cannot) {
    svmx_executor_t *executor = open_warm();
    cr_assert_eq(svmx_device_reset(NULL, 0), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_device_reset(executor, 1), SVMX_ERR_UNSUPPORTED);
    cr_assert_eq(svmx_device_reset(executor, 2), SVMX_ERR_UNKNOWN);
    close_clean(executor);
}

Test(recovery, close_does_not_wait_for_a_rest) {
    svmx_executor_t *executor = open_warm();
    wear_out(executor);
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor); /* has it rebuilt, or not */
    close_clean(executor);
}
