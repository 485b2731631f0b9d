/*
 * curve.h: the cells of an operation on a device, for model.c, which fills them, and infer.c, which reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CURVE_H
#define SVMX_EXECUTOR_CURVE_H

#include "executor/cell.h"
#include <sched.h>

/* Cells are made when their first sample comes, and stay until they are forgotten. */
struct svmx__curve {
    atomic_flag held; /* guards all of it: it is held for some 100 ns, a few thousand times a second */
    uint64_t turn;    /* samples that were taken, of all cells */
    uint32_t made_count;
    uint16_t made[SVMX__CELLS]; /* which cells there are, in the order in which they were made */
    struct svmx__cell *cells[SVMX__CELLS];
};

static inline bool svmx__curve_try_hold(struct svmx__curve *curve) {
    return !atomic_flag_test_and_set_explicit(&curve->held, memory_order_acquire); /* with svmx__curve_release */
}

static inline void svmx__curve_hold(struct svmx__curve *curve) {
    for (uint32_t turns = 1; !svmx__curve_try_hold(curve); turns++)
        if (turns % 64 == 0) sched_yield(); /* who holds it may have lost its core */
}

static inline void svmx__curve_release(struct svmx__curve *curve) {
    atomic_flag_clear_explicit(&curve->held, memory_order_release); /* with svmx__curve_try_hold */
}

/* NULL: nothing was tried. */
static inline struct svmx__curve *svmx__curve_of(const struct svmx__model *model, uint32_t op, uint32_t device) {
    return atomic_load_explicit(&model->curves[device][op], memory_order_acquire); /* with make_curve of model.c */
}

#endif
