/*
 * map_pack.h: the walk of an elementwise operation of one input and many steps, a pack of vectors at a time.
 *
 *   out[i] = function(a[i], s)      slots: out, a, perhaps a scalar
 *
 * As map.h, of which it takes all but the loops. Included after a lanes header of floats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_MAP_PACK_H
#define SVMX_SIMD_MAP_PACK_H

#include "map.h"
#include "pack.h"

typedef pack (*map_pack_fn)(pack a, pack s);
typedef void (*map_store_fn)(uint8_t *at, vec x);

/* One vector, of which the first `count` lanes. */
SIMD_INLINE void map_pack_some(const struct map_piece *p, size_t i, size_t count, map_pack_fn function) {
    const vec a = v_load_some(p->a + sizeof(elem) * i, count, v_set(0));
    v_store_some(p->out + sizeof(elem) * i, count, v_one_nan(function(p_all(a), p_all(p->s)).v[0]));
}

/* NaNs are rare: looking for one in all vectors together takes less than seeing to each. */
SIMD_INLINE void map_pack_whole(const struct map_piece *p, size_t i, map_pack_fn function, map_store_fn store) {
    pack x = function(p_load(p->a + sizeof(elem) * i), p_all(p->s));
    if (__builtin_expect(p_any_nan(x), 0)) x = p_one_nan(x);
    PACK_EACH store(p->out + sizeof(elem) * i + sizeof(vec) * (size_t)k, x.v[k]);
}

/* From element i on; what is less than a pack goes vector by vector. */
SIMD_INLINE void map_pack_from(const struct map_piece *p, size_t i, map_pack_fn function, map_store_fn store) {
    for (; i + V_PACK * V_LANES <= p->count; i += V_PACK * V_LANES) map_pack_whole(p, i, function, store);
    for (; i < p->count; i += V_LANES) map_pack_some(p, i, p->count - i < V_LANES ? p->count - i : V_LANES, function);
}

SIMD_INLINE void map_pack_streamed(const struct map_piece *p, map_pack_fn function) {
    const size_t head = map_head(p);
    map_pack_some(p, 0, head, function);
    map_pack_from(p, head, function, v_stream);
}

/* `scalars` is 0 or 1. */
SIMD_INLINE void map_pack_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, uint32_t scalars,
                              map_pack_fn function) {
    const struct map_kind kind = {1, scalars, NULL, 0};
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const struct map_piece p = map_piece_of(&piece, kind);
        if (map_streams(d, &p, kind))
            map_pack_streamed(&p, function);
        else
            map_pack_from(&p, 0, function, v_store);
    }
}

#endif
