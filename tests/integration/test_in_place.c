/*
 * test_in_place.c: memory of the library for inputs and outputs: nothing is copied, results are where svmx_result says, on
 * host memory, on a device that shares memory and on one that does not; also after failures and in chains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../sanitized.h"
#include "executor/executor.h"
#include "faults_fixture.h"

enum { N = 1000, TASKS = 7 };
enum kind { HOST, SHARING, APART, KINDS };

static svmx_executor_t *open_kind(enum kind kind) {
    fake_start();
    fake.flags = kind == SHARING ? SVMX_DEVICE_SHARES_MEMORY : 0;
    struct svmx_options options = kind == HOST ? plain_options() : fake_options();
    options.log = silent;
    return open_with(&options);
}

/* TASKS sums of N floats whose inputs lie in `memory`, outputs left to the library, or in `out`. */
static void add_sums(svmx_batch_t *batch, const float *memory, float *out) {
    for (unsigned t = 0; t < TASKS; t++) {
        const float *a = memory + (size_t)2 * t * N;
        const struct svmx_arg args[] = {out ? svmx_out(SVMX_F32, out + (size_t)t * N, N)
                                            : svmx_out_library(SVMX_F32, N),
                                        svmx_in(SVMX_F32, a, N), svmx_in(SVMX_F32, a + N, N)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    }
}

static void fill(float *memory, unsigned seed) {
    for (unsigned i = 0; i < 2 * TASKS * N; i++) memory[i] = (float)((i * 7 + seed) % 1001);
}

static void expect_sums(svmx_batch_t *batch, const float *memory) {
    for (uint32_t t = 0; t < TASKS; t++) {
        void *data = NULL;
        uint64_t bytes = 0;
        cr_assert_eq(svmx_result(batch, t, 0, &data, &bytes), SVMX_OK);
        cr_assert_eq(bytes, N * sizeof(float));
        const float *sum = data, *a = memory + (size_t)2 * t * N;
        for (unsigned i = 0; i < N; i++) cr_assert_eq(sum[i], a[i] + a[N + i], "task %u, element %u", t, i);
    }
}

static struct svmx_receipt receipt_of(svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    return receipt;
}

static svmx_batch_t *batch_with_memory(svmx_executor_t *executor, float **memory) {
    svmx_batch_t *batch;
    void *given = NULL;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_alloc(batch, 2 * TASKS * N * sizeof(float), &given), SVMX_OK);
    cr_assert_eq((uintptr_t)given % 64, 0);
    *memory = given;
    return batch;
}

Test(in_place, nothing_is_copied) {
    for (enum kind kind = HOST; kind < KINDS; kind++) {
        svmx_executor_t *executor = open_kind(kind);
        float *memory;
        svmx_batch_t *batch = batch_with_memory(executor, &memory);
        fill(memory, 1);
        add_sums(batch, memory, NULL);
        cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        expect_sums(batch, memory);
        cr_assert_eq(receipt_of(batch).copied_bytes, 0);
        cr_assert_eq(receipt_of(batch).device, 0);
        for (unsigned again = 0; again < 3; again++) { /* the same tasks on new data */
            cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
            fill(memory, again);
            cr_assert_eq(svmx_run(batch), SVMX_OK);
            expect_sums(batch, memory);
        }
        svmx_batch_destroy(batch);
        svmx_close(executor);
        if (kind != HOST) expect_all_returned();
    }
}

Test(in_place, memory_of_ones_own_is_copied_and_counted) {
    static float memory[2 * TASKS * N], out[TASKS * N];
    for (enum kind kind = HOST; kind < KINDS; kind++) {
        svmx_executor_t *executor = open_kind(kind);
        svmx_batch_t *batch;
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        fill(memory, 3);
        add_sums(batch, memory, out);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        expect_sums(batch, memory);
        cr_assert_eq(receipt_of(batch).copied_bytes, kind == HOST ? 0 : sizeof memory + sizeof out);
        svmx_batch_destroy(batch);
        svmx_close(executor);
    }
}

Test(in_place, inputs_in_two_pieces_are_copied_and_right) {
    svmx_executor_t *executor = open_kind(SHARING);
    float *memory;
    svmx_batch_t *batch = batch_with_memory(executor, &memory);
    fill(memory, 4);
    static float own[2 * TASKS * N];
    fill(own, 5);
    add_sums(batch, memory, NULL);
    add_sums(batch, own, NULL);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    expect_sums(batch, memory);
    cr_assert_eq(receipt_of(batch).copied_bytes, 2 * sizeof own);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* Two pieces of 300 KB do not fit into the first block of a batch that is new. */
static void sum_of_two_pieces(svmx_batch_t *batch, uint64_t copied) {
    enum { MANY = 75000 };
    void *pieces[2], *sum = NULL;
    for (unsigned p = 0; p < 2; p++) {
        cr_assert_eq(svmx_batch_alloc(batch, MANY * sizeof(float), &pieces[p]), SVMX_OK);
        for (unsigned i = 0; i < MANY; i++) ((float *)pieces[p])[i] = (float)((i * 3 + p) % 1001);
    }
    const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, MANY), svmx_in(SVMX_F32, pieces[0], MANY),
                                    svmx_in(SVMX_F32, pieces[1], MANY)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_result(batch, 0, 0, &sum, NULL), SVMX_OK);
    for (unsigned i = 0; i < MANY; i++)
        cr_assert_eq(((float *)sum)[i], ((float *)pieces[0])[i] + ((float *)pieces[1])[i]);
    cr_assert_eq(receipt_of(batch).copied_bytes, copied);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
}

