/*
 * field.cl: arithmetic modulo an odd number, one element a work-item: sums, differences and products of 256 or 384 bits.
 *
 *   SIZE   64-bit words of an element, 4 or 6
 *   WORD   bits of a limb: 32 for GPUs, which multiply 32 by 32 bits, or 64
 *   OP     field_add, field_sub, field_mul or field_mont: a macro of the compiler's options, like the others
 *
 * Slots: out, a, b, modulus. A product is Montgomery's: redc(a, b) = a b / R modulo m with R = 2^(64 SIZE), and
 * redc(redc(a, b), R^2) = a b. Operands may be any numbers. The short ways are right for those below m, and see when
 * they were not: then one more redc with R modulo m brings any number below m.
 *
 * Products are summed up row by row, so that few limbs live at a time, and every loop over limbs is unrolled: an array
 * that is indexed by a variable would lie in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifdef WORD
enum { LIMBS = SIZE * 64 / WORD };

/* Compilers for GPUs would call the larger of these functions, and pass numbers in memory. */
#define FIELD_INLINE __attribute__((always_inline)) static inline

/* ---- limbs ----------------------------------------------------------------------------------------------------- */

#if WORD == 32
typedef uint limb;

/* a b + c + *carry: the low limb; the high one is the new carry. Never more than two limbs. */
FIELD_INLINE limb limb_mad(limb a, limb b, limb c, limb *carry) {
    const ulong sum = (ulong)a * b + c + *carry;
    *carry = (limb)(sum >> 32);
    return (limb)sum;
}
#else
typedef ulong limb;

#ifdef __SIZEOF_INT128__
FIELD_INLINE limb limb_mad(limb a, limb b, limb c, limb *carry) {
    const unsigned __int128 sum = (unsigned __int128)a * b + c + *carry;
    *carry = (limb)(sum >> 64);
    return (limb)sum;
}
#else
FIELD_INLINE limb limb_mad(limb a, limb b, limb c, limb *carry) {
    limb low = a * b, high = mul_hi(a, b);
    low += c;
    high += low < c;
    low += *carry;
    *carry = high + (low < *carry);
    return low;
}
#endif
#endif

/* a + b + *carry, and the new carry, 0 or 1. */
FIELD_INLINE limb limb_add(limb a, limb b, limb *carry) {
    const limb some = a + b, all = some + *carry;
    *carry = (limb)(some < a) | (limb)(all < some);
    return all;
}

FIELD_INLINE limb limb_sub(limb a, limb b, limb *borrow) {
    const limb some = a - b, all = some - *borrow;
    *borrow = (limb)(a < b) | (limb)(some < *borrow);
    return all;
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */

struct number {
    limb at[LIMBS];
};

FIELD_INLINE struct number number_load(__global const limb *from) {
    struct number r;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r.at[i] = from[i];
    return r;
}

FIELD_INLINE void number_store(__global limb *to, const struct number *a) {
#pragma unroll
    for (int i = 0; i < LIMBS; i++) to[i] = a->at[i];
}

/* r = a + b; returns the carry. r may be a or b, here and below. */
FIELD_INLINE limb number_add(struct number *r, const struct number *a, const struct number *b) {
    limb carry = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r->at[i] = limb_add(a->at[i], b->at[i], &carry);
    return carry;
}

/* r = a - b; returns the borrow. */
FIELD_INLINE limb number_sub(struct number *r, const struct number *a, const struct number *b) {
    limb borrow = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r->at[i] = limb_sub(a->at[i], b->at[i], &borrow);
    return borrow;
}

/* r = which ? a : b */
FIELD_INLINE void number_select(struct number *r, int which, const struct number *a, const struct number *b) {
#pragma unroll
    for (int i = 0; i < LIMBS; i++) r->at[i] = which ? a->at[i] : b->at[i];
}

FIELD_INLINE int number_equal(const struct number *a, const struct number *b) {
    limb differ = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) differ |= a->at[i] ^ b->at[i];
    return differ == 0;
}

/* x modulo m for x = top R + the limbs of x, less than 2 m. 0 if one subtraction was not enough to bring x into its
 * limbs; 1 does not say that it was enough. */
FIELD_INLINE int number_below(struct number *x, limb top, const struct number *m) {
    struct number less;
    const limb borrow = number_sub(&less, x, m);
    number_select(x, top >= borrow, &less, x);
    return top <= borrow;
}

FIELD_INLINE int number_is_below(const struct number *x, const struct number *m) {
    struct number less;
    return (int)number_sub(&less, x, m);
}

/* ---- the modulus ------------------------------------------------------------------------------------------------ */

struct modulus {
    struct number m;
    struct number square; /* R^2 modulo m, for field_mul only */
    limb minus_inverse;   /* -1 / m modulo 2^WORD */
};

/* a b / R modulo m, less than m if a or b is. Row by row: a limb of a times b, and what makes the lowest limb 0. */
FIELD_INLINE void redc(struct number *r, const struct number *a, const struct number *b, const struct modulus *m) {
    struct number t;
    limb top = 0; /* of t: 0 or 1 */
#pragma unroll
    for (int j = 0; j < LIMBS; j++) t.at[j] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        limb carry = 0, over = 0;
#pragma unroll
        for (int j = 0; j < LIMBS; j++) t.at[j] = limb_mad(a->at[i], b->at[j], t.at[j], &carry);
        const limb high = limb_add(top, carry, &over);
        const limb q = t.at[0] * m->minus_inverse;
        carry = 0;
        limb_mad(q, m->m.at[0], t.at[0], &carry);
#pragma unroll
        for (int j = 1; j < LIMBS; j++) t.at[j - 1] = limb_mad(q, m->m.at[j], t.at[j], &carry);
        top = 0;
        t.at[LIMBS - 1] = limb_add(high, carry, &top);
        top += over;
    }
    number_below(&t, top, &m->m);
    *r = t;
}

