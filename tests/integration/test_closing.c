/*
 * test_closing.c: closing with work under way: svmx_close completes it, svmx_close_now ends it without an answer; each batch is
 * over exactly once, and both return, whatever drivers do.
 *
 * What a device that hangs holds stays allocated on purpose: a suite of its own, without the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"
#include "faults_fixture.h"

#include <unistd.h>

SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { PATIENCE_MS = 200, BATCHES = 8, HOUR_MS = 3600000 };

/* A device that may take an hour for a launch: only closing makes an end. */
static svmx_executor_t *open_patient(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = options.timeout_min_ms = HOUR_MS;
    options.patience_ms = PATIENCE_MS;
    options.log = silent;
    return open_with(&options);
}

struct job {
    struct trial trial;
    svmx_batch_t *batch;
    atomic_uint ends;
    atomic_int status;
};

static struct job jobs[BATCHES];

static void note_end(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct job *job = user;
    (void)batch;
    atomic_store(&job->status, (int)status);
    atomic_fetch_add(&job->ends, 1);
}

static void submit_all(svmx_executor_t *executor, uint32_t policy, uint32_t flags) {
    for (int i = 0; i < BATCHES; i++) {
        jobs[i].batch = batch_of(executor, &jobs[i].trial);
        if (policy) cr_assert_eq(svmx_batch_set_policy(jobs[i].batch, policy), SVMX_OK);
        cr_assert_eq(svmx_batch_on_done(jobs[i].batch, note_end, &jobs[i]), SVMX_OK);
        cr_assert_eq(svmx_submit(jobs[i].batch, flags), SVMX_OK);
    }
}

static void expect_ends(enum svmx_status status) {
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_poll(jobs[i].batch), status, "batch %d: %s", i, svmx_status_name(svmx_poll(jobs[i].batch)));
        cr_assert_eq(atomic_load(&jobs[i].ends), 1, "batch %d is over %u times", i, atomic_load(&jobs[i].ends));
        cr_assert_eq(atomic_load(&jobs[i].status), status);
        if (status == SVMX_OK) cr_assert(trial_is_right(&jobs[i].trial));
        svmx_batch_destroy(jobs[i].batch);
        trial_fill(&jobs[i].trial, 99); /* the memory is the caller's again */
    }
}

/* The driver comes to life again, long after everything is over. */
static void expect_untouched(void) {
    const struct timespec moment = {0, 50000000};
    fake_stick(0);
    fake_gate(false);
    (void)nanosleep(&moment, NULL);
    for (int i = 0; i < BATCHES; i++) cr_assert(trial_is_untouched(&jobs[i].trial), "a late driver wrote there");
}

/* ---- svmx_close ---------------------------------------------------------------------------------------------------- */

Test(closing, close_completes_what_was_submitted) {
    fake_start();
    svmx_executor_t *executor = open_patient();
    (void)run_trial(executor);
    submit_all(executor, 0, 0);
    svmx_close(executor);
    expect_ends(SVMX_OK);
    expect_all_returned();
}

/* A proof that nobody waits for, and that may take twenty hours: closing takes six times the patience at most. */
Test(closing, close_returns_within_its_deadline_whatever_a_call_is_allowed) {
    uint32_t op;
    fake_start();
    svmx_executor_t *executor = open_patient();
    cr_assert_eq(svmx_op_find(executor, "vec_add_f32", &op, NULL), SVMX_OK);
    fake_stick(FAKE_STUCK_SUBMIT);
    svmx__build_request(&executor->devices[0], svmx__operations_by_id(executor->operations, op), 16384, NULL);
    fake_await(&fake.stuck_calls, 1);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.closes), 0, "an instance in a call was closed");
    fake_stick(0);
}

/* ---- svmx_close_now ------------------------------------------------------------------------------------------------- */

