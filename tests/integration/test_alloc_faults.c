/*
 * test_alloc_faults.c: the n-th allocation of the library fails, for n = 1, 2, ... until none is left to fail, while batches run:
 * on the reference code, on a device, recorded, repeated, in order, cut. Every call says MEMORY or does its work; nothing crashes,
 * nothing leaks, and no batch says OK with a wrong answer. What there is beside batches is in test_alloc_faults_beside.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "alloc_faults.h"
#include "executor/executor.h"

/* From svmx_batch_create to the answer, on an executor that has done nothing yet. */
static void batches(bool device, bool and_after) {
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        struct svmx_options options = options_of(device);
        svmx_executor_t *executor;
        svmx_batch_t *batch = NULL;
        struct trial trial;
        float sum = -1;
        trial_fill(&trial, (unsigned)n);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, and_after);
        enum svmx_status status = svmx_batch_create(executor, &batch);
        expect_ok_or_memory(status, n, "svmx_batch_create");
        if (status == SVMX_OK) {
            status = fill(batch, &trial, &sum);
            expect_ok_or_memory(status, n, "svmx_batch_add");
        }
        if (status == SVMX_OK) {
            status = svmx_run(batch);
            expect_ok_or_memory(status, n, "svmx_run");
            if (status == SVMX_OK) expect_right(&trial, sum, n);
        }
        bool failed = has_failed();
        if (status == SVMX_ERR_MEMORY && batch) { /* the memory is back: so is the work */
            cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
            cr_assert_eq(fill(batch, &trial, &sum), SVMX_OK);
            cr_assert_eq(svmx_run(batch), SVMX_OK);
            expect_right(&trial, sum, n);
        }
        svmx_batch_destroy(batch);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, batches_once) { batches(false, false); }
Test(alloc_faults, batches_from_then_on) { batches(false, true); }
Test(alloc_faults, batches_on_a_device_once) { batches(true, false); }
Test(alloc_faults, batches_on_a_device_from_then_on) { batches(true, true); }

/* x = x + b until three iterations are over, from a buffer. */
static enum svmx_status loop_through(svmx_executor_t *executor, const struct trial *trial, svmx_buffer_t **state,
                                     svmx_batch_t **body) {
    struct svmx_loop_end end;
    enum svmx_status status = svmx_buffer_create(executor, sizeof trial->a, state);
    if (status == SVMX_OK) status = svmx_batch_create(executor, body);
    if (status != SVMX_OK) return status;
    cr_assert_eq(svmx_buffer_write(*state, 0, trial->a, sizeof trial->a), SVMX_OK);
    const struct svmx_arg x = svmx_view(SVMX_F32, *state, 0, TRIAL_ITEMS);
    const struct svmx_arg next[] = {svmx_out_passing(SVMX_F32, TRIAL_ITEMS), x,
                                    svmx_in(SVMX_F32, trial->b, TRIAL_ITEMS)},
                          step[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, 0, 0), x};
    const struct svmx_carry carry = {0, 0, *state, 0};
    const struct svmx_until until = {.task = 1, .kind = SVMX_UNTIL_BELOW, .limit = -1};
    const struct svmx_loop loop = {sizeof loop, &carry, &until, 1, 1, 3, 2};
    status = svmx_batch_add(*body, SVMX_OP_VEC_ADD_F32, next, 3);
    if (status == SVMX_OK) status = svmx_batch_add(*body, SVMX_OP_MAX_ABS_DIFF_F32, step, 3);
    return status == SVMX_OK ? svmx_loop_run(*body, &loop, &end, NULL) : status;
}

static void loops(bool device, bool and_after) {
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        struct svmx_options options = options_of(device);
        svmx_executor_t *executor;
        svmx_batch_t *body = NULL;
        svmx_buffer_t *state = NULL;
        struct trial trial;
        float x[TRIAL_ITEMS];
        trial_fill(&trial, 3);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, and_after);
        const enum svmx_status status = loop_through(executor, &trial, &state, &body);
        const bool failed = has_failed();
        expect_ok_or_memory(status, n, "a loop");
        if (status == SVMX_OK) cr_assert_eq(svmx_buffer_read(state, 0, x, sizeof x), SVMX_OK);
        for (int i = 0; status == SVMX_OK && i < TRIAL_ITEMS; i++) cr_assert_eq(x[i], trial.a[i] + 3 * trial.b[i]);
        svmx_batch_destroy(body);
        svmx_buffer_destroy(state);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, loops_once) { loops(false, false); }