Test(in_place, what_is_asked_for_piece_by_piece_is_in_one_from_the_second_time_on) {
    svmx_executor_t *executor = open_kind(SHARING);
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    sum_of_two_pieces(batch, 600000);
    sum_of_two_pieces(batch, 0);
    sum_of_two_pieces(batch, 0);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(in_place, mixed_outputs) {
    static float memory[2 * TASKS * N], out[TASKS * N];
    for (enum kind kind = HOST; kind < KINDS; kind++) {
        svmx_executor_t *executor = open_kind(kind);
        svmx_batch_t *batch;
        cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
        fill(memory, 6);
        add_sums(batch, memory, NULL);
        add_sums(batch, memory, out);
        add_sums(batch, memory, NULL);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        expect_sums(batch, memory);
        for (unsigned t = 0; t < TASKS; t++)
            for (unsigned i = 0; i < N; i++)
                cr_assert_eq(out[t * N + i], memory[2 * t * N + i] + memory[(2 * t + 1) * N + i]);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        if (kind != HOST) expect_all_returned();
    }
}

/* ((a + b) + b) + b, and what is between stays with the library */
Test(in_place, chains_through_memory_of_the_library) {
    for (enum kind kind = HOST; kind < KINDS; kind++) {
        svmx_executor_t *executor = open_kind(kind);
        float *memory;
        svmx_batch_t *batch = batch_with_memory(executor, &memory);
        fill(memory, 7);
        add_sums(batch, memory, NULL);
        for (uint32_t link = 0; link < 2; link++) {
            const struct svmx_arg args[] = {svmx_out_library(SVMX_F32, N),
                                            svmx_result_of(SVMX_F32, link ? TASKS : 0, 0),
                                            svmx_in(SVMX_F32, memory + N, N)};
            cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%s", svmx_batch_error(batch));
        }
        for (unsigned again = 0; again < 2; again++) {
            cr_assert_eq(svmx_run(batch), SVMX_OK);
            expect_sums(batch, memory);
            void *data = NULL;
            cr_assert_eq(svmx_result(batch, TASKS + 1, 0, &data, NULL), SVMX_OK);
            for (unsigned i = 0; i < N; i++)
                cr_assert_eq(((const float *)data)[i], memory[i] + memory[N + i] + memory[N + i] + memory[N + i]);
            cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
        }
        svmx_batch_destroy(batch);
        svmx_close(executor);
        if (kind != HOST) expect_all_returned();
    }
}

Test(in_place, a_device_that_fails_costs_time_only) {
    for (enum kind kind = SHARING; kind < KINDS; kind++) {
        svmx_executor_t *executor = open_kind(kind);
        (void)run_trial(executor);
        float *memory;
        svmx_batch_t *batch = batch_with_memory(executor, &memory);
        fill(memory, 8);
        add_sums(batch, memory, NULL);
        fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
        fake.fail[FAKE_SUBMIT].count = 1;
        fake.fail[FAKE_SUBMIT].status = SVMX_ERR_BACKEND;
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(receipt_of(batch).redone, 1);
        expect_sums(batch, memory);
        svmx_batch_destroy(batch);
        svmx_close(executor);
        expect_all_returned();
    }
}

Test(in_place, what_a_late_device_may_read_is_never_given_to_another) {
    if (UNDER_ADDRESS_SANITIZER) cr_skip_test("what is set aside for good is a leak to the sanitizer");
    svmx_executor_t *executor;
    fake_start();
    fake.flags = SVMX_DEVICE_SHARES_MEMORY;
    executor = open_quiet_fake();
    (void)run_trial(executor);
    float *memory;
    svmx_batch_t *batch = batch_with_memory(executor, &memory);
    fill(memory, 9);
    add_sums(batch, memory, NULL);
    fake.gate_closed = true;
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    expect_sums(batch, memory);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    void *next = NULL;
    cr_assert_eq(svmx_batch_alloc(batch, 2 * TASKS * N * sizeof(float), &next), SVMX_OK);
    cr_assert_neq(next, (void *)memory);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    (void)fake_finish_late();
}

Test(in_place, a_batch_may_outlive_its_executor) {
    /* The fake device does not free at close what it still lends. */
    for (enum kind kind = HOST; kind < (UNDER_ADDRESS_SANITIZER ? SHARING : KINDS); kind++) {
        svmx_executor_t *executor = open_kind(kind);
        float *memory;
        svmx_batch_t *batch = batch_with_memory(executor, &memory);
        fill(memory, 10);
        add_sums(batch, memory, NULL);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        svmx_close(executor);
        void *more = NULL;
        cr_assert_eq(svmx_batch_alloc(batch, 10, &more), SVMX_ERR_CLOSED);
        svmx_batch_destroy(batch);
    }
}

Test(in_place, what_is_wrong_is_refused) {
    svmx_executor_t *executor = open_kind(HOST);
    float *memory;
    void *data = NULL;
    svmx_batch_t *batch = batch_with_memory(executor, &memory);
    cr_assert_eq(svmx_batch_alloc(NULL, 1, &data), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_alloc(batch, 1, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_alloc(batch, UINT64_MAX, &data), SVMX_ERR_OVERFLOW);
    cr_assert_eq(svmx_batch_alloc(batch, 0, &data), SVMX_OK);
    const struct svmx_arg input[] = {svmx_out_library(SVMX_F32, N), svmx_out_library(SVMX_F32, N),
                                     svmx_in(SVMX_F32, memory, N)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, input, 3), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "'a' is an input"), "%s", svmx_batch_error(batch));
    fill(memory, 0);
    add_sums(batch, memory, NULL);
    cr_assert_eq(svmx_result(batch, 0, 0, &data, NULL), SVMX_ERR_STATE, "it has not run");
    cr_assert_not_null(strstr(svmx_batch_error(batch), "was not submitted"), "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_result(batch, 0, 1, &data, NULL), SVMX_ERR_UNKNOWN, "an input");
    cr_assert_not_null(strstr(svmx_batch_error(batch), "task 0 (vec_add_f32) has no output 1"), "%s",
                       svmx_batch_error(batch));
    cr_assert_eq(svmx_result(batch, TASKS, 0, &data, NULL), SVMX_ERR_UNKNOWN);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "there is no task"), "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_result(batch, 0, 0, NULL, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_alloc(batch, 1, &data), SVMX_ERR_STATE);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(in_place, offsets_must_be_there_when_a_task_is_added) {
    svmx_executor_t *executor = open_kind(HOST);
    svmx_batch_t *batch;
    const uint64_t words[2] = {0, 3};
    uint64_t sums[2];
    uint8_t digest[32];
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_goldilocks_add(batch, sums, words, words, 2), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, digest, 32), svmx_in(SVMX_U8, "abcdef", 6),
                                    svmx_result_of(SVMX_U64, 0, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_KECCAK256, args, 3), SVMX_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "'offsets'"), "%s", svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* ---- large copies ------------------------------------------------------------------------------------------------- */

