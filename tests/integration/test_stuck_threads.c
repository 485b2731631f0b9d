/*
 * test_stuck_threads.c: a driver that never returns, and the system has no thread to put in the place of the one that it
 * keeps. test_stuck.c has the calls where there is one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stuck_fixture.h"

#include <errno.h>

/* The system has no more threads. */
static atomic_bool no_threads;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *user) {
    return atomic_load(&no_threads) ? EAGAIN : __real_pthread_create(thread, attributes, main, user);
}

Test(stuck, no_thread_for_another_submitter) {
    enum { BATCHES = 4 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES], *other;
    void *memory = NULL;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_SUBMIT);
    atomic_store(&no_threads, true);
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    cr_assert_eq(svmx_device_reset(executor, 0), SVMX_OK); /* nobody opens it in the thread that looks */
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_C(20) * STUCK_LIMIT_MS * 1000000), SVMX_OK, "batch %d", i);
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    cr_assert_eq(svmx_batch_alloc(other, 1 << 20, &memory), SVMX_OK);
    svmx_batch_destroy(other);
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(fake_count(&fake.opens), 1);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, no_thread_for_another_submitter_and_then_there_is_one) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    stop_clock(executor);
    (void)run_trial(executor);
    fake_stick(FAKE_STUCK_SUBMIT);
    atomic_store(&no_threads, true);
    cr_assert_eq(run_trial(executor).device, 1);
    fake_stick(0);
    atomic_store(&no_threads, false);
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor);
    for (int i = 0; i < 100 && device_at(executor, 0).health != SVMX_SUSPECT; i++) {
        usleep(20000);
        pass_time(executor, SVMX__REST_MAX_NS); /* it may have been told to come back while there was none */
        (void)run_trial(executor);
    }
    cr_assert_eq(device_at(executor, 0).health, SVMX_SUSPECT);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.opens), 2);
}

Test(stuck, no_thread_for_another_builder) {
    struct trial trial;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    fake_stick(FAKE_STUCK_BUILD);
    atomic_store(&no_threads, true);
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, no_thread_while_it_closes) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    svmx_batch_t *batch = holder(executor, 2);
    fake_stick(FAKE_STUCK_FREE);
    atomic_store(&no_threads, true);
    svmx_close(executor);
    svmx_batch_destroy(batch);
    come_back_late();
}
