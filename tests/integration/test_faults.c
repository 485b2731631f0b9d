/*
 * test_faults.c: devices that fail, hang, answer wrongly or vanish, at every call of the plugin ABI. The answer is right
 * every time, the receipt says what happened, nothing is lost and later batches work.
 *
 * Two devices: the check plugin (tests/drivers/plugins/check.c, loaded as a user would), which looks at every rule of
 * the ABI and is told to fail by SUPERVM_BACKENDS=check:SCRIPT, and fake.h, which sees time pass.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { TIMEOUT_MS = 40 };

/* What an abandoned device keeps is kept on purpose: not a leak for the leak checker. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:fake_\nleak:candidates_collect\nleak:host_make\n"; }

static svmx_executor_t *open_with(const struct svmx_options *options) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error;
    cr_assert_eq(svmx_open(&executor, options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static svmx_executor_t *open_fake(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    return open_with(&options);
}

static void silent(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

static svmx_executor_t *open_quiet_fake(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    return open_with(&options);
}

static svmx_batch_t *batch_of(svmx_executor_t *executor, struct trial *trial) {
    svmx_batch_t *batch;
    trial_fill(trial, 5);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(trial_add(trial, batch), SVMX_OK);
    return batch;
}

/* Runs one trial through svmx_run, sees to it that its answer is right, and gives its receipt. */
static struct svmx_receipt run_trial(svmx_executor_t *executor) {
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert(trial_is_right(&trial), "a wrong answer");
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    svmx_batch_destroy(batch);
    return receipt;
}

static struct svmx_device device_at(svmx_executor_t *executor, uint32_t index) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, index, &device), SVMX_OK);
    return device;
}

static void expect_all_returned(void) {
    cr_assert_eq(fake.memories, 0, "%u memories were not given back", fake.memories);
    cr_assert_eq(fake.pipelines, 0, "%u pipelines were not given back", fake.pipelines);
    cr_assert_eq(fake.closes, fake.opens);
    cr_assert_null(fake.open, "a ticket was never waited for");
}

/* ---- the way that it should be -------------------------------------------------------------------------------- */

Test(faults, ten_thousand_tasks_are_one_submit_one_copy_in_one_launch_one_copy_out) {
    enum { TASKS = 10000, ITEMS = 8 };
    static float out[TASKS][ITEMS], a[TASKS][ITEMS], b[TASKS][ITEMS];
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (unsigned t = 0; t < TASKS; t++) {
        for (unsigned i = 0; i < ITEMS; i++) a[t][i] = (float)(t + i), b[t][i] = (float)(2 * t) - (float)i;
        cr_assert_eq(svmx_vec_add_f32(batch, out[t], a[t], b[t], ITEMS), SVMX_OK);
    }
    cr_assert_eq(svmx_run(batch), SVMX_OK); /* builds and proves the pipeline as well */
    unsigned submits = fake.calls[FAKE_SUBMIT], in = fake.copies_in, launches = fake.launches, outs = fake.copies_out,
             tasks = fake.tasks;
    memset(out, 0, sizeof out);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1);
    cr_assert_eq(fake.copies_in - in, 1);
    cr_assert_eq(fake.launches - launches, 1);
    cr_assert_eq(fake.copies_out - outs, 1);
    cr_assert_eq(fake.tasks - tasks, TASKS);
    for (unsigned t = 0; t < TASKS; t++)
        for (unsigned i = 0; i < ITEMS; i++) cr_assert_eq(out[t][i], a[t][i] + b[t][i], "task %u item %u", t, i);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.tasks, TASKS);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_str_eq(receipt.reason, "");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, devices_of_every_sort_give_the_answer) {
    static const uint32_t sorts[] = {0, SVMX_DEVICE_SHARES_MEMORY, SVMX_DEVICE_INLINE, SVMX_DEVICE_HOST_MEMORY,
                                     SVMX_DEVICE_INLINE | SVMX_DEVICE_SHARES_MEMORY,
                                     SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        fake_start();
        fake.flags = sorts[i];
        svmx_executor_t *executor = open_fake();
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 0, "flags %#x", sorts[i]);
        cr_assert_eq(receipt.redone, 0, "flags %#x: %s", sorts[i], receipt.reason);
        bool copies = !(sorts[i] & (SVMX_DEVICE_SHARES_MEMORY | SVMX_DEVICE_HOST_MEMORY));
        cr_assert_eq(fake.copies_in, copies ? fake.launches : 0);
        cr_assert_eq(fake.copies_out, copies ? fake.launches : 0);
        svmx_close(executor);
        expect_all_returned();
    }
}

/* ---- one call fails ------------------------------------------------------------------------------------------- */

