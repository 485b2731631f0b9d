/*
 * test_buffers.c: data that stays: views as arguments, uploads that are saved, what one batch wrote and the next reads, heaps
 * that are too small, and devices that fail at any call: the host's copy is whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "executor/executor.h"
#include "faults_fixture.h"

enum { N = 64, BYTES = N * sizeof(float), ROUNDS = 6 };

static float a[N], b[N], out[N];

static void fill(void) {
    for (int i = 0; i < N; i++) a[i] = (float)(i * 3 - 40) / 8, b[i] = (float)(i % 7) / 16;
}

static svmx_buffer_t *buffer_of(svmx_executor_t *executor, const float *from, uint64_t bytes) {
    svmx_buffer_t *buffer;
    cr_assert_eq(svmx_buffer_create(executor, bytes, &buffer), SVMX_OK);
    if (from) cr_assert_eq(svmx_buffer_write(buffer, 0, from, BYTES), SVMX_OK);
    return buffer;
}

static svmx_batch_t *batch_for(svmx_executor_t *executor) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    return batch;
}

static void add(svmx_batch_t *batch, struct svmx_arg to, struct svmx_arg x, struct svmx_arg y) {
    const struct svmx_arg args[] = {to, x, y};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
}

static struct svmx_arg all_of(svmx_buffer_t *buffer) { return svmx_view(SVMX_F32, buffer, 0, N); }

static void run(svmx_batch_t *batch) {
    if (svmx_poll(batch) == SVMX_OK) cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
}

static uint64_t copied(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint64_t sum = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) sum += receipt.copied_bytes;
    return sum;
}

/* ---- by itself ------------------------------------------------------------------------------------------------------ */

Test(buffers, are_memory) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    svmx_buffer_t *buffer;
    float zero[N] = {0}, back[N];
    fill();
    cr_assert_eq(svmx_buffer_create(executor, BYTES, &buffer), SVMX_OK);
    cr_assert_eq(svmx_buffer_bytes(buffer), BYTES);
    cr_assert_eq(svmx_buffer_read(buffer, 0, back, BYTES), SVMX_OK);
    cr_assert_arr_eq(back, zero, BYTES);
    cr_assert_eq(svmx_buffer_write(buffer, 8, a, 16), SVMX_OK);
    cr_assert_eq(svmx_buffer_read(buffer, 8, back, 16), SVMX_OK);
    cr_assert_arr_eq(back, a, 16);
    cr_assert_eq(svmx_buffer_write(buffer, BYTES, a, 0), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(buffer, BYTES - 4, a, 8), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_buffer_read(buffer, UINT64_MAX, back, 8), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_buffer_read(buffer, 0, NULL, 8), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_buffer_write(NULL, 0, a, 8), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_buffer_create(executor, UINT64_MAX, &buffer), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_buffer_create(NULL, 8, &buffer), SVMX_ERR_ARGUMENT);
    svmx_close(executor);
    cr_assert_eq(svmx_buffer_read(buffer, 8, back, 16), SVMX_OK, "it outlives its executor");
    svmx_buffer_destroy(buffer);
    svmx_buffer_destroy(NULL);
    cr_assert_eq(svmx_buffer_bytes(NULL), 0);
}

Test(buffers, views_that_are_refused) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options), *other = open_with(&options);
    svmx_buffer_t *buffer = buffer_of(executor, NULL, BYTES), *foreign = buffer_of(other, NULL, BYTES);
    svmx_batch_t *batch = batch_for(executor);
    const struct svmx_arg wrong[] = {svmx_view(SVMX_F32, NULL, 0, N),       svmx_view(SVMX_F32, foreign, 0, N),
                                     svmx_view(SVMX_F32, buffer, 1, N),     svmx_view(SVMX_F32, buffer, UINT64_MAX, N),
                                     svmx_view(SVMX_F64, buffer, 0, N / 2), svmx_view(SVMX_F32, buffer, 0, N / 2)};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, N), svmx_in(SVMX_F32, a, N), wrong[i]};
        cr_assert_lt(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%zu", i);
    }
    add(batch, all_of(buffer), all_of(buffer), svmx_in(SVMX_F32, a, N));
    cr_assert_eq(svmx_run(batch), SVMX_ERR_ARGUMENT, "an output overlaps an input");
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(buffer);
    svmx_buffer_destroy(foreign);
    svmx_close(executor);
    svmx_close(other);
}

