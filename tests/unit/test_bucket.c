/*
 * test_bucket.c: stage 2: rows brought together by part, and buckets of powers of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(bucket, .init = set_up, .fini = tear_down);

static float outs[200][8], ins[200][8];

/* Tasks of three operations in a pattern; returns how many. */
static uint32_t fill(void) {
    for (uint32_t t = 0; t < 100; t++) {
        size_t n = t % 9;
        if (n == 0) n = 1;
        if (n > 8) n = 8;
        enum svmx_status status = t % 3 == 0   ? svmx_vec_add_f32(batch, outs[t], ins[t], ins[t], n)
                                  : t % 3 == 1 ? svmx_vec_mul_f32(batch, outs[t], ins[t], ins[t], n)
                                               : svmx_sum_f32(batch, outs[t], ins[t], n);
        cr_assert_eq(status, SVMX_OK);
    }
    return 100;
}

Test(bucket, rows_come_together_in_the_order_of_their_tasks) {
    uint32_t tasks = fill(), seen = 0;
    for (int round = 0; round < 2; round++) { /* rearm brings it here again */
        seen = 0;
        cr_assert_eq(svmx__bucket(batch), SVMX_OK);
        for (uint32_t p = 0; p < batch->part_count; p++) {
            const struct svmx__part *part = &batch->parts[p];
            uint32_t row = 0;
            cr_assert_eq(part->first_unit[0], 0);
            for (uint32_t t = 0; t < tasks; t++) {
                if (batch->tasks[t].part != p) continue;
                const struct svmx_slot *slots = part->slots + (size_t)row * part->op->param_count;
                cr_assert_eq(memcmp(slots, svmx__task_slots(batch, t), part->op->param_count * sizeof *slots), 0);
                cr_assert_eq(part->first_unit[row + 1] - part->first_unit[row], batch->tasks[t].units);
                row++;
            }
            cr_assert_eq(part->task_count, row);
            cr_assert_eq(part->first_unit[row], part->units);
            seen += row;
        }
        cr_assert_eq(seen, tasks);
    }
}

Test(bucket, a_single_part_moves_nothing) {
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[0], 8), SVMX_OK);
    cr_assert_eq(svmx__bucket(batch), SVMX_OK);
    cr_assert_eq(batch->parts[0].slots, batch->slots);
    cr_assert_eq(batch->parts[0].first_unit, batch->first_unit);
    cr_assert_null(batch->sorted_slots);
}

Test(bucket, an_empty_batch_has_none) { cr_assert_eq(svmx__bucket(batch), SVMX_OK); }

Test(bucket, buckets_are_powers_of_two_and_not_below_the_smallest) {
    static const uint64_t units[][2] = {{0, 16384},     {1, 16384},     {16384, 16384},
                                        {16385, 32768}, {32768, 32768}, {1000000, 1 << 20}};
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[0], 8), SVMX_OK);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        batch->parts[0].units = units[i][0];
        cr_assert_eq(svmx__bucket(batch), SVMX_OK);
        cr_assert_eq(batch->parts[0].bucket, units[i][1], "%u units", (unsigned)units[i][0]);
    }
}

Test(bucket, sizes_are_counted_by_powers_of_two) {
    static const uint64_t units[][2] = {{0, 0}, {1, 0}, {2, 1},        {3, 2},
                                        {4, 2}, {5, 3}, {1 << 20, 20}, {UINT64_C(1) << 60, 47}};
    uint64_t counts[SVMX_SIZE_LINES], want[SVMX_SIZE_LINES] = {0};
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[0], 8), SVMX_OK);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        batch->parts[0].units = units[i][0];
        cr_assert_eq(svmx__bucket(batch), SVMX_OK);
        want[units[i][1]]++;
    }
    cr_assert_eq(svmx_sizes_get(executor, SVMX_OP_VEC_ADD_F32, counts), SVMX_OK);
    cr_assert_eq(memcmp(counts, want, sizeof counts), 0);
    cr_assert_eq(svmx_sizes_get(executor, SVMX_OP_SHA256, counts), SVMX_OK);
    for (int i = 0; i < SVMX_SIZE_LINES; i++) cr_assert_eq(counts[i], 0, "of another operation");
    cr_assert_eq(svmx_sizes_get(executor, 0, counts), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_sizes_get(NULL, SVMX_OP_SHA256, counts), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_sizes_get(executor, SVMX_OP_SHA256, NULL), SVMX_ERR_ARGUMENT);
}

