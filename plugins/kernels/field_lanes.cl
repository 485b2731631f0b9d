/*
 * field_lanes.cl: products modulo an odd number for CPUs, eight elements of a task side by side.
 *
 *   SIZE           64-bit words of an element, 4 or 6
 *   BITS, LIMBS    bits of a limb and limbs of a number: LIMBS * BITS is at least 64 SIZE
 *   OP             lanes_mul or lanes_mont: a macro of the compiler's options, like the others
 *
 * Vector units multiply 32 by 32 bits and have no carries. So a limb is less than 32 bits, a lane is a word of 64, and a
 * whole column of products is summed up in it before anything is carried: 2 LIMBS products of 2 BITS bits fit.
 *
 *   redc(a, b)    a b / 2^(LIMBS BITS) modulo m; with a shifted up by what LIMBS BITS is more than 64 SIZE, a b / R
 *
 * Slots: out, a, b, modulus. Operands may be any numbers, as in field.cl.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef BITS
enum { LANES = 8, MORE = LIMBS * BITS - 64 * SIZE };

#define MASK ((1UL << BITS) - 1)
/* Both factors have 32 bits: said so that compilers take the instruction for it. */
#define TIMES(a, b) (((a)&0xffffffffUL) * ((b)&0xffffffffUL))

#define LANES_INLINE __attribute__((always_inline)) static inline

/* Limb i of eight numbers. Normal: all below 2^BITS. */
struct lanes {
    ulong8 at[LIMBS];
};

/* ---- numbers --------------------------------------------------------------------------------------------------- */

/* Carries up, so that all limbs but the last are below 2^BITS. */
LANES_INLINE void lanes_carry(struct lanes *x) {
#pragma unroll
    for (int i = 0; i + 1 < LIMBS; i++) {
        x->at[i + 1] += x->at[i] >> BITS;
        x->at[i] &= MASK;
    }
}

/* less = x - m; returns the lanes in which that is negative, all bits set. Limbs of m are the same in all lanes. */
LANES_INLINE long8 lanes_sub(struct lanes *less, const struct lanes *x, const struct lanes *m) {
    long8 borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const long8 difference = as_long8(x->at[i]) - as_long8(m->at[i]) + borrow;
        less->at[i] = i + 1 < LIMBS ? as_ulong8(difference) & MASK : as_ulong8(difference);
        borrow = difference >> (i + 1 < LIMBS ? BITS : 63);
    }
    return borrow;
}

/* x modulo m for x less than 2 m. */
LANES_INLINE void lanes_below(struct lanes *x, const struct lanes *m) {
    struct lanes less;
    const long8 keep = lanes_sub(&less, x, m);
#pragma unroll
    for (int i = 0; i < LIMBS; i++) x->at[i] = select(less.at[i], x->at[i], keep);
}

LANES_INLINE int lanes_all_below(const struct lanes *x, const struct lanes *m) {
    struct lanes less;
    return all(lanes_sub(&less, x, m));
}

/* ---- words and limbs -------------------------------------------------------------------------------------------- */

/* Numbers times 2^more, in limbs; `more` is 0 or MORE, so that all of it fits. */
LANES_INLINE void lanes_from_words(struct lanes *x, const ulong8 *w, int more) {
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const int bit = max(BITS * i - more, 0), word = bit / 64, off = bit % 64;
        const ulong8 low = word < SIZE ? w[word] >> off : 0;
        x->at[i] = (i == 0 ? low << more : low) & MASK;
        if (off + BITS > 64 && word + 1 < SIZE) x->at[i] |= w[word + 1] << (64 - off) & MASK;
    }
}

LANES_INLINE void words_from_lanes(ulong8 *w, const struct lanes *x) {
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        w[k] = 0;
#pragma unroll
        for (int i = 0; i < LIMBS; i++) {
            const int bit = BITS * i - 64 * k;
            if (bit > -BITS && bit < 64) w[k] |= bit < 0 ? x->at[i] >> (bit < 0 ? -bit : 0) : x->at[i] << (bit < 0 ? 0 : bit);
        }
    }
}

/* ---- the modulus ------------------------------------------------------------------------------------------------ */

struct modulus {
    struct lanes m, one, square; /* m; Q = 2^(LIMBS BITS) and Q^2 modulo m; the same in all lanes */
    ulong8 minus_inverse;        /* -1 / m modulo 2^BITS */
    ulong words[SIZE];
};

