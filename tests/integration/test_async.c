/*
 * test_async.c: submit and come back later: poll, wait with a limit, cancel, callback, eventfd, rearm, a full queue.
 *
 * The device is fake.h, whose gate holds batches where the test wants them. Thread races are in threads.c and threads_ends.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../cpu_share.h"
#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static svmx_executor_t *executor;

static svmx_executor_t *open_executor(uint32_t queue_depth) {
    struct svmx_options options = fake_options();
    svmx_executor_t *opened = NULL;
    struct svmx_error error;
    options.queue_depth = queue_depth;
    options.timeout_ms = 60000; /* the gate is held by tests, not by a sick device */
    cr_assert_eq(svmx_open(&opened, &options, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_prewarm(opened, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK); /* the gate is for batches */
    return opened;
}

static void set_up(void) {
    fake_start();
    executor = open_executor(0);
}

static void tear_down(void) {
    fake_gate(false);
    svmx_close(executor);
}

TestSuite(async, .init = set_up, .fini = tear_down);

static svmx_batch_t *batch_of(struct trial *trial, unsigned seed) {
    svmx_batch_t *batch;
    trial_fill(trial, seed);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(trial_add(trial, batch), SVMX_OK);
    return batch;
}

/* Submits a batch and waits until its work is on the device, behind the gate: what follows stays in the queue. */
static svmx_batch_t *blocker(struct trial *trial) {
    svmx_batch_t *batch = batch_of(trial, 1);
    unsigned waits = fake_count(&fake.calls[FAKE_WAIT]);
    fake_gate(true);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_WAIT], waits + 1);
    return batch;
}

/* ---- poll and wait ---------------------------------------------------------------------------------------------- */

Test(async, poll_and_wait_follow_a_batch) {
    struct trial trial;
    svmx_batch_t *batch = batch_of(&trial, 2);
    cr_assert_eq(svmx_poll(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_ERR_STATE, "a wait for what was not submitted must not block");
    fake_gate(true);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_poll(batch), SVMX_BUSY);
    cr_assert_eq(svmx_wait(batch, 0), SVMX_TIMEOUT);
    cr_assert_eq(svmx_wait(batch, 5 * MS), SVMX_TIMEOUT);
    cr_assert_eq(svmx_poll(batch), SVMX_BUSY, "it goes on");
    cr_assert(trial_is_untouched(&trial));
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_poll(batch), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, 0), SVMX_OK, "as often as one likes");
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
}

Test(async, wait_keeps_to_its_limit) {
    struct trial trial;
    svmx_batch_t *batch = blocker(&trial);
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cr_assert_eq(svmx_wait(batch, 30 * MS), SVMX_TIMEOUT);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ms = (long)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    cr_assert_geq(ms, 30);
    cr_assert_eq(svmx_wait(batch, 1), SVMX_TIMEOUT);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX - 1), SVMX_OK, "the longest limit there is");
    svmx_batch_destroy(batch);
}

Test(async, a_limit_of_centuries_is_a_limit_all_the_same) {
    struct trial trial;
    static const uint64_t limits[] = {UINT64_MAX - 1, UINT64_MAX / 2, UINT64_C(1) << 62};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        svmx_batch_t *batch = batch_of(&trial, (unsigned)i);
        cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
        cr_assert_eq(svmx_wait(batch, limits[i]), SVMX_OK);
        svmx_batch_destroy(batch);
    }
}

static void *open_gate_in_120_ms(void *user) {
    const struct timespec pause = {0, (long)(120 * MS)};
    (void)user;
    (void)nanosleep(&pause, NULL);
    fake_gate(false);
    return NULL;
}

/* A device that takes more than 100 ms, during which nothing is computed: what the library takes of a core meanwhile. */
static double share_of_a_long_batch(enum svmx_status (*finish)(svmx_batch_t *batch), bool submit_first) {
    struct trial trial;
    pthread_t opener;
    svmx_batch_t *batch = batch_of(&trial, 3);
    fake_gate(true);
    cr_assert_eq(pthread_create(&opener, NULL, open_gate_in_120_ms, NULL), 0);
    const struct cpu_share before = cpu_share_start();
    if (submit_first) cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(finish(batch), SVMX_OK);
    const double share = cpu_share(&before);
    pthread_join(opener, NULL);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    return share;
}

