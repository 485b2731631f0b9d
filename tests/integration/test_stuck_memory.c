/*
 * test_stuck_memory.c: memory of a driver that never returns: callers get plain memory, callbacks keep no batch, and what
 * goes back goes back in the submitter's thread only. test_stuck.c has the other calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stuck_fixture.h"

/* ---- while a caller wants memory ---------------------------------------------------------------------------------- */

static struct svmx_stats stats_of(const svmx_executor_t *executor) {
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    return stats;
}

/* 64 floats in memory of the library, doubled. */
static void double_in(svmx_batch_t *batch) {
    static float out[64];
    void *memory = NULL;
    cr_assert_eq(svmx_batch_alloc(batch, sizeof out, &memory), SVMX_OK, "%s", svmx_batch_error(batch));
    float *in = memory;
    for (int i = 0; i < 64; i++) in[i] = (float)i;
    cr_assert_eq(svmx_vec_add_f32(batch, out, in, in, 64), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int i = 0; i < 64; i++) cr_assert_eq(out[i], (float)(2 * i));
}

Test(stuck, memory_that_a_caller_asks_for_is_plain_then) {
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    fake_stick(FAKE_STUCK_ALLOC);
    double_in(batch);
    cr_assert_eq(stats_of(executor).allocs_late, 1);
    cr_assert_eq(device_at(executor, 0).usable, 0, "it keeps who asks");
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    double_in(batch);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1, "a device that was given up was asked again");
    cr_assert_eq(stats_of(executor).allocs_late + stats_of(executor).allocs_refused, 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, a_device_without_memory_is_counted_apart) {
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    fake.fail[FAKE_ALLOC].from = 1;
    fake.fail[FAKE_ALLOC].count = FAKE_ALL;
    fake.fail[FAKE_ALLOC].status = SVMX_ERR_MEMORY;
    double_in(batch);
    cr_assert_gt(stats_of(executor).allocs_refused, 0);
    cr_assert_eq(stats_of(executor).allocs_late, 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* The device is at work, and has room for no more: who asks gets an answer in the end, in time or not, and what came too late
 * is there for the next. */
Test(stuck, memory_from_a_device_that_is_busy) {
    struct trial trial;
    svmx_batch_t *other;
    void *memory = NULL, *more = NULL;
    fake_start();
    fake.max_in_flight = 1;
    struct svmx_options options = impatient_options();
    options.timeout_ms = 60000; /* the gate is no hang */
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 1);
    cr_assert_eq(svmx_batch_alloc(other, 1 << 20, &memory), SVMX_OK);
    memset(memory, 1, 1 << 20);
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(svmx_batch_reset(other), SVMX_OK);
    const uint64_t late = stats_of(executor).allocs_late;
    cr_assert_eq(svmx_batch_alloc(other, 1 << 20, &more), SVMX_OK);
    cr_assert_eq(stats_of(executor).allocs_late, late, "nobody is in the way any more");
    svmx_batch_destroy(other);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.memories), 0, "memory that came too late is lost");
}

/* The submitter itself wants memory of its own device. */
static enum svmx_status answered = SVMX_ERR_UNKNOWN;
static void alloc_in_callback(svmx_batch_t *batch, enum svmx_status status, void *user) {
    void *memory = NULL;
    (void)batch, (void)status;
    answered = svmx_batch_alloc(user, 4 << 20, &memory);
    if (answered == SVMX_OK) memset(memory, 7, 4 << 20);
}

