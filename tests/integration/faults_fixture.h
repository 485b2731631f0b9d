/*
 * faults_fixture.h: what the suites about failing devices share: an executor with the device of fake.h, one trial through
 * it, and the check plugin with a script.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAULTS_FIXTURE_H
#define FAULTS_FIXTURE_H

#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { TIMEOUT_MS = 40, WINDOW = 3 }; /* options.window is left at that */

static inline svmx_executor_t *open_with(const struct svmx_options *options) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error;
    cr_assert_eq(svmx_open(&executor, options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static inline svmx_executor_t *open_fake(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    return open_with(&options);
}

static inline void silent(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static inline svmx_executor_t *open_quiet_fake(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.log = silent;
    return open_with(&options);
}

static inline svmx_batch_t *batch_of(svmx_executor_t *executor, struct trial *trial) {
    svmx_batch_t *batch;
    trial_fill(trial, 5);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(trial_add(trial, batch), SVMX_OK);
    return batch;
}

/* Runs one trial through svmx_run, sees to it that its answer is right, and gives its receipt. */
static inline struct svmx_receipt run_trial(svmx_executor_t *executor) {
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert(trial_is_right(&trial), "a wrong answer");
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    svmx_batch_destroy(batch);
    return receipt;
}

static inline struct svmx_device device_at(svmx_executor_t *executor, uint32_t index) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, index, &device), SVMX_OK);
    return device;
}

static inline void expect_all_returned(void) {
    cr_assert_eq(fake.memories, 0, "%u memories were not given back", fake.memories);
    cr_assert_eq(fake.pipelines, 0, "%u pipelines were not given back", fake.pipelines);
    cr_assert_eq(fake.closes, fake.opens);
    cr_assert_null(fake.open, "a ticket was never waited for");
}

/* Runs something, which looks at its own results, with the first call of a kind failing, then with the second, until there is
 * none left to fail; `times`: so many calls in a row. All is given back each time. */
static inline void fail_each_call(enum fake_call call, enum svmx_status how, unsigned times,
                                  void (*run)(svmx_executor_t *executor)) {
    bool failed = true;
    for (unsigned at = 1; failed && at < 200; at++) {
        fake_start();
        fake.fail[call].from = at;
        fake.fail[call].count = times;
        fake.fail[call].status = how;
        svmx_executor_t *executor = open_quiet_fake();
        run(executor);
        failed = fake.calls[call] >= at;
        svmx_close(executor);
        expect_all_returned();
    }
    cr_assert(!failed, "there was no end of it");
}

/* ---- the check plugin: every rule of the ABI, every scripted failure ---------------------------------------- */

struct complaints {
    pthread_mutex_t lock;
    unsigned count;
    char first[256];
};

/* What the plugin says of the core; that it was told to fail is no complaint. */
static inline void note_complaint(void *user, enum svmx_log_level level, const char *text) {
    struct complaints *complaints = user;
    (void)level;
    if (!strstr(text, "check: check: ") || strstr(text, "told to fail") || strstr(text, "is lost")) return;
    pthread_mutex_lock(&complaints->lock);
    if (complaints->count++ == 0) (void)snprintf(complaints->first, sizeof complaints->first, "%s", text);
    pthread_mutex_unlock(&complaints->lock);
}

/* The first operations at a few sizes on the device, against the reference code; twice, so that the second goes through
 * what the first left behind. All operations on all devices: tests/contract. */
static inline void compare_with_reference(svmx_executor_t *executor, const char *script) {
    static const uint64_t sizes[] = {1, 33, 5000};
    struct svmx_options plain = plain_options();
    svmx_executor_t *reference = open_with(&plain);
    for (uint32_t op = 0; op < 6; op++) {
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

enum { PERHAPS = 1000 }; /* failures: the core may help itself */

/* `isolate`, `cache_dir`: as in options; svmx-host is found among the real plugins. */
static inline void run_script_with(const char *isolate, const char *cache_dir, const char *script, unsigned failures) {
    const char *drivers = getenv("SVMX_TEST_DRIVER_PATH"), *plugins = getenv("SVMX_TEST_BACKEND_PATH");
    if (!drivers || !plugins) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    struct complaints complaints = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char backends[128], path[8192];
    (void)snprintf(backends, sizeof backends, "+check:%s,stop", script);
    (void)snprintf(path, sizeof path, "%s:%s", drivers, plugins);
    struct svmx_options options = {.size = sizeof options,
                                   .backends = backends,
                                   .policy = "order",
                                   .backend_path = path,
                                   .timeout_ms = 2000,
                                   .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                   .log_level = SVMX_LOG_ERROR,
                                   .isolate = isolate,
                                   .cache_dir = cache_dir,
                                   .log = note_complaint,
                                   .log_user = &complaints};
    if (strstr(script, "hang") || strstr(script, "stuck")) options.timeout_ms = TIMEOUT_MS;
    svmx_executor_t *executor = open_with(&options);
    compare_with_reference(executor, script);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    if (failures != PERHAPS)
        cr_assert(failures ? stats.fallbacks >= failures : stats.fallbacks == 0, "%s: %u fallbacks", script,
                  (unsigned)stats.fallbacks);
    svmx_close(executor);
    cr_assert_eq(complaints.count, 0, "%s: %s", script, complaints.first);
}

static inline void run_script_in(const char *isolate, const char *script, unsigned failures) {
    run_script_with(isolate, NULL, script, failures);
}

static inline void run_script(const char *script, unsigned failures) { run_script_in(NULL, script, failures); }

#endif