Test(alloc_faults, loops_from_then_on) { loops(false, true); }
Test(alloc_faults, loops_on_a_device_once) { loops(true, false); }
Test(alloc_faults, loops_on_a_device_from_then_on) { loops(true, true); }

/* A batch of three levels that is recorded, and replayed, with a buffer, a result that passes and one that the library has:
 * several levels in one submission on a device; compared if `verified`. */
static enum svmx_status replay_through(svmx_executor_t *executor, const struct trial *trial, bool verified,
                                       svmx_buffer_t **data, svmx_batch_t **batch, float *out) {
    enum svmx_status status = svmx_buffer_create(executor, sizeof trial->a, data);
    if (status == SVMX_OK) status = svmx_batch_create(executor, batch);
    if (status == SVMX_OK) status = svmx_batch_set_verify(*batch, verified ? "full" : "off");
    if (status != SVMX_OK) return status;
    cr_assert_eq(svmx_buffer_write(*data, 0, trial->a, sizeof trial->a), SVMX_OK);
    const struct svmx_arg a = svmx_view(SVMX_F32, *data, 0, TRIAL_ITEMS), b = svmx_in(SVMX_F32, trial->b, TRIAL_ITEMS);
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, TRIAL_ITEMS), a, b},
                          product[] = {svmx_out_library(SVMX_F32, TRIAL_ITEMS), svmx_result_of(SVMX_F32, 0, 0), b},
                          last[] = {svmx_out(SVMX_F32, out, TRIAL_ITEMS), svmx_result_of(SVMX_F32, 1, 0), a};
    status = svmx_batch_add(*batch, SVMX_OP_VEC_ADD_F32, sum, 3);
    if (status == SVMX_OK) status = svmx_batch_add(*batch, SVMX_OP_VEC_MUL_F32, product, 3);
    if (status == SVMX_OK) status = svmx_batch_add(*batch, SVMX_OP_VEC_ADD_F32, last, 3);
    if (status == SVMX_OK) status = svmx_batch_record(*batch);
    for (int i = 0; i < 3 && status == SVMX_OK; i++) {
        memset(out, 0, TRIAL_ITEMS * sizeof *out);
        status = svmx_batch_replay(*batch);
        if (status == SVMX_OK) status = svmx_wait(*batch, UINT64_MAX);
    }
    return status;
}

static void replays(bool device, bool verified, bool and_after) {
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        struct svmx_options options = options_of(device);
        svmx_executor_t *executor;
        svmx_batch_t *batch = NULL;
        svmx_buffer_t *data = NULL;
        struct trial trial;
        float out[TRIAL_ITEMS];
        trial_fill(&trial, 4);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, and_after);
        const enum svmx_status status = replay_through(executor, &trial, verified, &data, &batch, out);
        const bool failed = has_failed();
        expect_ok_or_memory(status, n, "a recorded batch");
        for (int i = 0; status == SVMX_OK && i < TRIAL_ITEMS; i++)
            cr_assert_eq(out[i], (trial.a[i] + trial.b[i]) * trial.b[i] + trial.a[i], "allocation %d, item %d", n, i);
        svmx_batch_destroy(batch);
        svmx_buffer_destroy(data);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, replays_once) { replays(false, false, false); }
Test(alloc_faults, replays_on_a_device_once) { replays(true, false, false); }
Test(alloc_faults, replays_on_a_device_from_then_on) { replays(true, false, true); }
Test(alloc_faults, replays_that_are_compared_once) { replays(true, true, false); }
Test(alloc_faults, replays_that_are_compared_from_then_on) { replays(true, true, true); }

/* Asynchronously: a batch that was taken is answered. */
Test(alloc_faults, batches_submitted) {
    for (int n = 1;; n++) {
        struct svmx_options options = options_of(false);
        svmx_executor_t *executor;
        svmx_batch_t *batch = NULL;
        struct trial trial;
        float sum = -1;
        trial_fill(&trial, 1);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        cr_assert_eq(fill(batch, &trial, &sum), SVMX_OK);
        fail_at(n, true);
        enum svmx_status status = svmx_submit(batch, 0);
        expect_ok_or_memory(status, n, "svmx_submit");
        if (status == SVMX_OK) {
            status = svmx_wait(batch, UINT64_MAX);
            expect_ok_or_memory(status, n, "svmx_wait");
            if (status == SVMX_OK) expect_right(&trial, sum, n);
        }
        bool failed = has_failed();
        svmx_batch_destroy(batch);
        svmx_close(executor);
        if (!failed) return;
    }
}

