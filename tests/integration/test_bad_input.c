/*
 * test_bad_input.c: everything that a caller can get wrong: a status, a text that names the argument, and nothing changes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fake.h"
#include "trial.h"

#include <criterion/criterion.h>

static svmx_executor_t *executor;
static svmx_batch_t *batch;
static struct trial trial;

static void set_up(void) {
    struct svmx_options options = plain_options();
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    trial_fill(&trial, 3);
}

static void tear_down(void) {
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

TestSuite(bad_input, .init = set_up, .fini = tear_down);

/* The batch refused something: status, words of the text, still as many tasks as before, and it runs. */
static void expect_refused(enum svmx_status got, enum svmx_status status, const char *word) {
    cr_assert_eq(got, status, "%s, not %s: %s", svmx_status_name(got), svmx_status_name(status),
                 svmx_batch_error(batch));
    cr_assert_not_null(strstr(svmx_batch_error(batch), word), "'%s' does not name %s", svmx_batch_error(batch), word);
    cr_assert_eq(svmx_batch_task_count(batch), 0);
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert(trial_is_right(&trial));
    trial_fill(&trial, 4);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
}

/* ---- NULL ------------------------------------------------------------------------------------------------------- */

Test(bad_input, null_handles) {
    struct svmx_error error = {.status = SVMX_OK};
    svmx_batch_t *kept = (svmx_batch_t *)&trial, *made = kept;
    uint32_t op = 77;
    cr_assert_eq(svmx_open(NULL, NULL, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(error.status, SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(error.text, "executor"));
    cr_assert_eq(svmx_open(NULL, NULL, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_create(NULL, &made), SVMX_ERR_ARGUMENT);
    cr_assert_eq(made, kept);
    cr_assert_eq(svmx_batch_create(executor, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_find(NULL, "sha256", &op, &error), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_find(executor, NULL, &op, &error), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(error.text, "name"));
    cr_assert_eq(svmx_op_find(executor, "sha256", NULL, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(op, 77);
    svmx_close(NULL);
    svmx_batch_destroy(NULL);
    svmx_example_destroy(NULL);
}

Test(bad_input, null_batches) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_run(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_submit(NULL, 0), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_poll(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_wait(NULL, 0), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_wait(NULL, UINT64_MAX), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_cancel(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_reset(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_rearm(NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_set_tag(NULL, 1), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_on_done(NULL, NULL, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_set_eventfd(NULL, 0), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_batch_add(NULL, SVMX_OP_SHA256, NULL, 0), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_get(NULL, 0, &receipt), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_count(NULL), 0);
    cr_assert_eq(svmx_batch_task_count(NULL), 0);
    cr_assert_str_neq(svmx_batch_error(NULL), "");
}

Test(bad_input, null_structs_and_structs_without_a_size) {
    struct svmx_device device = {0};
    struct svmx_op op = {0};
    struct svmx_config_entry entry = {0};
    struct svmx_load_entry load = {0};
    struct svmx_stats stats = {0};
    struct svmx_receipt receipt = {0};
    struct svmx_example example = {0};
    cr_assert_eq(svmx_device_get(executor, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_device_get(NULL, 0, &device), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_get(executor, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_op_get(executor, 0, &op), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_config_get(executor, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_config_get(executor, 0, &entry), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_load_report_get(executor, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_load_report_get(executor, 0, &load), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_get(executor, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_stats_get(NULL, &stats), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_get(batch, 0, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_example_create(executor, 1, 1, 1, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_example_create(NULL, 1, 1, 1, &example), SVMX_ERR_ARGUMENT);
    cr_assert_null(device.name);
    cr_assert_null(op.name);
    cr_assert_null(example.args);
    cr_assert_eq(svmx_device_count(NULL), 0);
    cr_assert_eq(svmx_op_count(NULL), 0);
    cr_assert_eq(svmx_config_count(NULL), 0);
    cr_assert_eq(svmx_load_report_count(NULL), 0);
}

Test(bad_input, null_memory) {
    uint64_t offsets[2] = {0, 1};
    uint8_t digest[32], byte = 1;
    float x = 1;
    expect_refused(svmx_vec_add_f32(batch, NULL, &x, &x, 1), SVMX_ERR_ARGUMENT, "out");
    expect_refused(svmx_vec_add_f32(batch, trial.out, NULL, &x, 1), SVMX_ERR_ARGUMENT, "'a'");
    expect_refused(svmx_vec_mul_f32(batch, trial.out, &x, NULL, 1), SVMX_ERR_ARGUMENT, "'b'");
    expect_refused(svmx_sum_f32(batch, NULL, &x, 1), SVMX_ERR_ARGUMENT, "out");
    expect_refused(svmx_dot_f32(batch, trial.out, &x, NULL, 1), SVMX_ERR_ARGUMENT, "'b'");
    expect_refused(svmx_sha256(batch, NULL, &byte, offsets, 1), SVMX_ERR_ARGUMENT, "digests");
    expect_refused(svmx_sha256(batch, digest, NULL, offsets, 1), SVMX_ERR_ARGUMENT, "data");
    expect_refused(svmx_keccak256(batch, digest, &byte, NULL, 1), SVMX_ERR_ARGUMENT, "offsets");
    expect_refused(svmx_batch_add(batch, SVMX_OP_SUM_F32, NULL, 2), SVMX_ERR_ARGUMENT, "args");
}

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

Test(bad_input, tasks_of_no_items_are_fine_and_their_memory_may_be_null) {
    float sum = 9;
    uint64_t zero = 0;
    cr_assert_eq(svmx_vec_add_f32(batch, NULL, NULL, NULL, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_sum_f32(batch, &sum, NULL, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_sha256(batch, NULL, NULL, &zero, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_keccak256(batch, NULL, NULL, NULL, 0), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(sum, 0.0f);
}

Test(bad_input, sizes_that_overflow) {
    float x = 1;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 1, (size_t)1 << 62, (size_t)1 << 45};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        expect_refused(svmx_vec_add_f32(batch, trial.out, &x, &x, sizes[i]), SVMX_ERR_OVERFLOW, "out");
        expect_refused(svmx_sum_f32(batch, trial.out, &x, sizes[i]), SVMX_ERR_OVERFLOW, "'a'");
    }
}

Test(bad_input, counts_of_messages_that_overflow) {
    uint8_t digest[32], byte = 1;
    uint64_t offsets[3] = {0, 0, 1};
    static const size_t counts[] = {SIZE_MAX,        SIZE_MAX - 1,    SIZE_MAX / 2,
                                    (size_t)1 << 59, (size_t)1 << 50, ((size_t)1 << 41) + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        expect_refused(svmx_keccak256(batch, digest, &byte, offsets + 1, counts[i]), SVMX_ERR_OVERFLOW, "digests");
}

Test(bad_input, memory_that_runs_past_the_end_of_the_address_space) {
    float x = 1;
    struct svmx_arg args[] = {svmx_out(SVMX_F32, (void *)(UINTPTR_MAX - 7), 4), svmx_in(SVMX_F32, &x, 4),
                              svmx_in(SVMX_F32, &x, 4)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_OVERFLOW, "out");
}

Test(bad_input, bytes_that_are_no_whole_elements) {
    struct svmx_arg args[] = {svmx_out(SVMX_F32, trial.out, 2), svmx_in(SVMX_F32, trial.a, 2),
                              svmx_in(SVMX_F32, trial.b, 2)};
    args[1].bytes = 7;
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "'a'");
    uint8_t digests[64];
    uint64_t offsets[2] = {0, 0};
    struct svmx_arg hash[] = {svmx_out(SVMX_U8, digests, 33), svmx_in(SVMX_U8, NULL, 0), svmx_in(SVMX_U64, offsets, 2)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_SHA256, hash, 3), SVMX_ERR_ARGUMENT, "digests");
}

Test(bad_input, lengths_that_disagree) {
    struct svmx_arg args[] = {svmx_out(SVMX_F32, trial.out, 4), svmx_in(SVMX_F32, trial.a, 4),
                              svmx_in(SVMX_F32, trial.b, 5)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "b has 5");
    struct svmx_arg sum[] = {svmx_out(SVMX_F32, trial.out, 2), svmx_in(SVMX_F32, trial.a, 4)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_SUM_F32, sum, 2), SVMX_ERR_ARGUMENT, "out");
}

Test(bad_input, offsets_that_lie) {
    uint8_t digests[64], data[10] = {0};
    uint64_t down[] = {0, 5, 3}, beyond[] = {0, 5, 11};
    expect_refused(svmx_sha256(batch, digests, data, down, 2), SVMX_ERR_ARGUMENT, "offsets");
    struct svmx_arg args[] = {svmx_out(SVMX_U8, digests, 64), svmx_in(SVMX_U8, data, 10), svmx_in(SVMX_U64, beyond, 3)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_KECCAK256, args, 3), SVMX_ERR_ARGUMENT, "offsets");
}

/* ---- operations and arguments ----------------------------------------------------------------------------------- */

Test(bad_input, unknown_operations) {
    static const uint32_t numbers[] = {0, 255, 256, UINT32_MAX};
    struct svmx_arg args[] = {svmx_out(SVMX_F32, trial.out, 1), svmx_in(SVMX_F32, trial.a, 1)};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        expect_refused(svmx_batch_add(batch, numbers[i], args, 2), SVMX_ERR_UNKNOWN, "operation");
    struct svmx_error error = {0};
    uint32_t op = 77;
    cr_assert_eq(svmx_op_find(executor, "keccak", &op, &error), SVMX_ERR_UNKNOWN);
    cr_assert_eq(error.status, SVMX_ERR_UNKNOWN);
    cr_assert_not_null(strstr(error.text, "'keccak'"));
    cr_assert_not_null(strstr(error.text, "svmx ops"), "where the known ones are: %s", error.text);
    cr_assert_eq(op, 77);
    char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    cr_assert_eq(svmx_op_find(executor, endless, &op, &error), SVMX_ERR_UNKNOWN);
    cr_assert_lt(strlen(error.text), sizeof error.text);
    struct svmx_example example = {0};
    cr_assert_eq(svmx_example_create(executor, 99, 1, 1, &example), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_example_create(executor, 1, UINT64_MAX, 1, &example), SVMX_ERR_OVERFLOW);
    cr_assert_null(example.owned);
}

Test(bad_input, wrong_argument_count) {
    struct svmx_arg args[4] = {svmx_out(SVMX_F32, trial.out, 1), svmx_in(SVMX_F32, trial.a, 1),
                               svmx_in(SVMX_F32, trial.b, 1), svmx_in(SVMX_F32, trial.b, 1)};
    static const size_t counts[] = {0, 1, 2, 4, SIZE_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, counts[i]), SVMX_ERR_ARGUMENT, "3 arguments");
}

Test(bad_input, wrong_type_or_kind) {
    struct svmx_arg good[] = {svmx_out(SVMX_F32, trial.out, 2), svmx_in(SVMX_F32, trial.a, 2),
                              svmx_in(SVMX_F32, trial.b, 2)};
    struct svmx_arg args[3];
    static const uint32_t types[] = {0, SVMX_U8, SVMX_U32, SVMX_F64, 6, UINT32_MAX};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        memcpy(args, good, sizeof args);
        args[2].type = types[i];
        expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "'b'");
    }
    memcpy(args, good, sizeof args);
    args[1] = svmx_f32(1);
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "'a'");
    memcpy(args, good, sizeof args);
    args[1].kind = SVMX_ARG_BUFFER;
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "'a'");
    static const uint32_t kinds[] = {0, SVMX_ARG_PASSING + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        memcpy(args, good, sizeof args);
        args[0].kind = kinds[i];
        expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "out");
    }
}

Test(bad_input, results_that_do_not_exist) {
    struct svmx_arg args[] = {svmx_out(SVMX_F32, trial.out, TRIAL_ITEMS), svmx_result_of(SVMX_F32, 0, 0),
                              svmx_in(SVMX_F32, trial.b, TRIAL_ITEMS)};
    expect_refused(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "'a'");
    static float before[TRIAL_ITEMS];
    static const struct {
        uint32_t task, output;
    } wrong[] = {{1, 0}, {2, 0}, {UINT32_MAX, 0}, {0, 1}, {0, 3}, {0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_assert_eq(svmx_vec_add_f32(batch, before, trial.a, trial.b, TRIAL_ITEMS), SVMX_OK);
        args[1] = svmx_result_of(SVMX_F32, wrong[i].task, wrong[i].output);
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT);
        cr_assert_not_null(strstr(svmx_batch_error(batch), "'a'"), "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_batch_task_count(batch), 1);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
    cr_assert_eq(svmx_vec_add_f32(batch, before, trial.a, trial.b, TRIAL_ITEMS), SVMX_OK);
    struct svmx_arg as_output[] = {svmx_result_of(SVMX_F32, 0, 0), svmx_in(SVMX_F32, trial.a, TRIAL_ITEMS),
                                   svmx_in(SVMX_F32, trial.b, TRIAL_ITEMS)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, as_output, 3), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "out"));
    uint8_t digest[32];
    uint64_t offsets[] = {0, 4};
    struct svmx_arg other_type[] = {svmx_out(SVMX_U8, digest, 32), svmx_result_of(SVMX_U8, 0, 0),
                                    svmx_in(SVMX_U64, offsets, 2)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_SHA256, other_type, 3), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "data"));
    cr_assert_eq(svmx_batch_task_count(batch), 1);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Refused by run and submit alike; the batch stays as it was, and no byte is written. */
static void expect_overlap(const char *word) {
    struct trial before = trial;
    uint32_t tasks = svmx_batch_task_count(batch);
    cr_assert_eq(svmx_run(batch), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), word), "'%s'", svmx_batch_error(batch));
    cr_assert_eq(svmx_submit(batch, 0), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), word), "'%s'", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_task_count(batch), tasks);
    cr_assert_eq(svmx_poll(batch), SVMX_ERR_STATE, "still the caller's");
    cr_assert_eq(memcmp(&before, &trial, sizeof trial), 0, "a refused batch wrote");
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
}

Test(bad_input, outputs_that_overlap) {
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out, trial.out, trial.b, 8), SVMX_OK); /* in place */
    expect_overlap("'a'");
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out, trial.a, trial.b, 8), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out + 7, trial.a, trial.b, 8), SVMX_OK);
    expect_overlap("overlap");
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out, trial.a, trial.b, 8), SVMX_OK);
    cr_assert_eq(svmx_sum_f32(batch, trial.out + 20, trial.out + 7, 2), SVMX_OK); /* reads what the first writes */
    expect_overlap("task 1 (sum_f32): argument 'a'");
    cr_assert_eq(svmx_sum_f32(batch, trial.a + 3, trial.b, 2), SVMX_OK);
    cr_assert_eq(svmx_vec_mul_f32(batch, trial.out, trial.a, trial.b, 8), SVMX_OK);
    expect_overlap("'a'");
}

