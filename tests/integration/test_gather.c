/*
 * test_gather.c: small parts of several batches in one launch: which ones, that each batch has its own answer, receipt and end,
 * and that this holds whatever fails, hangs or is cancelled among them. Batches of different tenants are never together.
 *
 * The device of fake.h is held by its gate while batches come; with a window of 1 they wait in its queue then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "executor/executor.h"
#include "executor/gather.h"
#include "faults_fixture.h"

enum { MOST = 100, FEW = 8 };

static struct trial trials[MOST];
static svmx_batch_t *batches[MOST];

static svmx_executor_t *open_learning(uint32_t gather_us, uint32_t timeout_ms, const char *learn) {
    struct svmx_options options = fake_options();
    options.learn = learn;
    options.timeout_ms = timeout_ms;
    options.window = 1;
    options.gather_us = gather_us;
    options.log = silent;
    options.queue_depth = 4 * MOST;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0); /* its pipeline is built, its pool is filled */
    return executor;
}

/* Learns nothing: what the gate held looks long, and a launch that is expected to be long is cut. */
static svmx_executor_t *open_gathering(uint32_t gather_us, uint32_t timeout_ms) {
    return open_learning(gather_us, timeout_ms, "frozen");
}

/* Closes the gate and has the device at batch 0. */
static void hold(svmx_executor_t *executor) {
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    batches[0] = batch_of(executor, &trials[0]);
    cr_assert_eq(svmx_submit(batches[0], 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 1);
}

/* Batch `at`, not submitted yet. */
static svmx_batch_t *make(svmx_executor_t *executor, unsigned at, uint64_t tenant) {
    cr_assert_eq(svmx_batch_create(executor, &batches[at]), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tenant(batches[at], tenant), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tag(batches[at], at), SVMX_OK);
    trial_fill(&trials[at], at * 17 + 3);
    cr_assert_eq(trial_add(&trials[at], batches[at]), SVMX_OK);
    return batches[at];
}

static void submit(svmx_executor_t *executor, unsigned at, uint64_t tenant) {
    cr_assert_eq(svmx_submit(make(executor, at, tenant), 0), SVMX_OK);
}

/* Opens the gate; returns how many launches there were with that of batch 0. */
static unsigned release(unsigned count) {
    const unsigned before = fake_count(&fake.launches);
    fake_gate(false);
    for (unsigned i = 0; i < count; i++) cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK, "batch %u", i);
    for (unsigned i = 0; i < count; i++) cr_assert(trial_is_right(&trials[i]), "batch %u", i);
    return fake_count(&fake.launches) - before;
}

static struct svmx_receipt receipt_of(unsigned at) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batches[at], 0, &receipt), SVMX_OK);
    return receipt;
}

static void destroy(unsigned count) {
    for (unsigned i = 0; i < count; i++) svmx_batch_destroy(batches[i]);
}

static void close_clean(svmx_executor_t *executor, unsigned count) {
    destroy(count);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- what goes together -------------------------------------------------------------------------------------------- */

Test(gather, what_waits_is_one_launch) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    cr_assert_eq(release(FEW), 2);
    uint32_t launches = 0;
    for (unsigned i = 0; i < FEW; i++) {
        const struct svmx_receipt receipt = receipt_of(i);
        cr_assert_eq(receipt.gathered, i ? FEW - 2 : 0, "batch %u", i);
        cr_assert_eq(receipt.device, 0);
        cr_assert_eq(receipt.redone, 0);
        cr_assert_eq(receipt.tasks, 1);
        cr_assert_eq(receipt.units, TRIAL_ITEMS);
        cr_assert_eq(receipt.copied_bytes, 3 * sizeof trials[i].out);
        cr_assert_eq(receipt.tag, i ? i : 0);
        if (i) launches += receipt.launches;
    }
    cr_assert_eq(launches, 1, "the first has the launch");
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_eq(device.launches, 3, "with the first trial");
    cr_assert_eq(device.tasks, FEW + 1);
    cr_assert_eq(device.pending, 0);
    cr_assert_eq(device.backlog_ns, 0);
    close_clean(executor, FEW);
}

