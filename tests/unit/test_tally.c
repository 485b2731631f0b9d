/*
 * test_tally.c: numbers by operation and device are exactly what was run. Devices that fail: integration/test_watching.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

#include "base/versioned.h"
#include <pthread.h>

TestSuite(tally, .init = set_up, .fini = tear_down);

enum { ITEMS = 16 };
static float out[3][ITEMS], in[ITEMS];

static struct svmx_op_stats stats_of(uint32_t op, uint32_t device) {
    struct svmx_op_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_op_stats_get(executor, op, device, &stats), SVMX_OK);
    return stats;
}

static uint64_t sum_of(const uint64_t *counts, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += counts[i];
    return sum;
}

/* So many batches of three additions and a sum. */
static void run_batches(svmx_batch_t *of, float (*to)[ITEMS], float *total, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        for (int t = 0; t < 3; t++) cr_assert_eq(svmx_vec_add_f32(of, to[t], in, in, ITEMS), SVMX_OK);
        cr_assert_eq(svmx_sum_f32(of, total, in, ITEMS), SVMX_OK);
        cr_assert_eq(svmx_run(of), SVMX_OK);
        cr_assert_eq(svmx_batch_reset(of), SVMX_OK);
    }
}

Test(tally, nothing_was_run) {
    static const struct svmx_op_stats none = {.size = sizeof none};
    struct svmx_op_stats stats = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_eq(memcmp(&stats, &none, sizeof none), 0);
}

Test(tally, what_was_found_in_caches_by_operation) {
    struct svmx_stats all = {.size = sizeof all};
    float total;
    run_batches(batch, out, &total, 1);
    const struct svmx_op_stats first = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_geq(first.pipeline_misses, 1, "it was built");
    cr_assert_geq(first.layout_misses, 1);
    run_batches(batch, out, &total, 5);
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0), sum = stats_of(SVMX_OP_SUM_F32, 0);
    cr_assert_eq(add.pipeline_hits - first.pipeline_hits, 5);
    cr_assert_eq(add.layout_hits - first.layout_hits, 5);
    cr_assert_eq(add.pipeline_misses, first.pipeline_misses);
    cr_assert_eq(add.layout_misses, first.layout_misses);
    cr_assert_eq(stats_of(SVMX_OP_DOT_F32, 0).pipeline_hits, 0);
    cr_assert_eq(svmx_stats_get(executor, &all), SVMX_OK);
    cr_assert_eq(all.pipeline_hits, add.pipeline_hits + sum.pipeline_hits, "all is the sum");
    cr_assert_eq(all.layout_misses, add.layout_misses + sum.layout_misses);
}

Test(tally, by_operation) {
    float total;
    run_batches(batch, out, &total, 5);
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0), sum = stats_of(SVMX_OP_SUM_F32, 0);
    cr_assert_eq(add.parts, 5);
    cr_assert_eq(add.launches, 5);
    cr_assert_eq(add.tasks, 15);
    cr_assert_eq(add.bytes_in, 15 * 2 * ITEMS * 4);
    cr_assert_eq(add.bytes_out, 15 * ITEMS * 4);
    cr_assert_eq(sum.parts, 5);
    cr_assert_eq(sum.tasks, 5);
    cr_assert_eq(sum.bytes_in, 5 * ITEMS * 4);
    cr_assert_eq(sum.bytes_out, 5 * 4);
    cr_assert_eq(stats_of(SVMX_OP_DOT_F32, 0).parts, 0);
    cr_assert_eq(add.decisions[SVMX_WHY_ONLY], 5);
    cr_assert_eq(sum_of(add.decisions, SVMX_WHY_LINES), 5);
    cr_assert_eq(sum_of(add.latency, SVMX_LATENCY_LINES), 5, "each part has one latency");
    cr_assert_eq(sum_of(add.failures, SVMX_FAILURE_LINES), 0);
    cr_assert_gt(add.run_ns, 0);
    cr_assert_eq(add.compute_ns, add.run_ns, "in the caller's memory all of it is computing");
    cr_assert_eq(add.wait_ns + add.stage_ns + add.collect_ns + add.setup_ns + add.transfer_ns, 0);
}

Test(tally, receipts_have_the_same_sums) {
    float total;
    uint64_t from = 0, run_ns = 0, line[SVMX_LATENCY_LINES] = {0};
    struct svmx_receipt receipts[64] = {{.size = sizeof *receipts}};
    size_t count;
    run_batches(batch, out, &total, 7);
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 64, &count), SVMX_OK);
    cr_assert_eq(count, 14);
    for (size_t i = 0; i < count; i++) {
        if (receipts[i].op != SVMX_OP_VEC_ADD_F32) continue;
        run_ns += receipts[i].run_ns;
        line[svmx__log2_up(receipts[i].run_ns)]++;
    }
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_eq(add.run_ns, run_ns);
    cr_assert_eq(memcmp(add.latency, line, sizeof line), 0);
}

Test(tally, a_submitted_batch_waits) {
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_gt(add.wait_ns, 0);
    cr_assert_eq(add.wait_ns, receipt.wait_ns);
    cr_assert_eq(add.stage_ns, receipt.stage_ns);
    cr_assert_eq(add.collect_ns, receipt.collect_ns);
    cr_assert_eq(add.stage_ns + add.run_ns + add.collect_ns, add.setup_ns + add.transfer_ns + add.compute_ns);
}

/* ---- several at once on a device ------------------------------------------------------------------------------------ */

