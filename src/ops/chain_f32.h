/*
 * chain_f32.h: one link of a chain of elementwise operations on floats, as an operation of its own: which one is an
 * argument, so that one kernel takes a whole chain through its registers.
 *
 *   out, a, b, numbers, what       numbers: two floats, the first in the low half; what: see below
 *
 *   row 0   what = ADD | 2 << FOLLOW     a and b, as of vec_add_f32          all units of the chain
 *   row 1   what = SUB | FROM_A          a is row 0's result                 no units
 *   row 2   what = RELU | FROM_A         a is row 1's result                 no units
 *
 * Each row says all that there is to know of it, and its inputs hold what they say: who computes one row after another
 * needs nothing else. Who computes a chain at once needs no memory between its rows, and need not write what is SILENT.
 *
 * It is the core's own: it has no number that a program can use and is in no list. stretch_runs.c makes its rows;
 * plugins/kernels/chain.cl is its device code, with the same numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_CHAIN_F32_H
#define SVMX_OPS_CHAIN_F32_H

#include "ops/op.h"

#define SVMX__CHAIN_NAME "chain_f32"

enum { SVMX__CHAIN_ID = 127 }; /* in tables by id; the last below SVMX_OP_FIRST_REGISTERED */

enum { SVMX__CHAIN_OUT, SVMX__CHAIN_A, SVMX__CHAIN_B, SVMX__CHAIN_NUMBERS, SVMX__CHAIN_WHAT, SVMX__CHAIN_PARAMS };

/* Of `what`: the operation is in the low byte. */
enum {
    SVMX__CHAIN_FROM_A = 1 << 8,  /* a is the result of the row before */
    SVMX__CHAIN_FROM_B = 1 << 9,  /* b is */
    SVMX__CHAIN_SILENT = 1 << 10, /* nobody reads the result but the row behind */
    SVMX__CHAIN_FOLLOW = 16,      /* shift: so many rows are of the same chain; in its first row */
    SVMX__CHAIN_MOST = 64         /* rows of a chain */
};

/* The operation. Any thread. */
const struct svmx__op *svmx__op_chain_f32(void);

/* The number of an operation in a row, 0: it is none that a row can have. */
uint32_t svmx__chain_code(const struct svmx__op *op);

/* Where argument `at` of an operation with a number goes in a row. */
static inline uint32_t svmx__chain_slot(const struct svmx__op *op, uint32_t at) {
    return op->params[at].shape == SVMX_SCALAR ? (uint32_t)SVMX__CHAIN_NUMBERS : at;
}

/* The scalars of a row from those of a task; `slots` are the task's. */
uint64_t svmx__chain_numbers(const struct svmx__op *op, const struct svmx_slot *slots);

#endif
