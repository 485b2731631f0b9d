/*
 * test_order.c: batches that name buffers wait for one another, whatever device has them: nobody reads what is not written yet,
 * readers wait for nobody, and a batch that waits can be cancelled, run in the caller's thread and closed upon.
 *
 * The device is one with a gate (fake.h); the reference code is the other one, and waits for no gate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faults_fixture.h"

#include <pthread.h>

enum { MOST = 16, N = 64 };

static float a[N], back[N];
static svmx_batch_t *batches[MOST];

static svmx_executor_t *open_order(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    options.log = silent;
    for (int i = 0; i < N; i++) a[i] = (float)(i - 7) / 4;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor); /* its pipeline is built */
    return executor;
}

static svmx_buffer_t *buffer_of(svmx_executor_t *executor, const float *from) {
    svmx_buffer_t *buffer;
    cr_assert_eq(svmx_buffer_create(executor, sizeof a, &buffer), SVMX_OK);
    if (from) cr_assert_eq(svmx_buffer_write(buffer, 0, from, sizeof a), SVMX_OK);
    return buffer;
}

/* to = from + a, on the device or on the CPU. */
static svmx_batch_t *sum(svmx_executor_t *executor, svmx_buffer_t *to, svmx_buffer_t *from, bool on_cpu) {
    svmx_batch_t *batch;
    const struct svmx_arg args[] = {svmx_view(SVMX_F32, to, 0, N), svmx_view(SVMX_F32, from, 0, N),
                                    svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    if (on_cpu) cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_CPU), SVMX_OK);
    return batch;
}

static void expect_times(svmx_buffer_t *buffer, int times) {
    cr_assert_eq(svmx_buffer_read(buffer, 0, back, sizeof back), SVMX_OK);
    for (int k = 0; k < N; k++) cr_assert_eq(back[k], (float)times * a[k], "a sum is missing, or there is one more");
}

/* Each reads what the one before it wrote, every second on another device, and nobody waits in between. */
Test(order, work_that_hangs_together_is_handed_over_at_once) {
    fake_start();
    svmx_executor_t *executor = open_order();
    const float zero[N] = {0};
    svmx_buffer_t *buffers[2] = {buffer_of(executor, zero), buffer_of(executor, NULL)};
    for (int round = 0; round < 8; round++) {
        cr_assert_eq(svmx_buffer_write(buffers[0], 0, zero, sizeof zero), SVMX_OK);
        fake_gate(true);
        for (int i = 0; i < MOST; i++) {
            batches[i] = sum(executor, buffers[(i + 1) % 2], buffers[i % 2], (i + round) % 2);
            cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
        }
        fake_gate(false);
        for (int i = 0; i < MOST; i++) {
            cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
            svmx_batch_destroy(batches[i]);
        }
        expect_times(buffers[MOST % 2], MOST);
    }
    for (int i = 0; i < 2; i++) svmx_buffer_destroy(buffers[i]);
    svmx_close(executor);
    expect_all_returned();
}

Test(order, who_only_reads_waits_for_nobody) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *shared = buffer_of(executor, a), *one = buffer_of(executor, NULL),
                  *other = buffer_of(executor, NULL);
    fake_gate(true);
    batches[0] = sum(executor, one, shared, false);
    batches[1] = sum(executor, other, shared, true);
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batches[1], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_poll(batches[0]), SVMX_BUSY);
    expect_times(other, 2);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batches[0], UINT64_MAX), SVMX_OK);
    expect_times(one, 2);
    for (int i = 0; i < 2; i++) svmx_batch_destroy(batches[i]);
    svmx_buffer_destroy(shared), svmx_buffer_destroy(one), svmx_buffer_destroy(other);
    svmx_close(executor);
    expect_all_returned();
}

static void *run(void *batch) { return (void *)(uintptr_t)svmx_run(batch); }

/* A reader that is under way keeps a writer back, also one that runs in its caller's thread. */
Test(order, run_waits_for_what_was_submitted) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *shared = buffer_of(executor, a), *one = buffer_of(executor, NULL);
    pthread_t thread;
    void *status;
    fake_gate(true);
    batches[0] = sum(executor, one, shared, false);
    batches[1] = sum(executor, shared, one, true); /* it writes what the other reads, and reads what that writes */
    cr_assert_eq(svmx_submit(batches[0], 0), SVMX_OK);
    cr_assert_eq(pthread_create(&thread, NULL, run, batches[1]), 0);
    usleep(20000); /* it would have been over long ago */
    expect_times(shared, 1);
    fake_gate(false);
    pthread_join(thread, &status);
    cr_assert_eq((uintptr_t)status, SVMX_OK);
    expect_times(one, 2);
    expect_times(shared, 3);
    cr_assert_eq(svmx_wait(batches[0], UINT64_MAX), SVMX_OK);
    for (int i = 0; i < 2; i++) svmx_batch_destroy(batches[i]);
    svmx_buffer_destroy(shared), svmx_buffer_destroy(one);
    svmx_close(executor);
    expect_all_returned();
}