Test(bad_input, inputs_may_overlap_and_outputs_may_touch) {
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out + 8, trial.a, trial.a + 1, 8), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, trial.out, trial.a + 4, trial.a, 8), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (int i = 0; i < 8; i++) {
        cr_assert_eq(trial.out[8 + i], trial.a[i] + trial.a[i + 1]);
        cr_assert_eq(trial.out[i], trial.a[4 + i] + trial.a[i]);
    }
}

Test(bad_input, memory_of_any_alignment_is_accepted) {
    static unsigned char raw[3][4 * 64 + 8], digests[2 * 32 + 8], data[100], offsets_raw[3 * 8 + 8];
    const uint64_t offsets[3] = {0, 40, 91};
    for (size_t shift = 0; shift < 8; shift++) {
        float a[64], b[64], out[64];
        for (int i = 0; i < 64; i++) a[i] = (float)i, b[i] = (float)(1000 - 3 * i);
        memcpy(raw[1] + shift, a, sizeof a);
        memcpy(raw[2] + shift, b, sizeof b);
        memcpy(offsets_raw + shift, offsets, sizeof offsets);
        struct svmx_arg args[] = {svmx_out(SVMX_F32, raw[0] + shift, 64), svmx_in(SVMX_F32, raw[1] + shift, 64),
                                  svmx_in(SVMX_F32, raw[2] + shift, 64)};
        struct svmx_arg hash[] = {svmx_out(SVMX_U8, digests + shift, 64), svmx_in(SVMX_U8, data, 91),
                                  svmx_in(SVMX_U64, offsets_raw + shift, 3)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_SHA256, hash, 3), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        memcpy(out, raw[0] + shift, sizeof out);
        for (int i = 0; i < 64; i++) cr_assert_eq(out[i], a[i] + b[i]);
        static unsigned char first[64];
        if (shift == 0) memcpy(first, digests, 64);
        cr_assert_eq(memcmp(first, digests + shift, 64), 0);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
}

/* ---- the wrong moment ------------------------------------------------------------------------------------------- */

Test(bad_input, a_batch_that_has_run) {
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_ERR_STATE, "it has not run");
    const char *text = svmx_batch_error(batch);
    cr_assert_null(strstr(text, "not submitted"), "%s", text);
    cr_assert_eq(svmx_cancel(batch), SVMX_ERR_STATE, "it was not submitted");
    cr_assert_not_null(strstr(text, "not submitted"), "%s", text);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_wait(batch, 0), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(text, "not submitted"), "%s", text);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_poll(batch), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(text, "not submitted"), "%s", text);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_ERR_STATE);
    cr_assert_eq(svmx_receipt_count(batch), 0);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    trial_fill(&trial, 8);
    cr_assert_eq(svmx_run(batch), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "svmx_batch_rearm"));
    cr_assert_eq(svmx_submit(batch, 0), SVMX_ERR_STATE);
    cr_assert_eq(trial_add(&trial, batch), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "svmx_batch_reset"));
    cr_assert_eq(svmx_cancel(batch), SVMX_ERR_STATE);
    cr_assert_eq(svmx_receipt_get(batch, 1, &receipt), SVMX_ERR_UNKNOWN);
    cr_assert(trial_is_untouched(&trial));
    cr_assert_eq(svmx_batch_task_count(batch), 1);
}

