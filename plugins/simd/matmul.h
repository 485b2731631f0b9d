/*
 * matmul.h: what the matrix products of all instruction sets agree on: units, packing and blocking.
 *
 * Each element of the product is one chain, acc = fma(a[i][p], b[p][j], acc) for p ascending from acc = +0. Chains are
 * independent of one another, and acc is a float: it may rest in `out` between two steps. So the usual blocking of a
 * matrix product changes no bit, as long as a tile takes the steps of its block in order.
 *
 *                      n, in strips of `columns`
 *              b   +--+--+--+--+--+                    unit   ROWS x COLUMNS of the product; numbered along a band
 *            DEPTH |  |##|  |  |  |   ## one strip,    range  units of one band are done together: a is packed once
 *                  +--+--+--+--+--+      packed (L1)          for all their columns
 *    a  DEPTH     out
 *     +--+--+--+   +--+--+--+--+--+
 *     |##|  |  |   |  |##|  |  |  | band of ROWS rows, `rows` of them at once in registers
 *     +--+--+--+   +--+--+--+--+--+
 *      ## one block, packed (L2)
 *
 * A matmul_<isa>.c brings the tile: what registers hold. Everything else is here. The two packed blocks lie on the
 * stack, which is why they are not larger: about 120 KiB.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_MATMUL_H
#define SVMX_SIMD_MATMUL_H

#include "kernels.h"
#include "tasks.h"

#include <stdalign.h>
#include <stdbool.h>

/* ROWS and COLUMNS are the operation's: src/ops/matmul_f32.c counts units by them. */
enum { SIMD_MATMUL_ROWS = 128, SIMD_MATMUL_COLUMNS = 32, SIMD_MATMUL_DEPTH = 160 };

/* Some rows and columns of `out`, and the steps that they are to take. */
struct simd_matmul_tile {
    const float *a;                /* packed: `rows` floats a step */
    const uint8_t *b;              /* as many whole vectors as the columns need, b_stride bytes a step */
    uint8_t *out;
    uint64_t b_stride, out_stride; /* bytes */
    uint32_t rows, columns, depth; /* rows, columns: 1 to the limits of the instruction set */
    bool first, last;              /* of all steps: start at +0, else at what `out` holds; write NaNs as the one NaN */
};

/* What an instruction set brings. */
struct simd_matmul_isa {
    void (*tile)(const struct simd_matmul_tile *tile);
    uint32_t rows, columns; /* of a full tile; columns divides COLUMNS */
    uint32_t lanes;         /* floats in a vector of b; divides columns */
};

/* One product. Rows of the matrices follow one another without a gap. */
struct simd_matmul {
    const uint8_t *a, *b;
    uint8_t *out;
    uint64_t m, k, n;
};

/* The rows [row, row_end) and the columns [column, column_end) of one product, in one band. */
struct simd_matmul_part {
    uint64_t row, row_end, column, column_end;
};

struct simd_matmul_blocks {
    alignas(64) float a[SIMD_MATMUL_ROWS * SIMD_MATMUL_DEPTH];
    alignas(64) float b[2][SIMD_MATMUL_DEPTH * SIMD_MATMUL_COLUMNS];
};

static inline uint64_t simd_matmul_min(uint64_t x, uint64_t y) { return x < y ? x : y; }

/* How many of `rows` the next tile takes: as even as can be, because a tile of few rows waits for its own sums. */
static inline uint32_t simd_matmul_share(uint32_t rows, uint32_t limit) {
    const uint32_t tiles = (rows + limit - 1) / limit;
    return (rows + tiles - 1) / tiles;
}

/* ---- packing ---------------------------------------------------------------------------------------------- */

/* Asks for the lines of `bytes` bytes that lie `ahead` bytes further on. Past the end of a matrix it does no harm. */
static inline void simd_matmul_fetch(const uint8_t *from, uint64_t ahead, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += 64) __builtin_prefetch((const void *)((uintptr_t)from + ahead + at), 0, 2);
}

/* `depth` steps of `rows` rows, `stride` bytes apart, turned: one step of all rows after the other. */
static inline void simd_matmul_pack_rows(float *to, const uint8_t *from, uint64_t stride, uint32_t rows,
                                         uint32_t depth) {
    for (uint32_t i = 0; i < rows; i++, from += stride) {
        simd_matmul_fetch(from, 4 * stride, 4 * depth);
        for (uint32_t p = 0; p < depth; p++) memcpy(to + p * rows + i, from + 4 * p, 4);
    }
}