Test(stuck, a_callback_may_ask_for_memory) {
    struct trial trial;
    svmx_batch_t *other;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    cr_assert_eq(svmx_batch_on_done(batch, alloc_in_callback, other), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    svmx_batch_destroy(batch); /* returns after the callback */
    cr_assert_eq(answered, SVMX_OK);
    cr_assert_eq(stats_of(executor).allocs_late + stats_of(executor).allocs_refused, 0);
    cr_assert_eq(device_at(executor, 0).usable, 1);
    svmx_batch_destroy(other);
    svmx_close(executor);
}

/* A callback that never returns, because a driver does not: its batch is over all the same, and so are those behind it. */
static void alloc_in_a_stuck_callback(uint32_t flags) {
    static struct trial trials[3];
    svmx_batch_t *batches[3], *other;
    fake_start();
    svmx_executor_t *executor = open_impatient();
    (void)run_trial(executor);
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    const unsigned submits = fake_count(&fake.calls[FAKE_SUBMIT]);
    fake_gate(true); /* all at once, so that there is memory for all */
    for (int i = 0; i < 3; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], flags), SVMX_OK);
    }
    fake_await(&fake.calls[FAKE_SUBMIT], submits + 3);
    fake_gate(false);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert_eq(svmx_batch_rearm(batches[i]), SVMX_OK);
    }
    cr_assert_eq(svmx_batch_on_done(batches[0], alloc_in_callback, other), SVMX_OK);
    fake_stick(FAKE_STUCK_ALLOC);
    for (int i = 0; i < 3; i++) cr_assert_eq(svmx_submit(batches[i], flags), SVMX_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_C(20) * STUCK_LIMIT_MS * 1000000), SVMX_OK, "batch %d", i);
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(answered, SVMX_ERR_UNKNOWN, "it came back");
    cr_assert_eq(device_at(executor, 0).usable, 0);
    svmx_close(executor);
    come_back_late();
    cr_assert_eq(answered, SVMX_ERR_UNKNOWN, "a thread that was given up went on");
}

Test(stuck, a_callback_that_never_returns) { alloc_in_a_stuck_callback(0); }
Test(stuck, a_callback_that_never_returns_in_order) { alloc_in_a_stuck_callback(SVMX_SUBMIT_IN_ORDER); }

/* ---- while memory goes back --------------------------------------------------------------------------------------- */

/* A pool that keeps nothing: all that comes back is freed. */
static svmx_executor_t *open_without_pool(uint32_t patience_ms) {
    struct svmx_options options = impatient_options();
    options.pool_bytes = 1;
    options.patience_ms = patience_ms;
    return open_with(&options);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

Test(stuck, a_caller_that_destroys_a_batch_waits_for_no_driver) {
    enum { PATIENCE_MS = 2000 };
    fake_start();
    svmx_executor_t *executor = open_without_pool(PATIENCE_MS);
    (void)run_trial(executor);
    svmx_batch_t *batch = holder(executor, 3), *other = holder(executor, 2);
    fake_stick(FAKE_STUCK_FREE);
    const uint64_t start_ns = now_ns();
    svmx_batch_destroy(batch);
    cr_assert_eq(svmx_batch_reset(other), SVMX_OK);
    cr_assert_lt(now_ns() - start_ns, (uint64_t)PATIENCE_MS * 1000000 / 2, "it waited for the driver");
    fake_await(&fake.stuck_calls, 1);
    while (device_at(executor, 0).usable) usleep(1000); /* nobody asks anything of it, and it is given up */
    cr_assert_not_null(strstr(device_at(executor, 0).health_reason, "memory_free"), "%s",
                       device_at(executor, 0).health_reason);
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1, "a device that was given up was called again");
    svmx_batch_destroy(other);
    svmx_close(executor);
    come_back_late();
    cr_assert_eq(fake.closes, 0);
}

/* What was answered when the driver is to take its memory back is answered. */
Test(stuck, results_are_there_before_memory_goes_back) {
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    fake_start();
    svmx_executor_t *executor = open_without_pool(STUCK_LIMIT_MS);
    (void)run_trial(executor);
    while (fake_count(&fake.memories)) usleep(1000); /* all of the first is back */
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_stick(FAKE_STUCK_FREE);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.redone, 0, "a launch that had its results was redone");
    svmx_batch_destroy(batch);
    while (device_at(executor, 0).usable) usleep(1000);
    svmx_close(executor);
    come_back_late();
}

