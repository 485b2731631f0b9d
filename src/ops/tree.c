/*
 * tree.c: see tree.h.
 *
 * Above level 0 terms are partials, computed when they are needed: no array of them is kept, and the depth is 6 at most
 * because 4096^6 > 2^64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/tree.h"

enum { BLOCK = 4096, BLOCK_LOG2 = 12, LANES = 64 };

/* n / 4096^level, rounded up: how many partials a level hands to the next, level being the number of that next. */
static uint64_t count_at(uint64_t n, unsigned level) {
    for (; level > 0; level--) n = (n >> BLOCK_LOG2) + (n % BLOCK != 0);
    return n;
}

/* The level whose terms fit one block. */
static unsigned top_level(uint64_t n) {
    unsigned level = 0;
    while (count_at(n, level) > BLOCK) level++;
    return level;
}

/* Where the terms of a block end. */
static uint64_t block_end(uint64_t n, unsigned level, uint64_t block) {
    const uint64_t terms = count_at(n, level), begin = block * BLOCK;
    return terms - begin < BLOCK ? terms : begin + BLOCK;
}

uint64_t svmx__tree_blocks(uint64_t n) { return n ? count_at(n, 1) : 1; }

/* ---- float ----------------------------------------------------------------------------------------------- */

static float fold_f32(float lane[LANES]) {
    for (unsigned w = LANES / 2; w > 0; w /= 2)
        for (unsigned j = 0; j < w; j++) lane[j] += lane[j + w];
    return lane[0];
}

static float partial_f32(svmx__term_f32_fn term, const void *context, uint64_t n, unsigned level, uint64_t block) {
    float lane[LANES] = {0};
    const uint64_t end = block_end(n, level, block);
    for (uint64_t i = block * BLOCK; i < end; i++)
        lane[i % LANES] += level == 0 ? term(context, i) : partial_f32(term, context, n, level - 1, i);
    return fold_f32(lane);
}

float svmx__tree_f32(svmx__term_f32_fn term, const void *context, uint64_t n) {
    return partial_f32(term, context, n, top_level(n), 0);
}

/* ---- double ---------------------------------------------------------------------------------------------- */

static double fold_f64(double lane[LANES]) {
    for (unsigned w = LANES / 2; w > 0; w /= 2)
        for (unsigned j = 0; j < w; j++) lane[j] += lane[j + w];
    return lane[0];
}

static double partial_f64(svmx__term_f64_fn term, const void *context, uint64_t n, unsigned level, uint64_t block) {
    double lane[LANES] = {0};
    const uint64_t end = block_end(n, level, block);
    for (uint64_t i = block * BLOCK; i < end; i++)
        lane[i % LANES] += level == 0 ? term(context, i) : partial_f64(term, context, n, level - 1, i);
    return fold_f64(lane);
}

double svmx__tree_f64(svmx__term_f64_fn term, const void *context, uint64_t n) {
    return partial_f64(term, context, n, top_level(n), 0);
}