/* ---- on a device ---------------------------------------------------------------------------------------------------- */

/* The device has memory for the heap or for the work of another batch, not for both: buffers give way, nothing is lost, and they
 * come back when they are named again. */
Test(buffers, give_way_to_work_when_memory_runs_out) {
    enum { MANY = 65536 };
    static float many[MANY], sums[MANY];
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_buffer_t *x = buffer_of(executor, a, MANY * sizeof(float));
    svmx_batch_t *batch = batch_for(executor), *work = batch_for(executor);
    add(batch, svmx_out(SVMX_F32, out, N), all_of(x), svmx_in(SVMX_F32, b, N));
    run(batch);
    run(batch);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, MANY / 4), SVMX_OK);
    const struct svmx__heap *heap = &svmx__life_of(&executor->devices[0])->heap;
    cr_assert_not_null(heap->memory, "or this shows nothing");
    for (int i = 0; i < MANY; i++) many[i] = (float)i;
    cr_assert_eq(svmx_vec_add_f32(work, sums, many, many, MANY / 4), SVMX_OK);
    pthread_mutex_lock(&fake.lock);
    fake.capacity = heap->memory->bytes + 4096;
    pthread_mutex_unlock(&fake.lock);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    run(work);
    cr_assert_eq(svmx_receipt_get(work, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0, "%s", receipt.reason);
    cr_assert_eq(receipt.redone, 0);
    for (int i = 0; i < MANY / 4; i++) cr_assert_eq(sums[i], 2 * many[i]);
    cr_assert_null(heap->memory);
    pthread_mutex_lock(&fake.lock);
    fake.capacity = 0;
    pthread_mutex_unlock(&fake.lock);
    memset(out, 0, sizeof out);
    run(batch);
    cr_assert_not_null(heap->memory);
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] + b[i]);
    svmx_batch_destroy(batch);
    svmx_batch_destroy(work);
    svmx_buffer_destroy(x);
    svmx_close(executor);
    expect_all_returned();
}

Test(buffers, what_is_read_is_uploaded_once) {
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_buffer_t *x = buffer_of(executor, a, BYTES);
    svmx_batch_t *batch = batch_for(executor);
    add(batch, svmx_out(SVMX_F32, out, N), all_of(x), svmx_in(SVMX_F32, b, N));
    run(batch); /* its pipeline is built meanwhile */
    run(batch);
    cr_assert_eq(copied(batch), 3 * BYTES, "the buffer, the other input, the result");
    for (int round = 0; round < 3; round++) {
        memset(out, 0, sizeof out);
        run(batch);
        cr_assert_eq(copied(batch), 2 * BYTES);
        for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] + b[i]);
    }
    cr_assert_eq(svmx_buffer_write(x, 0, b, BYTES), SVMX_OK);
    run(batch);
    cr_assert_eq(copied(batch), 3 * BYTES, "it was written to");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], b[i] + b[i]);
    svmx_buffer_destroy(x);
    run(batch); /* the batch has it still */
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], b[i] + b[i]);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* x and y by turns, each the sum of the other and a third that stays. Gives the bytes that were copied in the last round. */
static uint64_t by_turns(svmx_executor_t *executor, bool check) {
    svmx_buffer_t *x = buffer_of(executor, a, BYTES), *y = buffer_of(executor, NULL, BYTES),
                  *step = buffer_of(executor, b, BYTES);
    svmx_batch_t *there = batch_for(executor), *back = batch_for(executor);
    float expected[N], actual[N];
    add(there, all_of(y), all_of(x), all_of(step));
    add(back, all_of(x), all_of(y), all_of(step));
    memcpy(expected, a, sizeof expected);
    for (int round = 0; round < ROUNDS; round++) {
        run(there);
        run(back);
        for (int i = 0; i < N; i++) {
            volatile float once = expected[i] + b[i];
            expected[i] = once + b[i];
        }
        cr_assert_eq(svmx_buffer_read(x, 0, actual, BYTES), SVMX_OK);
        cr_assert_arr_eq(actual, expected, BYTES, "round %d", round);
    }
    const uint64_t bytes = check ? copied(back) : 0;
    svmx_batch_destroy(there);
    svmx_batch_destroy(back);
    svmx_buffer_destroy(x);
    svmx_buffer_destroy(y);
    svmx_buffer_destroy(step);
    return bytes;
}

