/*
 * test_cuts.c: work that a device is expected to take long for goes there in several submissions, and is the same to its
 * caller; and work that is cut over several devices: no chunk below a crossover, and each task once whenever it is cancelled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/lay.h"
#include "executor/stages.h"
#include "faults_fixture.h"

enum { TASKS = 8, ITEMS = 40, LONG_MS = 250 };

/* A second device, so that there is something to choose and launches are learned from. It never gets work. */
static svmx_executor_t *open_learning(void) {
    struct svmx_options options = fake_options();
    options.backends = "fake,twin,stop";
    options.static_plugins = fake_and_twin;
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

/* Results that are left to the library: in one piece of memory, also if the device fails in the midst of it. */
static void run_in_library(bool fails) {
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    fake_start();
    svmx_executor_t *executor = open_learning();
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (int t = 0; t < TASKS; t++) {
        for (int i = 0; i < ITEMS; i++) a[t][i] = (float)(t * ITEMS + i);
        const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, ITEMS), svmx_in(SVMX_F32, a[t], ITEMS),
                                        svmx_in(SVMX_F32, a[t], ITEMS)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    }
    bool cut = false, over = false;
    for (int run = 0; run < 12 && !over; run++) {
        if (run == 2) fake.delay_ms = LONG_MS;
        over = cut;
        pthread_mutex_lock(&fake.lock);
        fake.silent = true;
        fake.fail[FAKE_SUBMIT].from = cut && fails ? fake.calls[FAKE_SUBMIT] + 2 : 0;
        fake.fail[FAKE_SUBMIT].count = cut && fails;
        fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
        pthread_mutex_unlock(&fake.lock);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        for (int t = 0; t < TASKS; t++) {
            void *data = NULL;
            uint64_t bytes = 0;
            cr_assert_eq(svmx_result(batch, (uint32_t)t, 0, &data, &bytes), SVMX_OK);
            cr_assert_eq(bytes, sizeof *a);
            for (int i = 0; i < ITEMS; i++)
                cr_assert_eq(((const float *)data)[i], 2 * a[t][i], "run %d, task %d", run, t);
        }
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        cut = receipt.device == 0 && receipt.launches > 1;
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    cr_assert(over, "never cut, although a launch takes %d ms", LONG_MS);
    cr_assert_eq(receipt.redone, fails);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(cuts, results_that_are_left_to_the_library_are_cut_too) { run_in_library(false); }
Test(cuts, results_that_are_left_to_the_library_are_right_if_a_piece_fails) { run_in_library(true); }

/* Products of whole numbers, so that the expected ones are plain sums. */
enum { ROWS = 300, INNER = 5, COLUMNS = 40, PRODUCTS = 3 };
static float left[PRODUCTS][ROWS][INNER], right[PRODUCTS][INNER][COLUMNS], product[PRODUCTS][ROWS][COLUMNS];

static float element(int p, int i, int j) {
    float sum = 0;
    for (int k = 0; k < INNER; k++) sum += left[p][i][k] * right[p][k][j];
    return sum;
}

static void expect_products(int count) {
    for (int p = 0; p < count; p++)
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                cr_assert_eq(product[p][i][j], element(p, i, j), "product %d, row %d, column %d", p, i, j);
}

/* Until it is cut; how many launches it has then. */
static uint32_t launches_when_cut(svmx_executor_t *executor, svmx_batch_t *batch, int count) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (int i = 0; i < 9 && receipt.launches < 2; i++) {
        if (i == 2) fake.delay_ms = LONG_MS;
        memset(product, 0, sizeof product);
        const unsigned launches = fake_count(&fake.launches);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        expect_products(count);
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        cr_assert_eq(receipt.device, 0);
        cr_assert_eq(receipt.redone, 0);
        if (i > 0) cr_assert_eq(receipt.launches, fake_count(&fake.launches) - launches);
        cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return receipt.launches;
}

static svmx_batch_t *batch_of_products(svmx_executor_t *executor) {
    svmx_batch_t *batch;
    for (int i = 0; i < PRODUCTS * ROWS * INNER; i++) (&left[0][0][0])[i] = (float)(i % 17 - 8);
    for (int i = 0; i < PRODUCTS * INNER * COLUMNS; i++) (&right[0][0][0])[i] = (float)(i % 13 - 6);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    return batch;
}

/* Of 300 rows in groups of 128. */
Test(cuts, a_long_product_goes_by_rows) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = batch_of_products(executor);
    cr_assert_eq(svmx_matmul_f32(batch, product[0][0], left[0][0], right[0][0], ROWS, INNER, COLUMNS), SVMX_OK);
    cr_assert_eq(launches_when_cut(executor, batch, 1), 3);
}

Test(cuts, a_long_task_of_several_products_goes_by_products) {
    fake_start();
    svmx_executor_t *executor = open_learning();
    svmx_batch_t *batch = batch_of_products(executor);
    cr_assert_eq(svmx_matmul_batch_f32(batch, product[0][0], left[0][0], right[0][0], PRODUCTS, ROWS, INNER, COLUMNS),
                 SVMX_OK);
    cr_assert_eq(launches_when_cut(executor, batch, PRODUCTS), PRODUCTS);
}

/* All numbers of pieces: rows in order, each in one of them, and what a piece says of itself is what its check says. */
Test(cuts, rows_of_products_are_in_one_piece_each) {
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MATMUL_F32);
    for (uint64_t m = 1; m < 1000; m += 37) {
        struct svmx_slot slots[] = {
            {4096, m * 40 * 4}, {1 << 24, m * 5 * 4}, {1 << 25, 5 * 40 * 4}, {m, 8}, {5, 8}, {40, 8}};
        struct svmx__size size;
        struct svmx__text why;
        cr_assert_eq(op->check(slots, &size, &why), SVMX_OK);
        const uint64_t first_unit[] = {0, size.units};
        const struct svmx__part whole = {.op = op,
                                         .task_count = 1,
                                         .slots = slots,
                                         .first_unit = first_unit,
                                         .units = size.units,
                                         .work = size.work};
        const uint64_t most = svmx__cuts_by_rows(&whole);
        cr_assert_eq(most, (m + 127) / 128);
        for (uint32_t count = 2; count <= most; count++) {
            uint64_t rows = 0;
            for (uint32_t i = 0; i < count; i++) {
                struct svmx_slot row[6];
                uint64_t units[2];
                struct svmx__room room = {row, units};
                struct svmx__part piece = whole;
                svmx__lay(&piece, svmx__slice_at(&whole, i, count), svmx__slice_at(&whole, i + 1, count), true, &room);
                cr_assert_eq(op->check(row, &size, &why), SVMX_OK, "%s", why.line);
                cr_assert_eq(size.units, piece.units, "piece %u of %u of %d rows", i, count, (int)m);
                cr_assert_eq(row[0].at, 4096 + rows * 40 * 4);
                cr_assert_eq(row[1].at, (1 << 24) + rows * 5 * 4);
                cr_assert_eq(row[2].bytes, 5 * 40 * 4, "the second matrix is whole");
                cr_assert_gt(row[3].at, 0);
                rows += row[3].at;
            }
            cr_assert_eq(rows, m);
        }
    }
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

/* ---- over several devices -------------------------------------------------------------------------------------------- */

/* What a device of the tests takes, told to the model as if it had been measured: something at all, and for each unit. */
static void teach(svmx_executor_t *executor, uint32_t op, uint32_t device, uint64_t fixed_ns, uint64_t unit_ns) {
    for (uint64_t units = 1; units <= UINT64_C(1) << 20; units *= 2) {
        const struct svmx__sample sample = {.setup_ns = fixed_ns, .compute_ns = units * unit_ns};
        const struct svmx__load load = {units, units, 4 * units};
        for (int i = 0; i < 8; i++) (void)svmx__model_learn(&executor->model, op, device, &load, &sample);
    }
    for (uint64_t units = 1; units <= UINT64_C(1) << 20; units *= 2)
        cr_assert_eq(svmx_prewarm(executor, op, units), SVMX_OK);
}

static svmx_executor_t *open_split(const char *backends) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "split",
                                         .learn = "frozen",
                                         .profile = "off",
                                         .timeout_ms = 60000,
                                         .timeout_min_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR,
                                         .static_plugins = fake_and_twin,
                                         .static_plugin_count = 2};
    fake_start();
    return open_with(&options);
}

