/*
 * tree.h: sums in the one order that docs/OPERATIONS.md defines ("The tree of a reduction").
 *
 *   block    4096 terms; term i is added to lane i % 64, in ascending order; lanes start at +0
 *   fold     lane[j] += lane[j + w] for w = 32, 16, 8, 4, 2, 1: lane[0] is the block's partial
 *   task     the partials are the terms of the next level, until one block holds all: its partial is the result
 *
 * Called by the operations of this folder; knows none of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_TREE_H
#define SVMX_OPS_TREE_H

#include <stdint.h>

/* Term i of a sum. `context` is the caller's. */
typedef float (*svmx__term_f32_fn)(const void *context, uint64_t i);
typedef double (*svmx__term_f64_fn)(const void *context, uint64_t i);

/* The sum of `n` terms; +0 for none. */
float svmx__tree_f32(svmx__term_f32_fn term, const void *context, uint64_t n);
double svmx__tree_f64(svmx__term_f64_fn term, const void *context, uint64_t n);

/* Blocks of a task of `n` terms: at least one, since an empty sum has a result as well. */
uint64_t svmx__tree_blocks(uint64_t n);

#endif
