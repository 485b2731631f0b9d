/*
 * registered_fixture.h: what the suites of registered operations share: an executor whose log is kept, a batch of mix_op.h of
 * many sizes that is compared, and the wait for a device that compiles. Included by each, one copy: all is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_REGISTERED_FIXTURE_H
#define TESTS_REGISTERED_FIXTURE_H

#include "mix_op.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <unistd.h>

enum { TASKS = 60, MAX_ITEMS = 3000, TRIES = 1500 };

/* ---- the log ------------------------------------------------------------------------------------------------- */

struct lines {
    pthread_mutex_t lock;
    char text[65536];
};

static struct lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline void keep_line(void *user, enum svmx_log_level level, const char *text) {
    struct lines *kept = user;
    pthread_mutex_lock(&kept->lock);
    const size_t used = strlen(kept->text);
    (void)snprintf(kept->text + used, sizeof kept->text - used, "%d %s\n", (int)level, text);
    pthread_mutex_unlock(&kept->lock);
}

static inline bool was_logged(const char *word) {
    pthread_mutex_lock(&lines.lock);
    const bool found = strstr(lines.text, word) != NULL;
    pthread_mutex_unlock(&lines.lock);
    return found;
}

static inline svmx_executor_t *open_logged(struct svmx_options options) {
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    options.size = sizeof options;
    options.log = keep_line;
    options.log_user = &lines;
    options.log_level = SVMX_LOG_DEBUG;
    const enum svmx_status status = svmx_open(&executor, &options, &error);
    cr_assert_eq(status, SVMX_OK, "%s: %s", options.backends, error.text);
    return executor;
}

static inline uint32_t register_mix(svmx_executor_t *executor, const struct svmx_op_def *def) {
    uint32_t op = 0;
    struct svmx_error error = {SVMX_OK, ""};
    const enum svmx_status status = svmx_op_register(executor, def, &op, &error);
    cr_assert_eq(status, SVMX_OK, "%s", error.text);
    return op;
}

/* ---- one batch ----------------------------------------------------------------------------------------------- */

struct tasks {
    uint32_t out[TASKS][MAX_ITEMS], a[TASKS][MAX_ITEMS], b[TASKS][MAX_ITEMS];
    uint32_t count[TASKS];
};

static struct tasks tasks;

/* Some empty, many small, a few large; arguments at odd addresses too. */
static inline void fill(uint32_t seed) {
    for (uint32_t t = 0; t < TASKS; t++) {
        tasks.count[t] = t % 7 == 0 ? 0 : t % 11 == 0 ? MAX_ITEMS : (t * 37 + seed) % 90;
        for (uint32_t i = 0; i < tasks.count[t]; i++) {
            tasks.a[t][i] = (seed + i) * 2654435761u + t;
            tasks.b[t][i] = (seed ^ i) * 40503u - t;
            tasks.out[t][i] = 0xeeeeeeee;
        }
    }
}

/* Runs all of it in one batch and compares; the receipt. */
static inline struct svmx_receipt run_tasks(svmx_executor_t *executor, uint32_t op, uint32_t seed) {
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    fill(seed);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (uint32_t t = 0; t < TASKS; t++) {
        const uint32_t n = tasks.count[t];
        const struct svmx_arg args[] = {svmx_out(SVMX_U32, tasks.out[t], n), svmx_in(SVMX_U32, tasks.a[t], n),
                                        svmx_in(SVMX_U32, tasks.b[t], n), svmx_u32(t + 3)};
        cr_assert_eq(svmx_batch_add(batch, op, args, MIX_PARAMS), SVMX_OK, "%s", svmx_batch_error(batch));
    }
    enum svmx_status status = seed % 2 ? svmx_run(batch) : svmx_submit(batch, 0);
    if (status == SVMX_OK) status = svmx_wait(batch, UINT64_MAX);
    cr_assert_eq(status, SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t i = 0; i < tasks.count[t]; i++)
            cr_assert_eq(tasks.out[t][i], mix_one(tasks.a[t][i], tasks.b[t][i], t + 3), "task %u, element %u", t, i);
    cr_assert_eq(svmx_receipt_count(batch), 1u);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.op, op);
    svmx_batch_destroy(batch);
    return receipt;
}

/* Runs until the device answers; it may be compiling at first, and another answers. False: it never did. */
static inline bool comes_to_serve(svmx_executor_t *executor, uint32_t op, uint32_t device) {
    for (uint32_t seed = 1; seed < TRIES; seed++) {
        const struct svmx_receipt receipt = run_tasks(executor, op, seed);
        if (receipt.device == device && !receipt.redone) return true;
        usleep(20000);
    }
    return false;
}

/* Runs until the log says that the operation is off there; all answers are right meanwhile. */
static inline void goes_off(svmx_executor_t *executor, uint32_t op, const char *name) {
    char off[64];
    (void)snprintf(off, sizeof off, "%s on ", name);
    for (uint32_t seed = 1; seed < TRIES && !was_logged(off); seed++) {
        (void)run_tasks(executor, op, seed);
        usleep(20000);
    }
    cr_assert(was_logged(off), "%s was not put off:\n%s", name, lines.text);
    const struct svmx_receipt receipt = run_tasks(executor, op, 5);
    cr_assert(receipt.device != 0 && receipt.redone == 0, "the device is still asked");
}

/* ---- SIMD -------------------------------------------------------------------------------------------------- */

static inline bool simd_is_there(void) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/simd.so", folder ? folder : "");
    return folder && access(path, F_OK) == 0;
}

static inline svmx_executor_t *open_simd(uint32_t threads) {
    if (!simd_is_there()) cr_skip_test("this build has no simd.so");
    return open_logged((struct svmx_options){.backends = "+simd,stop", .threads = threads});
}

#endif
