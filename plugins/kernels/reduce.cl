/*
 * reduce.cl: reductions: a task of many elements becomes one.
 *
 * Behind a source that defines the operation, whose name is OP, a macro of the compiler's options, like WIDTH and
 * INPUTS (1 or 2 arrays), and tree.cl:
 *
 *   T OP_start()       what changes no result: a lane begins with it
 *   A OP_term(a, b)    what an element adds
 *   A OP_next(x)       what the value of a block adds to the next level
 *   T OP_value(x)      back from an accumulator
 *
 * Slots: out, a, (b). A unit is a block of 4096 elements. The first pass gives each block its value, in scratch; where
 * that is the only one of its task it is the result. The second goes over tasks: the values are the elements of the next
 * level, and so on until there is one. They are overwritten in place: block k is read before value k is written, and
 * value k lies in a block that was read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define REDUCE_NAME(op, part) op##_##part
#define REDUCE_PART(op, part) REDUCE_NAME(op, part)
#define START                 REDUCE_PART(OP, start)
#define TERM                  REDUCE_PART(OP, term)
#define NEXT                  REDUCE_PART(OP, next)
#define VALUE                 REDUCE_PART(OP, value)

/* Elements of one block, and where they come from: the arrays of the task, or values of the level below. */
struct reduce_block {
    __global const E *a, *b;
    ulong count;
    int next;
};

static inline ulong reduce_count(ulong left) { return min(left, (ulong)TREE_BLOCK); }

static inline void reduce_block_open(struct reduce_block *block, const struct svmx_table *t, uint task, ulong unit,
                                     __global const uchar *in) {
    const ulong at = unit * TREE_BLOCK;
    block->a = (__global const E *)(in + svmx_at(t, task, 1)) + at;
    block->b = INPUTS == 2 ? (__global const E *)(in + svmx_at(t, task, INPUTS)) + at : block->a;
    block->count = reduce_count(svmx_bytes(t, task, 1) / sizeof(E) - at);
    block->next = 0;
}

static inline void reduce_block_next(struct reduce_block *block, __global const E *values, ulong at, ulong count) {
    block->a = block->b = values + at;
    block->count = reduce_count(count - at);
    block->next = 1;
}

static inline A reduce_add(const struct reduce_block *block, A x, T a, T b) {
    const A term = block->next ? NEXT(a) : TERM(a, b);
    return COMBINE(x, term);
}

/* Where the value of a block goes. */
static inline __global E *reduce_target(const struct svmx_table *t, uint task, ulong unit, __global uchar *out,
                                        __global uchar *scratch) {
    const ulong first = t->first_unit[task];
    if (t->first_unit[task + 1] - first == 1) return (__global E *)(out + svmx_at(t, task, 0));
    return (__global E *)scratch + first + unit;
}

#if WIDTH == 1

/* ---- a block a work-group ------------------------------------------------------------------------------------- */

/* All items get the value. */
SVMX_INLINE E reduce_value(const struct reduce_block *block, __local A *lanes) {
    A x = NEXT(START());
    for (uint i = (uint)get_local_id(0); i < block->count; i += TREE_LANES)
        x = reduce_add(block, x, block->a[i], block->b[i]);
    return VALUE(tree_fold(x, lanes));
}

SVMX_KERNEL(reduce_groups, TREE_LANES) {
    __local A lanes[TREE_LANES];
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            struct reduce_block block;
            reduce_block_open(&block, &t, piece.task, unit, in);
            const E value = reduce_value(&block, lanes);
            if (get_local_id(0) == 0) *reduce_target(&t, piece.task, unit, out, scratch) = settled_one(value);
        }
    }
}

SVMX_INLINE E reduce_levels(__global E *values, ulong count, __local A *lanes) {
    E value = 0;
    while (count > 1) {
        ulong kept = 0;
        for (ulong at = 0; at < count; at += TREE_BLOCK) {
            struct reduce_block block;
            reduce_block_next(&block, values, at, count);
            value = reduce_value(&block, lanes);
            if (get_local_id(0) == 0) values[kept] = value;
            kept++;
        }
        count = kept;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    return value;
}

SVMX_KERNEL(reduce_tasks_groups, TREE_LANES) {
    __local A lanes[TREE_LANES];
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS);
    const uint begin = (uint)get_group_id(0) * grain, end = min(begin + grain, tasks);
    for (uint task = begin; task < end; task++) {
        const ulong first = t.first_unit[task], count = t.first_unit[task + 1] - first;
        if (count < 2) continue;
        const E value = reduce_levels((__global E *)scratch + first, count, lanes);
        if (get_local_id(0) == 0) *(__global E *)(out + svmx_at(&t, task, 0)) = settled_one(value);
    }
}

#else

/* ---- a block a work-item -------------------------------------------------------------------------------------- */

static inline A reduce_vector(const struct reduce_block *block, A x, ulong i) {
    return reduce_add(block, x, VLOAD(0, block->a + i), VLOAD(0, block->b + i));
}

/* The rest of a block, from i on: a vector, less or nothing. */
static inline A reduce_some(const struct reduce_block *block, A x, ulong i) {
    if (i >= block->count) return x;
    if (i + WIDTH <= block->count) return reduce_vector(block, x, i);
    const ulong count = block->count - i;
    const I lane = (I)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const T a = load_some(block->a + i, count, 0), b = load_some(block->b + i, count, 0);
    return select(x, reduce_add(block, x, a, b), lane < (I)((B)count));
}

static inline E reduce_value(const struct reduce_block *block) {
    const A start = NEXT(START());
    A x0 = start, x1 = start, x2 = start, x3 = start;
    ulong i = 0;
    for (; i + TREE_LANES <= block->count; i += TREE_LANES) {
        x0 = reduce_vector(block, x0, i);
        x1 = reduce_vector(block, x1, i + WIDTH);
        x2 = reduce_vector(block, x2, i + 2 * WIDTH);
        x3 = reduce_vector(block, x3, i + 3 * WIDTH);
    }
    if (i < block->count) {
        x0 = reduce_some(block, x0, i);
        x1 = reduce_some(block, x1, i + WIDTH);
        x2 = reduce_some(block, x2, i + 2 * WIDTH);
        x3 = reduce_some(block, x3, i + 3 * WIDTH);
    }
    return VALUE(tree_fold(x0, x1, x2, x3)).s0;
}

SVMX_KERNEL(reduce_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        for (ulong unit = piece.begin; unit < piece.end; unit++) {
            struct reduce_block block;
            reduce_block_open(&block, &t, piece.task, unit, in);
            *reduce_target(&t, piece.task, unit, out, scratch) = settled_one(reduce_value(&block));
        }
    }
}

static inline E reduce_levels(__global E *values, ulong count) {
    while (count > 1) {
        ulong kept = 0;
        for (ulong at = 0; at < count; at += TREE_BLOCK) {
            struct reduce_block block;
            reduce_block_next(&block, values, at, count);
            values[kept++] = reduce_value(&block);
        }
        count = kept;
    }
    return values[0];
}

SVMX_KERNEL(reduce_tasks_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 1 + INPUTS);
    const uint begin = (uint)get_global_id(0) * grain, end = min(begin + grain, tasks);
    for (uint task = begin; task < end; task++) {
        const ulong first = t.first_unit[task], count = t.first_unit[task + 1] - first;
        if (count < 2) continue;
        const E value = reduce_levels((__global E *)scratch + first, count);
        *(__global E *)(out + svmx_at(&t, task, 0)) = settled_one(value);
    }
}

#endif
