/*
 * map.cl: elementwise operations: out[i] = OP(a[i], ...).
 *
 * Behind a source that defines the operation on the type T of width.cl, which is WIDTH elements:
 *
 *   static inline T OP(T a, T b, E p, E q)     OP is a macro of the compiler's options, like WIDTH,
 *                                              INPUTS (1 or 2 arrays) and SCALARS (0 to 2 numbers p, q)
 *
 * Slots: out, a, (b,) (p, q). A unit is an element. Two kernels: in `map_items` a work-item goes through its grain from
 * front to back in vectors, which is what CPUs like; in `map_groups` a work-group does, side by side, which is what GPUs
 * like. The result is the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
struct map_row {
    __global const E *a, *b;
    __global E *out;
    E p, q;
};

static inline void map_row_open(struct map_row *row, const struct svmx_table *t, uint task, __global const uchar *in,
                                __global uchar *out) {
    row->out = (__global E *)(out + svmx_at(t, task, 0));
    row->a = (__global const E *)(in + svmx_at(t, task, 1));
    row->b = INPUTS == 2 ? (__global const E *)(in + svmx_at(t, task, INPUTS)) : row->a;
    row->p = SCALARS > 0 ? SCALAR(t, task, 1 + INPUTS) : 0;
    row->q = SCALARS > 1 ? SCALAR(t, task, 2 + INPUTS) : 0;
}

#if WIDTH == 1

SVMX_KERNEL(map_groups, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS + SCALARS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        struct map_row row;
        map_row_open(&row, &t, piece.task, in, out);
        for (ulong i = piece.begin + get_local_id(0); i < piece.end; i += get_local_size(0))
            row.out[i] = settled(OP(row.a[i], row.b[i], row.p, row.q));
    }
}

#else

static inline void map_vector(const struct map_row *row, ulong i) {
    VSTORE(settled(OP(VLOAD(0, row->a + i), VLOAD(0, row->b + i), row->p, row->q)), 0, row->out + i);
}

/* Less than a vector. */
static inline void map_some(const struct map_row *row, ulong i, ulong count) {
    const T a = load_some(row->a + i, count, 0), b = INPUTS == 2 ? load_some(row->b + i, count, 0) : a;
    store_some(settled(OP(a, b, row->p, row->q)), row->out + i, count);
}

/* The last vector of a piece begins where it fits, and computes some elements again. */
SVMX_KERNEL(map_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS + SCALARS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        struct map_row row;
        map_row_open(&row, &t, piece.task, in, out);
        ulong i = piece.begin;
        for (; i + WIDTH <= piece.end; i += WIDTH) map_vector(&row, i);
        if (i == piece.end) continue;
        if (piece.end - piece.begin >= WIDTH)
            map_vector(&row, piece.end - WIDTH);
        else
            map_some(&row, i, piece.end - i);
    }
}

#endif