Test(gather, in_staging_memory_too) {
    fake_start();
    fake.flags = SVMX_DEVICE_SHARES_MEMORY;
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    cr_assert_eq(release(FEW), 2);
    close_clean(executor, FEW);
}

Test(gather, no_more_than_fit) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < MOST; i++) submit(executor, i, 0);
    cr_assert_eq(release(MOST), 1 + (MOST - 1 + SVMX__MOST_GATHERED - 1) / SVMX__MOST_GATHERED);
    cr_assert_eq(receipt_of(1).gathered, SVMX__MOST_GATHERED - 1);
    close_clean(executor, MOST);
}

Test(gather, off_is_one_launch_each) {
    fake_start();
    svmx_executor_t *executor = open_gathering(SVMX_GATHER_OFF, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    cr_assert_eq(release(FEW), FEW);
    for (unsigned i = 0; i < FEW; i++) cr_assert_eq(receipt_of(i).gathered, 0);
    close_clean(executor, FEW);
}

/* Neighbours of one tenant, and never over another's. */
Test(gather, tenants_are_never_together) {
    static const uint64_t tenants[] = {0, 1, 1, 2, 2, 2, 1, 0, 0}, others[] = {0, 1, 1, 2, 2, 2, 0, 1, 1};
    enum { COUNT = sizeof tenants / sizeof *tenants };
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < COUNT; i++) submit(executor, i, tenants[i]);
    cr_assert_eq(release(COUNT), 5);
    for (unsigned i = 1; i < COUNT; i++) cr_assert_eq(receipt_of(i).gathered, others[i], "batch %u", i);
    close_clean(executor, COUNT);
}

/* What is left to the library, is to be compared, hashed or has a deadline of its own goes alone, and parts its neighbours. */
static void expect_apart(enum svmx_status (*change)(svmx_batch_t *batch)) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_MUL_F32, TRIAL_ITEMS), SVMX_OK);
    hold(executor);
    submit(executor, 1, 0);
    submit(executor, 2, 0);
    cr_assert_eq(change(make(executor, 3, 0)), SVMX_OK);
    cr_assert_eq(svmx_submit(batches[3], 0), SVMX_OK);
    submit(executor, 4, 0);
    submit(executor, 5, 0);
    (void)release(6);
    for (unsigned i = 1; i < 6; i++) cr_assert_eq(receipt_of(i).gathered, i == 3 ? 0 : 1, "batch %u", i);
    close_clean(executor, 6);
}

static enum svmx_status want_hash(svmx_batch_t *batch) { return svmx_batch_set_hash(batch, true); }
static enum svmx_status want_verify(svmx_batch_t *batch) { return svmx_batch_set_verify(batch, "full"); }
static enum svmx_status want_timeout(svmx_batch_t *batch) { return svmx_batch_set_timeout(batch, 50000000000); }
static enum svmx_status want_gpu(svmx_batch_t *batch) { return svmx_batch_set_policy(batch, SVMX_POLICY_GPU); }
static enum svmx_status want_library(svmx_batch_t *batch) {
    const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, TRIAL_ITEMS),
                                    svmx_in(SVMX_F32, trials[0].a, TRIAL_ITEMS),
                                    svmx_in(SVMX_F32, trials[0].b, TRIAL_ITEMS)};
    return svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3);
}
static enum svmx_status want_memory(svmx_batch_t *batch) {
    void *memory;
    return svmx_batch_alloc(batch, 64, &memory);
}
static enum svmx_status want_another_operation(svmx_batch_t *batch) {
    static float out[TRIAL_ITEMS];
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = svmx_vec_mul_f32(batch, out, trials[0].a, trials[0].b, TRIAL_ITEMS);
    memcpy(trials[3].out, trials[0].out, sizeof trials[3].out);
    for (unsigned i = 0; i < TRIAL_ITEMS; i++) trials[3].out[i] = trials[3].a[i] + trials[3].b[i]; /* not asked for */
    return status;
}

