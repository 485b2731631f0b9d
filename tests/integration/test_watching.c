/*
 * test_watching.c: what counters say of devices that fail, hang, give wrong bytes or have no memory: each failure by its
 * reason, the last ones with their receipts, and what waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "faults_fixture.h"

#include "../stats_taken.h" /* below: its names are plain */

static struct svmx_op_stats stats_of(const svmx_executor_t *executor, uint32_t op, uint32_t device) {
    struct svmx_op_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_op_stats_get(executor, op, device, &stats), SVMX_OK);
    return stats;
}

/* Of all operations on a device. */
static uint64_t failures_of(const svmx_executor_t *executor, uint32_t device, enum svmx_failure failure) {
    uint64_t sum = 0;
    struct svmx_op op = {.size = sizeof op};
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++)
        sum += stats_of(executor, op.id, device).failures[failure];
    return sum;
}

static void expect_one_failure(enum svmx_status status, enum svmx_failure failure) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = status;
    cr_assert_eq(run_trial(executor).device, 1);
    for (uint32_t i = 0; i < SVMX_FAILURE_LINES; i++)
        cr_assert_eq(failures_of(executor, 0, i), i == failure, "%s: %s", svmx_status_name(status),
                     svmx_failure_name(i));
    cr_assert_eq(device_at(executor, 0).failures, 1);
    svmx_close(executor);
}

Test(watching, failures_by_reason) {
    expect_one_failure(SVMX_ERR_BACKEND, SVMX_FAILED_BACKEND);
    expect_one_failure(SVMX_ERR_DEVICE_LOST, SVMX_FAILED_DEVICE_LOST);
    expect_one_failure(SVMX_ERR_SYSTEM, SVMX_FAILED_BACKEND);
}

Test(watching, a_timeout_is_one) {
    abandons = true;
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake_gate(true);
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert_eq(failures_of(executor, 0, SVMX_FAILED_TIMEOUT), 1);
    fake_gate(false);
    svmx_close(executor);
}

Test(watching, no_memory_is_counted_by_the_pool_as_well) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    fake.fail[FAKE_ALLOC].from = 1;
    fake.fail[FAKE_ALLOC].count = FAKE_ALL;
    fake.fail[FAKE_ALLOC].status = SVMX_ERR_MEMORY;
    cr_assert_eq(run_trial(executor).device, 1);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_gt(stats.pool_refusals, 0);
    svmx_close(executor);
}

Test(watching, the_last_fallbacks_are_kept) {
    enum { MORE = 70 };
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    struct svmx_receipt receipts[MORE] = {{.size = sizeof *receipts}};
    uint64_t from = 0;
    size_t count;
    cr_assert_eq(run_trial(executor).redone, 0);
    cr_assert_eq(svmx_fallbacks_read(executor, &from, receipts, MORE, &count), SVMX_OK);
    cr_assert_eq(count, 0);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    const struct svmx_receipt failed = run_trial(executor);
    cr_assert_eq(failed.redone, 1);
    for (int i = 0; i < 2000; i++) (void)run_trial(executor); /* more than there are receipts */
    cr_assert_eq(svmx_fallbacks_read(executor, &from, receipts, MORE, &count), SVMX_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(from, 1);
    cr_assert_eq(receipts[0].time_ns, failed.time_ns);
    cr_assert_str_eq(receipts[0].reason, failed.reason);
    cr_assert_eq(svmx_fallbacks_read(executor, &from, receipts, MORE, &count), SVMX_OK);
    cr_assert_eq(count, 0, "they were read");
    svmx_close(executor);
}

/* What the structs say is in both texts. */
Test(watching, fallbacks_by_reason_are_in_the_texts) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    (void)run_trial(executor);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    cr_assert_eq(run_trial(executor).redone, 1);
    cr_assert(
        strstr(text_of(executor, SVMX_STATS_JSON),
               "\"fallbacks\":1,\"fallback_reasons\":{\"timeout\":0,\"lost\":0,\"memory\":0,\"wrong\":0,\"error\":1}"));
    cr_assert(strstr(text_of(executor, SVMX_STATS_PROMETHEUS), "\nsvmx_fallbacks_total{reason=\"error\"} 1\n"));
    cr_assert(strstr(text, "\nsvmx_fallbacks_total{reason=\"lost\"} 0\n"));
    svmx_close(executor);
}