/* In order, in memory of the library, of an operation that was made ready before: what was taken is answered, and in turn. */
static enum svmx_status two_in_order(svmx_executor_t *executor, svmx_batch_t *batches_made[2],
                                     const struct trial *trial, void *results[2]) {
    enum svmx_status status = svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TRIAL_ITEMS);
    for (int i = 0; i < 2 && status == SVMX_OK; i++) {
        status = svmx_batch_create(executor, &batches_made[i]);
        if (status == SVMX_OK) status = svmx_batch_alloc(batches_made[i], sizeof trial->a, &results[i]);
        if (status == SVMX_OK) status = svmx_vec_add_f32(batches_made[i], results[i], trial->a, trial->b, TRIAL_ITEMS);
        if (status == SVMX_OK) status = svmx_submit(batches_made[i], SVMX_SUBMIT_IN_ORDER);
    }
    for (int i = 0; i < 2; i++) {
        if (!batches_made[i] || svmx_poll(batches_made[i]) == SVMX_ERR_STATE) continue;
        const enum svmx_status end = svmx_wait(batches_made[i], UINT64_MAX);
        if (status == SVMX_OK) status = end;
    }
    return status;
}

static void in_order(bool device, bool and_after) {
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        struct svmx_options options = options_of(device);
        svmx_executor_t *executor;
        svmx_batch_t *made[2] = {NULL, NULL};
        void *results[2] = {NULL, NULL};
        struct trial trial;
        trial_fill(&trial, (unsigned)n);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, and_after);
        const enum svmx_status status = two_in_order(executor, made, &trial, results);
        const bool failed = has_failed();
        cr_assert(status == SVMX_OK || failed, "%s", svmx_status_name(status));
        for (int b = 0; status == SVMX_OK && b < 2; b++)
            for (int i = 0; i < TRIAL_ITEMS; i++)
                cr_assert_eq(((float *)results[b])[i], trial.a[i] + trial.b[i], "allocation %d, item %d", n, i);
        for (int b = 0; b < 2; b++) svmx_batch_destroy(made[b]);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, in_order_once) { in_order(false, false); }
Test(alloc_faults, in_order_on_a_device_once) { in_order(true, false); }
Test(alloc_faults, in_order_on_a_device_from_then_on) { in_order(true, true); }

/* Many tasks of one operation on a device that takes little at once: the part is cut, into tasks and within one. */
static void slices(bool and_after) {
    enum { TASKS = 6, ITEMS = 5000 };
    static float outs[TASKS][ITEMS], in[ITEMS];
    for (int i = 0; i < ITEMS; i++) in[i] = (float)(i % 50);
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        fake.max_alloc_bytes = 100000;
        struct svmx_options options = options_of(true);
        svmx_executor_t *executor;
        svmx_batch_t *batch;
        memset(outs, 0, sizeof outs);
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        for (int t = 0; t < TASKS; t++) cr_assert_eq(svmx_vec_add_f32(batch, outs[t], in, in, ITEMS), SVMX_OK);
        fail_at(n, and_after);
        const enum svmx_status status = svmx_run(batch);
        const bool failed = has_failed();
        expect_ok_or_memory(status, n, "a part that is cut");
        for (int t = 0; status == SVMX_OK && t < TASKS; t++)
            for (int i = 0; i < ITEMS; i++) cr_assert_eq(outs[t][i], 2 * in[i], "allocation %d, item %d", n, i);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, slices_once) { slices(false); }
Test(alloc_faults, slices_from_then_on) { slices(true); }

/* ---- a part that is cut for several devices ---------------------------------------------------------------------------- */

enum { SPREAD_DEVICES = 3, SPREAD_TASKS = 12, SPREAD_ITEMS = 1000 };

/* Three devices, of each of which the model says that a unit takes it long. */
static svmx_executor_t *open_three(void) {
    static struct svmx_plugin others[SPREAD_DEVICES - 1];
    static const struct svmx_plugin *plugins[SPREAD_DEVICES] = {&fake_plugin, &others[0], &others[1]};
    struct svmx_options options = options_of(true);
    svmx_executor_t *executor;
    for (int i = 0; i < SPREAD_DEVICES - 1; i++) {
        others[i] = fake_plugin;
        (void)snprintf(others[i].name, sizeof others[i].name, "other%d", i);
    }
    options.backends = "fake,other0,other1,stop";
    options.static_plugins = plugins;
    options.static_plugin_count = SPREAD_DEVICES;
    options.policy = "split";
    options.learn = "strict";
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    executor->choices.frozen = true;
    for (uint64_t units = 1; units <= UINT64_C(1) << 20; units *= 2) {
        for (uint32_t d = 0; d < SPREAD_DEVICES; d++) {
            const struct svmx__sample sample = {.compute_ns = units * 1000};
            const struct svmx__load load = {units, units, units};
            cr_assert(svmx__model_learn(&executor->model, SVMX_OP_VEC_ADD_F32, d, &load, &sample));
        }
    }
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, SPREAD_TASKS * SPREAD_ITEMS), SVMX_OK);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, SPREAD_ITEMS), SVMX_OK);
    return executor;
}

