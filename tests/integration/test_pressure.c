/*
 * test_pressure.c: devices that have much to do, or little memory left: at the warning level new work goes elsewhere, at the
 * critical one they get none, and they come back by themselves.
 *
 * Device 0 is that of fake.h, device 1 that of liar.h, which does not lie here, the last one the reference code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"
#include "liar.h"

enum { DEPTH = 20, WARNING = 14, CRITICAL = 18 }; /* 70 % and 90 % of it */

static const struct svmx_plugin *const both[] = {&fake_plugin, &liar_plugin};

static uint32_t narrow; /* submissions that device 0 takes at once; 0: it does not tell */

/* With the gate closed nothing that goes to device 0 ends. */
static svmx_executor_t *open_pressed(const char *backends, uint64_t memory_bytes) {
    struct svmx_options options = fake_options();
    fake_start();
    fake.memory_bytes = memory_bytes;
    fake.max_in_flight = narrow;
    options.backends = backends;
    options.static_plugins = both;
    options.static_plugin_count = 2;
    options.queue_depth = DEPTH;
    options.timeout_ms = 3600000;
    svmx_executor_t *executor = open_with(&options);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS), SVMX_OK);
    cr_assert_eq(run_trial(executor).device, 0);
    return executor;
}

struct queued {
    struct trial trial;
    svmx_batch_t *batch;
};

static void submit(svmx_executor_t *executor, struct queued *queued) {
    queued->batch = batch_of(executor, &queued->trial);
    cr_assert_eq(svmx_submit(queued->batch, SVMX_SUBMIT_NONBLOCK), SVMX_OK);
}

/* Waits for it and gives its receipt. */
static struct svmx_receipt take(struct queued *queued) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_wait(queued->batch, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&queued->trial));
    cr_assert_eq(svmx_receipt_get(queued->batch, 0, &receipt), SVMX_OK);
    svmx_batch_destroy(queued->batch);
    return receipt;
}

static void close_clean(svmx_executor_t *executor) {
    svmx_close(executor);
    expect_all_returned();
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

Test(pressure, from_the_warning_level_on_work_goes_elsewhere_and_comes_back) {
    svmx_executor_t *executor = open_pressed("fake,liar,stop", 0);
    static struct queued queued[WARNING + 3];
    fake_gate(true);
    for (uint32_t i = 0; i < WARNING; i++) {
        cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_NORMAL, "%u", i);
        submit(executor, &queued[i]);
        cr_assert_eq(device_at(executor, 0).pending, i + 1);
    }
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_WARNING);
    for (uint32_t i = WARNING; i < WARNING + 3; i++) {
        submit(executor, &queued[i]);
        struct svmx_receipt receipt = take(&queued[i]);
        cr_assert_eq(receipt.device, 1, "it waits behind the gate");
        cr_assert_eq(receipt.candidates[0].verdict, SVMX_OVERLOADED);
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.overloads, 3);
    fake_gate(false);
    for (uint32_t i = 0; i < WARNING; i++) cr_assert_eq(take(&queued[i]).device, 0, "%u", i);
    cr_assert_eq(run_trial(executor).device, 0, "it does not come back");
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_NORMAL);
    cr_assert_eq(device_at(executor, 0).pending, 0);
    close_clean(executor);
}

/* A device that takes one submission at a time has its own limit, below queue_depth: 16. */
Test(pressure, the_limit_of_a_device_counts_before_that_of_all) {
    enum { OWN = 16, OWN_WARNING = 12 }; /* 70 % of it is 11.2 */
    static struct queued queued[OWN_WARNING + 1];
    narrow = 1;
    svmx_executor_t *executor = open_pressed("fake,liar,stop", 0);
    fake_gate(true);
    for (uint32_t i = 0; i < OWN_WARNING; i++) {
        cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_NORMAL, "%u", i);
        submit(executor, &queued[i]);
    }
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_WARNING);
    submit(executor, &queued[OWN_WARNING]);
    cr_assert_eq(take(&queued[OWN_WARNING]).device, 1, "it waits behind the gate");
    fake_gate(false);
    for (uint32_t i = 0; i < OWN_WARNING; i++) cr_assert_eq(take(&queued[i]).device, 0, "%u", i);
    close_clean(executor);
}

/* Nobody else is there but the reference code: between the levels it is not asked. */
Test(pressure, only_at_the_critical_level_is_work_refused) {
    svmx_executor_t *executor = open_pressed("fake,stop", 0);
    static struct queued queued[CRITICAL + 1];
    fake_gate(true);
    for (uint32_t i = 0; i < CRITICAL; i++) submit(executor, &queued[i]);
    cr_assert_eq(device_at(executor, 0).pending, CRITICAL);
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_CRITICAL);
    submit(executor, &queued[CRITICAL]);
    struct svmx_receipt receipt = take(&queued[CRITICAL]);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.candidates[0].verdict, SVMX_OVERLOADED);
    fake_gate(false);
    for (uint32_t i = 0; i < CRITICAL; i++) cr_assert_eq(take(&queued[i]).device, 0, "%u", i);
    close_clean(executor);
}