/* All rows of a band, a tile after the other. */
SIMD_INLINE void simd_matmul_pack_a(float *to, const uint8_t *from, uint64_t stride, uint32_t rows, uint32_t depth,
                                    uint32_t limit) {
    while (rows > 0) {
        const uint32_t share = simd_matmul_share(rows, limit);
        simd_matmul_pack_rows(to, from, stride, share, depth);
        to += share * depth;
        from += share * stride;
        rows -= share;
    }
}

/* The steps of some columns of b, and where they are packed: zeros up to whole vectors. */
struct simd_matmul_strip {
    const uint8_t *from;
    float *to;
    uint32_t columns, width; /* columns = 0: there is none */
};

/* The steps [step, end) of a strip, its rows `stride` bytes apart. */
SIMD_INLINE void simd_matmul_pack_b(const struct simd_matmul_strip *strip, uint64_t stride, uint32_t step, uint32_t end,
                                    const uint32_t whole) {
    const uint8_t *from = strip->from + step * stride;
    float *to = strip->to + step * strip->width;
    if (strip->columns == whole) /* a constant: no call */
        for (; step < end; step++, from += stride, to += whole) memcpy(to, from, 4 * whole);
    else
        for (; step < end; step++, from += stride, to += strip->width) {
            memcpy(to, from, 4 * strip->columns);
            memset(to + strip->columns, 0, 4 * (strip->width - strip->columns));
        }
}

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/* The next strip of a part. */
SIMD_INLINE struct simd_matmul_strip simd_matmul_strip_at(const uint8_t *b, uint64_t column, uint64_t column_end,
                                                          float *to, const struct simd_matmul_isa *isa) {
    const uint32_t columns = (uint32_t)simd_matmul_min(isa->columns, column_end - column);
    return (struct simd_matmul_strip){b + 4 * column, to, columns,
                                      (columns + isa->lanes - 1) / isa->lanes * isa->lanes};
}

/* All rows of a band over one strip. Before each tile, a slice of the next strip is packed that was asked for before
 * the tile before: rows of b are far apart, and no hardware guesses which lines come next. */
SIMD_INLINE void simd_matmul_band(struct simd_matmul_tile tile, const float *a, uint8_t *out, uint32_t rows,
                                  const struct simd_matmul_strip *next, uint64_t stride,
                                  const struct simd_matmul_isa *isa) {
    const uint32_t slice = tile.depth * isa->rows / rows + 1;
    for (uint32_t step = 0; rows > 0; rows -= tile.rows) {
        tile.a = a;
        tile.out = out;
        tile.rows = simd_matmul_share(rows, isa->rows);
        a += tile.rows * tile.depth;
        out += tile.rows * tile.out_stride;
        if (next->columns > 0) {
            const uint32_t end = rows == tile.rows ? tile.depth : (uint32_t)simd_matmul_min(step + slice, tile.depth);
            simd_matmul_pack_b(next, stride, step, end, isa->columns);
            step = end;
            for (uint32_t p = end; p < tile.depth && p < end + slice; p++)
                simd_matmul_fetch(next->from + p * stride, 0, 4 * isa->columns);
        }
        if (!tile.first)
        for (uint32_t i = 0; i < tile.rows; i++) simd_matmul_fetch(out, i * tile.out_stride, 4 * isa->columns);
        isa->tile(&tile);
    }
}

/* The steps of a part that are in the block of a, with b packed. */
SIMD_INLINE void simd_matmul_many(struct simd_matmul_tile tile, const struct simd_matmul *x,
                                  const struct simd_matmul_part *part, const uint8_t *b,
                                  struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    const uint32_t rows = (uint32_t)(part->row_end - part->row);
    struct simd_matmul_strip strip =
        simd_matmul_strip_at(b, part->column, part->column_end, blocks->b[0], isa);
    simd_matmul_pack_b(&strip, 4 * x->n, 0, tile.depth, isa->columns);
    for (uint64_t column = part->column; column < part->column_end;) {
        float *const other = strip.to == blocks->b[0] ? blocks->b[1] : blocks->b[0];
        tile.b = (const uint8_t *)strip.to;
        tile.b_stride = 4 * strip.width;
        tile.columns = strip.columns;
        strip = simd_matmul_strip_at(b, column + tile.columns, part->column_end, other, isa);
        simd_matmul_band(tile, blocks->a, x->out + 4 * (part->row * x->n + column), rows, &strip, 4 * x->n, isa);
        column += tile.columns;
    }
}