/* Every call of a kind fails once, each in an executor of its own, from the first until there are no more. */
static void fail_each(enum fake_call call, enum svmx_status status) {
    for (unsigned n = 1;; n++) {
        cr_assert_lt(n, 200, "calls without end");
        fake_start();
        fake.fail[call].from = n;
        fake.fail[call].count = 1;
        fake.fail[call].status = status;
        svmx_executor_t *executor = open_quiet_fake();
        unsigned redone = 0;
        for (int i = 0; i < 3; i++) {
            struct svmx_receipt receipt = run_trial(executor);
            redone += receipt.redone;
            if (!receipt.redone) continue;
            cr_assert_eq(receipt.device, 1, "the reference answered");
            cr_assert_not_null(strstr(receipt.reason, svmx_status_name(status)), "call %d number %u: '%s'", (int)call,
                               n, receipt.reason);
        }
        struct svmx_stats stats = {.size = sizeof stats};
        cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
        cr_assert_eq(stats.fallbacks, redone);
        struct svmx_device device = device_at(executor, 0);
        cr_assert_eq(device.failures, redone);
        bool hit = fake.calls[call] >= n;
        cr_assert_eq(redone, hit ? 1 : 0, "call %d number %u", (int)call, n);
        cr_assert_eq(device.usable, !hit || status != SVMX_ERR_DEVICE_LOST);
        svmx_close(executor);
        expect_all_returned();
        if (!hit) return;
    }
}

Test(faults, every_memory_alloc) {
    fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY);
    fail_each(FAKE_ALLOC, SVMX_ERR_BACKEND);
    fail_each(FAKE_ALLOC, SVMX_ERR_DEVICE_LOST);
}

Test(faults, every_pipeline_build) {
    fail_each(FAKE_BUILD, SVMX_ERR_MEMORY);
    fail_each(FAKE_BUILD, SVMX_ERR_BACKEND);
    fail_each(FAKE_BUILD, SVMX_ERR_DEVICE_LOST);
}

Test(faults, every_submit) {
    fail_each(FAKE_SUBMIT, SVMX_ERR_MEMORY);
    fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND);
    fail_each(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST);
    fail_each(FAKE_SUBMIT, SVMX_BUSY);
}

Test(faults, every_wait) {
    fail_each(FAKE_WAIT, SVMX_ERR_MEMORY);
    fail_each(FAKE_WAIT, SVMX_ERR_BACKEND);
    fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST);
}

Test(faults, a_device_that_has_no_memory_for_a_moment_serves_again) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    fake.fail[FAKE_ALLOC].from = 1;
    fake.fail[FAKE_ALLOC].count = 2;
    fake.fail[FAKE_ALLOC].status = SVMX_ERR_MEMORY;
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, an_operation_that_a_device_does_not_have_is_no_failure_and_asked_for_once) {
    fake_start();
    fake.fail[FAKE_BUILD].from = 1;
    fake.fail[FAKE_BUILD].count = 1;
    fake.fail[FAKE_BUILD].status = SVMX_ERR_UNSUPPORTED;
    svmx_executor_t *executor = open_quiet_fake();
    for (int i = 0; i < 3; i++) {
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 1);
        cr_assert_eq(receipt.redone, 0);
    }
    cr_assert_eq(fake.calls[FAKE_BUILD], 1);
    cr_assert_eq(device_at(executor, 0).failures, 0);
    uint64_t bytes;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    unsigned char *outputs = example_run(executor, 2, 10, 1, &bytes, &receipt); /* another operation */
    cr_assert_eq(receipt.device, 0);
    free(outputs);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, wrong_bytes_are_seen_before_first_use_and_switch_the_operation_off) {
    fake_start();
    fake.wrong_bytes = true;
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "wrong bytes"), "'%s'", receipt.reason);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    receipt = run_trial(executor);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(fake.calls[FAKE_SUBMIT], submits, "it was asked again");
    cr_assert_eq(device_at(executor, 0).usable, 1);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, a_task_larger_than_the_device_takes_is_answered_elsewhere) {
    enum { ITEMS = 1 << 20 };
    fake_start();
    fake.max_alloc_bytes = 1 << 20;
    svmx_executor_t *executor = open_quiet_fake();
    float *numbers = calloc(3 * ITEMS, sizeof *numbers);
    for (unsigned i = 0; i < 2 * ITEMS; i++) numbers[ITEMS + i] = (float)i;
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, numbers, numbers + ITEMS, numbers + 2 * ITEMS, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (unsigned i = 0; i < ITEMS; i++) cr_assert_eq(numbers[i], numbers[ITEMS + i] + numbers[2 * ITEMS + i]);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_eq(run_trial(executor).device, 0, "small ones still go to the device");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    free(numbers);
    expect_all_returned();
}

