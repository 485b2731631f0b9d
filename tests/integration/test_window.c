/*
 * test_window.c: several launches of a device at once: how many there are, that every batch is answered once and right
 * whatever fails among them, that buffers keep their order, and that batches are done in order on request.
 *
 * A device that hangs keeps what it has: such tests say so to the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "executor/executor.h"
#include "faults_fixture.h"

#include <unistd.h>

enum { MOST = 16, N = 64 };

static struct trial trials[MOST];
static svmx_batch_t *batches[MOST];

static svmx_executor_t *open_window(uint32_t window) {
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    options.window = window;
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor); /* its pipeline is built, its pool is filled */
    return executor;
}

static void submit_all(svmx_executor_t *executor, int count, uint32_t flags) {
    for (int i = 0; i < count; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], flags), SVMX_OK);
    }
}

static void expect_all_right(int count) {
    for (int i = 0; i < count; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK, "batch %d", i);
        cr_assert(trial_is_right(&trials[i]), "batch %d", i);
        svmx_batch_destroy(batches[i]);
    }
}

/* Tickets that the device has. */
static unsigned open_tickets(void) {
    unsigned count = 0;
    pthread_mutex_lock(&fake.lock);
    for (const struct fake_ticket *ticket = fake.open; ticket; ticket = ticket->next) count++;
    pthread_mutex_unlock(&fake.lock);
    return count;
}

/* Fails some of the next calls of a kind. */
static void fail_next(enum fake_call call, unsigned skip, unsigned count, enum svmx_status status) {
    pthread_mutex_lock(&fake.lock);
    fake.fail[call].from = fake.calls[call] + 1 + skip;
    fake.fail[call].count = count;
    fake.fail[call].status = status;
    pthread_mutex_unlock(&fake.lock);
}

/* ---- how many ------------------------------------------------------------------------------------------------------- */

/* With the gate closed the device gets as many as the window has, and no more. */
static void expect_depth(uint32_t window, unsigned depth) {
    fake_start();
    svmx_executor_t *executor = open_window(window);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    submit_all(executor, 8, 0);
    fake_await(&fake.calls[FAKE_SUBMIT], before + depth);
    while (device_at(executor, 0).queued != 8 - depth) sched_yield();
    cr_assert_eq(open_tickets(), depth, "window %u", window);
    fake_gate(false);
    expect_all_right(8);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, has_as_many_launches_as_it_is_deep) {
    expect_depth(1, 1);
    expect_depth(2, 2);
    expect_depth(0, 3);
    expect_depth(16, 8);
}

Test(window, what_comes_while_the_device_computes_follows_at_once) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]), waits = fake_count(&fake.calls[FAKE_WAIT]);
    submit_all(executor, 1, 0);
    fake_await(&fake.calls[FAKE_WAIT], waits + 1); /* the submitter waits for the first */
    batches[1] = batch_of(executor, &trials[1]);
    cr_assert_eq(svmx_submit(batches[1], 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 2);
    cr_assert_eq(open_tickets(), 2);
    fake_gate(false);
    expect_all_right(2);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, never_more_than_the_device_takes) {
    struct svmx_options options = fake_options();
    fake_start();
    fake.max_in_flight = 2;
    options.window = 16;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(executor->devices[0].window.depth, 2);
    cr_assert_eq(executor->devices[1].window.depth, 1, "the reference code computes in the caller's memory");
    svmx_close(executor);
}

/* ---- how busy it is -------------------------------------------------------------------------------------------------- */

/* Three launches at once that take a while: the device was busy once for that while, whatever each of them waited. */
Test(window, a_device_is_not_busy_more_often_than_once) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    struct svmx_stats stats = {.size = sizeof stats};
    struct svmx_receipt receipt = {.size = sizeof receipt};
    const struct svmx_device before = device_at(executor, 0);
    uint64_t run_ns = 0;
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    const uint64_t from_ns = stats.open_ns;
    fake_gate(true);
    const unsigned submits = fake_count(&fake.calls[FAKE_SUBMIT]);
    submit_all(executor, 3, 0);
    fake_await(&fake.calls[FAKE_SUBMIT], submits + 3);
    (void)usleep(20000);
    fake_gate(false);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert_eq(svmx_receipt_get(batches[i], 0, &receipt), SVMX_OK);
        run_ns += receipt.run_ns;
    }
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_geq(run_ns, 3 * UINT64_C(20000000));
    cr_assert_geq(device.busy_ns - before.busy_ns, UINT64_C(20000000));
    cr_assert_leq(device.busy_ns - before.busy_ns, stats.open_ns - from_ns, "never more than passed");
    expect_all_right(3);
    svmx_close(executor);
}