Test(buffers, what_one_batch_wrote_the_next_reads_there) {
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    cr_assert_eq(by_turns(executor, true), BYTES, "only the checkpoint comes back");
    svmx_close(executor);
    expect_all_returned();
}

Test(buffers, in_staging_memory_the_hosts_copy_is_read) {
    fill();
    fake_start();
    fake.flags = SVMX_DEVICE_SHARES_MEMORY;
    svmx_executor_t *executor = open_fake();
    cr_assert_eq(by_turns(executor, true), 3 * BYTES);
    svmx_close(executor);
    expect_all_returned();
}

Test(buffers, without_a_device) {
    const struct svmx_options options = plain_options();
    fill();
    svmx_executor_t *executor = open_with(&options);
    (void)by_turns(executor, false);
    svmx_close(executor);
}

/* ---- where it is counts ------------------------------------------------------------------------------------------------ */

/* Two devices that decide by what they are taught. */
static svmx_executor_t *open_taught(const char *backends) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "auto",
                                         .learn = "frozen",
                                         .log_level = SVMX_LOG_ERROR,
                                         .profile = "off",
                                         .static_plugins = fake_and_twin,
                                         .static_plugin_count = 2};
    fake_start();
    return open_with(&options);
}

static void teach(svmx_executor_t *executor, uint32_t op, uint32_t device, struct svmx__sample sample) {
    const struct svmx__load load = {N, N, 3 * BYTES};
    for (int i = 0; i < 8; i++) (void)svmx__model_learn(&executor->model, op, device, &load, &sample);
}

static uint32_t device_of(svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    run(batch);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    return receipt.device;
}

/* 100 us and three times 200 for what is copied, against 400 on SIMD: the way there is too long, unless two of the three are
 * there already. */
Test(buffers, what_is_there_already_turns_the_choice) {
    if (!has_simd()) cr_skip_test("there is no SIMD backend");
    fill();
    svmx_executor_t *executor = open_taught("fake,simd,stop");
    teach(executor, SVMX_OP_VEC_ADD_F32, 0, (struct svmx__sample){50000, 600000, 50000, false, false});
    teach(executor, SVMX_OP_VEC_ADD_F32, 1, (struct svmx__sample){.compute_ns = 400000});
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, N), SVMX_OK);
    svmx_buffer_t *x = buffer_of(executor, a, BYTES), *y = buffer_of(executor, b, BYTES);
    svmx_batch_t *batch = batch_for(executor), *there = batch_for(executor);
    add(batch, svmx_out(SVMX_F32, out, N), all_of(x), all_of(y));
    add(there, svmx_out(SVMX_F32, out, N), all_of(x), all_of(y));
    cr_assert_eq(svmx_batch_set_policy(there, SVMX_POLICY_GPU), SVMX_OK);
    for (int i = 0; i < 3; i++) cr_assert_eq(device_of(batch), 1, "nothing is there");
    cr_assert_eq(device_of(there), 0);
    for (int i = 0; i < 3; i++) cr_assert_eq(device_of(batch), 0, "both are there");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] + b[i]);
    cr_assert_eq(svmx_buffer_write(x, 0, b, BYTES), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(y, 0, a, BYTES), SVMX_OK);
    cr_assert_eq(device_of(batch), 1, "what is there is old");
    svmx_batch_destroy(batch);
    svmx_batch_destroy(there);
    svmx_buffer_destroy(x);
    svmx_buffer_destroy(y);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- on two devices --------------------------------------------------------------------------------------------------- */

/* One computes sums, the other products. */
struct pair {
    svmx_executor_t *executor;
    svmx_buffer_t *x, *y;
    svmx_batch_t *sum, *product, *change; /* out = x + y on the first, x * y on the second; x = y * y on the second */
};