Test(faults, a_reason_is_not_that_of_an_older_failure) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    cr_assert_not_null(strstr(run_trial(executor).reason, "submit told to fail"));
    fake.silent = true;
    fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + 1;
    fake.fail[FAKE_WAIT].count = 1;
    fake.fail[FAKE_WAIT].status = SVMX_ERR_BACKEND;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_not_null(strstr(receipt.reason, "SVMX_ERR_BACKEND"));
    cr_assert_null(strstr(receipt.reason, "submit told to fail"), "'%s'", receipt.reason);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, work_is_redone_on_simd_where_it_is_loaded) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    fake_start();
    struct svmx_options options = fake_options();
    options.backends = "fake";
    options.log = silent;
    options.backend_path = path ? path : "/nonexistent";
    svmx_executor_t *executor = open_with(&options);
    if (svmx_device_count(executor) < 3) {
        svmx_close(executor);
        cr_skip_test("no SIMD backend here");
    }
    cr_assert_str_eq(device_at(executor, 1).backend, "simd");
    fake.fail[FAKE_SUBMIT].from = 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- deadlines ------------------------------------------------------------------------------------------------ */

/* After a hang: the device is off, is never closed, and keeps what it had. */
static void expect_abandoned(void) {
    cr_assert_eq(fake.closes, 0, "an instance with an open ticket was closed");
    cr_assert_gt(fake.memories, 0, "memory that a ticket uses was freed");
    cr_assert_gt(fake.pipelines, 0, "a pipeline that a ticket uses was freed");
}

Test(faults, a_hang_costs_the_deadline_and_the_device) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.gate_closed = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "timeout"), "'%s'", receipt.reason);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    for (int i = 0; i < 3; i++) {
        receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 1);
        cr_assert_eq(receipt.redone, 0);
    }
    cr_assert_eq(fake.calls[FAKE_SUBMIT], submits, "a device that was given up got work");
    svmx_close(executor);
    expect_abandoned();
}

Test(faults, a_wait_that_always_says_timeout_at_once_is_asked_until_the_deadline) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    fake.gate_closed = fake.forgets_gate = true;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    cr_assert_eq(run_trial(executor).redone, 1);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long ms = (long)(after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
    cr_assert_geq(ms, TIMEOUT_MS - 1);
    svmx_close(executor);
    expect_abandoned();
}

Test(faults, a_hang_in_the_self_test_leaves_the_pipeline_to_the_device) {
    fake_start();
    fake.gate_closed = true;
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_gt(fake.pipelines, 0, "pipeline_free while a ticket that runs it is open");
    cr_assert_eq(fake_finish_late(), 1);
    svmx_close(executor);
    expect_abandoned();
}

Test(faults, a_driver_that_wakes_up_late_harms_nobody) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake.gate_closed = true;
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(batch);
    trial_fill(&trial, 99); /* the memory is the caller's again */
    svmx_close(executor);
    cr_assert_eq(fake_finish_late(), 1);
    cr_assert(trial_is_untouched(&trial), "a late device wrote into the caller's memory");
    expect_abandoned();
}

/* The same for a device that works on host memory but in its own time. */
Test(faults, a_late_device_on_host_memory_harms_nobody) {
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY;
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    fake.gate_closed = true;
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    trial_fill(&trial, 99);
    (void)fake_finish_late();
    cr_assert(trial_is_untouched(&trial), "a late device wrote into the caller's memory");
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(faults, upcalls_of_an_abandoned_backend_after_close_are_harmless) {
    fake_start();
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    char *variant = strdup("scalar");
    options.variant = variant;
    svmx_executor_t *executor = open_with(&options);
    free(variant);
    fake.gate_closed = true;
    cr_assert_eq(run_trial(executor).redone, 1);
    svmx_close(executor);
    const struct svmx_host *host = fake.host; /* its thread wakes up now */
    host->log(host, SVMX_LOG_ERROR, "I am late");
    cr_assert_neq(host->now(host), 0);
    (void)host->option(host, "variant");
    (void)host->option(host, "threads");
    void *memory = host->alloc(host, 100, 64);
    cr_assert_not_null(memory);
    host->release(host, memory);
}

Test(faults, batches_behind_a_hang_do_not_wait_for_deadlines_of_their_own) {
    enum { BATCHES = 12 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    fake.gate_closed = true;
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batches[i], 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, 1);
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1, "%u submits to a device that hangs",
                 fake.calls[FAKE_SUBMIT] - submits);
    svmx_close(executor);
    expect_abandoned();
}

