/*
 * test_submit.c: stage 1: overlap, against a check of every pair, on random layouts; state; places in the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

#include <stdio.h>

TestSuite(submit, .init = set_up, .fini = tear_down);

/* A batch as a caller sees it: what is read and what is written, for the check of every pair. */
struct spans {
    struct {
        uintptr_t low, high;
        bool out;
    } all[400];
    size_t count;
};

static void note(struct spans *spans, const void *at, size_t bytes, bool out) {
    spans->all[spans->count].low = (uintptr_t)at;
    spans->all[spans->count].high = (uintptr_t)at + bytes;
    spans->all[spans->count++].out = out;
}

static bool any_pair_overlaps(const struct spans *spans) {
    for (size_t i = 0; i < spans->count; i++)
        for (size_t j = i + 1; j < spans->count; j++) {
            if (!spans->all[i].out && !spans->all[j].out) continue;
            if (spans->all[i].low == spans->all[i].high || spans->all[j].low == spans->all[j].high) continue;
            if (spans->all[i].low < spans->all[j].high && spans->all[j].low < spans->all[i].high) return true;
        }
    return false;
}

static unsigned state;
static unsigned next(unsigned below) {
    state = state * 1103515245u + 12345u;
    return (state >> 8) % below;
}

/* Ways to lay memory out: anywhere; outputs upwards in a region of their own; downwards; all in one row; touching. */
enum layout { ANYWHERE, OUT_UPWARDS, OUT_DOWNWARDS, ONE_ROW, LAYOUTS };

static float arena[1 << 16];

static float *place(enum layout layout, bool out, unsigned *cursor, unsigned *down, unsigned n) {
    enum { HALF = 1 << 15 };
    if (layout == ANYWHERE || (!out && layout != ONE_ROW)) {
        unsigned from = layout == ANYWHERE ? 0 : HALF;
        return arena + from + next(HALF - 64);
    }
    if (layout == OUT_DOWNWARDS) {
        *down -= n + next(3);
        if (next(60) == 0) *down += 4;
        return arena + *down;
    }
    float *at = arena + *cursor;
    *cursor += n + next(3);
    if (next(120) == 0) *cursor -= 4; /* now and then it runs into the next one */
    return at;
}

static void random_batch(enum layout layout, unsigned seed, unsigned tasks, struct spans *spans) {
    unsigned cursor = 16, down = 1 << 15;
    state = seed;
    spans->count = 0;
    for (unsigned t = 0; t < tasks; t++) {
        unsigned n = next(20), kind = next(3);
        float *out = place(layout, true, &cursor, &down, kind == 1 ? 1 : n);
        float *a = place(layout, false, &cursor, &down, n), *b = place(layout, false, &cursor, &down, n);
        bool chained = t > 0 && kind == 2 && next(4) == 0; /* a result counts as no input of its own */
        if (kind == 1) {
            cr_assert_eq(svmx_sum_f32(batch, out, a, n), SVMX_OK);
            note(spans, out, 4, true);
            note(spans, a, 4 * n, false);
            continue;
        }
        struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
        if (chained) args[1] = svmx_result_of(SVMX_F32, next(t), 0);
        enum svmx_status status = svmx_batch_add(batch, kind ? SVMX_OP_VEC_MUL_F32 : SVMX_OP_VEC_ADD_F32, args, 3);
        if (status != SVMX_OK && chained) { /* of another length */
            args[1] = svmx_in(SVMX_F32, a, n);
            chained = false;
            status = svmx_batch_add(batch, kind ? SVMX_OP_VEC_MUL_F32 : SVMX_OP_VEC_ADD_F32, args, 3);
        }
        cr_assert_eq(status, SVMX_OK, "%s", svmx_batch_error(batch));
        note(spans, out, 4 * n, true);
        if (!chained) note(spans, a, 4 * n, false);
        note(spans, b, 4 * n, false);
    }
}

Test(submit, its_verdict_is_that_of_a_check_of_every_pair) {
    static struct spans spans;
    unsigned overlaps = 0, rounds = 0;
    for (unsigned seed = 1; seed <= 400; seed++)
        for (int layout = 0; layout < LAYOUTS; layout++) {
            unsigned tasks = layout == ANYWHERE ? 1 + seed % 12 : 1 + seed % 100;
            random_batch((enum layout)layout, seed * 7919 + (unsigned)layout, tasks, &spans);
            bool expected = any_pair_overlaps(&spans);
            enum svmx_status status = svmx__submit(batch, SVMX__RUNNING, 0);
            cr_assert_eq(status, expected ? SVMX_ERR_ARGUMENT : SVMX_OK, "seed %u layout %d: %s, every pair says %s",
                         seed, layout, svmx_status_name(status), expected ? "overlap" : "none");
            if (status == SVMX_OK) svmx__submit_undo(batch);
            cr_assert_eq(svmx__submit(batch, SVMX__RUNNING, 0), status, "asked again it says the same");
            if (status == SVMX_OK) svmx__submit_undo(batch);
            cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
            overlaps += expected;
            rounds++;
        }
    cr_assert(overlaps > rounds / 10 && overlaps < rounds * 9 / 10, "%u of %u overlap: no good mixture", overlaps,
              rounds);
}

Test(submit, tasks_added_after_the_check_are_checked_too) {
    static float out[8], a[8];
    cr_assert_eq(svmx_vec_add_f32(batch, out + 4, a, a, 4), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out, a, a, 4), SVMX_OK); /* downwards: the long way */
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out + 3, a, a, 1), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_ERR_ARGUMENT);
}

Test(submit, a_place_in_the_queue_is_taken_and_given_back) {
    cr_assert_eq(svmx__submit(batch, SVMX__QUEUED, 0), SVMX_OK);
    cr_assert_eq(executor->under_way, 1);
    cr_assert_eq(atomic_load(&batch->state), SVMX__QUEUED);
    cr_assert_eq(svmx__submit(batch, SVMX__QUEUED, 0), SVMX_ERR_STATE);
    cr_assert_eq(executor->under_way, 1);
    svmx__submit_undo(batch);
    cr_assert_eq(executor->under_way, 0);
    cr_assert_eq(atomic_load(&batch->state), SVMX__BUILDING);
    cr_assert_eq(svmx__submit(batch, SVMX__RUNNING, 0), SVMX_OK);
    cr_assert_eq(executor->under_way, 0, "svmx_run takes none");
    svmx__submit_undo(batch);
}

Test(submit, a_full_queue_leaves_the_batch_as_it_was) {
    executor->under_way = 256;
    cr_assert_eq(svmx__submit(batch, SVMX__QUEUED, SVMX_SUBMIT_NONBLOCK), SVMX_BUSY);
    cr_assert_eq(executor->under_way, 256);
    cr_assert_eq(atomic_load(&batch->state), SVMX__BUILDING);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "256"));
    executor->under_way = 0;
}
