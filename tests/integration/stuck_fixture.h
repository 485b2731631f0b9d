/*
 * stuck_fixture.h: executors whose calls of a driver are given up soon, for the suites of calls that never return:
 * test_stuck.c, test_stuck_memory.c, test_stuck_threads.c.
 *
 * What such a call holds stays allocated on purpose: these suites are without the leak checker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STUCK_FIXTURE_H
#define STUCK_FIXTURE_H

#include "executor/executor.h"
#include "faults_fixture.h"
#include "recovery_fixture.h"

SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { STUCK_LIMIT_MS = 300 };

/* One whose driver calls are given up soon. */
static inline struct svmx_options impatient_options(void) {
    struct svmx_options options = fake_options();
    options.timeout_ms = TIMEOUT_MS;
    options.patience_ms = STUCK_LIMIT_MS;
    options.log = silent;
    return options;
}

static inline svmx_executor_t *open_impatient(void) {
    const struct svmx_options options = impatient_options();
    return open_with(&options);
}

/* The driver comes back, long after everything is over. Under the address sanitizer it must not touch what is gone. */
static inline void come_back_late(void) {
    const struct timespec moment = {0, 50000000};
    fake_stick(0);
    (void)nanosleep(&moment, NULL);
}

static inline void expect_redone(const svmx_batch_t *batch, const struct trial *trial) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert(trial_is_right(trial), "a wrong answer");
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 1);
    cr_assert_eq(receipt.redone, 1);
    cr_assert_not_null(strstr(receipt.reason, "did not return"), "'%s'", receipt.reason);
}

/* A batch with so many pieces of the device's memory, and its results in it. */
static inline svmx_batch_t *holder(svmx_executor_t *executor, int pieces) {
    static const float a[64];
    svmx_batch_t *batch;
    void *memory = NULL;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (int i = 0; i < pieces; i++) cr_assert_eq(svmx_batch_alloc(batch, UINT64_C(65536) << i, &memory), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, 64), svmx_in(SVMX_F32, a, 64), svmx_in(SVMX_F32, a, 64)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    return batch;
}

#endif
