/*
 * test_cuts.c: work that a device is expected to take long for goes there in several submissions, and is the same to its
 * caller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"
#include "faults_fixture.h"

enum { TASKS = 8, ITEMS = 40, LONG_MS = 250 };

/* A second device, so that there is something to choose and launches are learned from. It never gets work. */
static const struct svmx_plugin twin_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                               .size = sizeof(struct svmx_plugin),
                                               .abi_major = SVMX_ABI_MAJOR,
                                               .abi_minor = SVMX_ABI_MINOR,
                                               .name = "twin",
                                               .version = "1",
                                               .licence = "Apache-2.0",
                                               .open = fake_open};
static const struct svmx_plugin *const both_plugins[] = {&fake_plugin, &twin_plugin};

static svmx_executor_t *open_learning(void) {
    struct svmx_options options = fake_options();
    options.backends = "fake,twin,stop";
    options.static_plugins = both_plugins;
    options.static_plugin_count = 2;
    options.timeout_ms = 60000;
    options.timeout_min_ms = 60000;
    return open_with(&options);
}

static float a[TASKS][ITEMS], out[TASKS][ITEMS];

static svmx_batch_t *make_batch(svmx_executor_t *executor, int tasks) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (int t = 0; t < tasks; t++) {
        for (int i = 0; i < ITEMS; i++) a[t][i] = (float)(t * ITEMS + i);
        cr_assert_eq(svmx_vec_add_f32(batch, out[t], a[t], a[t], ITEMS), SVMX_OK);
    }
    cr_assert_eq(svmx_run(batch), SVMX_OK); /* with its self-tests */
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    return batch;
}

/* Runs it once more; how many launches that took. */
static unsigned run(svmx_batch_t *batch, int tasks) {
    const unsigned launches = fake_count(&fake.launches), before = fake_count(&fake.tasks);
    memset(out, 0, sizeof out);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < ITEMS; i++) cr_assert_eq(out[t][i], 2 * a[t][i], "task %d, item %d", t, i);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_eq(receipt.launches, fake_count(&fake.launches) - launches);
    cr_assert_eq(receipt.copied_bytes, 3u * (unsigned)tasks * sizeof *out, "each byte is copied once, in or out");
    cr_assert_eq(fake_count(&fake.tasks) - before, (unsigned)tasks, "each task is computed once");
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    return fake_count(&fake.launches) - launches;
}

/* Until it was learned how long such a launch takes. */
static void learn(svmx_batch_t *batch, int tasks) {
    (void)run(batch, tasks); /* with what is first-time in it */
    fake.delay_ms = LONG_MS;
    (void)run(batch, tasks);
}

Test(cuts, long_work_goes_in_several_submissions) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = make_batch(executor, TASKS);
    learn(batch, TASKS);
    unsigned launches = 1;
    for (int i = 0; i < 6 && launches == 1; i++) launches = run(batch, TASKS);
    cr_assert_gt(launches, 1, "never cut, although a launch takes %d ms", LONG_MS);
    cr_assert_leq(launches, TASKS);
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.fallbacks, 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* One task of an operation whose items are independent is cut between items. */
Test(cuts, a_long_elementwise_task_goes_in_several_submissions) {
    enum { MANY = 5000 };
    static float in[MANY], sum[MANY];
    svmx_batch_t *batch;
    fake_start();
    svmx_executor_t *executor = open_learning();
    for (int i = 0; i < MANY; i++) in[i] = (float)i;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, sum, in, in, MANY), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (int i = 0; i < 9 && receipt.launches < 2; i++) {
        if (i == 2) fake.delay_ms = LONG_MS;
        memset(sum, 0, sizeof sum);
        const unsigned launches = fake_count(&fake.launches);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int k = 0; k < MANY; k++) cr_assert_eq(sum[k], 2 * in[k], "run %d, item %d", i, k);
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, 0);
        cr_assert_eq(receipt.redone, 0);
        cr_assert_eq(receipt.copied_bytes, 3 * sizeof sum);
        if (i > 0) cr_assert_eq(receipt.launches, fake_count(&fake.launches) - launches);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    cr_assert_gt(receipt.launches, 1, "never cut, although a launch takes %d ms", LONG_MS);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(cuts, a_task_that_is_too_small_to_cut_is_whole) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = make_batch(executor, 1);
    learn(batch, 1);
    for (int i = 0; i < 4; i++) cr_assert_eq(run(batch, 1), 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(cuts, short_work_is_one_submission) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = make_batch(executor, TASKS);
    for (int i = 0; i < 6; i++) cr_assert_eq(run(batch, TASKS), 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* Where cuts are: alike in units, none empty, all tasks in one of them. */
Test(cuts, between_tasks_and_nowhere_else) {
    static const uint64_t units[][6] = {
        {0, 1, 2, 3, 4, 5}, {0, 100, 101, 102, 103, 104}, {0, 1, 2, 3, 4, 104}, {0, 0, 0, 0, 0, 0}, {0, 5, 5, 5, 5, 5}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        static const struct svmx__op whole;
        const struct svmx__part part = {.op = &whole, .task_count = 5, .first_unit = units[k], .units = units[k][5]};
        for (uint32_t count = 1; count <= 5; count++) {
            cr_assert_eq(svmx__slice_at(&part, 0, count), 0);
            cr_assert_eq(svmx__slice_at(&part, count, count), 5);
            for (uint32_t i = 0; i < count; i++)
                cr_assert_lt(svmx__slice_at(&part, i, count), svmx__slice_at(&part, i + 1, count), "row %zu, %u of %u",
                             k, i, count);
        }
    }
    const struct svmx__part even = {.task_count = 5, .first_unit = units[0], .units = 5};
    cr_assert_eq(svmx__slice_at(&even, 1, 2), 3);
}

/* Within tasks: alike, none empty, at multiples of 64 where elements are. */
Test(cuts, within_tasks_where_items_are_independent) {
    static const struct svmx__op elements = {.elementwise = true}, items = {.itemwise = true};
    static const uint64_t units[] = {0, 700, 1000};
    for (uint32_t count = 3; count <= 15; count++) {
        const struct svmx__part some = {.op = &elements, .task_count = 2, .first_unit = units, .units = 1000},
                                others = {.op = &items, .task_count = 2, .first_unit = units, .units = 1000};
        cr_assert(svmx__slices_within(&some, count));
        cr_assert_eq(svmx__slice_at(&some, count, count), 1000);
        for (uint32_t i = 0; i < count; i++) {
            cr_assert_eq(svmx__slice_at(&some, i, count) % 64, 0);
            cr_assert_lt(svmx__slice_at(&some, i, count), svmx__slice_at(&some, i + 1, count));
            cr_assert_lt(svmx__slice_at(&others, i, count), svmx__slice_at(&others, i + 1, count));
        }
    }
}

/* A device that fails in the midst of it is one failure, and everything is redone. */
Test(cuts, a_piece_that_fails_is_the_failure_of_all) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = make_batch(executor, TASKS);
    learn(batch, TASKS);
    while (run(batch, TASKS) == 1) continue;
    pthread_mutex_lock(&fake.lock);
    fake.silent = true;
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 2;
    fake.fail[FAKE_SUBMIT].count = 1;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
    pthread_mutex_unlock(&fake.lock);
    memset(out, 0, sizeof out);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (int t = 0; t < TASKS; t++)
        for (int i = 0; i < ITEMS; i++) cr_assert_eq(out[t][i], 2 * a[t][i]);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_eq(receipt.launches, 1, "what was thrown away is counted");
    svmx_batch_destroy(batch);
    svmx_close(executor);
}