/* ---- failures among others ------------------------------------------------------------------------------------------- */

/* One call of a kind fails, whichever it is: each batch is answered once, right, and everything comes back. */
static void expect_survival(enum fake_call call, enum svmx_status status) {
    for (unsigned at = 0; at < 6; at++) {
        fake_start();
        svmx_executor_t *executor = open_window(3);
        fail_next(call, at, 1, status);
        submit_all(executor, 6, 0);
        expect_all_right(6);
        struct svmx_stats stats = {.size = sizeof stats};
        cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
        cr_assert_eq(stats.batches, 7);
        svmx_close(executor);
        expect_all_returned();
    }
}

Test(window, a_submit_that_fails) {
    expect_survival(FAKE_SUBMIT, SVMX_ERR_BACKEND);
    expect_survival(FAKE_SUBMIT, SVMX_BUSY);
    expect_survival(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST);
}

Test(window, a_launch_that_fails) {
    expect_survival(FAKE_WAIT, SVMX_ERR_BACKEND);
    expect_survival(FAKE_WAIT, SVMX_ERR_MEMORY);
    expect_survival(FAKE_WAIT, SVMX_ERR_DEVICE_LOST);
}

Test(window, no_memory) { expect_survival(FAKE_ALLOC, SVMX_ERR_MEMORY); }

/* Memory for one launch only: the second waits until the first has given it back, and stays on the device. */
Test(window, memory_for_one_is_used_by_one_after_another) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    fake_gate(true);
    submit_all(executor, 1, 0);
    while (open_tickets() != 1) sched_yield();
    fail_next(FAKE_ALLOC, 0, 1, SVMX_ERR_MEMORY); /* the pool is empty: the second asks for more */
    const unsigned allocs = fake_count(&fake.calls[FAKE_ALLOC]);
    batches[1] = batch_of(executor, &trials[1]);
    cr_assert_eq(svmx_submit(batches[1], 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_ALLOC], allocs + 1);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batches[1], UINT64_MAX), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batches[1], 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(receipt.copied_bytes, 3 * sizeof trials[1].out, "it was counted once");
    expect_all_right(2);
    svmx_close(executor);
    expect_all_returned();
}

/* The first hangs: those behind it are not waited for, are redone, and what the driver has is left to it. */
Test(window, a_hang_takes_those_behind_it_along) {
    struct svmx_options options = fake_options();
    abandons = true;
    fake_start();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    fake_gate(true);
    submit_all(executor, 6, 0);
    for (int i = 0; i < 6; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        cr_assert_eq(svmx_receipt_get(batches[i], 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, 1);
        trial_fill(&trials[i], 9); /* the caller's again */
    }
    const unsigned late = fake_finish_late();
    cr_assert(late >= 1 && late <= WINDOW, "%u tickets", late);
    for (int i = 0; i < 6; i++) {
        cr_assert(trial_is_untouched(&trials[i]), "a driver that woke up late wrote into the caller's memory");
        svmx_batch_destroy(batches[i]);
    }
    fake_gate(false);
    svmx_close(executor);
    cr_assert_eq(fake.closes, 0, "an instance with open tickets was closed");
}

Test(window, a_cancel_takes_back_what_is_not_with_the_device) {
    fake_start();
    svmx_executor_t *executor = open_window(2);
    fake_gate(true);
    submit_all(executor, 4, 0);
    while (open_tickets() != 2) sched_yield();
    cr_assert_eq(svmx_cancel(batches[0]), SVMX_BUSY);
    cr_assert_eq(svmx_cancel(batches[1]), SVMX_BUSY);
    cr_assert_eq(svmx_cancel(batches[2]), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batches[2], UINT64_MAX), SVMX_CANCELLED);
    cr_assert(trial_is_untouched(&trials[2]));
    svmx_batch_destroy(batches[2]);
    batches[2] = batch_of(executor, &trials[2]);
    cr_assert_eq(svmx_submit(batches[2], 0), SVMX_OK);
    expect_all_right(4);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, closing_waits_for_what_is_under_way) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    submit_all(executor, 8, 0);
    svmx_close(executor);
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(svmx_poll(batches[i]), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    expect_all_returned();
}

/* ---- levels and buffers ------------------------------------------------------------------------------------------------ */

static float a[N], sums[MOST][N], products[MOST][N];

/* out = (a + a) * a, the sum for the library to keep. */
static svmx_batch_t *two_levels(svmx_executor_t *executor, int number) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg first[] = {svmx_out(SVMX_F32, sums[number], N), svmx_in(SVMX_F32, a, N),
                                     svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, first, 3), SVMX_OK);
    const struct svmx_arg second[] = {svmx_out(SVMX_F32, products[number], N), svmx_result_of(SVMX_F32, 0, 0),
                                      svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, second, 3), SVMX_OK);
    return batch;
}

