/*
 * matmul.cl: products of matrices of floats: matmul_f32, matmul_batch_f32. docs/OPERATIONS.md has the definition.
 *
 * Each element of a product is one chain, acc = fma(a[i][p], b[p][j], acc) for p ascending, from acc = +0. The chains are
 * independent of one another, and acc is a float: it may rest in `out` between two steps. So blocking changes no bit.
 *
 *   a unit      UNIT_ROWS x UNIT_COLUMNS of a product, numbered along a band of rows, then band by band
 *   SIZES       the slot of m: 3, or 4 in the batched form, where slot 3 says how many products there are
 *
 * Two ways. With ROWS (and VECTORS) given, a work-item computes whole units, ROWS x 16 VECTORS elements at once in
 * vectors, which is what CPUs like; a and b are copied to where they are read without gaps. Without, a work-group of 128
 * computes a unit through local memory, 8 x 4 elements each, which is what GPUs like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { UNIT_ROWS = 128, UNIT_COLUMNS = 32 };

/* One product. Rows of the matrices follow one another without a gap. */
struct product {
    __global const float *a, *b;
    __global float *out;
    ulong m, k, n;
};

/* What a walk over units meets: a product, and units [begin, end) of it. */
struct product_part {
    struct product x;
    ulong begin, end;
};

/* The next product of a piece, whose first unit moves on; 0 when the piece is done. */
static inline int product_next(const struct svmx_table *t, struct svmx_piece *piece, __global const uchar *in,
                               __global uchar *out, struct product_part *part) {
    if (piece->begin >= piece->end) return 0;
    struct product *x = &part->x;
    x->m = svmx_at(t, piece->task, SIZES);
    x->k = svmx_at(t, piece->task, SIZES + 1);
    x->n = svmx_at(t, piece->task, SIZES + 2);
    const ulong units = ((x->m + UNIT_ROWS - 1) / UNIT_ROWS) * ((x->n + UNIT_COLUMNS - 1) / UNIT_COLUMNS);
    const ulong index = piece->begin / units, before = index * units;
    x->out = (__global float *)(out + svmx_at(t, piece->task, 0)) + index * x->m * x->n;
    x->a = (__global const float *)(in + svmx_at(t, piece->task, 1)) + index * x->m * x->k;
    x->b = (__global const float *)(in + svmx_at(t, piece->task, 2)) + index * x->k * x->n;
    part->begin = piece->begin - before;
    part->end = min(piece->end - before, units);
    piece->begin = before + part->end;
    return 1;
}

#ifdef ROWS

/* ---- CPUs: a work-item a row of units -------------------------------------------------------------------------- */

enum {
    DEPTH = 192, /* steps at once: a strip of b stays in a first-level cache, a block of a in a second-level one */
    WIDTH = 16 * VECTORS,
    TILES = (UNIT_ROWS + ROWS - 1) / ROWS
};

struct blocks {
    float16 b[DEPTH * VECTORS];         /* one strip of b: WIDTH columns a step */
    float a[TILES * DEPTH * ROWS];      /* tile after tile; in a tile ROWS elements a step, zeros below the last row */
};

/* Steps [step, step + depth) of rows [row, row + rows) of a. */
static inline void pack_a(__private float *to, const struct product *x, ulong row, uint rows, ulong step, uint depth) {
    for (uint first = 0; first < rows; first += ROWS, to += ROWS * DEPTH)
        for (uint i = 0; i < ROWS; i++) {
            __global const float *from = x->a + (row + first + i) * x->k + step;
            if (first + i < rows)
                for (uint p = 0; p < depth; p++) to[p * ROWS + i] = from[p];
            else
                for (uint p = 0; p < depth; p++) to[p * ROWS + i] = 0;
        }
}

/* The same steps of `columns` columns of b from `column` on, zeros behind them. */
static inline void pack_b(__private float16 *to, const struct product *x, ulong step, uint depth, ulong column,
                          uint columns) {
    __global const float *from = x->b + step * x->n + column;
    for (uint p = 0; p < depth; p++, from += x->n, to += VECTORS) {
        if (columns == WIDTH) {
            for (uint v = 0; v < VECTORS; v++) to[v] = vload16(v, from);
        } else {
            __private float *row = (__private float *)to;
            for (uint j = 0; j < WIDTH; j++) row[j] = j < columns ? from[j] : 0;
        }
    }
}