static svmx_batch_t *of_two(svmx_executor_t *executor, uint32_t op, struct svmx_arg to, svmx_buffer_t *x,
                            svmx_buffer_t *y) {
    const struct svmx_arg args[] = {to, all_of(x), all_of(y)};
    svmx_batch_t *batch = batch_for(executor);
    cr_assert_eq(svmx_batch_add(batch, op, args, 3), SVMX_OK);
    return batch;
}

static void pair_open(struct pair *pair) {
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32};
    const struct svmx_arg to = svmx_out(SVMX_F32, out, N);
    svmx_executor_t *executor = pair->executor = open_taught("fake,twin,stop");
    for (uint32_t i = 0; i < 2; i++) {
        teach(executor, ops[i], i, (struct svmx__sample){50000, 60000, 50000, false, false});
        teach(executor, ops[i], 1 - i, (struct svmx__sample){50000, 60000, 9000000, false, false});
        cr_assert_eq(svmx_prewarm(executor, ops[i], N), SVMX_OK);
    }
    pair->x = buffer_of(executor, a, BYTES);
    pair->y = buffer_of(executor, b, BYTES);
    pair->sum = of_two(executor, SVMX_OP_VEC_ADD_F32, to, pair->x, pair->y);
    pair->product = of_two(executor, SVMX_OP_VEC_MUL_F32, to, pair->x, pair->y);
    pair->change = of_two(executor, SVMX_OP_VEC_MUL_F32, all_of(pair->x), pair->y, pair->y);
}

static void pair_close(struct pair *pair) {
    svmx_batch_destroy(pair->sum);
    svmx_batch_destroy(pair->product);
    svmx_batch_destroy(pair->change);
    svmx_buffer_destroy(pair->x);
    svmx_buffer_destroy(pair->y);
    svmx_close(pair->executor);
    expect_all_returned();
}

/* Runs a batch of that device's, which copies so many times the size of a buffer. */
static void run_copying(svmx_batch_t *batch, uint32_t device, uint64_t times, const char *why) {
    cr_assert_eq(device_of(batch), device);
    cr_assert_eq(copied(batch), times * BYTES, "%s: %g", why, (double)copied(batch) / BYTES);
}

/* Written by the host, read on one, read on the other, changed there, and read on the first and by the host. */
Test(buffers, on_two_devices) {
    struct pair pair;
    float squares[N], now[N];
    fill();
    for (int i = 0; i < N; i++) squares[i] = b[i] * b[i];
    pair_open(&pair);
    run(pair.sum); /* what is known is looked up for the first time: nothing stays yet */
    run(pair.product);
    run_copying(pair.sum, 0, 3, "two buffers there, the result back");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] + b[i]);
    run_copying(pair.product, 1, 3, "the other has copies of its own");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] * b[i]);
    run_copying(pair.sum, 0, 1, "both are there");
    run_copying(pair.product, 1, 1, "here too");
    run_copying(pair.change, 1, 1, "the checkpoint");
    cr_assert_eq(svmx_buffer_read(pair.x, 0, now, BYTES), SVMX_OK);
    cr_assert_arr_eq(now, squares, BYTES);
    run_copying(pair.product, 1, 1, "it was changed where it is read");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], squares[i] * b[i]);
    run_copying(pair.sum, 0, 2, "what the other changed is uploaded again, and nothing else");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], squares[i] + b[i]);
    cr_assert_eq(svmx_buffer_write(pair.y, 0, a, BYTES), SVMX_OK);
    run_copying(pair.sum, 0, 2, "and what the host wrote");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], squares[i] + a[i]);
    run_copying(pair.product, 1, 2, "on each");
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], squares[i] * a[i]);
    pair_close(&pair);
}

/* The host writes to the other half of a buffer while a batch reads the first, which is nobody's fault: the copy that it made on
 * the device has the other half as it was, and must not be taken for good. */