/* a b / Q modulo m, not yet below m: less than a b / Q + m. Normal but for its last limb, which is 0 above 32 bits. */
LANES_INLINE void redc(struct lanes *r, const struct lanes *a, const struct lanes *b, const struct modulus *m) {
    struct lanes t;
#pragma unroll
    for (int j = 0; j < LIMBS; j++) t.at[j] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const ulong8 x = a->at[i];
#pragma unroll
        for (int j = 0; j < LIMBS; j++) t.at[j] += TIMES(x, b->at[j]);
        const ulong8 q = TIMES(t.at[0], m->minus_inverse) & MASK;
        const ulong8 carry = (t.at[0] + TIMES(q, m->m.at[0])) >> BITS;
#pragma unroll
        for (int j = 1; j < LIMBS; j++) t.at[j - 1] = t.at[j] + TIMES(q, m->m.at[j]);
        t.at[0] += carry;
        t.at[LIMBS - 1] = 0;
    }
    lanes_carry(&t);
    *r = t;
}

/* x = 2 x modulo m */
LANES_INLINE void lanes_double(struct lanes *x, const struct lanes *m) {
#pragma unroll
    for (int i = 0; i < LIMBS; i++) x->at[i] += x->at[i];
    lanes_carry(x);
    lanes_below(x, m);
}

/* Q modulo m. With b bits in m, 2^b - m is 2^b modulo m: the low b bits of -m. Doubled it becomes Q. */
LANES_INLINE void modulus_one(struct modulus *m) {
    ulong8 w[SIZE];
    ulong borrow = 0, above = 0;
    int doublings = MORE;
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
        const ulong negative = -m->words[k] - borrow;
        borrow |= m->words[k] != 0;
        w[k] = negative;
    }
#pragma unroll
    for (int k = SIZE - 1; k >= 0; k--) {
        const int zeros = above ? 0 : (int)clz(m->words[k]);
        w[k] &= zeros < 64 ? (ulong)-1 >> zeros : 0;
        doublings += zeros;
        above |= m->words[k];
    }
    lanes_from_words(&m->one, w, 0);
    for (; doublings > 0; doublings--) lanes_double(&m->one, &m->m);
}

/* Q 2^e, e doubling with every redc, until it is Q 2^(LIMBS BITS). */
LANES_INLINE void modulus_square(struct modulus *m) {
    struct lanes x = m->one;
    for (int i = 0; i < LIMBS * BITS >> 5; i++) lanes_double(&x, &m->m);
    for (int bit = 4; bit >= 0; bit--) {
        redc(&x, &x, &x, m);
        lanes_below(&x, &m->m);
        if (LIMBS * BITS >> bit & 1) lanes_double(&x, &m->m);
    }
    m->square = x;
}

/* An inverse modulo 2^3 is the number itself; each step doubles the bits that are right. */
LANES_INLINE ulong modulus_inverse(ulong m) {
    ulong x = m;
    for (int i = 0; i < 4; i++) x *= 2 - m * x;
    return -x & MASK;
}

/* ---- words and memory ------------------------------------------------------------------------------------------- */

/* Of 8 numbers, two to a row: words of the even rows beside those of the odd ones. Lanes stand for the elements 0 2 1 3
 * 4 6 5 7, which takes the fewest shuffles. */
LANES_INLINE ulong8 unpack_low(ulong8 x, ulong8 y) {
    return (ulong8)(x.s0, y.s0, x.s2, y.s2, x.s4, y.s4, x.s6, y.s6);
}

LANES_INLINE ulong8 unpack_high(ulong8 x, ulong8 y) {
    return (ulong8)(x.s1, y.s1, x.s3, y.s3, x.s5, y.s5, x.s7, y.s7);
}

LANES_INLINE void words_load(ulong8 *w, __global const ulong *at) {
    ulong8 row[4];
#if SIZE == 4
    for (int i = 0; i < 4; i++) row[i] = vload8(i, at);
#else
    for (int i = 0; i < 4; i++) row[i] = (ulong8)(vload4(0, at + 12 * i), vload4(0, at + 12 * i + 6));
    const ulong8 even = (ulong8)(vload2(2, at), vload2(5, at), vload2(14, at), vload2(17, at));
    const ulong8 odd = (ulong8)(vload2(8, at), vload2(11, at), vload2(20, at), vload2(23, at));
    w[4] = unpack_low(even, odd);
    w[5] = unpack_high(even, odd);
#endif
    const ulong8 even01 = unpack_low(row[0], row[1]), odd01 = unpack_high(row[0], row[1]);
    const ulong8 even23 = unpack_low(row[2], row[3]), odd23 = unpack_high(row[2], row[3]);
    w[0] = (ulong8)(even01.s0145, even23.s0145);
    w[1] = (ulong8)(odd01.s0145, odd23.s0145);
    w[2] = (ulong8)(even01.s2367, even23.s2367);
    w[3] = (ulong8)(odd01.s2367, odd23.s2367);
}

