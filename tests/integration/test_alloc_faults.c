/*
 * test_alloc_faults.c: the n-th allocation of the library fails, for n = 1, 2, ... until none is left to fail. Every call
 * says MEMORY or does its work; nothing crashes, nothing leaks, and no batch says OK with a wrong answer.
 *
 * Linked with -Wl,--wrap for malloc, calloc, realloc, aligned_alloc, strdup, strndup, realpath, asprintf and open_memstream, so that
 * allocations of the archive and of this file come by here, and nobody else's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake.h"
#include "mix_op.h"
#include "trial.h"

#include "cache/binary_store.h"
#include "executor/executor.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* ---- the allocator ---------------------------------------------------------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

char *__real_strndup(const char *text, size_t most);
char *__real_realpath(const char *path, char *resolved);
FILE *__real_open_memstream(char **text, size_t *length);
char *__wrap_strndup(const char *text, size_t most);
char *__wrap_realpath(const char *path, char *resolved);
FILE *__wrap_open_memstream(char **text, size_t *length);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static atomic_int countdown; /* the allocation that makes it 0 fails; 0 and below: none does */
static atomic_bool lasting;  /* and all after it, until told otherwise */
static atomic_bool exhausted;

static bool fails(void) {
    if (atomic_load(&exhausted)) return true;
    if (atomic_load(&countdown) <= 0 || atomic_fetch_sub(&countdown, 1) != 1) return false;
    if (atomic_load(&lasting)) atomic_store(&exhausted, true);
    return true;
}

void *__wrap_malloc(size_t bytes) { return fails() ? NULL : __real_malloc(bytes); }
void *__wrap_calloc(size_t count, size_t bytes) { return fails() ? NULL : __real_calloc(count, bytes); }
void *__wrap_realloc(void *memory, size_t bytes) { return fails() ? NULL : __real_realloc(memory, bytes); }
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }
char *__wrap_strndup(const char *text, size_t most) { return fails() ? NULL : __real_strndup(text, most); }
FILE *__wrap_open_memstream(char **text, size_t *length) {
    return fails() ? NULL : __real_open_memstream(text, length);
}
char *__wrap_realpath(const char *path, char *resolved) {
    if (resolved || !fails()) return __real_realpath(path, resolved);
    errno = ENOMEM;
    return NULL;
}
int __wrap_asprintf(char **text, const char *format, ...) {
    va_list words;
    if (fails()) return -1;
    va_start(words, format);
    const int length = vasprintf(text, format, words);
    va_end(words);
    return length;
}

static void fail_at(int n, bool and_after) {
    atomic_store(&lasting, and_after);
    atomic_store(&countdown, n);
}

/* true: it came to the n-th allocation. */
static bool has_failed(void) {
    bool failed = atomic_load(&countdown) <= 0;
    atomic_store(&countdown, 0);
    atomic_store(&exhausted, false);
    return failed;
}

/* ---- one round of everything ------------------------------------------------------------------------------------ */

static void silent(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

static struct svmx_options options_of(bool device) {
    struct svmx_options options = device ? fake_options() : plain_options();
    options.log = silent;
    return options;
}

/* vec_add, and a sum of its result: two parts, two levels, scratch. */
static enum svmx_status fill(svmx_batch_t *batch, struct trial *trial, float *sum) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, sum, 1), svmx_result_of(SVMX_F32, 0, 0)};
    enum svmx_status status = trial_add(trial, batch);
    return status == SVMX_OK ? svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2) : status;
}

static void expect_right(const struct trial *trial, float sum, int n) {
    float expected = 0; /* whole numbers: exact in any order */
    for (int i = 0; i < TRIAL_ITEMS; i++) expected += trial->a[i] + trial->b[i];
    cr_assert(trial_is_right(trial), "allocation %d failed: OK, but the answer is wrong", n);
    cr_assert_eq(sum, expected, "allocation %d failed: OK, but the sum is wrong", n);
}