Test(buffers, a_copy_that_was_made_while_somebody_wrote_is_not_good) {
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_buffer_t *x = buffer_of(executor, a, 2 * BYTES);
    svmx_batch_t *reader = batch_for(executor), *after = batch_for(executor);
    add(reader, svmx_out(SVMX_F32, out, N), svmx_view(SVMX_F32, x, 0, N), svmx_in(SVMX_F32, b, N));
    add(after, svmx_out(SVMX_F32, out, N), svmx_view(SVMX_F32, x, N, N), svmx_in(SVMX_F32, b, N));
    run(reader);
    run(reader);
    fake_gate(true);
    const unsigned before = fake_count(&fake.calls[FAKE_SUBMIT]);
    cr_assert_eq(svmx_batch_rearm(reader), SVMX_OK);
    cr_assert_eq(svmx_submit(reader, 0), SVMX_OK);
    fake_await(&fake.calls[FAKE_SUBMIT], before + 1); /* its copy is made */
    cr_assert_eq(svmx_buffer_write(x, BYTES, a, BYTES), SVMX_OK);
    fake_gate(false);
    cr_assert_eq(svmx_wait(reader, UINT64_MAX), SVMX_OK);
    run(after);
    for (int i = 0; i < N; i++) cr_assert_eq(out[i], a[i] + b[i]);
    svmx_batch_destroy(reader);
    svmx_batch_destroy(after);
    svmx_buffer_destroy(x);
    svmx_close(executor);
    expect_all_returned();
}

/* Views of one buffer, some of which begin where kernels cannot take them; an input and an output side by side. */
static void views(uint64_t first, uint64_t second) {
    float expected[N], actual[4 * N];
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_buffer_t *buffer = buffer_of(executor, NULL, 4 * BYTES);
    svmx_batch_t *batch = batch_for(executor);
    cr_assert_eq(svmx_buffer_write(buffer, first * sizeof(float), a, BYTES), SVMX_OK);
    add(batch, svmx_view(SVMX_F32, buffer, second, N), svmx_view(SVMX_F32, buffer, first, N), svmx_in(SVMX_F32, b, N));
    for (int i = 0; i < N; i++) expected[i] = a[i] + b[i];
    for (int round = 0; round < 3; round++) {
        run(batch);
        cr_assert_eq(svmx_buffer_read(buffer, 0, actual, sizeof actual), SVMX_OK);
        cr_assert_arr_eq(actual + second, expected, BYTES);
        cr_assert_arr_eq(actual + first, a, BYTES);
    }
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(buffer);
    svmx_close(executor);
    expect_all_returned();
}

Test(buffers, views_side_by_side) { views(0, N); }
Test(buffers, views_that_are_not_aligned) { views(1, N + 3); }
Test(buffers, one_view_that_is_not_aligned) { views(64, 2 * N + 1); }

/* A chain whose ends are buffers, of which the middle passes. */
Test(buffers, at_the_ends_of_a_chain) {
    float actual[N];
    fill();
    fake_start();
    svmx_executor_t *executor = open_fake();
    svmx_buffer_t *x = buffer_of(executor, a, BYTES), *y = buffer_of(executor, NULL, BYTES);
    svmx_batch_t *batch = batch_for(executor);
    add(batch, svmx_out_passing(SVMX_F32, N), all_of(x), svmx_in(SVMX_F32, b, N));
    add(batch, all_of(y), svmx_result_of(SVMX_F32, 0, 0), all_of(x));
    add(batch, svmx_out(SVMX_F32, out, N), svmx_result_of(SVMX_F32, 1, 0), svmx_in(SVMX_F32, b, N));
    for (int round = 0; round < 3; round++) {
        run(batch);
        cr_assert_eq(svmx_buffer_read(y, 0, actual, BYTES), SVMX_OK);
        for (int i = 0; i < N; i++) {
            volatile float sum = a[i] + b[i], twice = sum + a[i];
            cr_assert_eq(actual[i], twice);
            cr_assert_eq(out[i], twice + b[i]);
        }
    }
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(x);
    svmx_buffer_destroy(y);
    svmx_close(executor);
    expect_all_returned();
}

