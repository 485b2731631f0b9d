/*
 * test_batch.c: what a batch remembers of its tasks: parts, levels, units, hulls; and that it forgets on reset.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

TestSuite(batch, .init = set_up, .fini = tear_down);

static float outs[64][16], ins[64][16];

static void add(uint32_t t, size_t n) { cr_assert_eq(svmx_vec_add_f32(batch, outs[t], ins[t], ins[t], n), SVMX_OK); }

Test(batch, a_new_one_is_empty) {
    cr_assert_eq(svmx_batch_task_count(batch), 0);
    cr_assert_str_eq(svmx_batch_error(batch), "");
    cr_assert_eq(batch->part_count, 0);
    cr_assert_eq(batch->level_count, 0);
    cr_assert_eq(batch->eventfd, -1);
    cr_assert_eq(atomic_load(&executor->references), 2);
}

Test(batch, tasks_of_one_operation_make_one_part) {
    for (uint32_t t = 0; t < 10; t++) add(t, t + 1);
    cr_assert_eq(svmx_batch_task_count(batch), 10);
    cr_assert_eq(batch->part_count, 1);
    cr_assert_eq(batch->level_count, 1);
    const struct svmx__part *part = &batch->parts[0];
    cr_assert_eq(part->task_count, 10);
    cr_assert_eq(part->units, 55);
    cr_assert_eq(part->work, 55);
    cr_assert_eq(part->bytes_in, 2 * 55 * 4);
    cr_assert_eq(part->bytes_out, 55 * 4);
    for (uint32_t t = 0; t <= 10; t++) cr_assert_eq(batch->first_unit[t], t * (t + 1) / 2);
    for (uint32_t t = 0; t < 10; t++) cr_assert_eq(svmx__task_slots(batch, t)[0].at, (uintptr_t)outs[t]);
}

Test(batch, operations_and_levels_make_parts) {
    add(0, 4);
    cr_assert_eq(svmx_vec_mul_f32(batch, outs[1], ins[1], ins[1], 4), SVMX_OK);
    struct svmx_arg args[] = {svmx_out(SVMX_F32, outs[2], 4), svmx_result_of(SVMX_F32, 0, 0),
                              svmx_result_of(SVMX_F32, 1, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    add(3, 4);
    cr_assert_eq(batch->part_count, 3);
    cr_assert_eq(batch->level_count, 2);
    static const uint32_t part_of[] = {0, 1, 2, 0};
    for (uint32_t t = 0; t < 4; t++) cr_assert_eq(batch->tasks[t].part, part_of[t]);
    cr_assert_eq(batch->parts[2].level, 1);
    cr_assert_eq(batch->tasks[2].results, 6, "both inputs are results");
    cr_assert_eq(svmx__task_slots(batch, 2)[1].at, (uintptr_t)outs[0], "a result is where its task writes it");
}

Test(batch, levels_follow_the_deepest_input) {
    add(0, 4);
    for (uint32_t t = 1; t < 6; t++) {
        struct svmx_arg args[] = {svmx_out(SVMX_F32, outs[t], 4), svmx_result_of(SVMX_F32, t - 1, 0),
                                  svmx_result_of(SVMX_F32, 0, 0)};
        cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
        cr_assert_eq(batch->parts[batch->tasks[t].part].level, t);
    }
    cr_assert_eq(batch->level_count, 6);
}

Test(batch, a_refused_task_leaves_no_trace) {
    add(0, 4);
    struct svmx_batch before = *batch;
    cr_assert_eq(svmx_vec_mul_f32(batch, outs[1], NULL, ins[1], 4), SVMX_ERR_ARGUMENT);
    struct svmx_arg args[] = {svmx_out(SVMX_F32, outs[2], 5), svmx_result_of(SVMX_F32, 0, 0),
                              svmx_in(SVMX_F32, ins[0], 5)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_ERR_ARGUMENT, "lengths disagree");
    cr_assert_eq(batch->task_count, before.task_count);
    cr_assert_eq(batch->slot_count, before.slot_count);
    cr_assert_eq(batch->part_count, before.part_count);
    cr_assert_eq(batch->level_count, before.level_count);
    cr_assert_eq(batch->parts[0].task_count, 1);
    cr_assert_eq(memcmp(batch->out_hull, before.out_hull, sizeof before.out_hull), 0);
    cr_assert_eq(memcmp(batch->in_hull, before.in_hull, sizeof before.in_hull), 0);
}

/* Whatever it was refused for, the text begins with the number that it would have had. */
Test(batch, a_refusal_names_the_task) {
    for (uint32_t t = 0; t < 3; t++) add(t, 4);
    const struct svmx_arg good[] = {svmx_out(SVMX_F32, outs[3], 4), svmx_in(SVMX_F32, ins[3], 4),
                                    svmx_in(SVMX_F32, ins[3], 4)};
    const struct svmx_arg forward = svmx_result_of(SVMX_F32, 3, 0), of_itself = svmx_result_of(SVMX_F32, 9, 0),
                          no_output = svmx_result_of(SVMX_F32, 1, 2), other_type = svmx_in(SVMX_U32, ins[3], 4),
                          shorter = svmx_in(SVMX_F32, ins[3], 3), nothing = svmx_in(SVMX_F32, NULL, 4);
    const struct svmx_arg bad[] = {forward, of_itself, no_output, other_type, shorter, nothing};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct svmx_arg args[] = {good[0], good[1], bad[i]};
        cr_assert_neq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK, "%zu", i);
        cr_assert_eq(strncmp(svmx_batch_error(batch), "task 3: vec_add_f32: ", 21), 0, "%s", svmx_batch_error(batch));
    }
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, good, 2), SVMX_ERR_ARGUMENT);
    cr_assert_eq(strncmp(svmx_batch_error(batch), "task 3: vec_add_f32: takes 3", 28), 0, "%s",
                 svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_add(batch, 100000, good, 3), SVMX_ERR_UNKNOWN);
    cr_assert_eq(strncmp(svmx_batch_error(batch), "task 3: no operation", 20), 0, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, good, 3), SVMX_OK);
    cr_assert_eq(svmx_batch_task_count(batch), 4);
}