Test(gather, hashes_apart) { expect_apart(want_hash); }
Test(gather, verified_apart) { expect_apart(want_verify); }
Test(gather, timeouts_apart) { expect_apart(want_timeout); }
Test(gather, policies_apart) { expect_apart(want_gpu); }
Test(gather, results_of_the_library_apart) { expect_apart(want_library); }
Test(gather, memory_of_the_library_apart) { expect_apart(want_memory); }
Test(gather, operations_apart) { expect_apart(want_another_operation); }

/* One that is not small goes alone. */
Test(gather, what_is_large_goes_alone) {
    enum { LARGE = 20000 };
    static float a[LARGE], out[2][LARGE];
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, LARGE), SVMX_OK);
    hold(executor);
    svmx_batch_t *large[2];
    for (int i = 0; i < LARGE; i++) a[i] = (float)i;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(svmx_batch_create(executor, &large[i]), SVMX_OK);
        cr_assert_eq(svmx_vec_add_f32(large[i], out[i], a, a, LARGE), SVMX_OK);
        cr_assert_eq(svmx_submit(large[i], 0), SVMX_OK);
    }
    (void)release(1);
    for (int i = 0; i < 2; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_wait(large[i], UINT64_MAX), SVMX_OK);
        cr_assert_eq(svmx_receipt_get(large[i], 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.gathered, 0);
        cr_assert_eq(out[i][LARGE - 1], 2.0f * (LARGE - 1));
        svmx_batch_destroy(large[i]);
    }
    close_clean(executor, 1);
}

/* Batches of several tasks of different sizes: rows go to where they belong. */
Test(gather, each_task_has_its_own_row) {
    enum { TASKS = 5 };
    static float in[FEW][TASKS][TRIAL_ITEMS], out[FEW][TASKS][TRIAL_ITEMS];
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) {
        cr_assert_eq(svmx_batch_create(executor, &batches[i]), SVMX_OK);
        for (unsigned t = 0; t < TASKS; t++) {
            for (unsigned k = 0; k < TRIAL_ITEMS; k++) in[i][t][k] = (float)(i * 1000 + t * 100 + k);
            cr_assert_eq(svmx_vec_add_f32(batches[i], out[i][t], in[i][t], in[i][t], 1 + (i * 7 + t * 13) % 90),
                         SVMX_OK);
        }
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    (void)release(1);
    for (unsigned i = 1; i < FEW; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        for (unsigned t = 0; t < TASKS; t++)
            for (unsigned k = 0; k < TRIAL_ITEMS; k++)
                cr_assert_eq(out[i][t][k], k < 1 + (i * 7 + t * 13) % 90 ? 2 * in[i][t][k] : 0, "%u %u %u", i, t, k);
        cr_assert_eq(receipt_of(i).gathered, FEW - 2);
    }
    close_clean(executor, FEW);
}

/* The launch is learned from once, with its own size; the first of a size fills pools, and is no sample. */
Test(gather, a_launch_is_one_sample) {
    fake_start();
    svmx_executor_t *executor = open_learning(0, 60000, "on");
    for (unsigned round = 0; round < 3; round++) {
        struct svmx__cost before, after, whole;
        hold(executor);
        for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
        const struct svmx__load one = batches[1]->parts[0].question.load,
                                all = {(FEW - 1) * one.units, (FEW - 1) * one.work, (FEW - 1) * one.bytes};
        svmx__model_cost(&executor->model, SVMX_OP_VEC_ADD_F32, 0, &one, &before);
        (void)release(FEW);
        svmx__model_cost(&executor->model, SVMX_OP_VEC_ADD_F32, 0, &one, &after);
        svmx__model_cost(&executor->model, SVMX_OP_VEC_ADD_F32, 0, &all, &whole);
        cr_assert_eq(after.learned - before.learned, 1, "batch 0");
        cr_assert_eq(whole.learned, round);
        for (unsigned i = 1; i < FEW; i++) cr_assert_eq(receipt_of(i).learned, 0);
        destroy(FEW);
    }
    close_clean(executor, 0);
}