LANES_INLINE void words_store(__global ulong *at, const ulong8 *w) {
    const ulong8 even01 = (ulong8)(w[0].s01, w[2].s01, w[0].s23, w[2].s23);
    const ulong8 odd01 = (ulong8)(w[1].s01, w[3].s01, w[1].s23, w[3].s23);
    const ulong8 even23 = (ulong8)(w[0].s45, w[2].s45, w[0].s67, w[2].s67);
    const ulong8 odd23 = (ulong8)(w[1].s45, w[3].s45, w[1].s67, w[3].s67);
    const ulong8 row[4] = {unpack_low(even01, odd01), unpack_high(even01, odd01), unpack_low(even23, odd23),
                           unpack_high(even23, odd23)};
#if SIZE == 4
    for (int i = 0; i < 4; i++) vstore8(row[i], i, at);
#else
    const ulong8 even = unpack_low(w[4], w[5]), odd = unpack_high(w[4], w[5]);
    for (int i = 0; i < 4; i++) {
        vstore4(row[i].lo, 0, at + 12 * i);
        vstore4(row[i].hi, 0, at + 12 * i + 6);
    }
    vstore2(even.s01, 2, at), vstore2(even.s23, 5, at), vstore2(even.s45, 14, at), vstore2(even.s67, 17, at);
    vstore2(odd.s01, 8, at), vstore2(odd.s23, 11, at), vstore2(odd.s45, 20, at), vstore2(odd.s67, 23, at);
#endif
}

/* Less than 8, in order; the lanes behind them hold zeros, which hurt nobody. */
LANES_INLINE void words_load_some(ulong8 *w, __global const ulong *at, uint count) {
    for (int k = 0; k < SIZE; k++) {
        ulong lane[LANES] = {0};
        for (uint i = 0; i < count; i++) lane[i] = at[i * SIZE + k];
        w[k] = vload8(0, lane);
    }
}

LANES_INLINE void words_store_some(__global ulong *at, const ulong8 *w, uint count) {
    for (int k = 0; k < SIZE; k++) {
        ulong lane[LANES];
        vstore8(w[k], 0, lane);
        for (uint i = 0; i < count; i++) at[i * SIZE + k] = lane[i];
    }
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* Below m already after the second redc and one subtraction, since Q^2 is below m. */
LANES_INLINE void lanes_mul(ulong8 *w, const ulong8 *v, const struct modulus *m) {
    struct lanes a, b;
    lanes_from_words(&a, w, 0);
    lanes_from_words(&b, v, 0);
    redc(&a, &a, &b, m);
    redc(&a, &a, &m->square, m);
    lanes_below(&a, &m->m);
    words_from_lanes(w, &a);
}

/* A product with Q modulo m brings those below m whose factors were not. */
LANES_INLINE void lanes_mont(ulong8 *w, const ulong8 *v, const struct modulus *m) {
    struct lanes a, b;
    lanes_from_words(&a, w, MORE);
    lanes_from_words(&b, v, 0);
    redc(&a, &a, &b, m);
    lanes_below(&a, &m->m);
    if (!lanes_all_below(&a, &m->m)) {
        redc(&a, &a, &m->one, m);
        lanes_below(&a, &m->m);
    }
    words_from_lanes(w, &a);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

/* The modulus of a piece; most often it is that of the piece before. */
LANES_INLINE void modulus_of(struct modulus *m, __global const ulong *from) {
    ulong differ = 0;
    for (int k = 0; k < SIZE; k++) {
        differ |= m->words[k] ^ from[k];
        m->words[k] = from[k];
    }
    if (!differ) return;
    ulong8 w[SIZE];
    for (int k = 0; k < SIZE; k++) w[k] = m->words[k];
    lanes_from_words(&m->m, w, 0);
    m->minus_inverse = modulus_inverse(m->words[0]);
    modulus_one(m);
#ifdef SQUARE
    modulus_square(m);
#endif
}

SVMX_KERNEL(field_lanes, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 4);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece;
    struct modulus m;
    ulong8 w[SIZE], v[SIZE];
    for (int k = 0; k < SIZE; k++) m.words[k] = 0;
    while (svmx_walk_next(&t, &walk, &piece)) {
        __global ulong *to = (__global ulong *)(out + svmx_at(&t, piece.task, 0)) + piece.begin * SIZE;
        __global const ulong *a = (__global const ulong *)(in + svmx_at(&t, piece.task, 1)) + piece.begin * SIZE;
        __global const ulong *b = (__global const ulong *)(in + svmx_at(&t, piece.task, 2)) + piece.begin * SIZE;
        modulus_of(&m, (__global const ulong *)(in + svmx_at(&t, piece.task, 3)));
        ulong left = piece.end - piece.begin;
        for (; left >= LANES; left -= LANES, to += LANES * SIZE, a += LANES * SIZE, b += LANES * SIZE) {
            words_load(w, a);
            words_load(v, b);
            OP(w, v, &m);
            words_store(to, w);
        }
        if (left == 0) continue;
        words_load_some(w, a, (uint)left);
        words_load_some(v, b, (uint)left);
        OP(w, v, &m);
        words_store_some(to, w, (uint)left);
    }
}
#endif
