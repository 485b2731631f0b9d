/*
 * softmax.cl: softmax_f32 and (with LOG, a macro of the compiler's options, as 1) log_softmax_f32.
 *
 * Slots: out, a, width. A unit is a row of any width. Three passes over it: its greatest value, the exponentials and their
 * sum, the quotients. Exponentials wait in `out`, unless logarithms are asked for, which need them no more. The sum has
 * the order of tree.cl; a row of more than one block has its higher levels in `upper`, 64 lanes each, which take the sum
 * of a block as soon as it is known. Behind exp.cl, sums.cl and tree.cl.
 *
 * Whichever zero is the greatest, and whatever of NaNs, changes no bit of the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { UPPER_LEVELS = 5 }; /* 4096^6 > 2^64 */

struct softmax_row {
    __global const float *a;
    __global float *out;
    ulong width;
};

static inline void softmax_row_open(struct softmax_row *row, const struct svmx_table *t, uint task, ulong unit,
                                    __global const uchar *in, __global uchar *out) {
    row->width = svmx_at(t, task, 2);
    row->a = (__global const float *)(in + svmx_at(t, task, 1)) + unit * row->width;
    row->out = (__global float *)(out + svmx_at(t, task, 0)) + unit * row->width;
}

/* The last step: `sum` is that, or its logarithm. */
static inline T softmax_share(T x, float most, float sum) {
    return settled(LOG ? (x - (T)(most)) - (T)(sum) : divided(x, (T)(sum)));
}

#if WIDTH == 1

/* ---- a row a work-group --------------------------------------------------------------------------------------- */

/* Lane by lane, as tree_fold. */
SVMX_INLINE float softmax_most(const struct softmax_row *row, __local float *lanes) {
    const uint lane = (uint)get_local_id(0);
    float most = -INFINITY;
    for (ulong i = lane; i < row->width; i += TREE_LANES) most = row->a[i] > most ? row->a[i] : most;
    barrier(CLK_LOCAL_MEM_FENCE);
    lanes[lane] = most;
    for (uint w = TREE_LANES / 2; w > 0; w /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < w) lanes[lane] = most = lanes[lane + w] > most ? lanes[lane + w] : most;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return lanes[0];
}

SVMX_INLINE float softmax_block(const struct softmax_row *row, float most, ulong begin, ulong end,
                                  __local float *lanes) {
    float sum = 0;
    for (ulong i = begin + get_local_id(0); i < end; i += TREE_LANES) {
        const float e = exp_of(row->a[i] - most);
        if (!LOG) row->out[i] = e;
        sum += e;
    }
    return tree_fold(sum, lanes);
}

/* Takes the sum of a block to its lane of the level above, and what is full or the last further up. The same in all items;
 * the result is the sum of the row if this block is its last. Each item has its own lane of `upper`. */
SVMX_INLINE float softmax_up(ulong block, float sum, int last, __local float *upper, __local float *lanes) {
    const uint lane = (uint)get_local_id(0);
    for (;; upper += TREE_LANES) {
        if (block % TREE_LANES == lane) upper[lane] += sum;
        if (!last && (block + 1) % TREE_BLOCK) return sum;
        sum = tree_fold(upper[lane], lanes);
        upper[lane] = 0;
        if (last && block < TREE_BLOCK) return sum;
        block /= TREE_BLOCK;
    }
}

SVMX_INLINE float softmax_sum(const struct softmax_row *row, float most, __local float *upper, __local float *lanes) {
    if (row->width <= TREE_BLOCK) return softmax_block(row, most, 0, row->width, lanes);
    float sum = 0;
    const ulong blocks = (row->width - 1) / TREE_BLOCK + 1;
    for (uint level = 0; level < UPPER_LEVELS; level++) upper[level * TREE_LANES + get_local_id(0)] = 0;
    for (ulong block = 0; block < blocks; block++) {
        const ulong begin = block * TREE_BLOCK, end = min(begin + TREE_BLOCK, row->width);
        sum = softmax_up(block, softmax_block(row, most, begin, end, lanes), block + 1 == blocks, upper, lanes);
    }
    return sum;
}

SVMX_KERNEL(softmax_groups, TREE_LANES) {
    __local float lanes[TREE_LANES], upper[UPPER_LEVELS * TREE_LANES];
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            struct softmax_row row;
            softmax_row_open(&row, &t, piece.task, unit, in, out);
            const float most = softmax_most(&row, lanes);
            float sum = softmax_sum(&row, most, upper, lanes);
            if (LOG) sum = log_of(sum);
            for (ulong i = get_local_id(0); i < row.width; i += TREE_LANES)
                row.out[i] = softmax_share(LOG ? row.a[i] : row.out[i], most, sum);
        }
    }
}

#else

/* ---- a row a work-item ---------------------------------------------------------------------------------------- */

static inline T larger(T x, T y) { return select(y, x, x > y); }

