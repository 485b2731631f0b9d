/*
 * test_trial.c: of the variants that a device offers the one that is clearly the fastest serves, whatever else the
 * machine does while they are compared; a variant that fails is not among them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "faults_fixture.h"

#define MS UINT64_C(1000000)

/* The variant that serves an executor, to its end. `only`: options.variant. */
static uint32_t chosen_with(const char *cache_dir, const char *only) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    options.variant = only;
    if (cache_dir) options.cache_dir = cache_dir;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    uint32_t variant = fake.last_variant;
    for (int i = 0; i < 3; i++) {
        (void)run_trial(executor);
        cr_assert_eq(fake.last_variant, variant, "another one each time");
    }
    svmx_close(executor);
    expect_all_returned();
    return variant;
}

static uint32_t chosen(void) { return chosen_with(NULL, NULL); }

/* Variants that take so long by the device's clock, and by the host's one as long as the other. */
static void offer(unsigned count, uint64_t first_us, uint64_t second_us, uint64_t third_us) {
    const uint64_t us[] = {first_us, second_us, third_us};
    uint64_t longest = 0;
    fake_start();
    fake.variant_count = count;
    for (int i = 0; i < 3; i++) longest = us[i] > longest ? us[i] : longest;
    for (int i = 0; i < 3; i++) {
        fake.variants[i].ns = us[i] * 1000;
        fake.variants[i].sleep_ns = longest * 1000;
    }
}

static void delay(uint32_t variant, unsigned launch, unsigned times) {
    fake.variants[variant].slow_launch = launch;
    fake.variants[variant].slow_times = times;
}

Test(trial, the_fastest_serves) {
    offer(3, 3000, 2000, 1000);
    cr_assert_eq(chosen(), 2);
    offer(3, 3000, 1000, 2000);
    cr_assert_eq(chosen(), 1);
    offer(3, 1000, 2000, 3000);
    cr_assert_eq(chosen(), 0);
}

Test(trial, one_slow_run_does_not_change_the_choice) {
    for (unsigned launch = 1; launch <= 5; launch++) {
        offer(2, 3000, 2000, 0);
        delay(1, launch, 20);
        cr_assert_eq(chosen(), 1, "run %u of the faster one was slow", launch);
        offer(2, 2000, 3000, 0);
        delay(0, launch, 20);
        cr_assert_eq(chosen(), 0, "run %u of the faster one was slow", launch);
    }
}

Test(trial, they_run_equally_often) {
    offer(3, 1000, 1000, 1000);
    (void)chosen();
    cr_assert_geq(fake.variants[0].launches, 2);
    cr_assert_eq(fake.variants[0].launches, fake.variants[1].launches);
    cr_assert_eq(fake.variants[0].launches, fake.variants[2].launches);
}

Test(trial, a_little_faster_is_not_enough) {
    offer(3, 1000, 950, 910);
    cr_assert_eq(chosen(), 0);
    offer(3, 1000, 880, 850);
    cr_assert_eq(chosen(), 1);
}

Test(trial, the_hosts_clock_counts_where_the_device_does_not_tell) {
    offer(2, 0, 0, 0);
    fake.variants[0].sleep_ns = 20 * MS;
    fake.variants[1].sleep_ns = MS;
    delay(1, 2, 100);
    cr_assert_eq(chosen(), 1);
    offer(2, 0, 1, 0); /* one clock for all, or the times say nothing */
    fake.variants[1].sleep_ns = 20 * MS;
    cr_assert_eq(chosen(), 0);
}

/* What the device says, the wrong way round, where by the host's clock the first is the faster one by far. */
static void contradict(uint64_t first_ns, uint64_t second_ns) {
    offer(2, 0, 0, 0);
    fake.variants[0] = (struct fake_variant){.ns = first_ns, .sleep_ns = MS};
    fake.variants[1] = (struct fake_variant){.ns = second_ns, .sleep_ns = 20 * MS};
}

Test(trial, the_hosts_clock_counts_where_the_devices_cannot_be_believed) {
    contradict(2, 1); /* next to nothing, whatever it did */
    cr_assert_eq(chosen(), 0);
    contradict(9000000 * MS, 8000000 * MS); /* more than passed */
    cr_assert_eq(chosen(), 0);
    contradict(MS, MS / 2);
    cr_assert_eq(chosen(), 1, "it can be believed");
}

Test(trial, a_variant_that_alone_is_offered_does_not_run_for_nothing) {
    offer(1, 1000, 0, 0);
    cr_assert_eq(chosen(), 0);
    cr_assert_eq(fake.variants[0].launches, 0);
}

/* Variants have other numbers where options.variant leaves out some. */
Test(trial, a_choice_that_was_forced_is_none_for_who_does_not_force_it) {
    char folder[] = "/tmp/svmx-test-XXXXXX", command[64];
    cr_assert_not_null(mkdtemp(folder));
    offer(3, 1000, 2000, 3000);
    fake.binary_ms = 1;
    cr_assert_eq(chosen_with(folder, "some"), 0);
    offer(3, 3000, 2000, 1000);
    fake.binary_ms = 1;
    cr_assert_eq(chosen_with(folder, NULL), 2);
    offer(3, 1000, 2000, 3000);
    fake.binary_ms = 1;
    cr_assert_eq(chosen_with(folder, NULL), 2, "the choice was not kept");
    cr_assert_eq(fake.variants[0].launches, 0);
    cr_assert_eq(chosen_with(folder, "some"), 0);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(trial, a_variant_that_fails_in_the_race_is_out) {
    offer(3, 3000, 1000, 2000);
    fake.variants[1].status = SVMX_ERR_BACKEND;
    cr_assert_eq(chosen(), 2);
    cr_assert_eq(fake.variants[1].launches, 1, "it ran on");
}

Test(trial, a_device_that_has_no_room_for_the_example_serves_with_the_first) {
    offer(2, 2000, 1000, 0);
    fake.variants[0].status = SVMX_ERR_MEMORY;
    cr_assert_eq(chosen(), 0);
}

Test(trial, where_all_fail_the_device_is_off_for_the_operation) {
    offer(2, 2000, 1000, 0);
    fake.variants[0].status = fake.variants[1].status = SVMX_ERR_BACKEND;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(run_trial(executor).device, 1);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- closing ------------------------------------------------------------------------------------------------------ */

/* Lets the compiler go on once the builder knows that the device closes. */
static void *release(void *user) {
    struct svmx__builder *builder = user;
    const struct timespec moment = {0, 1000000};
    for (bool closing = false; !closing; (void)nanosleep(&moment, NULL)) {
        pthread_mutex_lock(&builder->lock);
        closing = builder->closing;
        pthread_mutex_unlock(&builder->lock);
    }
    fake_stick(0);
    return NULL;
}

Test(trial, closing_waits_for_no_variant_but_the_one_that_is_compiled) {
    const struct timespec moment = {0, 1000000};
    pthread_t thread;
    offer(3, 1000, 1000, 1000);
    svmx_executor_t *executor = open_quiet_fake();
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, SVMX_OP_VEC_ADD_F32);
    fake_stick(FAKE_STUCK_BUILD);
    svmx__build_request(&executor->devices[0], op, 16384, NULL);
    while (fake_count(&fake.stuck_calls) == 0) (void)nanosleep(&moment, NULL);
    cr_assert_eq(pthread_create(&thread, NULL, release, &executor->devices[0].builder), 0);
    svmx_close(executor);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(fake_count(&fake.calls[FAKE_BUILD]), 1, "it compiled on");
    expect_all_returned();
}
