/*
 * test_faults.c: devices that fail, answer wrongly or vanish, at every call of the plugin ABI. The answer is right
 * every time, the receipt says what happened, nothing is lost and later batches work.
 *
 * Two devices: the check plugin (tests/drivers/plugins/check.c, loaded as a user would), which looks at every rule of
 * the ABI and is told to fail by SUPERVM_BACKENDS=check:SCRIPT, and fake.h. Devices that hang: test_hangs.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faults_fixture.h"

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
    static const uint32_t sorts[] = {0, SVMX_DEVICE_SHARES_MEMORY, SVMX_DEVICE_INLINE,
                                     SVMX_DEVICE_INLINE | SVMX_DEVICE_SHARES_MEMORY,
                                     SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY};
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        fake_start();
        fake.flags = sorts[i];
        svmx_executor_t *executor = open_fake();
        cr_assert_eq(svmx_device_count(executor), 2, "flags %#x: not used", sorts[i]);
        struct svmx_receipt receipt = run_trial(executor);
        cr_assert_eq(receipt.device, 0, "flags %#x", sorts[i]);
        cr_assert_eq(receipt.redone, 0, "flags %#x: %s", sorts[i], receipt.reason);
        bool copies = !(sorts[i] & (SVMX_DEVICE_SHARES_MEMORY | SVMX_DEVICE_HOST_MEMORY));
        cr_assert_eq(fake.copies_in, copies ? fake.launches : 0);
        cr_assert_eq(fake.copies_out, copies ? fake.launches : 0);
        cr_assert_eq(receipt.readbacks, copies ? 1 : 0, "flags %#x: %u", sorts[i], receipt.readbacks);
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
        cr_assert_eq(status == SVMX_ERR_MEMORY        ? stats.fallbacks_memory
                     : status == SVMX_ERR_DEVICE_LOST ? stats.fallbacks_lost
                                                      : stats.fallbacks_error,
                     redone, "call %d number %u: another cause", (int)call, n);
        struct svmx_device device = device_at(executor, 0);
        cr_assert_eq(device.failures, redone);
        unsigned hit = fake.calls[call] >= n;
        /* Idle memory may be given back for an allocation; a trial that finds no memory is left out. */
        bool shrugged_off = status == SVMX_ERR_MEMORY;
        cr_assert(redone == hit || (shrugged_off && redone < hit), "call %d number %u: redone %u times", (int)call, n,
                  redone);
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

/* Proof of one operation is none of another, also where the plugin serves both with one pipeline. */
Test(faults, a_pipeline_that_was_proved_is_proved_again_for_another_operation) {
    float out[4], a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    fake_start();
    fake.one_pipeline = true;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0, "a sum");
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_mul_f32(batch, out, a, b, 4), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int i = 0; i < 4; i++) cr_assert_eq(out[i], a[i] * b[i], "%g", (double)out[i]);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 1);
    cr_assert_not_null(strstr(receipt.reason, "wrong bytes"), "'%s'", receipt.reason);
    svmx_batch_destroy(batch);
    cr_assert_eq(run_trial(executor).device, 0, "sums are still its own");
    svmx_close(executor);
    expect_all_returned();
}

static void *run_in_thread(void *user) {
    (void)run_trial(user);
    return NULL;
}

/* Two threads build for one key and get one pointer: the cache keeps one, the other build is freed as well. */
Test(faults, each_build_is_freed_once_when_two_threads_build_the_same) {
    enum { THREADS = 2 };
    pthread_t threads[THREADS];
    for (int one = 0; one <= 1; one++) {
        fake_start();
        fake.flags = SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY;
        fake.one_pipeline = one;
        fake.builders = THREADS;
        svmx_executor_t *executor = open_fake();
        for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, run_in_thread, executor), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        cr_assert_eq(fake.calls[FAKE_BUILD], THREADS);
        svmx_close(executor);
        expect_all_returned();
    }
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

static char way[512];

static void note_way(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level;
    if (strncmp(text, "way of ", 7) == 0) (void)snprintf(way, sizeof way, "%s", text);
}

Test(faults, debug_tells_the_way_of_every_launch_at_any_level) {
    fake_start();
    struct svmx_options options = fake_options();
    options.debug = 1;
    options.log = note_way;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_not_null(strstr(way, "way of vec_add_f32"), "'%s'", way);
    cr_assert_not_null(strstr(way, "-> fake: fake (first in order)"), "'%s'", way);
    cr_assert_null(strstr(way, "redone"), "'%s'", way);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_not_null(strstr(way, "-> reference: "), "'%s'", way);
    cr_assert_not_null(strstr(way, "redone: submit: SVMX_ERR_BACKEND: submit told to fail"), "'%s'", way);
    svmx_close(executor);
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
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    svmx_close(executor);
    expect_all_returned();
}

