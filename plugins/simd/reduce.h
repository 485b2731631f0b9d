/*
 * reduce.h: the walk of a reduction and the order of its additions, the same for every type and instruction set.
 *
 *   element i of a block    goes to lane i % 64, in ascending order, from +0
 *   fold                    lane[j] += lane[j + w] for w = 32, 16, 8, 4, 2, 1: lane[0] is the block's partial
 *   partials of a task      are summed the same way, block by block, until one is left
 *
 * The order is part of the operation: it makes the bits equal on every variant and device, so a kernel may only be
 * cleverer inside it. The 64 lanes are REDUCE_ROWS registers. A greatest or least value has no order to keep, but the
 * same blocks.
 *
 * An accumulator of a sum is never -0 (it starts at +0 and rounding to nearest gives -0 only from two of them), so lanes
 * past the end are filled with +0. Included after a lanes header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_REDUCE_H
#define SVMX_SIMD_REDUCE_H

#include "kernels.h"

enum { REDUCE_ROWS = SIMD_REDUCE_LANES / V_LANES };

/* The partial of one block. `b` is NULL for operations with one input; `count` is 0 for an empty task. */
typedef elem (*reduce_block_fn)(const uint8_t *a, const uint8_t *b, size_t count);

typedef vec (*reduce_combine_fn)(vec a, vec b);
/* What an element adds to the reduction; `b` is `a` where there is one input. */
typedef vec (*reduce_term_fn)(vec a, vec b);

static inline size_t reduce_block_count(uint64_t left) {
    return left < SIMD_REDUCE_BLOCK ? (size_t)left : SIMD_REDUCE_BLOCK;
}

/* ---- one block -------------------------------------------------------------------------------------------- */

/* The lower lanes with the upper, until one is left. */
SIMD_INLINE elem reduce_lanes(vec x, reduce_combine_fn combine) {
#pragma GCC unroll 4
    for (int w = V_LANES / 2; w > 0; w /= 2) x = combine(x, v_swap(x, w));
    return v_first(x);
}

SIMD_INLINE elem reduce_rows(vec acc[REDUCE_ROWS], reduce_combine_fn combine) {
#pragma GCC unroll 4
    for (int w = REDUCE_ROWS / 2; w > 0; w /= 2)
        for (int k = 0; k < w; k++) acc[k] = combine(acc[k], acc[k + w]);
    return reduce_lanes(acc[0], combine);
}

/* How many of the `count` elements that are left lie in row `k`. */
static inline size_t reduce_row_count(size_t count, size_t k) {
    const size_t before = k * V_LANES, left = count > before ? count - before : 0;
    return left < V_LANES ? left : V_LANES;
}

/* A block by 64 lanes that start at `start`; elements past the end are `rest` of both inputs, which must change nothing.
 * Rows are counted by constants, also at the end: else they would live in memory. */
SIMD_INLINE elem reduce_block(const uint8_t *a, const uint8_t *b, size_t count, vec start, vec rest,
                              reduce_term_fn term, reduce_combine_fn combine) {
    vec acc[REDUCE_ROWS];
    for (int k = 0; k < REDUCE_ROWS; k++) acc[k] = start;
    for (; count >= SIMD_REDUCE_LANES; count -= SIMD_REDUCE_LANES) {
        for (size_t k = 0; k < REDUCE_ROWS; k++) {
            const vec x = v_load(a + sizeof(vec) * k);
            acc[k] = combine(acc[k], term(x, b ? v_load(b + sizeof(vec) * k) : x));
        }
        a += sizeof(elem) * SIMD_REDUCE_LANES;
        if (b) b += sizeof(elem) * SIMD_REDUCE_LANES;
    }
    if (count == 0) return reduce_rows(acc, combine);
    for (size_t k = 0; k < REDUCE_ROWS; k++) {
        const size_t some = reduce_row_count(count, k);
        const vec x = v_load_some(a + sizeof(vec) * k, some, rest);
        acc[k] = combine(acc[k], term(x, b ? v_load_some(b + sizeof(vec) * k, some, rest) : x));
    }
    return reduce_rows(acc, combine);
}

/* ---- a dispatch ------------------------------------------------------------------------------------------- */

SIMD_INLINE void reduce_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int inputs,
                            reduce_block_fn block_fn) {
    elem *partial = (elem *)d->host_scratch + first;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const uint64_t count = piece.row[1].bytes / sizeof(elem);
        for (uint64_t unit = piece.begin; unit < piece.end; unit++) {
            const uint64_t at = unit * SIMD_REDUCE_BLOCK, skip = at * sizeof(elem);
            const uint8_t *b = inputs == 2 ? simd_address(&piece.row[2], skip) : NULL;
            *partial++ = block_fn(simd_address(&piece.row[1], skip), b, reduce_block_count(count - at));
        }
    }
}

/* Overwrites the partials: block k of them is read before entry k is written, and nobody needs them afterwards. */
SIMD_INLINE elem reduce_partials(elem *partials, uint64_t count, reduce_block_fn block_fn) {
    while (count > 1) {
        uint64_t kept = 0;
        for (uint64_t at = 0; at < count; at += SIMD_REDUCE_BLOCK)
            partials[kept++] = block_fn((const uint8_t *)(partials + at), NULL, reduce_block_count(count - at));
        count = kept;
    }
    return partials[0];
}

SIMD_INLINE void reduce_finish(const struct svmx_dispatch *d, uint32_t first, uint32_t end, reduce_block_fn block_fn) {
    for (uint32_t task = first; task < end; task++) {
        const uint64_t begin = d->first_unit[task], units = d->first_unit[task + 1] - begin;
        if (units == 0) continue;
        const elem sum = reduce_partials((elem *)d->host_scratch + begin, units, block_fn);
        const elem result = v_first(v_one_nan(v_set(sum)));
        memcpy(simd_address(simd_row(d, task), 0), &result, sizeof result);
    }
}

#endif