static void expect_ok_or_memory(enum svmx_status status, int n, const char *what) {
    cr_assert(status == SVMX_OK || status == SVMX_ERR_MEMORY, "allocation %d failed: %s says %s", n, what,
              svmx_status_name(status));
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

/* with_files: plugins are looked for in a folder. */
static void opening(bool and_after, bool with_files) {
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        struct svmx_options options = options_of(false);
        if (with_files) options.backends = "simd";
        if (with_files) options.backend_path = getenv("SVMX_TEST_BACKEND_PATH");
        svmx_executor_t *executor = NULL;
        struct svmx_error error = {0};
        fail_at(n, and_after);
        enum svmx_status status = svmx_open(&executor, &options, &error);
        bool failed = has_failed();
        expect_ok_or_memory(status, n, "svmx_open");
        cr_assert(failed || status == SVMX_OK);
        if (status != SVMX_OK) cr_assert_null(executor);
        if (status != SVMX_OK) cr_assert_str_neq(error.text, "");
        svmx_close(executor);
        if (!failed) return;
    }
}

Test(alloc_faults, opening_once) { opening(false, false); }
Test(alloc_faults, opening_from_then_on) { opening(true, false); }
Test(alloc_faults, opening_with_plugins_once) { opening(false, true); }
Test(alloc_faults, opening_with_plugins_from_then_on) { opening(true, true); }

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

static void count_text(void *user, const char *text, size_t length) {
    (void)text;
    *(size_t *)user += length;
}

