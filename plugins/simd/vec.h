/*
 * vec.h: what the elementwise kernels of all instruction sets agree on.
 *
 * A vec_<isa>.c has one run function for each shape of operation (two inputs, ...), which takes the arithmetic as an
 * argument; the walk over tasks is here. An operation of a known shape is two functions of one line each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_VEC_H
#define SVMX_SIMD_VEC_H

#include "kernels.h"
#include "tasks.h"

/* The one NaN that operations write, so that results do not depend on which operand's payload a machine keeps. */
#define SIMD_NAN_BITS UINT32_C(0x7fc00000)

/*
 * From this many bytes of all operands on, outputs go past the caches: they would throw out inputs and be fetched
 * before they are overwritten. Below it the reader of the output would miss them. About the size of a last-level cache.
 */
#define SIMD_STREAM_BYTES (UINT64_C(24) << 20)

/* Shorter pieces are mostly heads and rests of cache lines, and each streamed piece ends with a fence. */
enum { SIMD_STREAM_MIN_PIECE = 4096 };

/* A piece of an operation with two inputs: addresses of any alignment, `out` may be `a` or `b`. */
struct simd_vec2 {
    uint8_t *out;
    const uint8_t *a, *b;
    size_t count;
    int stream;
};

/* Gives the next piece; 0 when the range is done. */
static inline int simd_vec2_next(struct simd_walk *walk, struct simd_vec2 *v) {
    struct simd_piece piece;
    if (!simd_walk_next(walk, &piece)) return 0;
    const uint64_t skip = 4 * piece.begin;
    v->out = simd_address(&piece.row[0], skip);
    v->a = simd_address(&piece.row[1], skip);
    v->b = simd_address(&piece.row[2], skip);
    v->count = (size_t)(piece.end - piece.begin);
    /* The whole dispatch decides, not the range: threads share the cache. */
    v->stream = v->count >= SIMD_STREAM_MIN_PIECE &&
                walk->d->first_unit[walk->d->task_count] >= SIMD_STREAM_BYTES / (3 * sizeof(float));
    return 1;
}

#endif
