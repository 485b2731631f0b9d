/*
 * matmul.h: what the matrix products of all instruction sets agree on: units, packing and blocking.
 *
 * Each element of a product is one chain, acc = fma(a[i][p], b[p][j], acc) for p ascending, from acc = +0. The chains
 * are independent of one another, and acc is a float: it may rest in `out` between two steps. So the usual blocking of
 * a matrix product changes no bit, as long as every tile takes its steps in order.
 *
 *                        n, in strips
 *              b   +--+--+--+--+--+--+
 *        DEPTH     |  |##|  |  |  |  |    ## one strip of DEPTH steps, packed (L1)
 *                  +--+--+--+--+--+--+
 *    a  DEPTH     out
 *     +--+--+--+   +--+--+--+--+--+--+
 *     |##|  |  |   |  |##|  |  |  |  |    a band: ROWS rows of out, a few of them at once in registers (a tile)
 *     +--+--+--+   +--+--+--+--+--+--+
 *      ## one block of a, packed (L2)
 *
 * A unit is ROWS x COLUMNS of a product, numbered along a band, then band by band: units in a row share their block of
 * a. A matmul_<isa>.c brings the tile, everything else is here. The packed blocks lie on the stack (120 KiB), because
 * kernels have no other memory: that bounds ROWS and DEPTH.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_MATMUL_H
#define SVMX_SIMD_MATMUL_H

#include "kernels.h"
#include "tasks.h"

#include <stdalign.h>
#include <stdbool.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum {
    SIMD_MATMUL_ROWS = 128,   /* of a unit, as src/ops/matmul_f32.c counts them */
    SIMD_MATMUL_COLUMNS = 32, /* likewise */
    SIMD_MATMUL_DEPTH = 192,  /* steps at once: a strip and a tile's rows of a just fit a first-level cache */
    SIMD_MATMUL_AHEAD = 32    /* steps from asking for a row of b to reading it: the way from the last-level cache */
};

/* Before loops over the registers of a tile: rolled up, they would keep in memory what belongs in registers. */
#if defined(__clang__)
#define SIMD_MATMUL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SIMD_MATMUL_UNROLL _Pragma("GCC unroll 16")
#endif

#define SIMD_MATMUL_NAN UINT32_C(0x7fc00000)

/* Slots: out, a, b, then, of the batched form, how many products; m, k, n. This is where m is. */
enum { SIMD_MATMUL_SIZES = 3, SIMD_MATMUL_BATCH_SIZES = 4 };

/* Some rows and columns of `out`, and the steps that they are to take. */
struct simd_matmul_tile {
    const float *a;   /* packed: `rows` floats a step */
    const uint8_t *b; /* as many whole vectors as the columns need, every b_stride bytes */
    float *packed;    /* NULL, or where a full tile is to copy b on its way, without gaps */
    uint8_t *out;
    uint64_t b_stride, out_stride; /* bytes */
    uint32_t rows, columns, depth; /* rows, columns: 1 to those of a full tile */
    bool first, last;              /* of all steps: start at +0, not at what `out` holds; write NaNs as the one NaN */
};

/* What an instruction set brings. */
struct simd_matmul_isa {
    void (*tile)(const struct simd_matmul_tile *tile);
    uint32_t rows, columns; /* of a full tile; columns divides COLUMNS */
    uint32_t lanes;         /* floats to a vector; divides columns */
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
    alignas(64) float b[SIMD_MATMUL_DEPTH * SIMD_MATMUL_COLUMNS];
};

static inline uint64_t simd_matmul_min(uint64_t x, uint64_t y) { return x < y ? x : y; }

/* Asks for the lines of `bytes` bytes that lie `ahead` bytes further on; past the end of a matrix it does no harm. Into
 * the second level: rows whose distance is a power of two would throw each other out of the first. */
SIMD_INLINE void simd_matmul_ask(const uint8_t *from, uint64_t ahead, uint64_t bytes) {
    const uintptr_t at = (uintptr_t)from + ahead;
    for (uint64_t line = 0; line < bytes; line += 64) __builtin_prefetch((const void *)(at + line), 0, 2);
    __builtin_prefetch((const void *)(at + bytes - 1), 0, 2);
}

/* ---- packing ---------------------------------------------------------------------------------------------- */

/* How many of the `rows` left the next tile takes: first a full one, then as even as can be, because a tile of few rows
 * waits for its own sums. */
static inline uint32_t simd_matmul_take(uint32_t rows, bool first, uint32_t limit) {
    if (rows <= limit) return rows;
    const uint32_t tiles = (rows + limit - 1) / limit;
    return first ? limit : (rows + tiles - 1) / tiles;
}