static enum svmx_status wait_for_ever(svmx_batch_t *batch) { return svmx_wait(batch, UINT64_MAX); }
static enum svmx_status wait_for_a_minute(svmx_batch_t *batch) { return svmx_wait(batch, 60000 * MS); }

Test(async, a_long_batch_takes_little_of_a_core) {
    for (int round = 0; round < 3; round++) { /* later rounds know how the first went */
        double share = share_of_a_long_batch(svmx_run, false);
        cr_expect_leq(share, CPU_SHARE_LIMIT, "svmx_run takes %.1f %% of a core", 100 * share);
        share = share_of_a_long_batch(wait_for_ever, true);
        cr_expect_leq(share, CPU_SHARE_LIMIT, "svmx_wait takes %.1f %% of a core", 100 * share);
        share = share_of_a_long_batch(wait_for_a_minute, true);
        cr_expect_leq(share, CPU_SHARE_LIMIT, "svmx_wait with a limit takes %.1f %% of a core", 100 * share);
    }
}

Test(async, an_empty_batch_completes_at_once) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, SVMX_SUBMIT_NONBLOCK), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 0);
    svmx_batch_destroy(batch);
}

Test(async, destroy_waits_for_what_cannot_be_taken_back) {
    struct trial trial;
    svmx_batch_t *batch = batch_of(&trial, 6);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    svmx_batch_destroy(batch); /* cancelled or done, but nothing in between */
    cr_assert(trial_is_right(&trial) || trial_is_untouched(&trial));
}

/* ---- cancel ----------------------------------------------------------------------------------------------------- */

Test(async, cancel_of_a_queued_batch_never_writes) {
    struct trial first, second;
    svmx_batch_t *ahead = blocker(&first), *batch = batch_of(&second, 3);
    void *data;
    cr_assert_eq(svmx_poll(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_cancel(ahead), SVMX_BUSY, "too late for that one");
    cr_assert_eq(svmx_cancel(batch), SVMX_OK);
    cr_assert_eq(svmx_cancel(batch), SVMX_OK, "again changes nothing");
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_CANCELLED);
    cr_assert_eq(svmx_poll(batch), SVMX_CANCELLED);
    cr_assert_eq(svmx_cancel(batch), SVMX_ERR_STATE);
    cr_assert_str_empty(svmx_batch_error(batch), "what was wrong before it was submitted is over");
    cr_assert_eq(svmx_result(batch, 0, 0, &data, NULL), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "was cancelled"), "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_wait(ahead, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&first));
    cr_assert(trial_is_untouched(&second));
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.cancelled, 1);
    cr_assert_eq(stats.batches, 1);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "it can be run after all");
    cr_assert(trial_is_right(&second));
    svmx_batch_destroy(ahead);
    svmx_batch_destroy(batch);
}

Test(async, a_cancelled_batch_has_receipts_that_can_be_asked_for) {
    struct trial first, second;
    float sum = -1;
    svmx_batch_t *ahead = blocker(&first), *batch = batch_of(&second, 3);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, &sum, 1), svmx_result_of(SVMX_F32, 0, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_cancel(batch), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_CANCELLED);
    for (uint32_t i = 0; i < svmx_receipt_count(batch); i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        (void)svmx_receipt_get(batch, i, &receipt); /* whatever it says: it must not crash */
        cr_assert_eq(receipt.run_ns, 0, "nothing of it ran");
    }
    cr_assert_eq(sum, -1.0f);
    svmx_batch_destroy(ahead);
    svmx_batch_destroy(batch);
}

