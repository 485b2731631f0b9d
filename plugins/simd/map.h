/*
 * map.h: the walk of an elementwise operation, the same for every type and instruction set.
 *
 *   out[i] = function(a[i], b[i], s, t)      slots: out, a, perhaps b, then as many scalars as there are
 *
 * Included after a lanes header. An operation is its function, of a line or two, and a call of map_run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_MAP_H
#define SVMX_SIMD_MAP_H

#include "kernels.h"

/* Shorter pieces are mostly heads and rests of cache lines. Pieces of one task follow one another, and complete each other's
 * lines: those of a chain (chain.c) are short. */
enum { MAP_STREAM_MIN_PIECE = 4096, MAP_STREAM_MIN_OF_ONE = 512, V_BYTES = sizeof(vec) };

/* `b` is `a` where there is one input, and `s` and `t` are 0 where there are no scalars. */
typedef vec (*map_fn)(vec a, vec b, vec s, vec t);

/* What kind of operation; constant after inlining. */
struct map_kind {
    uint32_t inputs, scalars; /* 1 or 2; 0 to 2 */
    map_fn function;
    int one_nan; /* the function sees to it that a NaN is the one that operations write */
};

/* A piece of a task: addresses of any alignment. */
struct map_piece {
    uint8_t *out;
    const uint8_t *a, *b;
    size_t count;
    vec s, t;
};

SIMD_INLINE vec map_vec(const struct map_piece *p, vec a, vec b, struct map_kind kind) {
    const vec x = kind.function(a, b, p->s, p->t);
    return kind.one_nan ? x : v_one_nan(x);
}

SIMD_INLINE vec map_at(const struct map_piece *p, size_t i, struct map_kind kind) {
    const vec a = v_load(p->a + sizeof(elem) * i);
    return map_vec(p, a, kind.inputs == 2 ? v_load(p->b + sizeof(elem) * i) : a, kind);
}

/* `count` below V_LANES: the head before an aligned store, or the rest. */
SIMD_INLINE void map_some(const struct map_piece *p, size_t i, size_t count, struct map_kind kind) {
    const vec a = v_load_some(p->a + sizeof(elem) * i, count, v_set(0));
    const vec b = kind.inputs == 2 ? v_load_some(p->b + sizeof(elem) * i, count, v_set(0)) : a;
    v_store_some(p->out + sizeof(elem) * i, count, map_vec(p, a, b, kind));
}

SIMD_INLINE void map_cached(const struct map_piece *p, struct map_kind kind) {
    size_t i = 0;
#pragma GCC unroll 4
    for (; i + V_LANES <= p->count; i += V_LANES) v_store(p->out + sizeof(elem) * i, map_at(p, i, kind));
    if (i < p->count) map_some(p, i, p->count - i, kind);
}

/* Elements before the first whose output is aligned as a vector. */
static inline size_t map_head(const struct map_piece *p) {
    return (V_BYTES - (uintptr_t)p->out % V_BYTES) % V_BYTES / sizeof(elem);
}

/* Past the caches. Outputs would throw out inputs there and be fetched before they are overwritten; of less, the reader of the
 * output would miss them. Who calls the kernel sees to it that the stores are seen (pool.c). */
SIMD_INLINE void map_streamed(const struct map_piece *p, struct map_kind kind) {
    const size_t head = map_head(p);
    map_some(p, 0, head, kind);
    size_t i = head;
    for (; i + V_LANES <= p->count; i += V_LANES) v_stream(p->out + sizeof(elem) * i, map_at(p, i, kind));
    map_some(p, i, p->count - i, kind);
}

SIMD_INLINE vec map_scalar(const struct svmx_slot *row, struct map_kind kind, uint32_t index) {
    elem value = 0;
    if (index < kind.scalars) memcpy(&value, &row[1 + kind.inputs + index].at, sizeof value);
    return v_set(value);
}

SIMD_INLINE struct map_piece map_piece_of(const struct simd_piece *piece, struct map_kind kind) {
    const uint64_t skip = sizeof(elem) * piece->begin;
    const struct svmx_slot *row = piece->row;
    return (struct map_piece){.out = simd_address(&row[0], skip),
                              .a = simd_address(&row[1], skip),
                              .b = simd_address(&row[kind.inputs], skip),
                              .count = (size_t)(piece->end - piece->begin),
                              .s = map_scalar(row, kind, 0),
                              .t = map_scalar(row, kind, 1)};
}

/* Stores past the caches want an aligned address, and a whole dispatch that no cache holds: threads share it. */
SIMD_INLINE int map_streams(const struct svmx_dispatch *d, const struct map_piece *p, struct map_kind kind) {
    const size_t least = d->task_count == 1 ? MAP_STREAM_MIN_OF_ONE : MAP_STREAM_MIN_PIECE;
    return V_LANES > 1 && p->count >= least && (uintptr_t)p->out % sizeof(elem) == 0 &&
           d->first_unit[d->task_count] >= SIMD_FAR_BYTES / ((1 + kind.inputs) * sizeof(elem));
}

SIMD_INLINE void map_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, struct map_kind kind) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const struct map_piece p = map_piece_of(&piece, kind);
        if (map_streams(d, &p, kind))
            map_streamed(&p, kind);
        else
            map_cached(&p, kind);
    }
}

#endif