Test(gather, the_first_waits_for_others_if_it_is_told_to) {
    enum { COUNT = 32 };
    fake_start();
    svmx_executor_t *executor = open_gathering(100000, 60000);
    const unsigned before = fake_count(&fake.launches);
    for (unsigned i = 0; i < COUNT; i++) submit(executor, i, 0);
    for (unsigned i = 0; i < COUNT; i++) cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
    for (unsigned i = 0; i < COUNT; i++) cr_assert(trial_is_right(&trials[i]));
    cr_assert_lt(fake_count(&fake.launches) - before, COUNT);
    close_clean(executor, COUNT);
}

/* ---- failures ------------------------------------------------------------------------------------------------------ */

/* Some calls of a kind fail from one on, whichever it is: each batch is answered once, right, and everything comes back. */
static void expect_survival(enum fake_call call, enum svmx_status status, unsigned count, uint32_t window) {
    for (unsigned at = 0; at < 8; at++) {
        struct svmx_options options = fake_options();
        fake_start();
        options.timeout_ms = 60000;
        options.window = window;
        options.gather_us = 0;
        options.log = silent;
        svmx_executor_t *executor = open_with(&options);
        (void)run_trial(executor);
        hold(executor);
        pthread_mutex_lock(&fake.lock);
        fake.fail[call].from = fake.calls[call] + 1 + at;
        fake.fail[call].count = count;
        fake.fail[call].status = status;
        pthread_mutex_unlock(&fake.lock);
        for (unsigned i = 1; i < FEW; i++) submit(executor, i, i / 4);
        (void)release(FEW);
        struct svmx_stats stats = {.size = sizeof stats};
        cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
        cr_assert_eq(stats.batches, FEW + 1);
        cr_assert_eq(device_at(executor, 0).pending, 0);
        cr_assert_eq(device_at(executor, 0).backlog_ns, 0);
        close_clean(executor, FEW);
    }
}

Test(gather, any_submit_fails) {
    expect_survival(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1, 1);
    expect_survival(FAKE_SUBMIT, SVMX_ERR_BACKEND, 2, 3);
    expect_survival(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST, 1, 1);
    expect_survival(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST, 1, 3);
    expect_survival(FAKE_SUBMIT, SVMX_BUSY, 1, 3);
}
Test(gather, any_wait_fails) {
    expect_survival(FAKE_WAIT, SVMX_ERR_BACKEND, 1, 1);
    expect_survival(FAKE_WAIT, SVMX_ERR_BACKEND, FAKE_ALL, 1);
    expect_survival(FAKE_WAIT, SVMX_ERR_MEMORY, 1, 3);
    expect_survival(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, 3);
}
Test(gather, any_memory_fails) {
    expect_survival(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, 1);
    expect_survival(FAKE_ALLOC, SVMX_ERR_MEMORY, FAKE_ALL, 3);
}

/* A launch that fails is one failure, however many batches are in it; they are done on the device, one by one. */
Test(gather, a_failure_is_counted_once) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    pthread_mutex_lock(&fake.lock);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
    cr_assert_eq(release(FEW), FEW);
    const struct svmx_device device = device_at(executor, 0);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(device.strikes, 1);
    cr_assert_eq(device.failures, 1);
    cr_assert_eq(stats.fallbacks, 1);
    for (unsigned i = 1; i < FEW; i++) {
        const struct svmx_receipt receipt = receipt_of(i);
        cr_assert_eq(receipt.device, 0);
        cr_assert_eq(receipt.gathered, 0);
        cr_assert_eq(receipt.redone, 1);
        cr_assert_not_null(strstr(receipt.reason, "submit told to fail"), "'%s'", receipt.reason);
    }
    close_clean(executor, FEW);
}