Test(batch, hulls_cover_what_was_named) {
    cr_assert_eq(svmx_vec_add_f32(batch, outs[0], ins[0], ins[1], 16), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, outs[2], ins[2], ins[1], 16), SVMX_OK);
    cr_assert_eq(batch->out_hull[0].low, (uintptr_t)outs[0]);
    cr_assert_eq(batch->out_hull[0].high, (uintptr_t)outs[3]);
    cr_assert(batch->out_hull[0].ascending);
    cr_assert_eq(batch->in_hull[1].high, (uintptr_t)ins[3]);
    cr_assert_not(batch->in_hull[2].ascending, "the same memory twice");
    cr_assert_eq(svmx_vec_add_f32(batch, outs[1], ins[0], ins[0], 16), SVMX_OK);
    cr_assert_not(batch->out_hull[0].ascending, "a step down");
}

Test(batch, reset_forgets_all_but_keeps_its_memory) {
    for (uint32_t t = 0; t < 60; t++) add(t, 16);
    cr_assert_eq(svmx_vec_mul_f32(batch, outs[60], ins[0], ins[0], 16), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    void *tasks = batch->tasks, *slots = batch->slots, *parts = batch->parts;
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_task_count(batch), 0);
    cr_assert_eq(batch->level_count, 0);
    for (uint32_t i = 0; i < SVMX__MAX_PARAMS; i++) cr_assert_eq(batch->out_hull[i].low, batch->out_hull[i].high);
    for (uint32_t t = 0; t < 60; t++) add(t, 16);
    cr_assert(batch->tasks == tasks && batch->slots == slots && batch->parts == parts, "memory was given away");
    cr_assert_eq(batch->parts[0].task_count, 60);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
}

Test(batch, a_destroyed_batch_lets_go_of_the_executor) {
    svmx_batch_t *other;
    cr_assert_eq(svmx_batch_create(executor, &other), SVMX_OK);
    cr_assert_eq(atomic_load(&executor->references), 3);
    svmx_batch_destroy(other);
    cr_assert_eq(atomic_load(&executor->references), 2);
}