Test(bad_input, a_batch_that_is_under_way) {
    fake_start();
    fake.gate_closed = true;
    struct svmx_options options = fake_options();
    svmx_executor_t *other;
    svmx_batch_t *running;
    cr_assert_eq(svmx_open(&other, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &running), SVMX_OK);
    cr_assert_eq(trial_add(&trial, running), SVMX_OK);
    cr_assert_eq(svmx_submit(running, 0), SVMX_OK);
    cr_assert_eq(svmx_submit(running, 0), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(running), "under way"), "no text for a batch submitted twice: '%s'",
                       svmx_batch_error(running));
    cr_assert_eq(svmx_run(running), SVMX_ERR_STATE);
    cr_assert_eq(trial_add(&trial, running), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_reset(running), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_rearm(running), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_set_tag(running, 1), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_on_done(running, NULL, NULL), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_set_eventfd(running, 1), SVMX_ERR_STATE);
    fake_gate(false);
    cr_assert_eq(svmx_wait(running, UINT64_MAX), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    svmx_batch_destroy(running);
    svmx_close(other);
}

Test(bad_input, unknown_flags) {
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_submit(batch, 4), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "flags"), "'%s'", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "the batch is still the caller's");
}

/* A batch keeps the executor's handle good, so that all of this can be seen. */
Test(bad_input, use_after_close) {
    struct svmx_options options = plain_options();
    svmx_executor_t *other;
    svmx_batch_t *empty, *done, *none = NULL;
    cr_assert_eq(svmx_open(&other, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &empty), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &done), SVMX_OK);
    cr_assert_eq(trial_add(&trial, done), SVMX_OK);
    cr_assert_eq(svmx_run(done), SVMX_OK);
    svmx_close(other);
    cr_assert_eq(trial_add(&trial, empty), SVMX_ERR_CLOSED);
    cr_assert_not_null(strstr(svmx_batch_error(empty), "closed"));
    cr_assert_eq(svmx_run(empty), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_submit(empty, 0), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_batch_create(other, &none), SVMX_ERR_CLOSED);
    cr_assert_null(none);
    struct svmx_stats stats = {.size = sizeof stats};
    struct svmx_device device = {.size = sizeof device};
    struct svmx_op op = {.size = sizeof op};
    struct svmx_load_entry load = {.size = sizeof load};
    struct svmx_config_entry entry = {.size = sizeof entry};
    struct svmx_example example;
    struct svmx_error error;
    uint32_t number;
    uint64_t sizes[SVMX_SIZE_LINES];
    cr_assert_eq(svmx_stats_get(other, &stats), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_sizes_get(other, SVMX_OP_SHA256, sizes), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_device_get(other, 0, &device), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_op_get(other, 0, &op), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_load_report_get(other, 0, &load), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_config_get(other, 0, &entry), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_example_create(other, 1, 1, 1, &example), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_op_find(other, "sha256", &number, &error), SVMX_ERR_CLOSED);
    cr_assert_not_null(strstr(error.text, "closed"));
    cr_assert_eq(svmx_device_count(other) + svmx_op_count(other) + svmx_config_count(other), 0);
    svmx_batch_destroy(empty);
    svmx_batch_destroy(done);
}