Test(async, receipts_of_a_batch_that_is_under_way_are_refused) {
    struct trial trial;
    float sum = -1;
    svmx_batch_t *ahead = blocker(&trial), *batch;
    struct trial second;
    batch = batch_of(&second, 4);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, &sum, 1), svmx_result_of(SVMX_F32, 0, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_count(batch), 0);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_ERR_STATE);
    cr_assert_eq(svmx_receipt_get(batch, 1, &receipt), SVMX_ERR_STATE);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 2);
    svmx_batch_destroy(ahead);
    svmx_batch_destroy(batch);
}

/* ---- callback and eventfd --------------------------------------------------------------------------------------- */

struct seen {
    atomic_int calls, status;
    svmx_batch_t *batch;
    pthread_t thread;
    struct svmx_receipt receipt;
};

static void on_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct seen *seen = user;
    seen->batch = batch;
    seen->thread = pthread_self();
    seen->receipt.size = sizeof seen->receipt;
    if (svmx_receipt_get(batch, 0, &seen->receipt) != SVMX_OK) seen->receipt.tag = 0;
    atomic_store(&seen->status, status);
    atomic_fetch_add(&seen->calls, 1);
}

Test(async, a_callback_comes_once_for_each_submission) {
    struct trial trial;
    struct seen seen = {0};
    svmx_batch_t *batch = batch_of(&trial, 4);
    cr_assert_eq(svmx_batch_set_tag(batch, 4711), SVMX_OK);
    cr_assert_eq(svmx_batch_on_done(batch, on_done, &seen), SVMX_OK);
    for (int i = 1; i <= 5; i++) {
        atomic_store(&seen.status, SVMX_BUSY);
        if (i % 2) {
            cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
            cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
            cr_assert(!pthread_equal(seen.thread, pthread_self()), "after svmx_submit it is the library's thread");
        } else {
            cr_assert_eq(svmx_run(batch), SVMX_OK);
        }
        cr_assert_eq(atomic_load(&seen.calls), i);
        cr_assert_eq(atomic_load(&seen.status), SVMX_OK);
        cr_assert_eq(seen.batch, batch);
        cr_assert_eq(seen.receipt.tag, 4711, "a receipt can be had inside the callback");
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    cr_assert_eq(svmx_batch_on_done(batch, NULL, NULL), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(atomic_load(&seen.calls), 5, "none is wanted any more");
    svmx_batch_destroy(batch);
}

Test(async, a_callback_comes_for_a_cancelled_batch_and_not_for_a_refused_one) {
    struct trial first, second;
    struct seen seen = {0};
    svmx_batch_t *ahead = blocker(&first), *batch = batch_of(&second, 3);
    cr_assert_eq(svmx_batch_on_done(batch, on_done, &seen), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 8), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_ERR_STATE);
    cr_assert_eq(svmx_cancel(batch), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_CANCELLED);
    cr_assert_eq(atomic_load(&seen.calls), 1);
    cr_assert_eq(atomic_load(&seen.status), SVMX_CANCELLED);
    svmx_batch_destroy(ahead);
    svmx_batch_destroy(batch);
}

struct relay {
    svmx_batch_t *next;
    atomic_int status;
};

static void submit_next(svmx_batch_t *batch, enum svmx_status status, void *user) {
    struct relay *relay = user;
    (void)batch, (void)status;
    atomic_store(&relay->status, svmx_submit(relay->next, SVMX_SUBMIT_NONBLOCK));
}

Test(async, a_callback_may_submit_other_batches) {
    struct trial first, second;
    struct relay relay = {.status = -99};
    svmx_batch_t *batch = batch_of(&first, 1);
    relay.next = batch_of(&second, 2);
    cr_assert_eq(svmx_batch_on_done(batch, submit_next, &relay), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert_eq(atomic_load(&relay.status), SVMX_OK);
    cr_assert_eq(svmx_wait(relay.next, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&second));
    svmx_batch_destroy(batch);
    svmx_batch_destroy(relay.next);
}

Test(async, an_eventfd_counts_completions) {
    enum { BATCHES = 5 };
    struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    int fd = eventfd(0, EFD_NONBLOCK);
    cr_assert_geq(fd, 0);
    for (unsigned i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(&trials[i], i);
        cr_assert_eq(svmx_batch_set_eventfd(batches[i], fd), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (unsigned i = 0; i < BATCHES; i++) cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
    uint64_t count = 0;
    cr_assert_eq(read(fd, &count, sizeof count), (ssize_t)sizeof count);
    cr_assert_eq(count, BATCHES);
    cr_assert_eq(svmx_batch_set_eventfd(batches[0], -1), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batches[0]), SVMX_OK);
    cr_assert_eq(svmx_run(batches[0]), SVMX_OK);
    cr_assert_eq(read(fd, &count, sizeof count), -1, "none is wanted any more");
    for (unsigned i = 0; i < BATCHES; i++) svmx_batch_destroy(batches[i]);
    close(fd);
}

/* What an event loop does: wake up, poll. A poll that says BUSY there would sleep for ever. */
Test(async, a_batch_is_done_when_its_eventfd_says_so) {
    struct trial trial;
    svmx_batch_t *batch = batch_of(&trial, 1);
    int fd = eventfd(0, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(svmx_batch_set_eventfd(batch, fd), SVMX_OK);
    for (int i = 0; i < 3000; i++) {
        uint64_t count = 0;
        cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
        cr_assert_eq(read(fd, &count, sizeof count), (ssize_t)sizeof count);
        cr_assert_eq(svmx_poll(batch), SVMX_OK, "round %d: the eventfd came before the completion", i);
        cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    close(fd);
}

Test(async, an_eventfd_that_cannot_be_written_costs_a_line_in_the_log_only) {
    struct trial trial;
    svmx_batch_t *batch = batch_of(&trial, 1);
    cr_assert_eq(svmx_batch_set_eventfd(batch, 1 << 20), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
}

/* ---- reset and rearm -------------------------------------------------------------------------------------------- */

Test(async, rearm_runs_the_same_tasks_on_new_inputs) {
    struct trial trial;
    svmx_batch_t *batch = batch_of(&trial, 1);
    for (unsigned i = 0; i < 20; i++) {
        trial_fill(&trial, i);
        cr_assert_eq(i % 3 ? svmx_submit(batch, 0) : svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trial));
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_ERR_STATE);
    }
    svmx_batch_destroy(batch);
}

Test(async, tasks_can_be_added_after_rearm) {
    struct trial trials[3];
    svmx_batch_t *batch = batch_of(&trials[0], 1);
    for (unsigned i = 1; i < 3; i++) {
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        trial_fill(&trials[i], i);
        cr_assert_eq(trial_add(&trials[i], batch), SVMX_OK);
    }
    trial_fill(&trials[0], 7);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (unsigned i = 0; i < 3; i++) cr_assert(trial_is_right(&trials[i]), "task %u", i);
    svmx_batch_destroy(batch);
}

Test(async, receipts_between_rearm_and_the_next_run) {
    struct trial trial;
    float sum = 0;
    svmx_batch_t *batch = batch_of(&trial, 1);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_sum_f32(batch, &sum, trial.a, TRIAL_ITEMS), SVMX_OK);
    for (uint32_t i = 0; i < 3; i++) { /* the second part has never been anywhere */
        struct svmx_receipt receipt = {.size = sizeof receipt};
        enum svmx_status status = svmx_receipt_get(batch, i, &receipt);
        cr_assert(status == SVMX_ERR_STATE || i >= svmx_receipt_count(batch) || receipt.tasks == 1);
    }
    cr_assert_leq(svmx_receipt_count(batch), 1, "a receipt for a part that has not run");
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 2);
    svmx_batch_destroy(batch);
}

Test(async, reset_keeps_tag_and_callback) {
    struct trial trial;
    struct seen seen = {0};
    svmx_batch_t *batch = batch_of(&trial, 1);
    cr_assert_eq(svmx_batch_set_tag(batch, 12), SVMX_OK);
    cr_assert_eq(svmx_batch_on_done(batch, on_done, &seen), SVMX_OK);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_task_count(batch), 0);
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(atomic_load(&seen.calls), 1);
    cr_assert_eq(seen.receipt.tag, 12);
    svmx_batch_destroy(batch);
}

/* ---- a full queue ----------------------------------------------------------------------------------------------- */

struct pusher {
    svmx_batch_t *batch;
    atomic_int status;
};

static void *push(void *user) {
    struct pusher *pusher = user;
    atomic_store(&pusher->status, svmx_submit(pusher->batch, 0));
    return NULL;
}

static void pause_ms(long ms) {
    const struct timespec time = {0, ms * 1000000};
    nanosleep(&time, NULL);
}

Test(async, a_full_queue_says_busy_or_blocks_and_drops_nothing) {
    struct trial trials[3];
    svmx_close(executor);
    executor = open_executor(1);
    svmx_batch_t *first = blocker(&trials[0]), *second = batch_of(&trials[1], 2), *third = batch_of(&trials[2], 3);
    cr_assert_eq(svmx_submit(second, SVMX_SUBMIT_NONBLOCK), SVMX_BUSY);
    cr_assert_not_null(strstr(svmx_batch_error(second), "queue_depth"));
    cr_assert_eq(svmx_poll(second), SVMX_ERR_STATE, "still the caller's, unchanged");
    cr_assert_eq(svmx_batch_task_count(second), 1);

    struct pusher pusher = {third, SVMX_BUSY};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, push, &pusher), 0);
    pause_ms(20);
    cr_assert_eq(atomic_load(&pusher.status), SVMX_BUSY, "submit came back although the queue is full");
    fake_gate(false);
    pthread_join(thread, NULL);
    cr_assert_eq(atomic_load(&pusher.status), SVMX_OK);
    cr_assert_eq(svmx_wait(first, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_wait(third, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_submit(second, SVMX_SUBMIT_NONBLOCK), SVMX_OK, "%s", svmx_batch_error(second));
    cr_assert_eq(svmx_wait(second, UINT64_MAX), SVMX_OK);
    for (int i = 0; i < 3; i++) cr_assert(trial_is_right(&trials[i]));
    svmx_batch_destroy(first);
    svmx_batch_destroy(second);
    svmx_batch_destroy(third);
}

static void *open_gate_later(void *user) {
    (void)user;
    pause_ms(50);
    fake_gate(false);
    return NULL;
}

Test(async, a_submit_that_blocks_gives_up_when_the_executor_closes) {
    struct trial trials[2];
    svmx_close(executor);
    executor = open_executor(1);
    svmx_batch_t *first = blocker(&trials[0]), *second = batch_of(&trials[1], 2);
    struct pusher pusher = {second, SVMX_BUSY};
    pthread_t pushing, opening;
    cr_assert_eq(pthread_create(&pushing, NULL, push, &pusher), 0);
    pause_ms(20);
    cr_assert_eq(pthread_create(&opening, NULL, open_gate_later, NULL), 0);
    svmx_close(executor); /* waits for the first; meanwhile the second gives up */
    pthread_join(opening, NULL);
    pthread_join(pushing, NULL);
    cr_assert_eq(atomic_load(&pusher.status), SVMX_ERR_CLOSED);
    cr_assert(trial_is_untouched(&trials[1]));
    cr_assert(trial_is_right(&trials[0]));
    svmx_batch_destroy(first);
    svmx_batch_destroy(second);
    executor = NULL;
}

Test(async, close_completes_what_was_submitted) {
    enum { BATCHES = 8 };
    struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    for (unsigned i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(&trials[i], i);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    svmx_close(executor);
    executor = NULL;
    for (unsigned i = 0; i < BATCHES; i++) {
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(fake.memories, 0);
    cr_assert_eq(fake.pipelines, 0);
    cr_assert_eq(fake.closes, 1);
}