/* Counters are told, or it is said that there is no memory for it. */
Test(alloc_faults, counters) {
    struct svmx_options options = options_of(false);
    svmx_executor_t *executor;
    struct trial trial;
    svmx_batch_t *batch;
    float sum;
    trial_fill(&trial, 1);
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(fill(batch, &trial, &sum), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    svmx_batch_destroy(batch);
    for (uint32_t format = SVMX_STATS_JSON; format <= SVMX_STATS_PROMETHEUS; format++)
        for (int n = 1, failed = 1; failed; n++) {
            size_t length = 0;
            cr_assert_lt(n, 500, "allocations without end");
            fail_at(n, false);
            const enum svmx_status status = svmx_stats_write(executor, format, count_text, &length);
            failed = has_failed();
            expect_ok_or_memory(status, n, "svmx_stats_write");
            cr_assert(status != SVMX_OK || length > 100);
        }
    svmx_close(executor);
}

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

Test(alloc_faults, examples) {
    struct svmx_options options = options_of(false);
    svmx_executor_t *executor;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    for (int n = 1;; n++) {
        struct svmx_example example = {0};
        fail_at(n, false);
        enum svmx_status status = svmx_example_create(executor, SVMX_OP_SHA256, 100, 1, &example);
        bool failed = has_failed();
        cr_assert_eq(status, failed ? SVMX_ERR_MEMORY : SVMX_OK);
        if (failed) cr_assert_null(example.owned);
        svmx_example_destroy(&example);
        if (!failed) break;
    }
    svmx_close(executor);
}

/* What failed left no trace: the name is free, and the next one gets the first number. */
Test(alloc_faults, registering) {
    static const uint32_t module[] = {0x07230203, 0x00010000, 0, 1, 0};
    struct svmx_options options = options_of(false);
    for (int n = 1;; n++) {
        cr_assert_lt(n, 500, "allocations without end");
        svmx_executor_t *executor;
        uint32_t op = 77;
        struct svmx_error error = {0};
        struct svmx_op_def def = mix_def("mix_u32", "text");
        def.known = mix_known;
        def.known_count = 1;
        def.spirv = module;
        def.spirv_bytes = sizeof module;
        cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
        fail_at(n, n % 2);
        enum svmx_status status = svmx_op_register(executor, &def, &op, &error);
        bool failed = has_failed();
        cr_assert_eq(status, failed ? SVMX_ERR_MEMORY : SVMX_OK, "allocation %d: %s", n, error.text);
        if (failed) {
            cr_assert(op == 77 && error.text[0]);
            cr_assert_eq(svmx_op_register(executor, &def, &op, NULL), SVMX_OK);
        }
        cr_assert_eq(op, (uint32_t)SVMX_OP_FIRST_REGISTERED);
        svmx_close(executor);
        if (!failed) return;
    }
}

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

static const struct svmx__binary_key some_key = {
    .kind = SVMX__BINARY_PIPELINE, .backend = "b", .version = "v", .device = "d", .driver = "r", .op = "o"};

/* Want of memory says nothing of a file: it is a miss, and the record stays. */
Test(alloc_faults, a_cache_on_disk) {
    char folder[] = "/tmp/svmx-test-XXXXXX";
    const struct svmx__log log = {.level = SVMX_LOG_OFF};
    struct svmx__binary_store store;
    cr_assert(mkdtemp(folder));
    svmx__binary_store_init(&store, folder, 1 << 20, &log);
    cr_assert(svmx__binary_store_put(&store, &some_key, "payload", 7));
    for (int n = 1, failed = 1; failed; n++) {
        size_t bytes = 0;
        svmx_cache_t *cache = NULL;
        struct svmx_cache_entry entry = {.size = sizeof entry};
        fail_at(n, false);
        bool put = svmx__binary_store_put(&store, &some_key, "payload", 7);
        char *payload = svmx__binary_store_get(&store, &some_key, &bytes);
        enum svmx_status status = svmx_cache_open(&cache, folder, SVMX_CACHE_CHECK, NULL);
        failed = has_failed();
        cr_assert(!payload || (bytes == 7 && memcmp(payload, "payload", 7) == 0), "allocation %d", n);
        expect_ok_or_memory(status, n, "svmx_cache_open");
        cr_assert(failed || (put && payload && status == SVMX_OK));
        if (status == SVMX_OK) {
            cr_assert_eq(svmx_cache_get(cache, 0, &entry), SVMX_OK);
            cr_assert_str_eq(entry.defect, "", "allocation %d", n);
        }
        cr_assert_eq(store.removed, 0, "allocation %d: a good record is gone", n);
        free(payload);
        svmx_cache_close(cache);
    }
    svmx__binary_store_drop(&store, &some_key);
    svmx__binary_store_fini(&store);
    char secret[64];
    (void)snprintf(secret, sizeof secret, "%s/.secret", folder);
    cr_assert_eq(unlink(secret), 0);
    cr_assert_eq(rmdir(folder), 0, "nothing is left");
}

/* An executor with two devices, so that there is something to choose, and a profile. */
static svmx_executor_t *open_with_profile(const char *path) {
    static struct svmx_plugin other;
    static const struct svmx_plugin *plugins[2] = {&fake_plugin, &other};
    struct svmx_options options = options_of(true);
    svmx_executor_t *executor;
    other = fake_plugin;
    memcpy(other.name, "other", sizeof "other");
    options.backends = "fake,other,stop";
    options.static_plugins = plugins;
    options.static_plugin_count = 2;
    options.profile = path;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    return executor;
}

static uint32_t cells_in(const char *path, int n) {
    svmx_profile_t *profile;
    cr_assert_eq(svmx_profile_open(&profile, path, NULL), SVMX_OK);
    cr_assert_str_eq(svmx_profile_defect(profile), "", "allocation %d", n);
    const uint32_t count = svmx_profile_count(profile);
    svmx_profile_close(profile);
    return count;
}

/* Want of memory costs nothing of what is on the disk: the profile is written whole, or stays as it was. */
Test(alloc_faults, a_profile_on_disk) {
    char folder[] = "/tmp/svmx-test-XXXXXX", path[64];
    const struct svmx__sample sample = {.compute_ns = 1000};
    uint32_t known = 0;
    cr_assert(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/profile", folder);
    fake_start();
    for (int n = 1, failed = 1; failed; n++) {
        svmx_executor_t *executor = open_with_profile(path);
        svmx_profile_t *profile = NULL;
        const struct svmx__load load = {.units = UINT64_C(1) << (n % 40), .work = UINT64_C(1) << (n % 40)};
        cr_assert_lt(n, 500, "allocations without end");
        cr_assert(svmx__model_learn(&executor->model, SVMX_OP_SHA256, (uint32_t)n % 2, &load, &sample));
        fail_at(n, n % 2);
        svmx__profile_load(executor); /* once more; a cell that was just measured may be as the file has it */
        enum svmx_status saved = svmx_profile_save(executor, NULL), opened = svmx_profile_open(&profile, path, NULL);
        failed = has_failed();
        expect_ok_or_memory(saved, n, "svmx_profile_save");
        expect_ok_or_memory(opened, n, "svmx_profile_open");
        cr_assert(failed || (saved == SVMX_OK && opened == SVMX_OK));
        svmx_profile_close(profile);
        cr_assert_geq(cells_in(path, n), known, "allocation %d: cells are gone", n);
        svmx_close(executor);
        known = cells_in(path, n);
    }
    cr_assert_gt(known, 10u);
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(rmdir(folder), 0, "nothing is left");
}