Test(order, one_that_waits_can_be_taken_back) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *x = buffer_of(executor, a), *y = buffer_of(executor, NULL);
    fake_gate(true);
    batches[0] = sum(executor, y, x, false); /* y = 2 a */
    batches[1] = sum(executor, x, y, true);  /* x = 3 a, but for the cancel */
    batches[2] = sum(executor, y, x, true);  /* y = x + a: behind both */
    for (int i = 0; i < 3; i++) cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    cr_assert_eq(svmx_cancel(batches[1]), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batches[0], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_wait(batches[1], UINT64_MAX), SVMX_CANCELLED);
    cr_assert_eq(svmx_wait(batches[2], UINT64_MAX), SVMX_OK);
    expect_times(x, 1);
    expect_times(y, 2);
    for (int i = 0; i < 3; i++) svmx_batch_destroy(batches[i]);
    svmx_buffer_destroy(x), svmx_buffer_destroy(y);
    svmx_close(executor);
    expect_all_returned();
}

static void *open_gate(void *unused) {
    (void)unused;
    usleep(20000);
    fake_gate(false);
    return NULL;
}

/* Closing waits for those that wait, too; or none of them is begun. */
static void close_upon(void (*close)(svmx_executor_t *), bool answers) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *buffers[2] = {buffer_of(executor, a), buffer_of(executor, NULL)};
    pthread_t thread;
    fake_gate(true);
    for (int i = 0; i < 6; i++) {
        batches[i] = sum(executor, buffers[(i + 1) % 2], buffers[i % 2], i % 2);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    cr_assert_eq(pthread_create(&thread, NULL, open_gate, NULL), 0);
    close(executor);
    pthread_join(thread, NULL);
    int answered = 0;
    for (int i = 0; i < 6; i++) {
        const enum svmx_status status = svmx_poll(batches[i]);
        cr_assert(status == SVMX_OK || (!answers && status == SVMX_CANCELLED), "batch %d: %s", i,
                  svmx_status_name(status));
        cr_assert(status != SVMX_OK || answered == i, "none is answered behind one that was not");
        answered += status == SVMX_OK;
        svmx_batch_destroy(batches[i]);
    }
    if (answers) expect_times(buffers[0], 7);
    for (int i = 0; i < 2; i++) svmx_buffer_destroy(buffers[i]);
}

Test(order, closing_waits_for_those_that_wait) { close_upon(svmx_close, true); }
Test(order, closing_at_once_ends_those_that_wait) { close_upon(svmx_close_now, false); }

/* One that fails for good has written nothing; those behind it run all the same. */
Test(order, a_failure_keeps_nobody_back) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *x = buffer_of(executor, a), *y = buffer_of(executor, a);
    batches[0] = sum(executor, y, x, false);
    batches[1] = sum(executor, x, y, true);
    cr_assert_eq(svmx_batch_set_policy(batches[0], SVMX_POLICY_GPU), SVMX_OK);
    pthread_mutex_lock(&fake.lock);
    fake.fail[FAKE_SUBMIT].from = 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    cr_assert_neq(svmx_wait(batches[0], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_wait(batches[1], UINT64_MAX), SVMX_OK);
    expect_times(y, 1);
    expect_times(x, 2);
    for (int i = 0; i < 2; i++) svmx_batch_destroy(batches[i]);
    svmx_buffer_destroy(x), svmx_buffer_destroy(y);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- callbacks ---- */

static svmx_batch_t *inner;
static enum svmx_status inner_status;

static void run_inner(svmx_batch_t *batch, enum svmx_status status, void *user) {
    (void)batch, (void)status, (void)user;
    inner_status = svmx_run(inner);
}

/* The submitter calls back, and the batch that would be waited for is in its queue: it is refused, and nobody waits for ever. */
Test(order, run_in_a_callback_does_not_wait_for_its_own_thread) {
    fake_start();
    svmx_executor_t *executor = open_order();
    svmx_buffer_t *x = buffer_of(executor, a), *y = buffer_of(executor, NULL), *z = buffer_of(executor, a);
    fake_gate(true);
    batches[0] = sum(executor, y, x, false);
    batches[1] = sum(executor, z, x, false);
    inner = sum(executor, y, z, true); /* reads what the second writes */
    cr_assert_eq(svmx_batch_on_done(batches[0], run_inner, NULL), SVMX_OK);
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    fake_gate(false);
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
    cr_assert_eq(inner_status, SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(inner), "callback"));
    cr_assert_eq(svmx_run(inner), SVMX_OK, "it is as it was");
    expect_times(y, 3);
    for (int i = 0; i < 2; i++) svmx_batch_destroy(batches[i]);
    svmx_batch_destroy(inner);
    svmx_buffer_destroy(x), svmx_buffer_destroy(y), svmx_buffer_destroy(z);
    svmx_close(executor);
    expect_all_returned();
}