/* Above 64 MiB memory is written past the caches, in pieces that begin and end anywhere. */
Test(in_place, large_copies_are_whole) {
    enum { BYTES = (64 << 20) + 4099, AROUND = 64 };
    svmx_executor_t *executor = open_kind(HOST);
    unsigned char *from = malloc(BYTES + AROUND), *to = malloc(BYTES + AROUND);
    cr_assert(from && to);
    for (size_t i = 0; i < BYTES + AROUND; i++) from[i] = (unsigned char)(i * 2654435761u >> 13);
    for (size_t shift = 0; shift < 20; shift += 19) {
        memset(to, 0xee, BYTES + AROUND);
        svmx__copy_run(executor, to + shift, from + 5, BYTES);
        cr_assert(memcmp(to + shift, from + 5, BYTES) == 0, "shifted by %zu", shift);
        for (size_t i = 0; i < AROUND; i++)
            cr_assert_eq(to[i < shift ? i : BYTES + i], 0xee, "written past an end, shifted by %zu", shift);
    }
    free(from);
    free(to);
    svmx_close(executor);
}

/* The same as rows of a part, to the memory of a device. */
Test(in_place, large_tasks_are_whole) {
    enum { ITEMS = 9 << 20 };
    svmx_executor_t *executor = open_kind(APART);
    float *memory = malloc((3 * (size_t)ITEMS + 1) * sizeof *memory), *a = memory + 1, *b = a + ITEMS, *out = b + ITEMS;
    svmx_batch_t *batch;
    cr_assert(memory);
    for (uint32_t i = 0; i < ITEMS; i++) a[i] = (float)(i % 9973), b[i] = (float)(i % 13);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_timeout(batch, UINT64_C(60000000000)), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out, a, b, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.device == 0 && !receipt.redone, "%s", receipt.reason);
    for (uint32_t i = 0; i < ITEMS; i++) cr_assert_eq(out[i], a[i] + b[i], "element %u", i);
    svmx_batch_destroy(batch);
    free(memory);
    svmx_close(executor);
}