/* Bytes beside the outputs of the launch: none of it is given out, and each is done again. */
Test(gather, a_stray_byte) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    fake.stray = 1;
    (void)release(FEW);
    close_clean(executor, FEW);
}

/* The launch hangs: its members are redone elsewhere, and a driver that wakes up late touches nothing of the caller's. */
Test(gather, a_hang) {
    abandons = true;
    fake_start();
    svmx_executor_t *executor = open_gathering(0, TIMEOUT_MS);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    for (unsigned i = 0; i < FEW; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        cr_assert_eq(receipt_of(i).device, 1);
        trial_fill(&trials[i], 9); /* the caller's again */
    }
    cr_assert_geq(fake_finish_late(), 1);
    for (unsigned i = 0; i < FEW; i++)
        cr_assert(trial_is_untouched(&trials[i]), "a driver that woke up late wrote into the caller's memory");
    destroy(FEW);
    fake_gate(false);
    svmx_close(executor);
}

/* A hang of the gathered launch itself: the one before it went well. */
static void hang_gathered(enum fake_stuck call) {
    abandons = true;
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    executor->patience_ns = 300 * UINT64_C(1000000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) {
        make(executor, i, 0);
        cr_assert_eq(svmx_batch_on_done(batches[i], NULL, NULL), SVMX_OK);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    fake_stick(call);
    fake_gate(false);
    for (unsigned i = 0; i < FEW; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        if (i && call == FAKE_STUCK_SUBMIT) cr_assert_eq(receipt_of(i).device, 1);
        trial_fill(&trials[i], 9);
    }
    destroy(FEW);
    svmx_close(executor);
    fake_stick(0);
    const struct timespec moment = {0, 50000000};
    (void)nanosleep(&moment, NULL);
    for (unsigned i = 0; i < FEW; i++) cr_assert(trial_is_untouched(&trials[i]));
}

Test(gather, a_submit_that_never_returns) { hang_gathered(FAKE_STUCK_SUBMIT); }

/* ---- cancelling ----------------------------------------------------------------------------------------------------- */

Test(gather, one_that_is_taken_back_is_not_in_the_launch) {
    fake_start();
    svmx_executor_t *executor = open_gathering(0, 60000);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    cr_assert_eq(svmx_cancel(batches[1]), SVMX_OK);
    cr_assert_eq(svmx_cancel(batches[4]), SVMX_OK);
    const unsigned before = fake_count(&fake.launches);
    fake_gate(false);
    for (unsigned i = 0; i < FEW; i++) {
        const bool taken_back = i == 1 || i == 4;
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), taken_back ? SVMX_CANCELLED : SVMX_OK);
        cr_assert(taken_back ? trial_is_untouched(&trials[i]) : trial_is_right(&trials[i]), "batch %u", i);
        if (i && !taken_back) cr_assert_eq(receipt_of(i).gathered, FEW - 4);
    }
    cr_assert_eq(fake_count(&fake.launches) - before, 2);
    close_clean(executor, FEW);
}

/* ---- many threads --------------------------------------------------------------------------------------------------- */

enum { THREADS = 24, ROUNDS = 40 };
struct caller {
    svmx_executor_t *executor;
    unsigned number, done, cancelled, gathered;
    bool cancels;
};

/* Submits and waits, now and then takes back; as one of three tenants. */
static void *call(void *user) {
    struct caller *caller = user;
    svmx_batch_t *batch;
    if (svmx_batch_create(caller->executor, &batch) != SVMX_OK) return NULL;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        struct trial trial;
        trial_fill(&trial, caller->number * 1000 + round);
        if (svmx_batch_reset(batch) != SVMX_OK || svmx_batch_set_tenant(batch, caller->number / 8) != SVMX_OK ||
            trial_add(&trial, batch) != SVMX_OK || svmx_submit(batch, 0) != SVMX_OK)
            break;
        if (caller->cancels && round % 3 == 0) (void)svmx_cancel(batch);
        const enum svmx_status status = svmx_wait(batch, UINT64_MAX);
        const bool cancelled = status == SVMX_CANCELLED;
        if ((!cancelled && status != SVMX_OK) || (cancelled ? !trial_is_untouched(&trial) : !trial_is_right(&trial)))
            break;
        caller->done += !cancelled;
        caller->cancelled += cancelled;
        if (!cancelled && svmx_receipt_get(batch, 0, &receipt) == SVMX_OK) caller->gathered += receipt.gathered > 0;
    }
    svmx_batch_destroy(batch);
    return NULL;
}