/* An executor with these options; NULL with the error's text. */
static svmx_executor_t *open_with(const char *variable, const char *list, uint64_t least, struct svmx_error *error) {
    struct svmx_options options = reference_only;
    svmx_executor_t *opened = NULL;
    options.min_bucket_ops = list;
    options.min_bucket = least;
    options.flags = 0;
    if (variable) setenv("SUPERVM_MIN_BUCKET", variable, 1);
    enum svmx_status status = svmx_open(&opened, &options, error);
    unsetenv("SUPERVM_MIN_BUCKET");
    cr_assert(status == SVMX_OK || status == SVMX_ERR_ARGUMENT);
    return status == SVMX_OK ? opened : NULL;
}

static void expect_least(const char *variable, const char *list, uint64_t least, const uint64_t of[3]) {
    static const uint32_t ops[3] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_SHA256, SVMX_OP_KECCAK256};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *opened = open_with(variable, list, least, &error);
    cr_assert_not_null(opened, "%s", error.text);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(svmx__bucket_of(opened, svmx__op_by_id(ops[i]), 1), of[i], "operation %d", i);
        cr_assert_eq(svmx__bucket_of(opened, svmx__op_by_id(ops[i]), of[i]), of[i]);
        cr_assert_eq(svmx__bucket_of(opened, svmx__op_by_id(ops[i]), of[i] + 1), 2 * of[i]);
    }
    svmx_close(opened);
}

Test(bucket, an_operation_may_have_a_smallest_of_its_own) {
    expect_least(NULL, NULL, 0, (uint64_t[]){16384, 16384, 16384});
    expect_least("512,keccak256=1024,sha256=1", NULL, 0, (uint64_t[]){512, 1, 1024});
    expect_least(NULL, "keccak256=1024", 0, (uint64_t[]){16384, 16384, 1024});
    expect_least("512,keccak256=1024", "sha256=64", 0, (uint64_t[]){512, 64, 512}); /* the list of the options counts */
    expect_least("512,keccak256=1024", NULL, 4096, (uint64_t[]){4096, 4096, 4096});
    expect_least("512,keccak256=1024", "", 0, (uint64_t[]){512, 512, 512});
    expect_least(NULL, "sha256=1099511627776", 8, (uint64_t[]){8, UINT64_C(1) << 40, 8});
}

Test(bucket, what_is_wrong_in_a_list_is_named) {
    static const char *const wrong[][2] = {{"keccak=1024", "'keccak'"},
                                           {"sha256=1000", "sha256=1000"},
                                           {"sha256=0", "sha256=0"},
                                           {"sha256=", "sha256="},
                                           {"sha256", "'sha256'"},
                                           {"=64", "=64"},
                                           {"sha256=64,", "''"},
                                           {"sha256= 64", "sha256= 64"},
                                           {"sha256=64,vec=1", "'vec'"},
                                           {"sha256=2199023255552", "OPERATION=NUMBER"},
                                           {"sha256=64;vec=1", "sha256=64"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char variable[80];
        struct svmx_error error = {SVMX_OK, ""};
        cr_assert_null(open_with(NULL, wrong[i][0], 0, &error), "%s", wrong[i][0]);
        cr_assert(strstr(error.text, wrong[i][1]) && strstr(error.text, "options.min_bucket_ops"), "%s", error.text);
        snprintf(variable, sizeof variable, "64,%s", wrong[i][0]);
        cr_assert_null(open_with(variable, NULL, 0, &error), "%s", wrong[i][0]);
        cr_assert(strstr(error.text, wrong[i][1]) && strstr(error.text, "SUPERVM_MIN_BUCKET"), "%s", error.text);
    }
}

Test(bucket, the_list_is_shown_among_the_settings) {
    struct svmx_config_entry entry = {.size = sizeof entry};
    svmx_executor_t *opened = open_with("512", "sha256=64", 0, NULL);
    cr_assert_eq(svmx_config_get(opened, SVMX__MIN_BUCKET, &entry), SVMX_OK);
    cr_assert_str_eq(entry.value, "512,sha256=64");
    cr_assert_eq(entry.source, SVMX_FROM_OPTIONS);
    svmx_close(opened);
}

Test(bucket, what_an_earlier_run_left_is_cleared) {
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[0], 8), SVMX_OK);
    batch->parts[0].redone = 3;
    batch->parts[0].reason[0] = 'x';
    cr_assert_eq(svmx__bucket(batch), SVMX_OK);
    cr_assert_eq(batch->parts[0].redone, 0);
    cr_assert_str_eq(batch->parts[0].reason, "");
}