/* Half a millisecond for anything, and then three times as fast as SIMD: worth it from 700 units on. So many tasks stay
 * whole, and behind each large one are small ones, which would be chunks of their own by the way that cuts fall. */
Test(cuts, no_chunk_is_below_the_crossover_of_its_device) {
    enum { MIXED = 96, GROUP = 16, LARGE = 40000, SMALL = 20, CROSSOVER = 700 };
    static float in[LARGE], sums[MIXED][LARGE];
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    svmx_executor_t *executor = open_split("fake,simd,stop");
    teach(executor, SVMX_OP_VEC_ADD_F32, 0, 570000, 300);
    teach(executor, SVMX_OP_VEC_ADD_F32, 1, 0, 1000);
    for (int i = 0; i < LARGE; i++) in[i] = (float)i;
    svmx_batch_t *batch;
    uint32_t chunks = 0, there = 0;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t round = 0; round < 4 || (round < 200 && there < 4);
         round++) { /* SIMD is fast, and takes over what it can */
        const uint64_t large = LARGE / 4 * (round % 4 + 1);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
        for (int t = 0; t < MIXED; t++)
            cr_assert_eq(svmx_vec_add_f32(batch, sums[t], in, in, t % GROUP == 0 ? large : SMALL), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        for (int t = 0; t < MIXED; t++)
            for (int i = 0; i < (t % GROUP == 0 ? (int)large : SMALL); i++) cr_assert(sums[t][i] == 2 * in[i]);
        for (uint32_t i = 0; i < svmx_receipt_count(batch); i++) {
            struct svmx_receipt receipt = {.size = sizeof receipt};
            cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
            chunks += receipt.why == SVMX_WHY_SPLIT;
            there += receipt.why == SVMX_WHY_SPLIT && receipt.device == 0;
            cr_assert(receipt.device != 0 || receipt.units >= CROSSOVER, "%llu units",
                      (unsigned long long)receipt.units);
        }
    }
    cr_assert_geq(there, 4, "or nothing was shown");
    cr_assert_gt(chunks, there);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* A batch of sums of pairs that is cut for both devices. */
struct cut {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
};

enum { CUT_TASKS = 32, CUT_ITEMS = 256 };
static float cut_in[CUT_TASKS][CUT_ITEMS], cut_out[CUT_TASKS][CUT_ITEMS];

static void cut_open(struct cut *cut) {
    cut->executor = open_split("fake,twin,stop");
    for (uint32_t d = 0; d < 2; d++) teach(cut->executor, SVMX_OP_VEC_ADD_F32, d, 1000, 1000);
    cr_assert_eq(svmx_batch_create(cut->executor, &cut->batch), SVMX_OK);
    for (int t = 0; t < CUT_TASKS; t++) {
        for (int i = 0; i < CUT_ITEMS; i++) cut_in[t][i] = (float)(t * CUT_ITEMS + i);
        cr_assert_eq(svmx_vec_add_f32(cut->batch, cut_out[t], cut_in[t], cut_in[t], CUT_ITEMS), SVMX_OK);
    }
    cr_assert_eq(svmx_run(cut->batch), SVMX_OK); /* with its self-tests */
    cr_assert_eq(svmx_batch_rearm(cut->batch), SVMX_OK);
}

static void cut_close(struct cut *cut) {
    for (uint32_t d = 0; d < 2; d++) cr_assert_eq(atomic_load(&cut->executor->choices.backlog_ns[d]), 0);
    svmx_batch_destroy(cut->batch);
    svmx_close(cut->executor);
    expect_all_returned();
}

static void clear_cut(void) { memset(cut_out, 0x77, sizeof cut_out); }

static void expect_untouched(void) {
    for (size_t i = 0; i < sizeof cut_out; i++) cr_assert_eq(((const unsigned char *)cut_out)[i], 0x77);
}

static void expect_whole(void) {
    for (int t = 0; t < CUT_TASKS; t++)
        for (int i = 0; i < CUT_ITEMS; i++) cr_assert_eq(cut_out[t][i], 2 * cut_in[t][i], "task %d, item %d", t, i);
}

/* Units that chunks had, each of which is in one. */
static uint64_t units_of(svmx_batch_t *batch, uint32_t *devices) {
    uint64_t units = 0;
    *devices = 0;
    for (uint32_t i = 0; i < svmx_receipt_count(batch); i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
        units += receipt.units;
        *devices |= 1u << receipt.device;
    }
    return units;
}

/* Chunks are with both devices when it is cancelled: too late, and each task is computed once. */
Test(cuts, cancelled_when_chunks_are_under_way) {
    struct cut cut;
    uint32_t devices;
    cut_open(&cut);
    fake_gate(true);
    clear_cut();
    const unsigned tasks = fake_count(&fake.tasks), submits = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_submit(cut.batch, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], submits + WINDOW + 1); /* more than one of them has at once */
    cr_assert_eq(svmx_cancel(cut.batch), SVMX_BUSY);
    expect_untouched();
    fake_gate(false);
    cr_assert_eq(svmx_wait(cut.batch, UINT64_MAX), SVMX_OK);
    expect_whole();
    cr_assert_eq(fake_count(&fake.tasks) - tasks, CUT_TASKS, "none twice, none lost");
    cr_assert_eq(units_of(cut.batch, &devices), CUT_TASKS * CUT_ITEMS);
    cr_assert_eq(devices, 3, "both had some: %x", devices);
    cut_close(&cut);
}