/* Some rows and columns of `out`, and the steps that they are to take. */
struct tile {
    __global float *out;
    ulong stride;
    uint rows, columns, depth;
    int first, last; /* of all steps: start at +0, not at what `out` holds; write NaNs as the one NaN */
};

static inline void tile_store(const struct tile *t, uint i, uint v, float16 x) {
    __global float *to = t->out + i * t->stride + 16 * v;
    if (t->last) x = select(x, (float16)(as_float(0x7fc00000)), x != x);
    if (16 * v + 16 <= t->columns) {
        vstore16(x, 0, to);
    } else {
        float some[16];
        vstore16(x, 0, some);
        for (uint j = 0; 16 * v + j < t->columns; j++) to[j] = some[j];
    }
}

static inline float16 tile_load(const struct tile *t, uint i, uint v) {
    __global const float *from = t->out + i * t->stride + 16 * v;
    if (t->first || i >= t->rows) return 0;
    if (16 * v + 16 <= t->columns) return vload16(0, from);
    float some[16] = {0};
    for (uint j = 0; 16 * v + j < t->columns; j++) some[j] = from[j];
    return vload16(0, some);
}

static inline void tile_run(const struct tile *t, __private const float *a, __private const float16 *b) {
    float16 acc[ROWS][VECTORS];
#pragma unroll
    for (uint i = 0; i < ROWS; i++)
#pragma unroll
        for (uint v = 0; v < VECTORS; v++) acc[i][v] = tile_load(t, i, v);
    for (uint p = 0; p < t->depth; p++, a += ROWS, b += VECTORS)
#pragma unroll
        for (uint i = 0; i < ROWS; i++)
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) acc[i][v] = fma((float16)(a[i]), b[v], acc[i][v]);
#pragma unroll
    for (uint i = 0; i < ROWS; i++)
#pragma unroll
        for (uint v = 0; v < VECTORS; v++)
            if (i < t->rows) tile_store(t, i, v, acc[i][v]);
}

/* Rows [row, row + rows), columns [column, end): all within one band. */
static inline void band_run(const struct product *x, ulong row, uint rows, ulong column, ulong end,
                            __private struct blocks *blocks) {
    ulong step = 0;
    do { /* once also if there is no step at all */
        const uint depth = (uint)min(x->k - step, (ulong)DEPTH);
        struct tile t = {.stride = x->n, .depth = depth, .first = step == 0, .last = step + depth == x->k};
        pack_a(blocks->a, x, row, rows, step, depth);
        for (ulong at = column; at < end; at += WIDTH) {
            t.columns = (uint)min(end - at, (ulong)WIDTH);
            pack_b(blocks->b, x, step, depth, at, t.columns);
            for (uint first = 0, tile = 0; first < rows; first += ROWS, tile++) {
                t.rows = min(rows - first, (uint)ROWS);
                t.out = x->out + (row + first) * x->n + at;
                tile_run(&t, blocks->a + tile * ROWS * DEPTH, blocks->b);
            }
        }
        step += depth;
    } while (step < x->k);
}

/* Units of a band share their block of a. */
static inline void product_run(const struct product_part *part, __private struct blocks *blocks) {
    const struct product *x = &part->x;
    const ulong across = (x->n + UNIT_COLUMNS - 1) / UNIT_COLUMNS;
    for (ulong unit = part->begin, next; unit < part->end; unit = next) {
        const ulong band = unit / across, row = band * UNIT_ROWS;
        next = min((band + 1) * across, part->end);
        const ulong column = (unit - band * across) * UNIT_COLUMNS, end = (next - band * across) * UNIT_COLUMNS;
        band_run(x, row, (uint)min(x->m - row, (ulong)UNIT_ROWS), column, min(end, x->n), blocks);
    }
}

SVMX_KERNEL(matmul_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SIZES + 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    struct product_part part;
    struct blocks blocks;
    while (svmx_walk_next(&t, &walk, &piece))
        while (product_next(&t, &piece, in, out, &part)) product_run(&part, &blocks);
}

#else

/* ---- GPUs: a work-group a unit --------------------------------------------------------------------------------- */