Test(faults, batches_behind_a_lost_device_do_not_go_to_it) {
    enum { BATCHES = 6 };
    static struct trial trials[BATCHES];
    svmx_batch_t *batches[BATCHES];
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    fake_gate(true);
    pthread_mutex_lock(&fake.lock);
    unsigned submits = fake.calls[FAKE_SUBMIT];
    fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + 1;
    fake.fail[FAKE_WAIT].count = FAKE_ALL;
    fake.fail[FAKE_WAIT].status = SVMX_ERR_DEVICE_LOST;
    pthread_mutex_unlock(&fake.lock);
    for (int i = 0; i < BATCHES; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        cr_assert(trial_is_right(&trials[i]));
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, 1, "%u submits to a device that is gone",
                 fake.calls[FAKE_SUBMIT] - submits);
    svmx_close(executor);
    expect_all_returned(); /* lost is not hung: it lets go of what it has */
}

/* ---- the check plugin: every rule of the ABI, every scripted failure ---------------------------------------- */

struct complaints {
    pthread_mutex_t lock;
    unsigned count;
    char first[256];
};

/* What the plugin says of the core; that it was told to fail is no complaint. */
static void note_complaint(void *user, enum svmx_log_level level, const char *text) {
    struct complaints *complaints = user;
    (void)level;
    if (!strstr(text, "check: check: ") || strstr(text, "told to fail") || strstr(text, "is lost")) return;
    pthread_mutex_lock(&complaints->lock);
    if (complaints->count++ == 0) (void)snprintf(complaints->first, sizeof complaints->first, "%s", text);
    pthread_mutex_unlock(&complaints->lock);
}

/* All operations at a few sizes on the device, against the reference code; twice, so that the second goes through what
 * the first left behind. */
static void compare_with_reference(svmx_executor_t *executor, const char *script) {
    static const uint64_t sizes[] = {1, 33, 5000};
    struct svmx_options plain = plain_options();
    svmx_executor_t *reference = open_with(&plain);
    for (uint32_t op = 0; op < svmx_op_count(executor); op++) {
        for (uint32_t i = 0; i < 6; i++) {
            uint64_t expected_bytes = 0, bytes = 0;
            unsigned char *expected = example_run(reference, op, sizes[i % 3], i, &expected_bytes, NULL);
            unsigned char *outputs = example_run(executor, op, sizes[i % 3], i, &bytes, NULL);
            cr_assert(expected && outputs, "%s: operation %u fails", script, op);
            cr_assert_eq(bytes, expected_bytes);
            cr_assert_eq(memcmp(outputs, expected, bytes), 0, "%s: operation %u, size %u", script, op,
                         (unsigned)sizes[i % 3]);
            free(expected);
            free(outputs);
        }
    }
    svmx_close(reference);
}

static void run_script(const char *script, unsigned failures_at_least) {
    const char *path = getenv("SVMX_TEST_DRIVER_PATH");
    if (!path) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    struct complaints complaints = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char backends[128];
    (void)snprintf(backends, sizeof backends, "+check:%s,stop", script);
    struct svmx_options options = {.size = sizeof options,
                                   .backends = backends,
                                   .backend_path = path,
                                   .timeout_ms = 2000,
                                   .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                   .log_level = SVMX_LOG_ERROR,
                                   .log = note_complaint,
                                   .log_user = &complaints};
    if (strstr(script, "hang")) options.timeout_ms = TIMEOUT_MS;
    svmx_executor_t *executor = open_with(&options);
    compare_with_reference(executor, script);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_geq(stats.fallbacks, failures_at_least, "%s: %u fallbacks", script, (unsigned)stats.fallbacks);
    if (!failures_at_least) cr_assert_eq(stats.fallbacks, 0, "%s", script);
    svmx_close(executor);
    cr_assert_eq(complaints.count, 0, "%s: %s", script, complaints.first);
}

Test(faults, check_plain) { run_script("plain", 0); }
Test(faults, check_slow_is_no_failure) { run_script("submit@3=slow;wait@5=slow", 0); }
Test(faults, check_memory_alloc_lost) { run_script("memory_alloc@7=lost", 1); }

Test(faults, check_every_call_with_every_status) {
    static const char *const calls[] = {"memory_alloc", "pipeline_build", "submit", "wait", "dispatch"};
    static const char *const effects[] = {"backend", "memory", "system", "lost"};
    char script[64];
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t e = 0; e < sizeof effects / sizeof *effects; e++)
            for (int n = 1; n <= 5; n++) {
                (void)snprintf(script, sizeof script, "%s@%d=%s", calls[c], n, effects[e]);
                run_script(script, 1);
            }
}

Test(faults, check_always_failing) {
    static const char *const scripts[] = {"memory_alloc@all=memory", "pipeline_build@all=backend",
                                          "submit@all=backend", "wait@all=backend", "dispatch@all=bitflip"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_script(scripts[i], 1);
}

Test(faults, check_hanging) {
    static const char *const scripts[] = {"submit@1=hang", "submit@2=hang", "submit@3=hang", "wait@4=hang"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_script(scripts[i], 1);
}

Test(faults, check_two_devices_and_the_first_is_lost) { run_script("submit@4=lost,check:plain", 1); }