static inline float softmax_most(const struct softmax_row *row) {
    T x0 = (T)(-INFINITY), x1 = x0, x2 = x0, x3 = x0;
    ulong i = 0;
    for (; i + TREE_LANES <= row->width; i += TREE_LANES) {
        x0 = larger(VLOAD(0, row->a + i), x0);
        x1 = larger(VLOAD(0, row->a + i + WIDTH), x1);
        x2 = larger(VLOAD(0, row->a + i + 2 * WIDTH), x2);
        x3 = larger(VLOAD(0, row->a + i + 3 * WIDTH), x3);
    }
    for (; i + WIDTH <= row->width; i += WIDTH) x0 = larger(VLOAD(0, row->a + i), x0);
    if (i < row->width) x1 = larger(load_some(row->a + i, row->width - i, -INFINITY), x1);
    T x = larger(larger(x0, x1), larger(x2, x3));
    x = larger(x, x.s89abcdef01234567);
    x = larger(x, x.s45670123cdef89ab);
    x = larger(x, x.s23016745ab89efcd);
    return larger(x, x.s1032547698badcfe).s0;
}

static inline T softmax_vector(const struct softmax_row *row, T most, T sum, ulong i) {
    const T e = exp_of(VLOAD(0, row->a + i) - most);
    if (!LOG) VSTORE(e, 0, row->out + i);
    return sum + e;
}

/* The rest of a block: a vector, less or nothing. What is past the end is -inf, whose exponential +0 changes no sum. */
static inline T softmax_some(const struct softmax_row *row, T most, T sum, ulong i, ulong end) {
    if (i >= end) return sum;
    if (i + WIDTH <= end) return softmax_vector(row, most, sum, i);
    const T e = exp_of(load_some(row->a + i, end - i, -INFINITY) - most);
    if (!LOG) store_some(e, row->out + i, end - i);
    return sum + e;
}

static inline float softmax_block(const struct softmax_row *row, T most, ulong i, ulong end) {
    T x0 = (T)(0), x1 = x0, x2 = x0, x3 = x0;
    for (; i + TREE_LANES <= end; i += TREE_LANES) {
        x0 = softmax_vector(row, most, x0, i);
        x1 = softmax_vector(row, most, x1, i + WIDTH);
        x2 = softmax_vector(row, most, x2, i + 2 * WIDTH);
        x3 = softmax_vector(row, most, x3, i + 3 * WIDTH);
    }
    if (i < end) {
        x0 = softmax_some(row, most, x0, i, end);
        x1 = softmax_some(row, most, x1, i + WIDTH, end);
        x2 = softmax_some(row, most, x2, i + 2 * WIDTH, end);
        x3 = softmax_some(row, most, x3, i + 3 * WIDTH, end);
    }
    return tree_fold(x0, x1, x2, x3).s0;
}

/* Takes the sum of a block to its lane of the level above, and what is full or the last further up. The result is the sum
 * of the row if this block is its last. */
static inline float softmax_up(ulong block, float sum, int last, float *upper) {
    for (;; upper += TREE_LANES) {
        upper[block % TREE_LANES] += sum;
        if (!last && (block + 1) % TREE_BLOCK) return sum;
        sum = tree_fold(VLOAD(0, upper), VLOAD(1, upper), VLOAD(2, upper), VLOAD(3, upper)).s0;
        for (uint i = 0; i < TREE_LANES; i++) upper[i] = 0;
        if (last && block < TREE_BLOCK) return sum;
        block /= TREE_BLOCK;
    }
}

static inline float softmax_sum(const struct softmax_row *row, T most) {
    if (row->width <= TREE_BLOCK) return softmax_block(row, most, 0, row->width);
    float sum = 0, upper[UPPER_LEVELS * TREE_LANES] = {0};
    const ulong blocks = (row->width - 1) / TREE_BLOCK + 1;
    for (ulong block = 0; block < blocks; block++) {
        const ulong begin = block * TREE_BLOCK, end = min(begin + TREE_BLOCK, row->width);
        sum = softmax_up(block, softmax_block(row, most, begin, end), block + 1 == blocks, upper);
    }
    return sum;
}

static inline void softmax_shares(const struct softmax_row *row, float most, float sum) {
    __global const float *from = LOG ? row->a : row->out;
    ulong i = 0;
    for (; i + WIDTH <= row->width; i += WIDTH)
        VSTORE(softmax_share(VLOAD(0, from + i), most, sum), 0, row->out + i);
    const ulong rest = row->width - i;
    if (rest) store_some(softmax_share(load_some(from + i, rest, 0), most, sum), row->out + i, rest);
}

SVMX_KERNEL(softmax_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            struct softmax_row row;
            softmax_row_open(&row, &t, piece.task, unit, in, out);
            const float most = softmax_most(&row), sum = softmax_sum(&row, (T)(most));
            softmax_shares(&row, most, LOG ? log_of(sum) : sum);
        }
    }
}

#endif