static void many(bool cancels, unsigned fail_at) {
    static struct caller callers[THREADS];
    pthread_t threads[THREADS];
    unsigned done = 0, cancelled = 0, gathered = 0;
    fake_start();
    fake.delay_ms = 1;
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    options.gather_us = 0;
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    const unsigned before = fake_count(&fake.launches);
    if (fail_at) {
        fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + fail_at;
        fake.fail[FAKE_WAIT].count = 2;
        fake.fail[FAKE_WAIT].status = SVMX_ERR_BACKEND;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        callers[i] = (struct caller){.executor = executor, .number = i, .cancels = cancels};
        cr_assert_eq(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        cr_assert_eq(callers[i].done + callers[i].cancelled, ROUNDS, "thread %u", i);
        done += callers[i].done, cancelled += callers[i].cancelled, gathered += callers[i].gathered;
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.batches, done + 1);
    cr_assert_eq(stats.cancelled, cancelled);
    cr_assert_gt(gathered, 0);
    cr_assert_lt(fake_count(&fake.launches) - before, done, "launches are fewer than batches");
    svmx_close(executor);
    expect_all_returned();
}

Test(gather, many_threads) { many(false, 0); }
Test(gather, many_threads_that_cancel) { many(true, 0); }
Test(gather, many_threads_and_launches_that_fail) { many(true, 30); }

/* ---- callbacks that never return ----------------------------------------------------------------------------------- */

static void ask_for_memory(svmx_batch_t *batch, enum svmx_status status, void *user) {
    void *memory = NULL;
    (void)batch, (void)status;
    (void)svmx_batch_alloc(user, 4 << 20, &memory);
}

/* Of a launch that went well the batch that is told first has a callback which a driver keeps: the others have their results,
 * which are neither computed again nor counted twice. */
Test(gather, a_callback_that_never_returns_costs_the_others_of_its_launch_nothing) {
    struct svmx_options options = fake_options();
    svmx_batch_t *other;
    struct svmx_stats stats = {.size = sizeof stats};
    abandons = true;
    fake_start();
    options.window = 1;
    options.gather_us = 0;
    options.patience_ms = 300;
    options.timeout_ms = 60000;
    options.learn = "frozen";
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) submit(executor, i, 0);
    cr_assert_eq(release(FEW), 2); /* from here on pools have what such launches need */
    destroy(FEW);
    hold(executor);
    for (unsigned i = 1; i < FEW; i++) (void)make(executor, i, 0);
    cr_assert_eq(svmx_batch_on_done(batches[FEW - 1], ask_for_memory, other), SVMX_OK); /* the last is left first */
    for (unsigned i = 1; i < FEW; i++) cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    fake_stick(FAKE_STUCK_ALLOC);
    const unsigned launches = release(FEW);
    cr_assert_eq(fake_count(&fake.stuck_calls), 1, "or this shows nothing");
    cr_assert_eq(launches, 2);
    for (unsigned i = 1; i < FEW; i++) {
        cr_assert_eq(receipt_of(i).device, 0, "batch %u was computed again", i);
        cr_assert_eq(receipt_of(i).redone, 0, "batch %u: %s", i, receipt_of(i).reason);
    }
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.fallbacks, 0);
    cr_assert_eq(device_at(executor, 0).pending, 0);
    destroy(FEW);
    svmx_close(executor);
    fake_stick(0);
}