static void expect_products(int count) {
    for (int i = 0; i < count; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        for (int k = 0; k < N; k++) cr_assert_eq(products[i][k], (a[k] + a[k]) * a[k], "batch %d", i);
        svmx_batch_destroy(batches[i]);
    }
}

static void stream_levels(unsigned submit_that_fails) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    svmx_batch_t *first = two_levels(executor, 0);
    cr_assert_eq(svmx_run(first), SVMX_OK); /* pipelines of both */
    svmx_batch_destroy(first);
    if (submit_that_fails) fail_next(FAKE_SUBMIT, submit_that_fails - 1, 1, SVMX_ERR_BACKEND);
    for (int i = 0; i < MOST; i++) {
        batches[i] = two_levels(executor, i);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    expect_products(MOST);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, batches_of_levels) {
    for (int i = 0; i < N; i++) a[i] = (float)(i - 7) / 4;
    for (unsigned at = 0; at < 6; at++) stream_levels(at);
}

/* Each batch reads what the one before it wrote: on one device that serves they come in order, however deep the window is. */
static void hand_on(svmx_executor_t *executor, svmx_buffer_t *buffers[2]) {
    float zero[N] = {0}, end[N];
    cr_assert_eq(svmx_buffer_write(buffers[0], 0, zero, sizeof zero), SVMX_OK);
    for (int i = 0; i < MOST; i++) {
        const struct svmx_arg args[] = {svmx_view(SVMX_F32, buffers[(i + 1) % 2], 0, N),
                                        svmx_view(SVMX_F32, buffers[i % 2], 0, N), svmx_in(SVMX_F32, a, N)};
        cr_assert_eq(svmx_batch_create(executor, &batches[i]), SVMX_OK);
        cr_assert_eq(svmx_batch_add(batches[i], SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (int i = 0; i < MOST; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(svmx_buffer_read(buffers[MOST % 2], 0, end, sizeof end), SVMX_OK);
    for (int k = 0; k < N; k++) cr_assert_eq(end[k], (float)MOST * a[k], "a sum is missing");
}

Test(window, buffers_keep_their_order) {
    svmx_buffer_t *buffers[2];
    for (int i = 0; i < N; i++) a[i] = (float)(i - 7) / 4;
    fake_start();
    svmx_executor_t *executor = open_window(3);
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_buffer_create(executor, sizeof a, &buffers[i]), SVMX_OK);
    for (int i = 0; i < 3; i++) hand_on(executor, buffers);
    for (int i = 0; i < 2; i++) svmx_buffer_destroy(buffers[i]);
    svmx_close(executor);
    expect_all_returned();
}

/* A batch whose output is a buffer of its own, and one of whose inputs is shared. */
static void submit_with(svmx_executor_t *executor, int i, svmx_buffer_t *own, svmx_buffer_t *shared) {
    const struct svmx_arg args[] = {svmx_view(SVMX_F32, own, 0, N), svmx_view(SVMX_F32, shared, 0, N),
                                    svmx_in(SVMX_F32, sums[i], N)};
    for (int k = 0; k < N; k++) sums[i][k] = (float)(i * k);
    cr_assert_eq(svmx_batch_create(executor, &batches[i]), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batches[i], SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
}

static void expect_sum_in(svmx_buffer_t *own, int i) {
    cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_buffer_read(own, 0, products[i], sizeof a), SVMX_OK);
    for (int k = 0; k < N; k++) cr_assert_eq(products[i][k], a[k] + sums[i][k], "batch %d", i);
    svmx_batch_destroy(batches[i]);
}

/* What they share is on the device: each has its memory beside that of the others, and nothing is uploaded twice. */
Test(window, batches_with_a_buffer_in_common_are_under_way_at_once) {
    svmx_buffer_t *shared, *own[MOST];
    for (int i = 0; i < N; i++) a[i] = (float)(i - 7) / 4;
    fake_start();
    svmx_executor_t *executor = open_window(3);
    cr_assert_eq(svmx_buffer_create(executor, sizeof a, &shared), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(shared, 0, a, sizeof a), SVMX_OK);
    for (int i = 0; i < MOST; i++) cr_assert_eq(svmx_buffer_create(executor, sizeof a, &own[i]), SVMX_OK);
    submit_with(executor, 0, own[0], shared);
    expect_sum_in(own[0], 0);
    fake_gate(true);
    const uint64_t before = fake.bytes_in;
    for (int i = 1; i < MOST; i++) submit_with(executor, i, own[i], shared);
    while (open_tickets() != 3) sched_yield();
    fake_gate(false);
    for (int i = 1; i < MOST; i++) expect_sum_in(own[i], i);
    cr_assert_lt(fake.bytes_in - before, (MOST - 1) * (2 * sizeof a), "inputs and tables, and not what is there");
    for (int i = 0; i < MOST; i++) svmx_buffer_destroy(own[i]);
    svmx_buffer_destroy(shared);
    svmx_close(executor);
    expect_all_returned();
}

/* All read one buffer and each writes its own. */
static void share_out(unsigned wait_that_fails) {
    svmx_buffer_t *shared, *own[MOST];
    fake_start();
    svmx_executor_t *executor = open_window(3);
    cr_assert_eq(svmx_buffer_create(executor, sizeof a, &shared), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(shared, 0, a, sizeof a), SVMX_OK);
    if (wait_that_fails) fail_next(FAKE_WAIT, wait_that_fails - 1, 1, SVMX_ERR_BACKEND);
    for (int i = 0; i < MOST; i++) {
        cr_assert_eq(svmx_buffer_create(executor, sizeof a, &own[i]), SVMX_OK);
        submit_with(executor, i, own[i], shared);
    }
    for (int i = 0; i < MOST; i++) {
        expect_sum_in(own[i], i);
        svmx_buffer_destroy(own[i]);
    }
    svmx_buffer_destroy(shared);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, buffers_among_failures) {
    for (int i = 0; i < N; i++) a[i] = (float)(i - 7) / 4;
    for (unsigned at = 0; at < 8; at++) share_out(at);
}

/* ---- in order --------------------------------------------------------------------------------------------------------- */

static atomic_int done_count;
static svmx_batch_t *done_order[MOST];

static void note_done(svmx_batch_t *batch, enum svmx_status status, void *user) {
    (void)status, (void)user;
    done_order[atomic_fetch_add(&done_count, 1)] = batch;
}

/* Every second batch is for the reference code, whose submitter does not wait for the gate. */
static void submit_mixed(svmx_executor_t *executor, int count, uint32_t flags) {
    atomic_store(&done_count, 0);
    for (int i = 0; i < count; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_batch_on_done(batches[i], note_done, NULL), SVMX_OK);
        if (i % 2) cr_assert_eq(svmx_batch_set_policy(batches[i], SVMX_POLICY_CPU), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], flags), SVMX_OK);
    }
}