static uint32_t chunks_of(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t count = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) count += receipt.why == SVMX_WHY_SPLIT;
    return count;
}

/* Run twice: the second time finds what the first one left of memory. Once the last allocation went well it was cut. */
static void spreads(bool and_after, bool submits) {
    static float outs[SPREAD_TASKS][SPREAD_ITEMS], in[SPREAD_ITEMS];
    for (int i = 0; i < SPREAD_ITEMS; i++) in[i] = (float)(i % 50);
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        fake_start();
        svmx_executor_t *executor = open_three();
        svmx_batch_t *batch;
        enum svmx_status status = SVMX_OK;
        memset(outs, 0, sizeof outs);
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        for (int t = 0; t < SPREAD_TASKS; t++)
            cr_assert_eq(svmx_vec_add_f32(batch, outs[t], in, in, SPREAD_ITEMS), SVMX_OK);
        fail_at(n, and_after);
        for (int run = 0; run < 2 && status == SVMX_OK; run++) {
            if (run) cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
            status = submits ? svmx_submit(batch, 0) : svmx_run(batch);
            if (submits && status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
        }
        const bool failed = has_failed();
        expect_ok_or_memory(status, n, "a part that is cut for three devices");
        if (!failed) cr_assert_geq(chunks_of(batch), 2, "it is not cut");
        for (int t = 0; status == SVMX_OK && t < SPREAD_TASKS; t++)
            for (int i = 0; i < SPREAD_ITEMS; i++) cr_assert_eq(outs[t][i], 2 * in[i], "allocation %d, item %d", n, i);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        cr_assert_eq(fake.memories, 0);
        cr_assert_eq(fake.pipelines, 0);
        if (!failed) return;
    }
}

Test(alloc_faults, several_devices_once) { spreads(false, false); }
Test(alloc_faults, several_devices_from_then_on) { spreads(true, false); }
Test(alloc_faults, several_devices_submitted_once) { spreads(false, true); }
Test(alloc_faults, several_devices_submitted_from_then_on) { spreads(true, true); }

/* The overlap check and the sort into parts have memory of their own, taken at the first run that needs it. */
Test(alloc_faults, a_batch_that_was_refused_for_want_of_memory_is_the_callers) {
    enum { TASKS = 40 };
    static float outs[TASKS][4], ins[TASKS][4];
    struct svmx_options options = options_of(false);
    for (int n = 1;; n++) {
        svmx_executor_t *executor;
        svmx_batch_t *batch;
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        for (int t = TASKS; t-- > 0;) { /* downwards: no short cut for the overlap check */
            for (int i = 0; i < 4; i++) ins[t][i] = (float)(t + i), outs[t][i] = -1;
            cr_assert_eq(t % 2 ? svmx_vec_add_f32(batch, outs[t], ins[t], ins[t], 4)
                               : svmx_vec_mul_f32(batch, outs[t], ins[t], ins[t], 4),
                         SVMX_OK);
        }
        fail_at(n, false);
        enum svmx_status status = svmx_run(batch);
        bool failed = has_failed();
        expect_ok_or_memory(status, n, "svmx_run");
        if (status == SVMX_ERR_MEMORY) {
            cr_assert_str_neq(svmx_batch_error(batch), "");
            cr_assert_eq(svmx_batch_task_count(batch), TASKS);
            cr_assert_eq(outs[0][0], -1.0f, "a refused batch wrote");
            cr_assert_eq(svmx_run(batch), SVMX_OK, "it can be run again");
        }
        for (int t = 0; t < TASKS; t++)
            for (int i = 0; i < 4; i++)
                cr_assert_eq(outs[t][i], t % 2 ? 2 * ins[t][i] : ins[t][i] * ins[t][i], "allocation %d, task %d", n, t);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        if (!failed) return;
    }
}