/* On the caller's memory in its own time: after a deadline it could write there. Such a device is not used at all. */
Test(faults, a_device_on_host_memory_that_is_not_inline_is_not_used) {
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(svmx_device_count(executor), 1);
    cr_assert_str_eq(device_at(executor, 0).backend, "reference");
    (void)run_trial(executor);
    cr_assert_eq(fake.calls[FAKE_SUBMIT], 0);
    svmx_close(executor);
    expect_all_returned();
}

/* It says that it is done at once, and is not. Seen in its first self-test, before it has memory of the caller's. */
Test(faults, a_device_on_host_memory_that_answers_a_ticket_is_given_up) {
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE;
    fake.ticket_first = true;
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "ticket"), "'%s'", receipt.reason);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    (void)run_trial(executor);
    cr_assert_eq(fake.calls[FAKE_SUBMIT], 1, "it was asked again");
    svmx_close(executor);
    expect_all_returned();
}

/* It kept the rule while it was tested. */
Test(faults, a_device_on_host_memory_that_answers_a_ticket_later_is_given_up) {
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.ticket_first = true;
    struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_not_null(strstr(receipt.reason, "ticket"), "'%s'", receipt.reason);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    cr_assert_eq(device_at(executor, 0).failures, 1);
    svmx_close(executor);
    expect_all_returned();
}

static void *open_gate_late(void *user) {
    fake_await(&fake.calls[FAKE_WAIT], 1);
    fake_gate(false);
    return user;
}

/* It is at work in the caller's memory: however short the deadline, it is waited for. */
Test(faults, a_ticket_of_a_device_on_host_memory_is_waited_for) {
    struct trial trial;
    pthread_t thread;
    fake_start();
    fake.flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE;
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0);
    fake.ticket_first = true;
    fake_gate(true);
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_set_timeout(batch, 1), SVMX_OK);
    cr_assert_eq(pthread_create(&thread, NULL, open_gate_late, NULL), 0);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    pthread_join(thread, NULL);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(device_at(executor, 0).usable, 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
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
    cr_assert_leq(fake.calls[FAKE_SUBMIT] - submits, WINDOW, "%u submits to a device that is gone",
                  fake.calls[FAKE_SUBMIT] - submits);
    svmx_close(executor);
    expect_all_returned(); /* lost is not hung: it lets go of what it has */
}

/* ---- the check plugin: every scripted failure ------------------------------------------------------------------- */

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
                /* Idle memory may be given back for it, and a trial that finds none is left out. */
                bool retried = strcmp(effects[e], "memory") == 0;
                (void)snprintf(script, sizeof script, "%s@%d=%s", calls[c], n, effects[e]);
                run_script(script, retried ? PERHAPS : 1);
            }
}

/* A backend that must be there and cannot be had is an error that names it; one that may be there is left out. */
Test(faults, check_open_and_device_info_with_every_status) {
    static const char *const calls[] = {"open", "device_info"};
    static const char *const effects[] = {"backend", "memory", "system", "lost", "unsupported"};
    const char *drivers = getenv("SVMX_TEST_DRIVER_PATH");
    if (!drivers) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++)
        for (size_t e = 0; e < sizeof effects / sizeof *effects; e++) {
            char backends[128];
            struct svmx_options options = plain_options();
            struct svmx_error error = {SVMX_OK, ""};
            svmx_executor_t *executor = NULL;
            options.backend_path = drivers;
            options.log = silent;
            options.backends = backends;
            (void)snprintf(backends, sizeof backends, "+check:%s@all=%s,stop", calls[c], effects[e]);
            cr_assert_lt(svmx_open(&executor, &options, &error), 0, "%s", backends);
            cr_assert_null(executor);
            cr_assert_not_null(strstr(error.text, "check"), "%s: '%s'", backends, error.text);
            options.backends = backends + 1; /* without the + */
            executor = open_with(&options);
            cr_assert_eq(svmx_device_count(executor), 1, "%s: a device is used that could not be had", backends + 1);
            compare_with_reference(executor, backends + 1);
            svmx_close(executor);
        }
}