enum { GROUP = 128, STEPS = 16, HIGH = 8, WIDE = 4, ACROSS = UNIT_COLUMNS / WIDE, PAD = 4 };

/* Some steps of a unit. Steps come first in both; PAD keeps work-items that write a row of a out of one another's banks. */
struct tiles {
    float a[STEPS][UNIT_ROWS + PAD];
    float b[STEPS][UNIT_COLUMNS];
};

/* Where a unit lies. */
struct unit {
    ulong row, column;
    uint rows, columns;
};

static inline struct unit unit_of(const struct product *x, ulong index) {
    const ulong across = (x->n + UNIT_COLUMNS - 1) / UNIT_COLUMNS;
    const ulong band = index / across;
    struct unit u;
    u.row = band * UNIT_ROWS;
    u.column = (index - band * across) * UNIT_COLUMNS;
    u.rows = (uint)min(x->m - u.row, (ulong)UNIT_ROWS);
    u.columns = (uint)min(x->n - u.column, (ulong)UNIT_COLUMNS);
    return u;
}

/* All work-items copy side by side. Zeros where there is no row or column: they end in no element of `out`. */
static inline void tiles_fill(__local struct tiles *tiles, const struct product *x, const struct unit *u, ulong step,
                              uint depth) {
    const uint id = (uint)get_local_id(0), step_a = id % STEPS, column = id % UNIT_COLUMNS;
    __global const float *a = x->a + u->row * x->k + step + step_a, *b = x->b + step * x->n + u->column + column;
    for (uint i = id / STEPS; i < UNIT_ROWS; i += GROUP / STEPS)
        tiles->a[step_a][i] = i < u->rows && step_a < depth ? a[i * x->k] : 0;
    for (uint p = id / UNIT_COLUMNS; p < STEPS; p += GROUP / UNIT_COLUMNS)
        tiles->b[p][column] = column < u->columns && p < depth ? b[p * x->n] : 0;
}

/* One step of a work-item's HIGH x WIDE elements. */
static inline void step_run(float acc[HIGH][WIDE], __local const float *a, __local const float *b) {
    float y[WIDE];
#pragma unroll
    for (uint j = 0; j < WIDE; j++) y[j] = b[j];
#pragma unroll
    for (uint i = 0; i < HIGH; i++) {
        const float x = a[i];
#pragma unroll
        for (uint j = 0; j < WIDE; j++) acc[i][j] = fma(x, y[j], acc[i][j]);
    }
}

static inline void unit_store(const struct product *x, const struct unit *u, uint row, uint column,
                              float acc[HIGH][WIDE]) {
#pragma unroll
    for (uint i = 0; i < HIGH; i++)
#pragma unroll
        for (uint j = 0; j < WIDE; j++)
            if (row + i < u->rows && column + j < u->columns)
                x->out[(u->row + row + i) * x->n + u->column + column + j] =
                    acc[i][j] == acc[i][j] ? acc[i][j] : as_float(0x7fc00000);
}

/* Steps are not filled up to STEPS: one more would make +0 of -0. */
static inline void unit_run(const struct product *x, ulong index, __local struct tiles *tiles) {
    const struct unit u = unit_of(x, index);
    const uint row = (uint)get_local_id(0) / ACROSS * HIGH, column = (uint)get_local_id(0) % ACROSS * WIDE;
    float acc[HIGH][WIDE];
#pragma unroll
    for (uint i = 0; i < HIGH; i++)
#pragma unroll
        for (uint j = 0; j < WIDE; j++) acc[i][j] = 0;
    for (ulong step = 0; step < x->k; step += STEPS) {
        const uint depth = (uint)min(x->k - step, (ulong)STEPS);
        tiles_fill(tiles, x, &u, step, depth);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < depth; p++) step_run(acc, &tiles->a[p][row], &tiles->b[p][column]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    unit_store(x, &u, row, column, acc);
}

SVMX_KERNEL(matmul_groups, 128) {
    __local struct tiles tiles;
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SIZES + 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    struct product_part part;
    while (svmx_walk_next(&t, &walk, &piece))
        while (product_next(&t, &piece, in, out, &part))
            for (ulong unit = part.begin; unit < part.end; unit++) unit_run(&part.x, unit, &tiles);
}

#endif