Test(watching, comparisons_are_in_the_texts) {
    struct svmx_options options = fake_options();
    fake_start();
    options.verify = "full";
    options.log = silent;
    svmx_executor_t *executor = open_with(&options);
    (void)run_trial(executor);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_gt(stats.compared, 0);
    char line[64];
    (void)snprintf(line, sizeof line, "\nsvmx_compared_total %u\n", (unsigned)stats.compared);
    cr_assert(strstr(text_of(executor, SVMX_STATS_PROMETHEUS), line));
    cr_assert(strstr(text, "\nsvmx_differed_total 0\n"));
    (void)snprintf(line, sizeof line, "\"compared\":%u,\"differed\":0,", (unsigned)stats.compared);
    cr_assert(strstr(text_of(executor, SVMX_STATS_JSON), line));
    svmx_close(executor);
}

/* Three of four that may be under way are with the device, or wait for it. */
Test(watching, a_critical_load_is_in_the_texts) {
    struct trial trials[3];
    svmx_batch_t *batches[3];
    struct svmx_options options = fake_options();
    fake_start();
    options.timeout_ms = 60000;
    options.queue_depth = 4;
    options.load_warning = 50;
    options.load_critical = 75;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0);
    fake_gate(true);
    for (int i = 0; i < 3; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    cr_assert(strstr(text_of(executor, SVMX_STATS_PROMETHEUS),
                     "\nsvmx_device_load{device=\"fake:0\",state=\"critical\"} 1\n"));
    cr_assert(strstr(text, "\nsvmx_device_load{device=\"fake:0\",state=\"warning\"} 0\n"));
    cr_assert(strstr(text, "\nsvmx_device_pending{device=\"fake:0\"} 3\n"));
    cr_assert(strstr(text_of(executor, SVMX_STATS_JSON), "\"load\":\"critical\",\"pending\":3,"));
    fake_gate(false);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        svmx_batch_destroy(batches[i]);
    }
    cr_assert(strstr(text_of(executor, SVMX_STATS_JSON), "\"load\":\"normal\",\"pending\":0,"));
    svmx_close(executor);
}

Test(watching, what_waits_is_seen) {
    struct trial trials[3];
    svmx_batch_t *batches[3];
    struct svmx_options options = fake_options();
    fake_start();
    options.timeout_ms = 60000;
    options.window = 1;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(run_trial(executor).device, 0);
    fake_gate(true);
    for (int i = 0; i < 3; i++) {
        batches[i] = batch_of(executor, &trials[i]);
        cr_assert_eq(svmx_submit(batches[i], 0), SVMX_OK);
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.under_way, 3);
    cr_assert_eq(stats.queue_depth, 256);
    while (device_at(executor, 0).queued != 2) sched_yield(); /* the first is with the device */
    fake_gate(false);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx_wait(batches[i], UINT64_MAX), SVMX_OK);
        svmx_batch_destroy(batches[i]);
    }
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.under_way, 0);
    cr_assert_eq(device_at(executor, 0).queued, 0);
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_gt(device.pool_bytes, 0);
    cr_assert_geq(device.pool_bytes_peak, device.pool_bytes);
    cr_assert_eq(device.pool_idle_bytes, device.pool_bytes, "all is idle again");
    cr_assert_gt(device.wait_ns, 0);
    svmx_close(executor);
}

/* ---- health in the texts ----------------------------------------------------------------------------------------- */

Test(watching, a_device_that_is_lost_is_said_to_be) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_DEVICE_LOST;
    cr_assert_eq(run_trial(executor).device, 1);
    cr_assert(strstr(text_of(executor, SVMX_STATS_PROMETHEUS), "\nsvmx_device_usable{device=\"fake:0\"} 0\n"));
    cr_assert(strstr(text, "\nsvmx_device_health{device=\"fake:0\",state=\"lost\"} 1\n"));
    cr_assert(strstr(text, "\nsvmx_device_health{device=\"fake:0\",state=\"healthy\"} 0\n"));
    cr_assert(strstr(text, ",reason=\"device_lost\"} 1\n"));
    cr_assert(strstr(text_of(executor, SVMX_STATS_JSON), "\"usable\":false,\"health\":\"lost\",\"health_reason\":\""));
    svmx_close(executor);
}

Test(watching, strikes_are_shown) {
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = 2;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    for (int i = 0; i < 2; i++) cr_assert_eq(run_trial(executor).device, 1);
    cr_assert(strstr(text_of(executor, SVMX_STATS_PROMETHEUS), "\nsvmx_device_strikes{device=\"fake:0\"} 2\n"));
    cr_assert(strstr(text, "\nsvmx_device_health{device=\"fake:0\",state=\"suspect\"} 1\n"));
    svmx_close(executor);
}

Test(watching, a_batch_without_results_is_counted) {
    struct trial trial;
    struct svmx_options options = {.size = sizeof options, .backends = "none", .flags = SVMX_OPEN_NO_ENVIRONMENT};
    options.policy = "gpu";
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch = batch_of(executor, &trial);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_run(batch), SVMX_ERR_UNSUPPORTED);
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.failed, 1);
    cr_assert_eq(stats.batches, 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}