/* A launch that was handed over at 1 us, with two others; the one ahead of it was over at `ahead_ns`. */
static void tally_one(uint64_t ahead_ns, uint64_t done_ns, const struct svmx__sample *sample) {
    static struct svmx__part part;
    part = (struct svmx__part){.device = &executor->devices[0],
                               .op = svmx__operations_by_id(executor->operations, SVMX_OP_VEC_ADD_F32),
                               .launches = 1,
                               .queued_ns = 500,
                               .start_ns = 900,
                               .dispatch_ns = 1000,
                               .ahead_ns = ahead_ns,
                               .done_ns = done_ns,
                               .end_ns = done_ns + 10};
    part.device_ns = sample->transfer_ns ? sample->compute_ns + sample->transfer_ns : 0;
    svmx__tally_part(&part, sample);
}

/* Three launches of 5, 4 and 6 us, all handed over at once: 15 us, not 5 + 9 + 15. */
Test(tally, launches_in_a_window_count_one_after_another) {
    executor->devices[0].host_memory = false; /* it is asked for numbers only */
    tally_one(0, 6000, &(struct svmx__sample){.compute_ns = 5000});
    tally_one(6000, 10000, &(struct svmx__sample){.compute_ns = 4000});
    tally_one(10000, 16000, &(struct svmx__sample){.compute_ns = 6000});
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_eq(add.run_ns, 15000);
    cr_assert_eq(add.busy_ns, 15000);
    cr_assert_eq(add.compute_ns, 15000);
    cr_assert_eq(add.wait_ns, 3 * 400 + 5000 + 9000, "what was behind others waited");
    cr_assert_eq(add.wait_ns + add.stage_ns + add.run_ns + add.collect_ns, 5510 + 9510 + 15510, "nothing is lost");
    executor->devices[0].host_memory = true;
}

/* Copying bounds it: each computes for 1 us beside the copies of the next, which take 4 us. */
Test(tally, a_device_that_copies_is_busy_and_not_useful) {
    executor->devices[0].host_memory = false;
    for (uint64_t i = 0; i < 10; i++)
        tally_one(i ? 1000 + 4000 * i : 0, 5000 + 4000 * i,
                  &(struct svmx__sample){.transfer_ns = 4000, .compute_ns = 1000});
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_eq(add.busy_ns, 40000);
    cr_assert_eq(add.compute_ns, 10000);
    cr_assert_eq(add.transfer_ns, 40000);
    cr_assert_eq(add.device_ns, 50000, "its engines work beside each other");
    executor->devices[0].host_memory = true;
}

/* 3 of 10 us by its own clock; the rest is the driver's. */
Test(tally, a_device_is_busy_by_its_own_clock) {
    executor->devices[0].host_memory = false;
    tally_one(0, 11000, &(struct svmx__sample){.setup_ns = 7000, .transfer_ns = 1000, .compute_ns = 2000});
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, 0);
    cr_assert_eq(add.run_ns, 10000);
    cr_assert_eq(add.busy_ns, 3000);
    executor->devices[0].host_memory = true;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, BATCHES = 500 };

static void *run_many(void *unused) {
    float to[3][ITEMS], total;
    svmx_batch_t *own;
    (void)unused;
    cr_assert_eq(svmx_batch_create(executor, &own), SVMX_OK);
    run_batches(own, to, &total, BATCHES);
    svmx_batch_destroy(own);
    return NULL;
}

Test(tally, no_part_is_lost_between_threads) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, run_many, NULL), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    const struct svmx_op_stats add = stats_of(SVMX_OP_VEC_ADD_F32, SVMX_ALL_DEVICES);
    struct svmx_stats stats = {.size = sizeof stats};
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(add.parts, THREADS * BATCHES);
    cr_assert_eq(add.tasks, 3 * THREADS * BATCHES);
    cr_assert_eq(sum_of(add.latency, SVMX_LATENCY_LINES), THREADS * BATCHES);
    cr_assert_eq(stats.tasks, 4 * THREADS * BATCHES);
    cr_assert_eq(device.tasks, 4 * THREADS * BATCHES);
    cr_assert_eq(device.launches, 2 * THREADS * BATCHES);
    cr_assert_eq(stats.launches, device.launches);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

Test(tally, arguments) {
    struct svmx_op_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_op_stats_get(NULL, SVMX_OP_SUM_F32, 0, &stats), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_stats_get(executor, SVMX_OP_SUM_F32, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_stats_get(executor, UINT32_MAX, 0, &stats), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_op_stats_get(executor, SVMX_OP_SUM_F32, 1, &stats), SVMX_ERR_UNKNOWN);
    stats.size = offsetof(struct svmx_op_stats, regret_ppm);
    cr_assert_eq(svmx_op_stats_get(executor, SVMX_OP_SUM_F32, 0, &stats), SVMX_ERR_ARGUMENT);
}

Test(tally, a_later_version_with_a_longer_struct_is_served) {
    struct {
        struct svmx_op_stats stats;
        uint64_t more;
    } longer = {.stats.size = sizeof longer, .more = 42};
    cr_assert_eq(svmx_op_stats_get(executor, SVMX_OP_SUM_F32, 0, &longer.stats), SVMX_OK);
    cr_assert_eq(longer.more, 42);
}

Test(tally, failures_have_names) {
    cr_assert_str_eq(svmx_failure_name(SVMX_FAILED_BACKEND), "backend");
    cr_assert_str_eq(svmx_failure_name(SVMX_FAILED_MEMORY), "memory");
    cr_assert_str_eq(svmx_failure_name(SVMX_FAILURE_LINES), "unknown");
}
