/*
 * recovery_fixture.h: for suites about devices that come back: the device of fake.h worn out, time that passes at once.
 * After executor/executor.h and faults_fixture.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RECOVERY_FIXTURE_H
#define RECOVERY_FIXTURE_H

#include "base/clock.h"

#include <unistd.h>

/* The next `count` calls fail. */
static inline void fake_fail(enum fake_call call, unsigned count, enum svmx_status status) {
    pthread_mutex_lock(&fake.lock);
    fake.fail[call].from = fake.calls[call] + 1;
    fake.fail[call].count = count;
    fake.fail[call].status = status;
    pthread_mutex_unlock(&fake.lock);
}

/* For strikes and rests, not for deadlines, time stands still from now on, but for what pass_time says. */
static inline void stop_clock(svmx_executor_t *executor) { atomic_store(&executor->stopped_ns, svmx__clock_ns()); }
static inline void pass_time(svmx_executor_t *executor, uint64_t ns) {
    cr_assert_neq(atomic_fetch_add(&executor->stopped_ns, ns), 0, "the clock was not stopped");
}

/* Another operation than that of run_trial. */
static inline struct svmx_receipt run_mul(svmx_executor_t *executor) {
    float out[4], a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_vec_mul_f32(batch, out, a, b, 4), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (int i = 0; i < 4; i++) cr_assert_eq(out[i], a[i] * b[i]);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    svmx_batch_destroy(batch);
    return receipt;
}

/* Fails until it rests. */
static inline void wear_out(svmx_executor_t *executor) {
    cr_assert_eq(run_mul(executor).device, 0, "it has the operation, so that what fails are launches");
    while (device_at(executor, 0).usable) {
        fake_fail(FAKE_SUBMIT, 1, SVMX_ERR_BACKEND);
        (void)run_mul(executor);
    }
    fake_fail(FAKE_SUBMIT, 0, SVMX_OK);
}

/* Until a rebuild, which is somebody else's, came to that. A suite that waits for ever is ended by run-suite. */
static inline void await_health(svmx_executor_t *executor, uint32_t health) {
    while (device_at(executor, 0).health != health) usleep(1000);
}
static inline void await_rest(svmx_executor_t *executor) {
    while (atomic_load(&executor->look_ns) == SVMX__NEVER) usleep(1000); /* written last */
}
static inline void await_rebuilt(svmx_executor_t *executor, uint32_t lives) {
    while (svmx__life_of(&executor->devices[0])->number < lives) usleep(1000);
}

/* Worn out, rested, rebuilt. */
static inline void come_back(svmx_executor_t *executor) {
    const uint32_t lives = svmx__life_of(&executor->devices[0])->number;
    wear_out(executor);
    pass_time(executor, SVMX__REST_MAX_NS);
    (void)run_trial(executor);
    await_rebuilt(executor, lives + 1);
    await_health(executor, SVMX_SUSPECT);
}

#endif
