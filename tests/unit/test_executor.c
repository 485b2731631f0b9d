/*
 * test_executor.c: opening and closing, devices in order, executors that share nothing, answers in any floating-point
 * environment of the caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../integration/fake.h"
#include "../integration/trial.h"
#include "executor/executor.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static svmx_executor_t *open_with(struct svmx_options options) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {0};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static bool runs(svmx_executor_t *executor) {
    struct trial trial;
    svmx_batch_t *batch;
    trial_fill(&trial, 3);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    enum svmx_status status = svmx_run(batch);
    svmx_batch_destroy(batch);
    return status == SVMX_OK && trial_is_right(&trial);
}

Test(executor, open_and_close_again_and_again) {
    for (int i = 0; i < 50; i++) {
        fake_start();
        svmx_executor_t *executor = open_with(fake_options());
        if (i % 2) cr_assert(runs(executor));
        svmx_close(executor);
        cr_assert_eq(fake.closes, 1);
        cr_assert_eq(fake.memories + fake.pipelines, 0);
    }
}

Test(executor, options_are_copied) {
    char backends[] = "none", path[] = "/nonexistent";
    struct svmx_options options = plain_options();
    options.backends = backends;
    options.backend_path = path;
    svmx_executor_t *executor = open_with(options);
    memset(backends, 'x', sizeof backends - 1);
    memset(path, 'x', sizeof path - 1);
    memset(&options, 0xff, sizeof options);
    struct svmx_config_entry entry = {.size = sizeof entry};
    cr_assert_eq(svmx_config_get(executor, SVMX__BACKENDS, &entry), SVMX_OK);
    cr_assert_str_eq(entry.value, "none");
    cr_assert(runs(executor));
    svmx_close(executor);
}

Test(executor, options_of_an_older_version_are_shorter) {
    struct svmx_options options = plain_options();
    options.size = offsetof(struct svmx_options, static_plugins);
    options.static_plugins = (const struct svmx_plugin *const *)8; /* past its end: not looked at */
    options.static_plugin_count = 99;
    svmx_executor_t *executor = open_with(options);
    cr_assert(runs(executor));
    svmx_close(executor);
}

Test(executor, the_defaults_open_without_options) {
    setenv("SUPERVM_BACKENDS", "none", 1);
    setenv("SUPERVM_BACKEND_PATH", "/nonexistent", 1);
    svmx_executor_t *executor = NULL;
    cr_assert_eq(svmx_open(&executor, NULL, NULL), SVMX_OK);
    cr_assert_eq(svmx_device_count(executor), 1);
    cr_assert(runs(executor));
    svmx_close(executor);
}

Test(executor, the_reference_is_the_last_device) {
    fake_start();
    svmx_executor_t *executor = open_with(fake_options());
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_count(executor), 2);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_str_eq(device.backend, "fake");
    cr_assert(device.flags & SVMX_DEVICE_TEST);
    cr_assert_eq(svmx_device_get(executor, 1, &device), SVMX_OK);
    cr_assert_str_eq(device.backend, "reference");
    svmx_close(executor);
}

Test(executor, a_device_that_is_demanded_and_not_there) {
    fake_start();
    struct svmx_options options = fake_options();
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {0};
    options.backends = "+fake:7";
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_ERR_UNKNOWN);
    cr_assert_not_null(strstr(error.text, "fake:7"), "%s", error.text);
    cr_assert_null(executor);
    cr_assert_eq(fake.opens, fake.closes, "what was opened is closed again");
}

Test(executor, two_of_them_share_nothing) {
    struct svmx_options options = plain_options();
    svmx_executor_t *first = open_with(options), *second = open_with(options);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert(runs(first));
    cr_assert_eq(svmx_stats_get(second, &stats), SVMX_OK);
    cr_assert_eq(stats.batches + stats.pipeline_misses + stats.pool_misses, 0);
    svmx_close(first);
    cr_assert(runs(second));
    svmx_close(second);
}

Test(executor, a_batch_outlives_its_executor) {
    svmx_executor_t *executor = open_with(plain_options());
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    svmx_close(executor);
    cr_assert_eq(svmx_run(batch), SVMX_ERR_CLOSED);
    svmx_batch_destroy(batch);
}

Test(executor, its_threads_take_no_signals) {
    fake_start();
    sigset_t before, after;
    memset(&before, 0, sizeof before); /* the kernel writes only what it knows */
    memset(&after, 0, sizeof after);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    svmx_executor_t *executor = open_with(fake_options());
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    cr_assert_eq(memcmp(&before, &after, sizeof before), 0, "the caller's mask was changed");
    char line[256];
    unsigned long long threads = 0;
    for (uint32_t i = 0; i < executor->device_count; i++) cr_assert(executor->devices[i].has_submitter);
    FILE *tasks = popen("grep -h -A0 SigBlk /proc/$PPID/task/*/status", "r");
    cr_assert_not_null(tasks);
    while (fgets(line, sizeof line, tasks)) threads += strtoull(line + 8, NULL, 16) >> (SIGUSR1 - 1) & 1;
    pclose(tasks);
    cr_assert_geq(threads, executor->device_count, "%llu threads block SIGUSR1", threads);
    svmx_close(executor);
}

/* ---- the caller's floating-point environment ------------------------------------------------------------------ */

/* Sums and products that every rounding mode gives another result for. */
static void expect_right_in_any_mode(svmx_executor_t *executor, const char *what) {
    enum { N = 1000 };
    static float sum[N], product[N], a[N], b[N], right_sum[N], right_product[N];
    svmx_batch_t *batch;
    for (int i = 0; i < N; i++) {
        a[i] = 1.0f / (float)(i + 3);
        b[i] = i % 5 ? -1e-7f * (float)(i + 1) : 1e-39f;
        volatile float x = a[i], y = b[i];
        right_sum[i] = x + y;
        right_product[i] = x * y;
    }
    memset(sum, 0, sizeof sum);
    memset(product, 0, sizeof product);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, sum, a, b, N), SVMX_OK);
    cr_assert_eq(svmx_vec_mul_f32(batch, product, a, b, N), SVMX_OK);
    int mode = fegetround();
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | 0x8040); /* denormals are zero, in and out */
#endif
    enum svmx_status status = svmx_run(batch);
#if defined(__SSE2__)
    _mm_setcsr(csr);
#endif
    fesetround(mode);
    cr_assert_eq(status, SVMX_OK);
    cr_assert_eq(memcmp(sum, right_sum, sizeof sum), 0, "%s: sums are not what they should be", what);
    cr_assert_eq(memcmp(product, right_product, sizeof product), 0, "%s: products are not what they should be", what);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.redone, 0, "%s: %s", what, receipt.reason);
    svmx_batch_destroy(batch);
}

Test(executor, first_use_in_another_rounding_mode_reference) {
    svmx_executor_t *executor = open_with(plain_options());
    expect_right_in_any_mode(executor, "reference");
    svmx_close(executor);
}

Test(executor, first_use_in_another_rounding_mode_simd) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    if (!path) cr_skip_test("SVMX_TEST_BACKEND_PATH does not say where backends are");
    struct svmx_options options = {.size = sizeof options, .backend_path = path, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *executor = open_with(options);
    if (svmx_device_count(executor) < 2) {
        svmx_close(executor);
        cr_skip_test("no SIMD backend here");
    }
    expect_right_in_any_mode(executor, "simd");
    svmx_close(executor);
}
