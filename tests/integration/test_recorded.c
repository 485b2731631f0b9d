/*
 * test_recorded.c: batches that are recorded and replayed: the bytes of a run built anew, with other data each time, on host
 * memory and on a device, also one that fails between.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "faults_fixture.h"

enum { N = 40, ROUNDS = 5 };

static float a[N], b[N], sum[N], product[N], difference;

static void add_tasks(svmx_batch_t *batch) {
    const uint32_t first = svmx_batch_task_count(batch);
    const struct svmx_arg times[] = {svmx_out_library(SVMX_F32, N), svmx_in(SVMX_F32, a, N), svmx_in(SVMX_F32, b, N)},
                          again[] = {svmx_out_passing(SVMX_F32, N), svmx_result_of(SVMX_F32, first + 1, 0),
                                     svmx_result_of(SVMX_F32, first, 0)},
                          differ[] = {svmx_out(SVMX_F32, &difference, 1), svmx_result_of(SVMX_F32, first + 2, 0),
                                      svmx_in(SVMX_F32, a, N)};
    cr_assert_eq(svmx_vec_add_f32(batch, sum, a, b, N), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, times, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, again, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_MAX_ABS_DIFF_F32, differ, 3), SVMX_OK);
}

static void fill(int round) {
    for (int i = 0; i < N; i++) a[i] = (float)(i * (round + 1) - 17) / 8, b[i] = (float)(i % 9 - round) / 4;
    memset(sum, 0xff, sizeof sum);
    difference = -1;
}

static void expect_right(svmx_batch_t *batch) {
    float most = 0;
    void *data;
    cr_assert_eq(svmx_result(batch, 1, 0, &data, NULL), SVMX_OK);
    memcpy(product, data, sizeof product);
    for (int i = 0; i < N; i++) {
        volatile float s = a[i] + b[i], p = a[i] * b[i], r = p + s, d = r - a[i];
        cr_assert_eq(sum[i], s);
        cr_assert_eq(product[i], p);
        if ((d < 0 ? -d : d) > most) most = d < 0 ? -d : d;
    }
    cr_assert_eq(difference, most);
}

static void replayed(svmx_executor_t *executor, bool fails) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    add_tasks(batch);
    cr_assert_eq(svmx_batch_record(batch), SVMX_OK);
    for (int round = 0; round < ROUNDS; round++) {
        fill(round);
        if (fails && round == 3) {
            fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + 1;
            fake.fail[FAKE_WAIT].count = 1;
            fake.fail[FAKE_WAIT].status = SVMX_ERR_BACKEND;
        }
        cr_assert_eq(svmx_batch_replay(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        expect_right(batch);
    }
    fill(ROUNDS);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    expect_right(batch);
    cr_assert_eq(svmx_vec_add_f32(batch, sum, a, b, N), SVMX_ERR_STATE, "it has run");
    cr_assert(strstr(svmx_batch_error(batch), "is recorded"), "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, sum, a, b, N), SVMX_ERR_STATE);
    cr_assert(strstr(svmx_batch_error(batch), "recorded"), "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    add_tasks(batch);
    cr_assert_eq(svmx_batch_replay(batch), SVMX_ERR_STATE, "it is another batch now");
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    expect_right(batch);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(recorded, on_host_memory) {
    const struct svmx_options options = plain_options();
    replayed(open_with(&options), false);
}

Test(recorded, on_simd) {
    const struct svmx_options options = {.size = sizeof options, .backends = "simd", .log_level = SVMX_LOG_OFF};
    svmx_executor_t *executor = NULL;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) cr_skip_test("there is no SIMD backend");
    replayed(executor, false);
}

Test(recorded, on_a_device) {
    fake_start();
    replayed(open_fake(), false);
    expect_all_returned();
}

Test(recorded, on_a_device_that_fails_between) {
    fake_start();
    replayed(open_quiet_fake(), true);
    expect_all_returned();
}

Test(recorded, what_overlaps_is_refused_when_it_is_recorded) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_replay(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_vec_add_f32(batch, sum, a, sum, N), SVMX_OK);
    cr_assert_eq(svmx_batch_record(batch), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_record(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_replay(NULL), SVMX_ERR_ARGUMENT);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}