/* Steps [step, depth) of `rows` rows, `stride` bytes apart, turned: all rows' first step, then all rows' second. */
static inline void simd_matmul_turn_rest(float *to, const uint8_t *from, uint64_t stride, uint32_t rows, uint32_t step,
                                         uint32_t depth) {
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t p = step; p < depth; p++) memcpy(to + p * rows + i, from + i * stride + 4 * p, 4);
}

#if defined(__SSE2__)
/* Four steps of four rows, `to` and `from` being those of the first. */
static inline void simd_matmul_turn_4x4(float *to, uint32_t rows, const uint8_t *from, uint64_t stride) {
    __m128 x[4];
    SIMD_MATMUL_UNROLL
    for (uint32_t i = 0; i < 4; i++) x[i] = _mm_loadu_ps((const float *)(const void *)(from + i * stride));
    _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
    SIMD_MATMUL_UNROLL
    for (uint32_t p = 0; p < 4; p++) _mm_storeu_ps(to + p * rows, x[p]);
}

/* Fours of rows; the last may overlap the one before and writes the same again. Fours of steps, then the rest. */
static inline void simd_matmul_turn(float *to, const uint8_t *from, uint64_t stride, uint32_t rows, uint32_t depth) {
    const uint32_t fours = rows < 4 ? 0 : depth / 4 * 4;
    for (uint32_t i = 0; i < rows && fours > 0; i += 4) {
        const uint32_t row = i + 4 <= rows ? i : rows - 4;
        for (uint32_t ahead = 4; ahead < 8; ahead++) simd_matmul_ask(from, (row + ahead) * stride, 4 * depth);
        for (uint32_t p = 0; p < fours; p += 4)
            simd_matmul_turn_4x4(to + p * rows + row, rows, from + row * stride + 4 * p, stride);
    }
    simd_matmul_turn_rest(to, from, stride, rows, fours, depth);
}
#else
static inline void simd_matmul_turn(float *to, const uint8_t *from, uint64_t stride, uint32_t rows, uint32_t depth) {
    simd_matmul_turn_rest(to, from, stride, rows, 0, depth);
}
#endif

/* All rows of a band, tile after tile. */
static inline void simd_matmul_pack_a(float *to, const uint8_t *from, uint64_t stride, uint32_t rows, uint32_t depth,
                                      uint32_t limit) {
    uint32_t done = 0;
    while (done < rows) {
        const uint32_t take = simd_matmul_take(rows - done, done == 0, limit);
        simd_matmul_turn(to + done * depth, from + done * stride, stride, take, depth);
        done += take;
    }
}

/* `depth` steps of some columns, zeros up to `width`. */
static inline void simd_matmul_pack_b(float *to, const uint8_t *from, uint64_t stride, uint32_t columns, uint32_t width,
                                      uint32_t depth) {
    for (uint32_t p = 0; p < depth; p++, from += stride, to += width) {
        memcpy(to, from, 4 * columns);
        memset(to + columns, 0, 4 * (width - columns));
    }
}

/* ---- blocks ----------------------------------------------------------------------------------------------- */

/*
 * Where a tile of `rows` rows finds its strip of b. One tile alone reads whole vectors where they lie. Before many, the
 * first tile does so too and packs them for the others on its way: that hides under its arithmetic, whereas a loop that
 * only copies would wait for memory. A strip that does not fill its vectors is packed by such a loop: there is one at
 * most.
 */
static inline void simd_matmul_find_b(struct simd_matmul_tile *tile, const uint8_t *b, uint64_t stride, float *packed,
                                      uint32_t rows, const struct simd_matmul_isa *isa) {
    const uint32_t width = (tile->columns + isa->lanes - 1) / isa->lanes * isa->lanes;
    const bool many = rows > isa->rows, in_place = tile->columns == (many ? isa->columns : width);
    if (!in_place) simd_matmul_pack_b(packed, b, stride, tile->columns, width, tile->depth);
    tile->b = in_place ? b : (const uint8_t *)packed;
    tile->b_stride = in_place ? stride : 4 * width;
    tile->packed = in_place && many ? packed : NULL;
}

/* All rows of a band over one strip. What the next tile will load of `out` is asked for while this one computes. */
static inline void simd_matmul_band(struct simd_matmul_tile tile, const float *a, const float *packed, uint32_t rows,
                                    const struct simd_matmul_isa *isa) {
    for (uint32_t done = 0; done < rows; done += tile.rows) {
        tile.rows = simd_matmul_take(rows - done, done == 0, isa->rows);
        tile.a = a + done * tile.depth;
        if (!tile.first)
            for (uint32_t i = tile.rows; i < 2 * tile.rows; i++)
                simd_matmul_ask(tile.out, i * tile.out_stride, 4 * tile.columns);
        isa->tile(&tile);
        tile.out += tile.rows * tile.out_stride;
        if (!tile.packed) continue;
        tile.b = (const uint8_t *)packed;
        tile.b_stride = 4 * isa->columns;
        tile.packed = NULL;
    }
}