/* There never is anybody else: what is full pushes back, by svmx_submit. */
Test(pressure, under_the_policy_gpu_work_waits) {
    svmx_executor_t *executor = open_pressed("fake,liar,stop", 0);
    static struct queued queued[DEPTH];
    struct trial one_more;
    fake_gate(true);
    for (uint32_t i = 0; i < DEPTH; i++) {
        queued[i].batch = batch_of(executor, &queued[i].trial);
        cr_assert_eq(svmx_batch_set_policy(queued[i].batch, SVMX_POLICY_GPU), SVMX_OK);
        cr_assert_eq(svmx_submit(queued[i].batch, SVMX_SUBMIT_NONBLOCK), SVMX_OK);
    }
    svmx_batch_t *batch = batch_of(executor, &one_more);
    cr_assert_eq(svmx_submit(batch, SVMX_SUBMIT_NONBLOCK), SVMX_BUSY);
    svmx_batch_destroy(batch);
    fake_gate(false);
    for (uint32_t i = 0; i < DEPTH; i++) cr_assert_eq(take(&queued[i]).device, 0, "%u", i);
    close_clean(executor);
}

Test(pressure, what_is_cancelled_does_not_count) {
    svmx_executor_t *executor = open_pressed("fake,liar,stop", 0);
    static struct queued queued[WARNING];
    fake_gate(true);
    for (uint32_t i = 0; i < WARNING; i++) submit(executor, &queued[i]);
    for (uint32_t i = 1; i < WARNING; i++) (void)svmx_cancel(queued[i].batch); /* but for one that has started */
    fake_gate(false);
    for (uint32_t i = 0; i < WARNING; i++) {
        (void)svmx_wait(queued[i].batch, UINT64_MAX);
        svmx_batch_destroy(queued[i].batch);
    }
    cr_assert_eq(device_at(executor, 0).pending, 0);
    cr_assert_eq(run_trial(executor).device, 0);
    close_clean(executor);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { MEMORY = 64 << 20 };

/* Shares of the device's own memory, held by a batch of the caller's. */
Test(pressure, memory_in_use_is_looked_at_too) {
    static const struct {
        uint64_t bytes;
        uint32_t load, device;
    } steps[] = {{32 << 20, SVMX_LOAD_NORMAL, 0}, {16 << 20, SVMX_LOAD_WARNING, 1}, {16 << 20, SVMX_LOAD_CRITICAL, 1}};
    svmx_executor_t *executor = open_pressed("fake,liar,stop", MEMORY);
    svmx_batch_t *holders[3];
    for (size_t i = 0; i < 3; i++) {
        void *memory;
        cr_assert_eq(svmx_batch_create(executor, &holders[i]), SVMX_OK);
        cr_assert_eq(svmx_batch_alloc(holders[i], steps[i].bytes, &memory), SVMX_OK);
        cr_assert_eq(device_at(executor, 0).load, steps[i].load, "step %zu", i);
        cr_assert_geq(device_at(executor, 0).memory_used, steps[i].bytes);
        cr_assert_eq(run_trial(executor).device, steps[i].device, "step %zu", i);
    }
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_gt(device_at(executor, 0).pool_idle_bytes, 0, "what the first batch had");
    svmx_batch_destroy(holders[0]);
    while (device_at(executor, 0).pool_idle_bytes) usleep(1000); /* a device without memory to spare keeps none idle */
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_gt(stats.pool_evictions, 1);
    cr_assert_eq(fake_count(&fake.foreign_frees), 0, "a caller's thread freed memory");
    for (size_t i = 1; i < 3; i++) svmx_batch_destroy(holders[i]);
    cr_assert_eq(device_at(executor, 0).memory_used, 0, "what is idle is in use by nobody");
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_NORMAL);
    cr_assert_eq(run_trial(executor).device, 0);
    cr_assert_gt(device_at(executor, 0).pool_idle_bytes, 0, "and now it does again");
    close_clean(executor);
}

Test(pressure, a_device_that_tells_of_no_limit_has_none) {
    svmx_executor_t *executor = open_pressed("fake,liar,stop", 0);
    svmx_batch_t *holder;
    void *memory;
    cr_assert_eq(svmx_batch_create(executor, &holder), SVMX_OK);
    cr_assert_eq(svmx_batch_alloc(holder, MEMORY, &memory), SVMX_OK);
    cr_assert_eq(device_at(executor, 0).load, SVMX_LOAD_NORMAL);
    cr_assert_eq(run_trial(executor).device, 0);
    svmx_batch_destroy(holder);
    close_clean(executor);
}