/* More buffers than a heap holds: it is made anew, and what is used again is uploaded again. */
Test(buffers, more_than_fit) {
    enum { MANY = 40, LARGE = 16384 };
    svmx_buffer_t *many[MANY];
    fill();
    fake_start();
    fake.max_alloc_bytes = 8 * LARGE;
    svmx_executor_t *executor = open_fake();
    for (int i = 0; i < MANY; i++) many[i] = buffer_of(executor, i % 2 ? a : b, LARGE);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++) {
            svmx_batch_t *batch = batch_for(executor);
            add(batch, svmx_out(SVMX_F32, out, N), all_of(many[i]), all_of(many[(i * 7 + 1) % MANY]));
            run(batch);
            const float *x = i % 2 ? a : b, *y = (i * 7 + 1) % MANY % 2 ? a : b;
            for (int k = 0; k < N; k++) cr_assert_eq(out[k], x[k] + y[k]);
            svmx_batch_destroy(batch);
        }
    for (int i = 0; i < MANY; i++) svmx_buffer_destroy(many[i]);
    svmx_close(executor);
    expect_all_returned();
}

/* The check plugin looks at every command, and wants more than 64 bytes of alignment. */
Test(buffers, keep_the_rules_of_the_abi) {
    const char *drivers = getenv("SVMX_TEST_DRIVER_PATH");
    if (!drivers) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    struct complaints complaints = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+check,stop",
                                         .policy = "order",
                                         .backend_path = drivers,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                         .log_level = SVMX_LOG_ERROR,
                                         .log = note_complaint,
                                         .log_user = &complaints};
    fill();
    svmx_executor_t *executor = open_with(&options);
    (void)by_turns(executor, false);
    for (uint64_t first = 0; first < 2 * N; first += N / 4) { /* views of all kinds of alignment */
        svmx_buffer_t *buffer = buffer_of(executor, NULL, 4 * BYTES);
        svmx_batch_t *batch = batch_for(executor);
        float actual[N];
        cr_assert_eq(svmx_buffer_write(buffer, first * sizeof(float), a, BYTES), SVMX_OK);
        add(batch, svmx_view(SVMX_F32, buffer, 3 * N, N), svmx_view(SVMX_F32, buffer, first, N),
            svmx_in(SVMX_F32, b, N));
        for (int round = 0; round < 2; round++) run(batch);
        cr_assert_eq(svmx_buffer_read(buffer, 3 * BYTES, actual, BYTES), SVMX_OK);
        for (int i = 0; i < N; i++) cr_assert_eq(actual[i], a[i] + b[i]);
        svmx_batch_destroy(batch);
        svmx_buffer_destroy(buffer);
    }
    cr_assert_eq(complaints.count, 0, "%s", complaints.first);
    svmx_close(executor);
}

/* ---- devices that fail ---------------------------------------------------------------------------------------------- */

static void take_turns(svmx_executor_t *executor) { (void)by_turns(executor, false); }

static void fail_each(enum fake_call call, enum svmx_status how, unsigned times) {
    fill();
    fail_each_call(call, how, times, take_turns);
}

Test(buffers, any_submit_fails) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1); }
Test(buffers, any_wait_fails) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1); }
Test(buffers, any_memory_fails) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1); }
Test(buffers, memory_fails_from_any_call_on) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, FAKE_ALL); }
Test(buffers, lost_at_any_submit) { fail_each(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL); }
Test(buffers, lost_at_any_wait) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL); }

/* The device hangs with the heap in its hands: the host's copy goes on without it. */
Test(buffers, a_hang) {
    abandons = true;
    float actual[N];
    fill();
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_buffer_t *x = buffer_of(executor, a, BYTES), *y = buffer_of(executor, NULL, BYTES);
    svmx_batch_t *batch = batch_for(executor);
    add(batch, all_of(y), all_of(x), svmx_in(SVMX_F32, b, N));
    run(batch);
    run(batch);
    fake_gate(true);
    run(batch);
    fake_gate(false);
    cr_assert_eq(svmx_buffer_write(y, 0, b, BYTES), SVMX_OK);
    cr_assert_eq(fake_finish_late(), 1);
    cr_assert_eq(svmx_buffer_read(y, 0, actual, BYTES), SVMX_OK);
    cr_assert_arr_eq(actual, b, BYTES, "a late answer goes nowhere");
    run(batch);
    cr_assert_eq(svmx_buffer_read(y, 0, actual, BYTES), SVMX_OK);
    for (int i = 0; i < N; i++) cr_assert_eq(actual[i], a[i] + b[i]);
    svmx_batch_destroy(batch);
    svmx_buffer_destroy(x);
    svmx_buffer_destroy(y);
    svmx_close(executor);
}
