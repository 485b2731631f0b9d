/*
 * softmax_f32.h: softmax_f32 and log_softmax_f32, row by row. Unit = row; slots: out, a, width.
 *
 * Three passes over a row: its greatest value, the exponentials and their sum, the quotients. Exponentials wait in `out`.
 * The sum has the order of reduce.h. Included after a lanes header of floats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SOFTMAX_F32_H
#define SVMX_SIMD_SOFTMAX_F32_H

#include "recipe_f32.h"
#include "reduce.h"

struct softmax_row {
    const uint8_t *a;
    uint8_t *out; /* NULL: the exponentials are not needed again */
    uint64_t width;
    vec most;
};

/* Whichever zero, and whatever of NaNs: neither changes a bit of the result. */
SIMD_INLINE float row_most(const uint8_t *a, uint64_t width) {
    enum { AT_ONCE = 4 };
    vec most[AT_ONCE];
    uint64_t i = 0;
    for (int k = 0; k < AT_ONCE; k++) most[k] = v_set(-INFINITY);
    for (; i + AT_ONCE * V_LANES <= width; i += AT_ONCE * V_LANES)
        for (size_t k = 0; k < AT_ONCE; k++) most[k] = v_max(most[k], v_load(a + 4 * (i + k * V_LANES)));
    for (; i + V_LANES <= width; i += V_LANES) most[0] = v_max(most[0], v_load(a + 4 * i));
    if (i < width) most[1] = v_max(most[1], v_load_some(a + 4 * i, (size_t)(width - i), v_set(-INFINITY)));
    return reduce_lanes(v_max(v_max(most[0], most[1]), v_max(most[2], most[3])), v_max);
}

/* Exponentials of the elements from `at` on, `count` of them, and their sum. Lanes past the end are -inf, whose
 * exponential +0 changes no sum. */
SIMD_INLINE float row_block(const struct softmax_row *row, uint64_t at, size_t count) {
    const uint8_t *a = row->a + 4 * at;
    uint8_t *out = row->out ? row->out + 4 * at : NULL;
    vec acc[REDUCE_ROWS];
    for (int k = 0; k < REDUCE_ROWS; k++) acc[k] = v_set(0);
    for (; count >= SIMD_REDUCE_LANES; count -= SIMD_REDUCE_LANES) {
        for (size_t j = 0; j < REDUCE_ROWS; j += V_PACK) {
            const pack e = exp_below(p_sub(p_load(a + sizeof(vec) * j), p_all(row->most)));
            PACK_EACH {
                if (out) v_store(out + sizeof(vec) * (j + (size_t)k), e.v[k]);
                acc[j + (size_t)k] = v_add(acc[j + (size_t)k], e.v[k]);
            }
        }
        a += 4 * SIMD_REDUCE_LANES;
        if (out) out += 4 * SIMD_REDUCE_LANES;
    }
    for (size_t k = 0; k * V_LANES < count; k++) {
        const size_t some = reduce_row_count(count, k);
        const vec e = exp_below(p_all(v_sub(v_load_some(a + sizeof(vec) * k, some, v_set(-INFINITY)), row->most))).v[0];
        if (out) v_store_some(out + sizeof(vec) * k, some, e);
        acc[k] = v_add(acc[k], e);
    }
    return reduce_rows(acc, v_add);
}

/* n / 4096^level, rounded up. */
static inline uint64_t row_count_at(uint64_t n, unsigned level) {
    for (; level > 0; level--) n = n / SIMD_REDUCE_BLOCK + (n % SIMD_REDUCE_BLOCK != 0);
    return n;
}

/* The partial of block `block` of a level; above level 0 its terms are the partials of the level below. */
static float row_partial(const struct softmax_row *row, unsigned level, uint64_t block) {
    const uint64_t begin = block * SIMD_REDUCE_BLOCK;
    const size_t count = reduce_block_count(row_count_at(row->width, level) - begin);
    if (level == 0) return row_block(row, begin, count);
    float lane[SIMD_REDUCE_LANES] = {0};
    for (size_t i = 0; i < count; i++) lane[i % SIMD_REDUCE_LANES] += row_partial(row, level - 1, begin + i);
    for (int w = SIMD_REDUCE_LANES / 2; w > 0; w /= 2)
        for (int j = 0; j < w; j++) lane[j] += lane[j + w];
    return lane[0];
}

static inline float row_sum(const struct softmax_row *row) {
    unsigned level = 0;
    while (row_count_at(row->width, level) > SIMD_REDUCE_BLOCK) level++;
    return row_partial(row, level, 0);
}

/* A row that one vector holds: the lanes of the tree that it has not are +0 and change nothing. */
SIMD_INLINE void row_short(uint8_t *out, const uint8_t *a, size_t width, map_fn last, int log) {
    const vec x = v_load_some(a, width, v_set(-INFINITY)), most = v_set(reduce_lanes(x, v_max));
    const vec e = exp_below(p_all(v_sub(x, most))).v[0];
    const float sum = reduce_lanes(e, v_add);
    const vec r = v_one_nan(log ? last(x, x, v_set(log_of(sum)), most) : last(e, e, v_set(sum), most));
    if (width == V_LANES)
        v_store(out, r);
    else
        v_store_some(out, width, r);
}

/* Rows of a task one after another; `log` is constant after inlining. */
SIMD_INLINE void softmax_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, map_fn last, int log) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const uint64_t width = piece.row[2].at;
        for (uint64_t unit = piece.begin; unit < piece.end; unit++) {
            const uint8_t *a = simd_address(&piece.row[1], 4 * unit * width);
            uint8_t *out = simd_address(&piece.row[0], 4 * unit * width);
            if (width <= V_LANES) {
                row_short(out, a, (size_t)width, last, log);
                continue;
            }
            const struct softmax_row row = {a, log ? NULL : out, width, v_set(row_most(a, width))};
            const float sum = row_sum(&row);
            const struct map_piece p = {out,     log ? a : out, out, (size_t)width, v_set(log ? log_of(sum) : sum),
                                        row.most};
            map_cached(&p, (struct map_kind){1, 2, last, 0});
        }
    }
}

#endif