/* x = 2 x modulo m, for x < m */
FIELD_INLINE void number_double(struct number *x, const struct number *m) {
    const limb top = number_add(x, x, x);
    number_below(x, top, m);
}

/* R modulo m. With b bits in m, 2^b - m is 2^b modulo m: the low b bits of -m. Doubled it becomes R. */
FIELD_INLINE struct number modulus_one(const struct number *m) {
    struct number x;
    limb above = 0, borrow = 0;
    int doublings = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) x.at[i] = limb_sub(0, m->at[i], &borrow);
#pragma unroll
    for (int i = LIMBS - 1; i >= 0; i--) {
        const int zeros = above ? 0 : (int)clz(m->at[i]);
        x.at[i] = zeros < WORD ? x.at[i] & (limb)-1 >> zeros : 0;
        doublings += zeros;
        above |= m->at[i];
    }
    for (; doublings > 0; doublings--) number_double(&x, m);
    return x;
}

/* R modulo m is doubled to R 2^(2 SIZE), and five squarings make it R 2^(64 SIZE). */
FIELD_INLINE void modulus_square(struct modulus *m) {
    struct number x = modulus_one(&m->m);
    for (int i = 0; i < 2 * SIZE; i++) number_double(&x, &m->m);
    for (int i = 0; i < 5; i++) redc(&x, &x, &x, m);
    m->square = x;
}

/* An inverse modulo 2^3 is the number itself; each step doubles the bits that are right. */
FIELD_INLINE void modulus_inverse(struct modulus *m) {
    limb x = m->m.at[0];
    for (int i = 0; i < 5; i++) x *= 2 - m->m.at[0] * x;
    m->minus_inverse = -x;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* Where operands were not below m, top R + r is brought there in two parts. */
FIELD_INLINE struct number field_add(struct number a, struct number b, const struct modulus *m) {
    struct number sum, r;
    const limb top = number_add(&sum, &a, &b);
    r = sum;
    if (number_below(&r, top, &m->m) && number_is_below(&r, &m->m)) return r;
    const struct number one = modulus_one(&m->m);
    redc(&r, &sum, &one, m);
    if (top) number_below(&r, number_add(&r, &r, &one), &m->m);
    return r;
}

/* The same of -borrow R + r. Where m is not enough to bring a negative difference up to 0, that becomes m and more. */
FIELD_INLINE struct number field_sub(struct number a, struct number b, const struct modulus *m) {
    struct number difference, r;
    const limb borrow = number_sub(&difference, &a, &b);
    number_add(&r, &difference, &m->m);
    number_select(&r, borrow != 0, &r, &difference);
    if (number_is_below(&r, &m->m)) return r;
    const struct number one = modulus_one(&m->m);
    redc(&r, &difference, &one, m);
    if (borrow && number_sub(&r, &r, &one)) number_add(&r, &r, &m->m);
    return r;
}

FIELD_INLINE struct number field_mont(struct number a, struct number b, const struct modulus *m) {
    struct number r;
    redc(&r, &a, &b, m);
    if (number_is_below(&r, &m->m)) return r;
    const struct number one = modulus_one(&m->m);
    redc(&r, &r, &one, m);
    return r;
}

FIELD_INLINE struct number field_mul(struct number a, struct number b, const struct modulus *m) {
    struct number r;
    redc(&r, &a, &b, m);
    redc(&r, &r, &m->square, m);
    return r;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

/* The modulus of a piece; most often it is that of the piece before. */
FIELD_INLINE void modulus_of(struct modulus *m, __global const limb *from) {
    const struct number next = number_load(from);
    if (number_equal(&next, &m->m)) return;
    m->m = next;
    modulus_inverse(m);
#ifdef SQUARE
    modulus_square(m);
#endif
}

/* Work-item `first` of `step` that share a range of units. */
FIELD_INLINE void field_run(__global const uchar *in, __global uchar *out, const struct svmx_table *t,
                             struct svmx_walk walk, ulong first, ulong step) {
    struct svmx_piece piece;
    struct modulus m;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) m.m.at[i] = 0;
    while (svmx_walk_next(t, &walk, &piece)) {
        __global limb *to = (__global limb *)(out + svmx_at(t, piece.task, 0));
        __global const limb *a = (__global const limb *)(in + svmx_at(t, piece.task, 1));
        __global const limb *b = (__global const limb *)(in + svmx_at(t, piece.task, 2));
        modulus_of(&m, (__global const limb *)(in + svmx_at(t, piece.task, 3)));
        for (ulong i = piece.begin + first; i < piece.end; i += step) {
            const struct number r = OP(number_load(a + i * LIMBS), number_load(b + i * LIMBS), &m);
            number_store(to + i * LIMBS, &r);
        }
    }
}

#if WORD == 64
SVMX_KERNEL(field_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 4);
    field_run(in, out, &t, svmx_walk_start(&t, get_global_id(0), grain, units), 0, 1);
}
#else
SVMX_KERNEL(field_groups, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 4);
    field_run(in, out, &t, svmx_walk_start(&t, get_group_id(0), grain, units), get_local_id(0), 64);
}
#endif
#endif
