/*
 * reduce.h: the walk of a reduction, the same for every instruction set.
 *
 *   element i of a block    goes to lane i % 64, in ascending order, from +0.0f
 *   fold                    lane[j] += lane[j + w] for w = 32, 16, 8, 4, 2, 1: lane[0] is the block's partial
 *   partials of a task      are summed the same way, block by block, until one is left
 *
 * The order is part of the operation: it makes the bits equal on every variant and device, so a kernel may only be
 * cleverer inside it. A reduce_<isa>.c brings the partial of one block; the rest is here.
 *
 * An accumulator is never -0.0f (it starts at +0.0f and rounding to nearest gives -0.0f only from two of them), so
 * kernels may fill lanes past the end with +0.0f.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_REDUCE_H
#define SVMX_SIMD_REDUCE_H

#include "kernels.h"
#include "tasks.h"

/* The partial of one block. `b` is NULL for operations with one input; `count` is 0 for an empty task. */
typedef float (*simd_block_fn)(const uint8_t *a, const uint8_t *b, size_t count);

static inline size_t simd_block_count(uint64_t left) {
    return left < SIMD_REDUCE_BLOCK ? (size_t)left : SIMD_REDUCE_BLOCK;
}

SIMD_INLINE void simd_reduce_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int inputs,
                                 simd_block_fn block_fn) {
    float *partial = (float *)d->host_scratch + first;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const uint64_t count = piece.row[1].bytes / sizeof(float);
        for (uint64_t unit = piece.begin; unit < piece.end; unit++) {
            const uint64_t at = unit * SIMD_REDUCE_BLOCK, skip = at * sizeof(float);
            const uint8_t *b = inputs == 2 ? simd_address(&piece.row[2], skip) : NULL;
            *partial++ = block_fn(simd_address(&piece.row[1], skip), b, simd_block_count(count - at));
        }
    }
}

/* Overwrites the partials: block k of them is read before entry k is written, and nobody needs them afterwards. */
SIMD_INLINE float simd_reduce_partials(float *partials, uint64_t count, simd_block_fn sum_fn) {
    while (count > 1) {
        uint64_t kept = 0;
        for (uint64_t at = 0; at < count; at += SIMD_REDUCE_BLOCK)
            partials[kept++] = sum_fn((const uint8_t *)(partials + at), NULL, simd_block_count(count - at));
        count = kept;
    }
    return partials[0];
}

SIMD_INLINE void simd_reduce_finish(const struct svmx_dispatch *d, uint32_t first, uint32_t end, simd_block_fn sum_fn) {
    for (uint32_t task = first; task < end; task++) {
        const uint64_t begin = d->first_unit[task], units = d->first_unit[task + 1] - begin;
        if (units == 0) continue;
        const float result = simd_reduce_partials((float *)d->host_scratch + begin, units, sum_fn);
        uint32_t bits;
        memcpy(&bits, &result, sizeof bits);
        if (result != result) bits = UINT32_C(0x7fc00000);
        memcpy(simd_address(simd_row(d, task), 0), &bits, sizeof bits);
    }
}

#endif