/* The same for so few rows that each strip is read by one tile: where it lies, if that makes whole vectors. */
SIMD_INLINE void simd_matmul_few(struct simd_matmul_tile tile, const struct simd_matmul *x,
                                 const struct simd_matmul_part *part, const uint8_t *b,
                                 struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    tile.a = blocks->a;
    tile.rows = (uint32_t)(part->row_end - part->row);
    for (uint64_t column = part->column; column < part->column_end; column += tile.columns) {
        const struct simd_matmul_strip strip =
            simd_matmul_strip_at(b, column, part->column_end, blocks->b[0], isa);
        const bool packed = strip.width != strip.columns;
        if (packed) simd_matmul_pack_b(&strip, 4 * x->n, 0, tile.depth, isa->columns);
        tile.columns = strip.columns;
        tile.b = packed ? (const uint8_t *)strip.to : strip.from;
        tile.b_stride = packed ? 4 * strip.width : 4 * x->n;
        tile.out = x->out + 4 * (part->row * x->n + column);
        isa->tile(&tile);
    }
}

/* The steps [step, step + depth) of a part. */
SIMD_INLINE void simd_matmul_steps(const struct simd_matmul *x, const struct simd_matmul_part *part, uint64_t step,
                                   uint32_t depth, struct simd_matmul_blocks *blocks,
                                   const struct simd_matmul_isa *isa) {
    const uint32_t rows = (uint32_t)(part->row_end - part->row);
    const struct simd_matmul_tile tile = {
        .depth = depth, .out_stride = 4 * x->n, .first = step == 0, .last = step + depth == x->k};
    const uint8_t *b = x->b + 4 * step * x->n;
    simd_matmul_pack_a(blocks->a, x->a + 4 * (part->row * x->k + step), 4 * x->k, rows, depth, isa->rows);
    if (rows <= isa->rows)
        simd_matmul_few(tile, x, part, b, blocks, isa);
    else
        simd_matmul_many(tile, x, part, b, blocks, isa);
}

SIMD_INLINE void simd_matmul_part_run(const struct simd_matmul *x, const struct simd_matmul_part *part,
                                      struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    for (uint64_t step = 0; step < x->k; step += SIMD_MATMUL_DEPTH)
        simd_matmul_steps(x, part, step, (uint32_t)simd_matmul_min(SIMD_MATMUL_DEPTH, x->k - step), blocks, isa);
    if (x->k > 0) return;
    for (uint64_t row = part->row; row < part->row_end; row++) /* no step at all: +0 */
        memset(x->out + 4 * (row * x->n + part->column), 0, 4 * (size_t)(part->column_end - part->column));
}

/* ---- units ------------------------------------------------------------------------------------------------ */

/* The units [unit, end) of one product. */
SIMD_INLINE void simd_matmul_units(const struct simd_matmul *x, uint64_t unit, uint64_t end,
                                   struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    const uint64_t across = (x->n + SIMD_MATMUL_COLUMNS - 1) / SIMD_MATMUL_COLUMNS;
    while (unit < end) {
        const uint64_t band = unit / across, first = unit % across, count = simd_matmul_min(across - first, end - unit);
        const struct simd_matmul_part part = {
            band * SIMD_MATMUL_ROWS, simd_matmul_min((band + 1) * SIMD_MATMUL_ROWS, x->m), first * SIMD_MATMUL_COLUMNS,
            simd_matmul_min((first + count) * SIMD_MATMUL_COLUMNS, x->n)};
        simd_matmul_part_run(x, &part, blocks, isa);
        unit += count;
    }
}

/* Slots: out, a, b, then, of the batched form, the number of products; m, k, n. Products have equally many units. */
SIMD_INLINE void simd_matmul_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, uint32_t scalars,
                                 const struct simd_matmul_isa *isa) {
    struct simd_matmul_blocks blocks;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const struct svmx_slot *row = piece.row, *sizes = row + scalars;
        const uint64_t m = sizes[0].at, k = sizes[1].at, n = sizes[2].at;
        const uint64_t units = ((m + SIMD_MATMUL_ROWS - 1) / SIMD_MATMUL_ROWS) *
                               ((n + SIMD_MATMUL_COLUMNS - 1) / SIMD_MATMUL_COLUMNS);
        for (uint64_t unit = piece.begin; unit < piece.end;) {
            const uint64_t product = unit / units, from = unit % units;
            const uint64_t stop = simd_matmul_min(units, from + (piece.end - unit));
            const struct simd_matmul x = {simd_address(&row[1], 4 * product * m * k),
                                          simd_address(&row[2], 4 * product * k * n),
                                          simd_address(&row[0], 4 * product * m * n), m, k, n};
            simd_matmul_units(&x, from, stop, &blocks, isa);
            unit += stop - from;
        }
    }
}

#endif