Test(stuck, memory_that_never_goes_back_and_a_new_instance) {
    fake_start();
    svmx_executor_t *executor = open_without_pool(STUCK_LIMIT_MS);
    stop_clock(executor);
    (void)run_trial(executor);
    svmx_batch_t *batch = holder(executor, 2), *old = holder(executor, 2);
    fake_stick(FAKE_STUCK_FREE);
    svmx_batch_destroy(batch);
    await_health(executor, SVMX_LOST);
    fake_stick(0);
    pass_time(executor, SVMX__REST_NS);
    (void)run_trial(executor);
    await_health(executor, SVMX_SUSPECT);
    cr_assert_eq(run_trial(executor).device, 0);
    const unsigned memories = fake_count(&fake.memories);
    svmx_batch_destroy(old); /* of the life before, which is called no more */
    svmx_batch_destroy(holder(executor, 2));
    while (device_at(executor, 0).pool_idle_bytes || fake_count(&fake.memories) > memories) usleep(1000);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.foreign_frees), 0);
    cr_assert_eq(fake.closes, 1);
}

/* Callers that make and destroy at once, while the device computes and is short of room. */
static void *come_and_go(void *user) {
    for (int i = 0; i < 40; i++) {
        svmx_batch_t *batch = holder(user, 1 + i % 3);
        if (i % 2) cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
        svmx_batch_destroy(batch);
    }
    return NULL;
}

static void free_by_the_submitter(uint64_t pool_bytes, uint32_t max_in_flight,
                                  void (*close)(svmx_executor_t *executor)) {
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    fake_start();
    fake.max_in_flight = max_in_flight;
    struct svmx_options options = impatient_options();
    options.pool_bytes = pool_bytes;
    options.patience_ms = 20000; /* nothing hangs */
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, come_and_go, executor);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    while (device_at(executor, 0).pool_idle_bytes > pool_bytes) usleep(1000);
    cr_assert_eq(device_at(executor, 0).memory_used, 0);
    svmx_batch_t *left = holder(executor, 2);
    close(executor);
    cr_assert_eq(fake.memories, 0, "memory of a batch that is still there was not given back");
    svmx_batch_destroy(left);
    cr_assert_gt(fake.frees, 0);
    cr_assert_eq(fake.foreign_frees, 0, "%u of %u were freed in other threads", fake.foreign_frees, fake.frees);
    cr_assert_eq(fake.closes, 1);
}

Test(stuck, memory_is_freed_by_the_submitter_only) { free_by_the_submitter(1, 0, svmx_close); }
Test(stuck, memory_is_freed_by_the_submitter_only_of_a_pool_with_room) {
    free_by_the_submitter(256 << 10, 1, svmx_close);
}
Test(stuck, memory_is_freed_by_the_submitter_only_when_closed_now) {
    free_by_the_submitter(64 << 20, 0, svmx_close_now);
}

/* A driver that takes back the first of what a batch has, and never returns. */
Test(stuck, a_batch_outlives_the_executor_and_its_driver) {
    fake_start();
    svmx_executor_t *executor = open_impatient();
    svmx_batch_t *batch = holder(executor, 3);
    fake_stick(FAKE_STUCK_FREE);
    svmx_close(executor);
    svmx_batch_destroy(batch);
    come_back_late();
    cr_assert_eq(fake.closes, 0);
}

/* Memory that nobody keeps cannot pile up in front of a submitter that is busy: it is used again, or freed before more is made. */
Test(stuck, what_is_to_be_freed_does_not_pile_up) {
    struct trial trial;
    fake_start();
    fake.max_in_flight = 1;
    struct svmx_options options = impatient_options();
    options.timeout_ms = 60000;
    options.pool_bytes = 1;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    svmx_batch_t *first = holder(executor, 3);
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 1);
    const unsigned allocs = fake_count(&fake.calls[FAKE_ALLOC]);
    svmx_batch_destroy(first);
    for (int i = 0; i < 1000; i++) {
        svmx_batch_t *other;
        void *memory = NULL;
        cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
        cr_assert_eq(svmx_batch_alloc(other, 64 << 10, &memory), SVMX_OK);
        svmx_batch_destroy(other);
    }
    cr_assert_eq(fake_count(&fake.calls[FAKE_ALLOC]), allocs, "memory that waits for the driver was not used again");
    fake_gate(false);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    cr_assert_eq(fake_count(&fake.memories), 0);
    cr_assert_eq(fake.foreign_frees, 0);
}