Test(bad_input, receipts_after_close) {
    struct svmx_options options = plain_options();
    svmx_executor_t *other;
    svmx_batch_t *done;
    cr_assert_eq(svmx_open(&other, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &done), SVMX_OK);
    cr_assert_eq(trial_add(&trial, done), SVMX_OK);
    cr_assert_eq(svmx_run(done), SVMX_OK);
    svmx_close(other);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(done, 0, &receipt), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_batch_reset(done), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_batch_rearm(done), SVMX_ERR_CLOSED);
    cr_assert_eq(svmx_run(done), SVMX_ERR_CLOSED);
    svmx_batch_destroy(done);
}

Test(bad_input, a_second_close_while_a_batch_keeps_the_handle) {
    struct svmx_options options = plain_options();
    svmx_executor_t *other;
    svmx_batch_t *kept;
    cr_assert_eq(svmx_open(&other, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(other, &kept), SVMX_OK);
    svmx_close(other);
    svmx_close(other);
    cr_assert_eq(svmx_run(kept), SVMX_ERR_CLOSED);
    svmx_batch_destroy(kept);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static struct svmx_error expect_no_open(const struct svmx_options *options, enum svmx_status status) {
    svmx_executor_t *kept = (svmx_executor_t *)&trial, *made = kept;
    struct svmx_error error = {0};
    cr_assert_eq(svmx_open(&made, options, &error), status, "%s", error.text);
    cr_assert_eq(made, kept, "an output was set by a call that failed");
    cr_assert_eq(error.status, status);
    return error;
}

Test(bad_input, unknown_backends_and_what_is_known) {
    struct svmx_options options = fake_options();
    static const char *const lists[] = {"nosuch", "fake,nosuch", "^nosuch", "-nosuch", "+nosuch", "nosuch:0"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        options.backends = lists[i];
        struct svmx_error error = expect_no_open(&options, SVMX_ERR_UNKNOWN);
        cr_assert_not_null(strstr(error.text, "'nosuch'"), "%s", error.text);
        cr_assert_not_null(strstr(error.text, "fake"), "%s", error.text);
        cr_assert_not_null(strstr(error.text, "reference"), "%s", error.text);
    }
}

Test(bad_input, options_that_break_a_rule) {
    struct svmx_options options = {.size = 3};
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "options.size"));
    options = plain_options();
    options.size = 5000;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "options.size"));
    options = plain_options();
    options.static_plugins = NULL;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "static_plugins"));
    options = plain_options();
    options.threads = 100000;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "options.threads"));
    options = plain_options();
    options.min_bucket = 3;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "options.min_bucket"));
    options = plain_options();
    options.log_level = 9;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "options.log_level"));
    options = plain_options();
    options.backend_path = "relative/folder";
    (void)expect_no_open(&options, SVMX_ERR_ARGUMENT);
    options = plain_options();
    options.backends = "a b,,:";
    (void)expect_no_open(&options, SVMX_ERR_ARGUMENT);
}

Test(bad_input, unknown_open_flags) {
    struct svmx_options options = plain_options();
    options.flags |= 1u << 31;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "flags"));
}

Test(bad_input, a_goal_that_is_not_there) {
    struct svmx_options options = plain_options();
    options.goal = SVMX_GOAL_ENERGY;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_UNSUPPORTED).text, "goal"));
    options.goal = 3;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "goal"));
}

Test(bad_input, a_static_plugin_that_is_null) {
    static const struct svmx_plugin *const list[] = {&fake_plugin, NULL};
    fake_start();
    struct svmx_options options = fake_options();
    options.static_plugins = list;
    options.static_plugin_count = 2;
    cr_assert_not_null(strstr(expect_no_open(&options, SVMX_ERR_ARGUMENT).text, "static_plugins"));
}