static void close_now_with(unsigned stuck, bool gate_closed, uint32_t policy, uint32_t flags, bool before_first) {
    fake_start();
    svmx_executor_t *executor = open_patient();
    if (!before_first) (void)run_trial(executor);
    fake_stick(stuck);
    fake_gate(gate_closed);
    submit_all(executor, policy, flags);
    if (stuck) fake_await(&fake.stuck_calls, 1);
    svmx_close_now(executor);
    expect_ends(SVMX_CANCELLED);
    expect_untouched();
}

Test(closing, now_with_launches_on_the_device) { close_now_with(0, true, 0, 0, false); }
Test(closing, now_with_batches_in_order) { close_now_with(0, true, 0, SVMX_SUBMIT_IN_ORDER, false); }
Test(closing, now_during_submit) { close_now_with(FAKE_STUCK_SUBMIT, false, 0, 0, false); }
Test(closing, now_during_wait) { close_now_with(FAKE_STUCK_WAIT, false, 0, 0, false); }
Test(closing, now_under_the_policy_gpu) { close_now_with(FAKE_STUCK_SUBMIT, false, SVMX_POLICY_GPU, 0, false); }
Test(closing, now_while_a_pipeline_is_waited_for) { close_now_with(FAKE_STUCK_BUILD, false, SVMX_POLICY_GPU, 0, true); }

Test(closing, now_without_work_is_close) {
    fake_start();
    svmx_executor_t *executor = open_patient();
    (void)run_trial(executor);
    svmx_close_now(executor);
    expect_all_returned();
    svmx_close_now(NULL);
}

/* What is done is done, and is right. */
Test(closing, now_leaves_what_is_done_as_it_is) {
    fake_start();
    svmx_executor_t *executor = open_patient();
    (void)run_trial(executor);
    submit_all(executor, 0, 0);
    for (int i = 0; i < BATCHES; i++) cr_assert_eq(svmx_wait(jobs[i].batch, UINT64_MAX), SVMX_OK);
    svmx_close_now(executor);
    expect_ends(SVMX_OK);
    expect_all_returned();
}

/* Of levels that come one after another: while the first is on the device it is said that nothing more is begun. */
Test(closing, now_between_levels) {
    enum { N = 100 };
    static float a[N], first[N], second[N];
    struct job job = {.status = -1};
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_patient();
    for (int i = 0; i < N; i++) a[i] = second[i] = (float)(i + 1);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, first, a, a, N), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, second, N), svmx_result_of(SVMX_F32, 0, 0),
                                    svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, args, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_set_verify(batch, "full"), SVMX_OK); /* so that levels are not one submission */
    cr_assert_eq(svmx_run(batch), SVMX_OK);                      /* with its self-tests */
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_on_done(batch, note_end, &job), SVMX_OK);
    memset(second, 0, sizeof second);
    const unsigned submits = fake_count(&fake.calls[FAKE_SUBMIT]);
    fake_gate(true);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], submits + 1);
    atomic_store(&executor->gives_up, true);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_CANCELLED);
    cr_assert_eq(fake_count(&fake.calls[FAKE_SUBMIT]), submits + 1, "the second level was begun");
    for (int i = 0; i < N; i++) cr_assert_eq(second[i], 0);
    cr_assert_eq(atomic_load(&job.ends), 1);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "closed"), "'%s'", svmx_batch_error(batch));
    svmx_close_now(executor);
    svmx_batch_destroy(batch);
    expect_all_returned();
}

static void *wait_for_it(void *user) {
    struct job *job = user;
    atomic_store(&job->status, (int)svmx_wait(job->batch, UINT64_MAX));
    return NULL;
}

Test(closing, now_wakes_those_who_wait) {
    static struct job job;
    pthread_t thread;
    fake_start();
    svmx_executor_t *executor = open_patient();
    (void)run_trial(executor);
    fake_gate(true);
    job.batch = batch_of(executor, &job.trial);
    cr_assert_eq(svmx_submit(job.batch, 0), SVMX_OK);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_it, &job), 0);
    usleep(20000); /* it may be waiting by now */
    svmx_close_now(executor);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(atomic_load(&job.status), SVMX_CANCELLED);
    svmx_batch_destroy(job.batch);
    fake_gate(false);
}
