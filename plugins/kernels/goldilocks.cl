/*
 * goldilocks.cl: arithmetic modulo the Goldilocks prime p = 2^64 - 2^32 + 1: goldilocks_add, goldilocks_mul.
 *
 *   WIDTH   elements of T, which are computed side by side: 8 for CPUs, 1 for GPUs
 *   OP      goldilocks_add or goldilocks_mul: a macro of the compiler's options, like WIDTH
 *
 * Slots: out, a, b. A unit is an element. Operands are any words; results are below p.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define PRIME 0xffffffff00000001UL
#define CARRY 0xffffffffUL /* 2^64 modulo p */
#define HALF  0xffffffffUL

/* WHERE: x where the comparison holds, else 0. The comparison of vectors has all bits set there. */
#if WIDTH == 1
typedef ulong T;
#define WHERE(holds, x) ((holds) ? (x) : 0UL)
#else
typedef ulong8 T;
#define WHERE(holds, x) (as_ulong8(holds) & (x))
#endif

/* x modulo p: x - p has become huge where x was less. */
static inline T below_prime(T x) { return min(x, x - PRIME); }

/* With b below p a carry is at most p - 2, so that what it stands for can be added without another. */
static inline T goldilocks_add(T a, T b) {
    const T less = below_prime(b), sum = a + less;
    return below_prime(sum + WHERE(sum < less, (T)(CARRY)));
}

/* All 128 bits of a b: the upper word, and the lower one in *low. */
#if WIDTH == 1
static inline T product(T a, T b, T *low) {
    *low = a * b;
    return mul_hi(a, b);
}
#else
/* From products of halves, which vector units have. No sum overflows: a product is at most 2^64 - 2^33 + 1. */
static inline T product(T a, T b, T *low) {
    const T bottom = (a & HALF) * (b & HALF);
    const T first = (a >> 32) * (b & HALF) + (bottom >> 32);
    const T second = (a & HALF) * (b >> 32) + (first & HALF);
    *low = second << 32 | (bottom & HALF);
    return (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
}
#endif

/* 2^64 is 2^32 - 1 and 2^96 is -1 modulo p. After a borrow the difference is close to 2^64, after a carry the last sum far
 * from it: no second one follows. */
static inline T goldilocks_mul(T a, T b) {
    T low;
    const T high = product(a, b, &low), above = high >> 32, middle = (high & HALF) * CARRY;
    const T difference = low - above - WHERE(low < above, (T)(CARRY));
    const T sum = difference + middle;
    return below_prime(sum + WHERE(sum < middle, (T)(CARRY)));
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

#if WIDTH == 1

SVMX_KERNEL(goldilocks_groups, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        __global ulong *to = (__global ulong *)(out + svmx_at(&t, piece.task, 0));
        __global const ulong *a = (__global const ulong *)(in + svmx_at(&t, piece.task, 1));
        __global const ulong *b = (__global const ulong *)(in + svmx_at(&t, piece.task, 2));
        for (ulong i = piece.begin + get_local_id(0); i < piece.end; i += 64) to[i] = OP(a[i], b[i]);
    }
}

#else

/* Less than a vector. Reads and writes no other element. */
static inline void goldilocks_rest(__global ulong *to, __global const ulong *a, __global const ulong *b, uint count) {
    ulong x[WIDTH] = {0}, y[WIDTH] = {0};
    for (uint i = 0; i < count; i++) {
        x[i] = a[i];
        y[i] = b[i];
    }
    vstore8(OP(vload8(0, x), vload8(0, y)), 0, x);
    for (uint i = 0; i < count; i++) to[i] = x[i];
}

SVMX_KERNEL(goldilocks_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) {
        __global ulong *to = (__global ulong *)(out + svmx_at(&t, piece.task, 0));
        __global const ulong *a = (__global const ulong *)(in + svmx_at(&t, piece.task, 1));
        __global const ulong *b = (__global const ulong *)(in + svmx_at(&t, piece.task, 2));
        ulong i = piece.begin;
        for (; i + WIDTH <= piece.end; i += WIDTH) vstore8(OP(vload8(0, a + i), vload8(0, b + i)), 0, to + i);
        if (i < piece.end) goldilocks_rest(to + i, a + i, b + i, (uint)(piece.end - i));
    }
}

#endif