/* The steps [step, step + depth) of a part. */
static inline void simd_matmul_steps(const struct simd_matmul *x, const struct simd_matmul_part *part, uint64_t step,
                                     uint32_t depth, struct simd_matmul_blocks *blocks,
                                     const struct simd_matmul_isa *isa) {
    const uint32_t rows = (uint32_t)(part->row_end - part->row);
    const uint64_t stride = 4 * x->n;
    struct simd_matmul_tile tile = {
        .out_stride = stride, .depth = depth, .first = step == 0, .last = step + depth == x->k};
    simd_matmul_pack_a(blocks->a, x->a + 4 * (part->row * x->k + step), 4 * x->k, rows, depth, isa->rows);
    for (uint64_t column = part->column; column < part->column_end; column += tile.columns) {
        tile.columns = (uint32_t)simd_matmul_min(isa->columns, part->column_end - column);
        tile.out = x->out + part->row * stride + 4 * column;
        simd_matmul_find_b(&tile, x->b + step * stride + 4 * column, stride, blocks->b, rows, isa);
        simd_matmul_band(tile, blocks->a, blocks->b, rows, isa);
    }
}

static inline void simd_matmul_part_run(const struct simd_matmul *x, const struct simd_matmul_part *part,
                                        struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    for (uint64_t step = 0; step < x->k; step += SIMD_MATMUL_DEPTH)
        simd_matmul_steps(x, part, step, (uint32_t)simd_matmul_min(SIMD_MATMUL_DEPTH, x->k - step), blocks, isa);
    if (x->k > 0) return;
    for (uint64_t row = part->row; row < part->row_end; row++) /* no step at all: +0 */
        memset(x->out + 4 * (row * x->n + part->column), 0, 4 * (size_t)(part->column_end - part->column));
}

/* ---- units ------------------------------------------------------------------------------------------------ */

/* The units [unit, end) of one product. */
static inline void simd_matmul_units(const struct simd_matmul *x, uint64_t unit, uint64_t end,
                                     struct simd_matmul_blocks *blocks, const struct simd_matmul_isa *isa) {
    const uint64_t across = (x->n + SIMD_MATMUL_COLUMNS - 1) / SIMD_MATMUL_COLUMNS;
    while (unit < end) {
        const uint64_t band = unit / across, first = unit % across;
        const uint64_t count = simd_matmul_min(across - first, end - unit);
        const struct simd_matmul_part part = {.row = band * SIMD_MATMUL_ROWS,
                                              .row_end = simd_matmul_min((band + 1) * SIMD_MATMUL_ROWS, x->m),
                                              .column = first * SIMD_MATMUL_COLUMNS,
                                              .column_end =
                                                  simd_matmul_min((first + count) * SIMD_MATMUL_COLUMNS, x->n)};
        simd_matmul_part_run(x, &part, blocks, isa);
        unit += count;
    }
}

/* `sizes` is the slot of m. A task is one product or, in the batched form, many with equally many units. */
static inline void simd_matmul_run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, uint32_t sizes,
                                   const struct simd_matmul_isa *isa) {
    struct simd_matmul_blocks blocks;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct simd_piece piece;
    while (simd_walk_next(&walk, &piece)) {
        const struct svmx_slot *row = piece.row;
        const uint64_t m = row[sizes].at, k = row[sizes + 1].at, n = row[sizes + 2].at;
        const uint64_t bands = (m + SIMD_MATMUL_ROWS - 1) / SIMD_MATMUL_ROWS;
        const uint64_t units = bands * ((n + SIMD_MATMUL_COLUMNS - 1) / SIMD_MATMUL_COLUMNS);
        for (uint64_t unit = piece.begin, next; unit < piece.end; unit = next) {
            const uint64_t product = unit / units, before = product * units;
            const struct simd_matmul x = {.a = simd_address(&row[1], 4 * product * m * k),
                                          .b = simd_address(&row[2], 4 * product * k * n),
                                          .out = simd_address(&row[0], 4 * product * m * n),
                                          .m = m,
                                          .k = k,
                                          .n = n};
            next = simd_matmul_min(piece.end, before + units);
            simd_matmul_units(&x, unit - before, next - before, &blocks, isa);
        }
    }
}

#endif
