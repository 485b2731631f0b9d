/*
 * chain.cl: links of a chain of elementwise operations in one launch; what is between them stays in registers.
 *
 * Behind width.cl, vec.cl, rectify.cl and exp.cl, whose functions are those that each link has by itself: the bits are the
 * same. src/ops/chain_f32.h has the rows, and the reasons of them:
 *
 *   out, a, b, two floats, what       a row a link, one behind the other; the first has all units of its chain
 *
 * BLOCK elements of type T go through a link before they go through the next: side by side in registers on GPUs, in the
 * cache on CPUs. Which link it is is the same for all work-items of a group, unless there are very small tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { ADD = 1, SUB, MUL, AXPY, RELU, LEAKY, CLIP, EXP, ELU, SIGMOID, TANH, SWISH, GELU };
enum { OUT, FIRST, SECOND, NUMBERS, WHAT, SLOTS };
#define FROM_A 0x100
#define FROM_B 0x200
#define SILENT 0x400
#define FOLLOW 16

/* ---- a link ------------------------------------------------------------------------------------------------------ */

/* How far apart the elements that a work-item has in a block are, and which it has. */
#if WIDTH == 1
#define UNROLLED _Pragma("unroll")
#define STRIDE   64
#else
#define UNROLLED
#define STRIDE   WIDTH
#endif

#define EACH(function)                                                                                                 \
    UNROLLED for (uint k = 0; k < BLOCK; k++) x[k] = settled(function(x[k], y[k], p, q));                             \
    break

/* x = OP(x, y, p, q) */
SVMX_INLINE void chain_apply(uint code, T *x, const T *y, E p, E q) {
    switch (code) {
    case ADD: EACH(vec_add);
    case SUB: EACH(vec_sub);
    case MUL: EACH(vec_mul);
    case AXPY: EACH(axpy);
    case RELU: EACH(relu);
    case LEAKY: EACH(leaky_relu);
    case CLIP: EACH(clip);
    case EXP: EACH(exponential);
    case ELU: EACH(elu);
    case SIGMOID: EACH(sigmoid);
    case TANH: EACH(hyperbolic);
    case SWISH: EACH(swish);
    case GELU: EACH(gelu);
    }
}

/* ---- elements ------------------------------------------------------------------------------------------------------ */

/* Elements [at, end) of a task, of which a block takes those from `at` on, every STRIDE-th. Behind the end the last ones
 * are taken again: they are there to be read, and what is written twice is the same. */
struct chain_block {
    ulong at, end;
    ulong some; /* less than a vector: so many elements; 0: more */
};

#if WIDTH == 1

static inline ulong chain_index(const struct chain_block *b, uint k) { return min(b->at + k * STRIDE, b->end - 1); }
static inline T chain_load(const struct chain_block *b, uint k, __global const E *from) {
    return from[chain_index(b, k)];
}
static inline void chain_store(const struct chain_block *b, uint k, __global E *to, T x) {
    if (b->at + k * STRIDE < b->end) to[b->at + k * STRIDE] = x;
}

#else

static inline ulong chain_index(const struct chain_block *b, uint k) { return min(b->at + k * STRIDE, b->end - WIDTH); }
static inline T chain_load(const struct chain_block *b, uint k, __global const E *from) {
    return b->some ? load_some(from + b->at, b->some, 0) : VLOAD(0, from + chain_index(b, k));
}
static inline void chain_store(const struct chain_block *b, uint k, __global E *to, T x) {
    if (b->at + k * STRIDE >= b->end) return;
    if (b->some)
        store_some(x, to + b->at, b->some);
    else
        VSTORE(x, 0, to + chain_index(b, k));
}

#endif

/* ---- a chain --------------------------------------------------------------------------------------------------------- */

SVMX_INLINE void chain_take(const struct svmx_table *t, uint row, uint slot, const struct chain_block *b,
                            __global const uchar *in, T *x) {
    __global const E *from = (__global const E *)(in + svmx_at(t, row, slot));
    UNROLLED for (uint k = 0; k < BLOCK; k++) x[k] = chain_load(b, k, from);
}

/* The operands of a link: x and y. At its first x is nothing yet. */
SVMX_INLINE void chain_operands(const struct svmx_table *t, uint row, uint what, const struct chain_block *b,
                                __global const uchar *in, T *x, T *y) {
    if (what & FROM_B) {
        UNROLLED for (uint k = 0; k < BLOCK; k++) y[k] = x[k];
    } else if ((what & 0xff) <= AXPY) {
        chain_take(t, row, SECOND, b, in, y);
    }
    if (!(what & FROM_A)) chain_take(t, row, FIRST, b, in, x);
}

/* A block through all links. */
SVMX_INLINE void chain_run(const struct svmx_table *t, uint first, uint links, const struct chain_block *b,
                           __global const uchar *in, __global uchar *out) {
    T x[BLOCK], y[BLOCK];
    UNROLLED for (uint k = 0; k < BLOCK; k++) x[k] = y[k] = (T)(0);
    for (uint row = first; row < first + links; row++) {
        const uint what = (uint)svmx_at(t, row, WHAT);
        const ulong numbers = svmx_at(t, row, NUMBERS);
        chain_operands(t, row, what, b, in, x, y);
        chain_apply(what & 0xff, x, y, as_float((uint)numbers), as_float((uint)(numbers >> 32)));
        if (what & SILENT) continue;
        __global E *to = (__global E *)(out + svmx_at(t, row, OUT));
        UNROLLED for (uint k = 0; k < BLOCK; k++) chain_store(b, k, to, x[k]);
    }
}

static inline uint chain_links(const struct svmx_table *t, uint row) {
    return 1 + ((uint)svmx_at(t, row, WHAT) >> FOLLOW);
}

#if WIDTH == 1

SVMX_KERNEL(chain_groups, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        const uint links = chain_links(&t, piece.task);
        for (ulong i = piece.begin + get_local_id(0); i < piece.end; i += BLOCK * STRIDE) {
            const struct chain_block b = {i, piece.end, 0};
            chain_run(&t, piece.task, links, &b, in, out);
        }
    }
}

#else

SVMX_KERNEL(chain_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        const uint links = chain_links(&t, piece.task);
        const ulong count = piece.end - piece.begin;
        for (ulong i = piece.begin; i < piece.end; i += BLOCK * STRIDE) {
            const struct chain_block b = {i, piece.end, count < WIDTH ? count : 0};
            chain_run(&t, piece.task, links, &b, in, out);
        }
    }
}

#endif