Test(window, done_as_they_finish) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    fake_gate(true);
    submit_mixed(executor, 4, 0);
    cr_assert_eq(svmx_wait(batches[3], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_poll(batches[0]), SVMX_BUSY, "the last did not wait for the first");
    fake_gate(false);
    expect_all_right(4);
    svmx_close(executor);
}

Test(window, done_in_order_on_request) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    fake_gate(true);
    submit_mixed(executor, 8, SVMX_SUBMIT_IN_ORDER);
    svmx_batch_t *other = batch_of(executor, &trials[8]);
    cr_assert_eq(svmx_batch_set_policy(other, SVMX_POLICY_CPU), SVMX_OK);
    cr_assert_eq(svmx_submit(other, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(other, UINT64_MAX), SVMX_OK, "what is in no order waits for nobody");
    for (int i = 0; i < 8; i++) cr_assert_eq(svmx_poll(batches[i]), SVMX_BUSY);
    fake_gate(false);
    for (int i = 0; i < 8; i++) cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
    cr_assert_eq(atomic_load(&done_count), 8);
    for (int i = 0; i < 8; i++) cr_assert_eq(done_order[i], batches[i], "number %d", i);
    svmx_batch_destroy(other);
    expect_all_right(8);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, one_that_is_taken_back_has_its_turn_too) {
    fake_start();
    svmx_executor_t *executor = open_window(1);
    fake_gate(true);
    submit_all(executor, 3, SVMX_SUBMIT_IN_ORDER);
    while (open_tickets() != 1) sched_yield();
    cr_assert_eq(svmx_cancel(batches[1]), SVMX_OK);
    cr_assert_eq(svmx_poll(batches[1]), SVMX_BUSY);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batches[2], UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_poll(batches[0]), SVMX_OK);
    cr_assert_eq(svmx_poll(batches[1]), SVMX_CANCELLED);
    for (int i = 0; i < 3; i++) svmx_batch_destroy(batches[i]);
    svmx_close(executor);
    expect_all_returned();
}

Test(window, unknown_flags_are_refused) {
    fake_start();
    svmx_executor_t *executor = open_window(3);
    svmx_batch_t *batch = batch_of(executor, &trials[0]);
    cr_assert_eq(svmx_submit(batch, 4), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "0x3"), "%s", svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
}
