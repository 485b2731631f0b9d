/*
 * test_bucket.c: stage 2: rows brought together by part, and buckets of powers of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

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

Test(bucket, what_an_earlier_run_left_is_cleared) {
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[0], 8), SVMX_OK);
    batch->parts[0].redone = 3;
    batch->parts[0].reason[0] = 'x';
    cr_assert_eq(svmx__bucket(batch), SVMX_OK);
    cr_assert_eq(batch->parts[0].redone, 0);
    cr_assert_str_eq(batch->parts[0].reason, "");
}
