/*
 * grid.cl: grids of bytes transposed, turned and mirrored, one grid a unit. MOVE is TRANSPOSE, ROTATE or FLIP.
 *
 * Slots: out, grids, height, width, (quarter turns or axis). All of them are one thing: cell (row, column) of the result
 * is a cell of the source that moves by a fixed step a row and a fixed step a column. Two kernels: in `grid_groups` a
 * work-group has a grid and a work-item every 64th cell of the result, which is what GPUs like; in `grid_items` a
 * work-item has a grid and moves blocks of 16 x 16 or rows of 16 bytes, which is what CPUs like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { TRANSPOSE, ROTATE, FLIP };
enum { OUT, GRIDS, HEIGHT, WIDTH, HOW, SLOTS = MOVE == TRANSPOSE ? HOW : HOW + 1 };

struct move {
    long rows, columns;         /* of the result */
    long first;                 /* its first cell, in the source */
    long row_step, column_step; /* in the source */
    bool turned;                /* columns of the source become rows */
};

static inline struct move move_turned(long height, long width, bool from_below, bool from_right) {
    struct move m;
    m.rows = width;
    m.columns = height;
    m.first = (from_below ? (height - 1) * width : 0) + (from_right ? width - 1 : 0);
    m.row_step = from_right ? -1 : 1;
    m.column_step = from_below ? -width : width;
    m.turned = true;
    return m;
}

static inline struct move move_upright(long height, long width, bool from_below, bool from_right) {
    struct move m;
    m.rows = height;
    m.columns = width;
    m.first = (from_below ? (height - 1) * width : 0) + (from_right ? width - 1 : 0);
    m.row_step = from_below ? -width : width;
    m.column_step = from_right ? -1 : 1;
    m.turned = false;
    return m;
}

static inline struct move move_of(const struct svmx_table *t, uint task) {
    const long height = (uint)svmx_at(t, task, HEIGHT), width = (uint)svmx_at(t, task, WIDTH);
    const uint how = MOVE == TRANSPOSE ? 0 : (uint)svmx_at(t, task, HOW);
    if (MOVE == TRANSPOSE) return move_turned(height, width, false, false);
    if (MOVE == FLIP) return move_upright(height, width, how == 1, how == 0);
    return how == 2 ? move_upright(height, width, true, true) : move_turned(height, width, how == 1, how == 3);
}

#if LANES == 1

SVMX_KERNEL(grid_groups, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        const struct move m = move_of(&t, piece.task);
        const ulong cells = (ulong)m.rows * (ulong)m.columns;
        __global const uchar *from = in + svmx_at(&t, piece.task, GRIDS) + m.first;
        __global uchar *to = out + svmx_at(&t, piece.task, OUT);
        const long step_rows = 64 / m.columns, step_columns = 64 % m.columns;
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            long row = (long)get_local_id(0) / m.columns, column = (long)get_local_id(0) % m.columns;
            for (ulong i = get_local_id(0); i < cells; i += 64) {
                to[unit * cells + i] = from[(long)(unit * cells) + row * m.row_step + column * m.column_step];
                column += step_columns;
                row += step_rows + (column >= m.columns);
                column -= column >= m.columns ? m.columns : 0;
            }
        }
    }
}

#else

typedef uchar16 __attribute__((aligned(1))) W_ANY;

SVMX_INLINE W load_16(__global const uchar *at, long step) {
    const W row = *(__global const W_ANY *)(step < 0 ? at - 15 : at);
    return step < 0 ? row.sfedcba9876543210 : row;
}

/* 16 rows by 16 columns of the result: what is a row there lies across rows of the source. */
static inline void move_block(__global uchar *to, __global const uchar *from, const struct move *m) {
    W r[LANES];
#pragma unroll
    for (uint i = 0; i < LANES; i++) r[i] = load_16(from + i * m->column_step, m->row_step);
    transpose(r);
#pragma unroll
    for (uint i = 0; i < LANES; i++) *(__global W_ANY *)(to + i * m->columns) = r[i];
}

static inline void move_cells(__global uchar *to, __global const uchar *from, const struct move *m) {
    for (long row = 0; row < m->rows; row++)
        for (long column = 0; column < m->columns; column++)
            to[row * m->columns + column] = from[row * m->row_step + column * m->column_step];
}

/* The last block or row of 16 overlaps the one before, and writes the same bytes again. */
static inline void move_turned_grid(__global uchar *to, __global const uchar *from, const struct move *m) {
    for (long row = 0; row < m->rows; row += LANES)
        for (long column = 0; column < m->columns; column += LANES) {
            const long y = min(row, m->rows - LANES), x = min(column, m->columns - LANES);
            move_block(to + y * m->columns + x, from + y * m->row_step + x * m->column_step, m);
        }
}

static inline void move_upright_grid(__global uchar *to, __global const uchar *from, const struct move *m) {
    for (long row = 0; row < m->rows; row++)
        for (long column = 0; column < m->columns; column += LANES) {
            const long x = min(column, m->columns - LANES);
            *(__global W_ANY *)(to + row * m->columns + x) =
                load_16(from + row * m->row_step + x * m->column_step, m->column_step);
        }
}

SVMX_KERNEL(grid_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        const struct move m = move_of(&t, piece.task);
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            const ulong at = unit * (ulong)m.rows * (ulong)m.columns;
            __global const uchar *from = in + svmx_at(&t, piece.task, GRIDS) + at + m.first;
            __global uchar *to = out + svmx_at(&t, piece.task, OUT) + at;
            if (m.columns < LANES || (m.turned && m.rows < LANES))
                move_cells(to, from, &m);
            else if (m.turned)
                move_turned_grid(to, from, &m);
            else
                move_upright_grid(to, from, &m);
        }
    }
}

#endif