/* It waits behind others on both devices, and is taken back; then it is run after all. */
Test(cuts, cancelled_before_any_chunk_began) {
    struct cut cut;
    svmx_batch_t *ahead;
    static float before[CUT_ITEMS * CUT_TASKS], sums[CUT_ITEMS * CUT_TASKS];
    uint32_t devices;
    cut_open(&cut);
    cr_assert_eq(svmx_batch_create(cut.executor, &ahead), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(ahead, sums, before, before, CUT_ITEMS * CUT_TASKS), SVMX_OK);
    fake_gate(true);
    clear_cut();
    /* what is in flight at once is the window's: no chunk of the second begins while the first is in the midst of a stuck call */
    fake_stick(FAKE_STUCK_SUBMIT);
    cr_assert_eq(svmx_submit(ahead, 0), SVMX_OK);
    fake_await(&fake.stuck_calls, 2);
    cr_assert_eq(svmx_submit(cut.batch, 0), SVMX_OK);
    cr_assert_eq(svmx_cancel(cut.batch), SVMX_OK);
    fake_stick(0);
    fake_gate(false);
    cr_assert_eq(svmx_wait(ahead, UINT64_MAX), SVMX_OK);
    (void)units_of(ahead, &devices);
    cr_assert_eq(devices, 3, "or the second might have begun");
    cr_assert_eq(svmx_wait(cut.batch, UINT64_MAX), SVMX_CANCELLED);
    expect_untouched();
    cr_assert_eq(svmx_batch_rearm(cut.batch), SVMX_OK);
    cr_assert_eq(svmx_run(cut.batch), SVMX_OK);
    expect_whole();
    svmx_batch_destroy(ahead);
    cut_close(&cut);
}

/* At any moment: it is over once, whole or untouched. */
Test(cuts, cancelled_at_any_moment) {
    enum { ROUNDS = 300 };
    struct cut cut;
    unsigned taken_back = 0;
    cut_open(&cut);
    for (unsigned round = 0; round < ROUNDS; round++) {
        clear_cut();
        cr_assert_eq(svmx_submit(cut.batch, 0), SVMX_OK);
        for (volatile unsigned i = 0; i < round * 37 % 4001; i++) continue;
        const enum svmx_status answer = svmx_cancel(cut.batch), status = svmx_wait(cut.batch, UINT64_MAX);
        if (status == SVMX_CANCELLED) {
            cr_assert_eq(answer, SVMX_OK);
            expect_untouched();
            taken_back++;
        } else {
            cr_assert_eq(status, SVMX_OK);
            cr_assert_neq(answer, SVMX_OK, "it was said to be taken back");
            expect_whole();
        }
        cr_assert_eq(svmx_batch_rearm(cut.batch), SVMX_OK);
    }
    cr_assert_gt(taken_back, 0, "never in time");
    cut_close(&cut);
}