/* What cannot be kept is compiled anew by the next process: no failure of the device. The second run finds what was kept. */
Test(faults, check_pipeline_binary_with_every_status) {
    static const char *const effects[] = {"backend", "memory", "system", "unsupported"};
    char folder[] = "/tmp/svmx-faults-XXXXXX", script[64], command[64];
    cr_assert_not_null(mkdtemp(folder));
    for (int again = 0; again < 2; again++) {
        run_script_with(NULL, folder, "plain", 0);
        for (size_t e = 0; e < sizeof effects / sizeof *effects; e++)
            for (int n = 1; n <= 3; n++) {
                (void)snprintf(script, sizeof script, "pipeline_binary@%d=%s", n, effects[e]);
                run_script_with(NULL, folder, script, 0);
            }
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

Test(faults, check_always_failing) {
    static const char *const scripts[] = {"memory_alloc@all=memory", "pipeline_build@all=backend", "submit@all=backend",
                                          "wait@all=backend", "dispatch@all=bitflip"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run_script(scripts[i], 1);
}

Test(faults, check_two_devices_and_the_first_is_lost) { run_script("submit@4=lost,check:plain", 1); }

/* ---- a device too small for a batch ------------------------------------------------------------------------------ */

static struct svmx_receipt run_sums(svmx_executor_t *executor, unsigned tasks, uint64_t floats) {
    float *memory = malloc(3 * tasks * floats * sizeof *memory);
    cr_assert_not_null(memory);
    float *a = memory + tasks * floats, *b = a + tasks * floats;
    for (uint64_t i = 0; i < tasks * floats; i++) {
        a[i] = (float)(i % 1000);
        b[i] = (float)(i % 77);
    }
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (unsigned t = 0; t < tasks; t++)
        cr_assert_eq(svmx_vec_add_f32(batch, memory + t * floats, a + t * floats, b + t * floats, floats), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (uint64_t i = 0; i < tasks * floats; i++) cr_assert_eq(memory[i], a[i] + b[i], "element %zu", (size_t)i);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    svmx_batch_destroy(batch);
    free(memory);
    return receipt;
}

Test(faults, what_is_too_large_for_a_device_is_halved) {
    fake_start();
    fake.max_alloc_bytes = 1 << 20; /* 16 tasks need 2 MB of inputs */
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipt = run_sums(executor, 16, 16384);
    cr_assert_eq(receipt.device, 0, "%s", receipt.reason);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(receipt.launches, 4, "%u launches", receipt.launches);
    cr_assert_eq(receipt.readbacks, 4, "%u readbacks", receipt.readbacks);
    cr_assert_eq(receipt.copied_bytes, 3 * 16 * 16384 * sizeof(float));
    cr_assert_eq(device_at(executor, 0).launches, 4);
    receipt = run_sums(executor, 1, 1 << 20); /* a task is not cut */
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- parts side by side ----------------------------------------------------------------------------------------- */

static void prewarm_it(svmx_executor_t *executor, const char *name) {
    uint32_t op;
    cr_assert_eq(svmx_op_find(executor, name, &op, NULL), SVMX_OK);
    (void)svmx_prewarm(executor, op, 1); /* the device may refuse */
}

/* The caller's thread is busy with the first part while the second fails on the device and goes to the reference code: it is
 * not the caller's for that, and the third, which is, has its turn. */
Test(faults, a_part_that_is_redone_takes_the_turn_of_no_other) {
    enum { MANY = 4000000 };
    static float many[MANY];
    struct trial trial;
    float sum = -1, greatest = -1;
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    prewarm_it(executor, "vec_add_f32");
    fake.fail[FAKE_BUILD].from = fake.calls[FAKE_BUILD] + 1;
    fake.fail[FAKE_BUILD].count = 100;
    fake.fail[FAKE_BUILD].status = SVMX_ERR_UNSUPPORTED;
    prewarm_it(executor, "sum_f32");
    prewarm_it(executor, "max_f32");
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    for (unsigned i = 0; i < MANY; i++) many[i] = 1.0f;
    trial_fill(&trial, 5);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_sum_f32(batch, &sum, many, MANY), SVMX_OK);
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_max_f32(batch, &greatest, many, 100), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_expect_eq(sum, (float)MANY);
    cr_expect(trial_is_right(&trial));
    cr_expect_eq(greatest, 1.0f);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 1, &receipt), SVMX_OK);
    cr_expect_eq(receipt.redone, 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- a plugin that says OK and gives nothing ---------------------------------------------------------------------- */

Test(faults, memory_without_an_address_costs_time_only) {
    fake_start();
    fake.no_address = true;
    svmx_executor_t *executor = open_quiet_fake();
    const struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    svmx_close(executor);
    expect_all_returned();
}

Test(faults, a_build_that_gives_no_pipeline_costs_time_only) {
    fake_start();
    fake.no_pipeline = true;
    svmx_executor_t *executor = open_quiet_fake();
    const struct svmx_receipt receipt = run_trial(executor);
    cr_assert_eq(receipt.device, 1);
    cr_assert_not_null(strstr(receipt.reason, "gave no pipeline"), "'%s'", receipt.reason);
    svmx_close(executor);
    expect_all_returned();
}
