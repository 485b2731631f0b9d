/*
 * field.h: arithmetic modulo an odd number in words of 64 bits, for all instruction sets: elements of 4 or 6 words.
 *
 * A product modulo m is Montgomery's: redc(a, b) = a b / R modulo m with R = 2^(64 limbs), and redc(redc(a, b), R^2)
 * = a b. The prime of secp256k1 has a way of its own. What is made of a modulus is made once for a row of tasks that
 * share it. Operands may be any numbers. The fast ways are right for those below m, and see when they were not: then
 * one more redc with R modulo m brings any number below m.
 *
 *   field_scalar.c, field_avx2.c   these functions, without and with mulx; with it also field_spare.h, for BN254, BLS12-381
 *   field_avx512.c, field_ifma.c   eight elements side by side; the modulus and the rare cases from here
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_FIELD_H
#define SVMX_SIMD_FIELD_H

#include "kernels.h"
#include "tasks.h"

#include <stdbool.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

__extension__ typedef unsigned __int128 u128;

enum { FIELD_MAX_LIMBS = 6 };

/* Before every loop over limbs: they all have a few rounds, and each word is to live in a register. */
#if defined(__clang__)
#define FIELD_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FIELD_UNROLL _Pragma("GCC unroll 16")
#endif

/* ---- words ------------------------------------------------------------------------------------------------ */

/* Keeps a word in a register of its own. Compilers like to copy the words of a number as a vector: then all of them go
 * through memory or from one kind of register to the other, and are waited for there. */
#define FIELD_WORD(x) __asm__("" : "+r"(x))

SIMD_INLINE void limbs_load(uint64_t *r, const uint8_t *at, int limbs) {
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        uint64_t word = simd_load_u64(at + 8 * i);
        FIELD_WORD(word);
        r[i] = word;
    }
}

SIMD_INLINE void limbs_store(uint8_t *at, const uint64_t *a, int limbs) {
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        uint64_t word = a[i];
        FIELD_WORD(word);
        memcpy(at + 8 * i, &word, 8);
    }
}

SIMD_INLINE void limbs_copy(uint64_t *r, const uint64_t *a, int limbs) {
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] = a[i];
}

/* a + b + *carry, and the new carry. Compilers make an instruction of it where they are told by name only. */
SIMD_INLINE uint64_t word_add(uint64_t a, uint64_t b, unsigned char *carry) {
#if defined(__x86_64__)
    unsigned long long sum;
    *carry = _addcarry_u64(*carry, a, b, &sum);
    return sum;
#else
    const u128 sum = (u128)a + b + *carry;
    *carry = (unsigned char)(sum >> 64);
    return (uint64_t)sum;
#endif
}

SIMD_INLINE uint64_t word_sub(uint64_t a, uint64_t b, unsigned char *borrow) {
#if defined(__x86_64__)
    unsigned long long difference;
    *borrow = _subborrow_u64(*borrow, a, b, &difference);
    return difference;
#else
    const u128 difference = (u128)a - b - *borrow;
    *borrow = (unsigned char)(difference >> 64) & 1;
    return (uint64_t)difference;
#endif
}

/* r = a + b; returns the carry. */
SIMD_INLINE unsigned char limbs_add(uint64_t *r, const uint64_t *a, const uint64_t *b, int limbs) {
    unsigned char carry = 0;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] = word_add(a[i], b[i], &carry);
    return carry;
}

/* r = a - b; returns the borrow. */
SIMD_INLINE unsigned char limbs_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, int limbs) {
    unsigned char borrow = 0;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] = word_sub(a[i], b[i], &borrow);
    return borrow;
}

/* Products of one column of a multiplication are summed up here. Written so that compilers see one chain of carries: of
 * sums of 128 bits gcc spills the halves. */
struct field_column {
    uint64_t low, middle, high;
};

SIMD_INLINE void column_add(struct field_column *c, uint64_t a, uint64_t b) {
    const u128 product = (u128)a * b;
    const uint64_t low = (uint64_t)product;
    uint64_t high = (uint64_t)(product >> 64);
    c->low += low;
    high += c->low < low; /* a product is never so large that this overflows */
    c->middle += high;
    c->high += c->middle < high;
}

/* The lowest word; the others move down. */
SIMD_INLINE uint64_t column_next(struct field_column *c) {
    const uint64_t low = c->low;
    *c = (struct field_column){c->middle, c->high, 0};
    return low;
}

/* r = which ? a : b, without a jump: which is not to be guessed. */
SIMD_INLINE void limbs_select(uint64_t *r, bool which, const uint64_t *a, const uint64_t *b, int limbs) {
    const uint64_t mask = -(uint64_t)which;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] = (a[i] & mask) | (b[i] & ~mask);
}

/* x modulo m, for x = top * 2^(64 limbs) + the words of x, less than 2 m; one subtraction at most. False if one word of
 * the result was too few, so that x was not less than 2 m; true does not say that it was. */
SIMD_INLINE bool limbs_below(uint64_t *r, const uint64_t *x, uint64_t top, const uint64_t *m, int limbs) {
    uint64_t less[FIELD_MAX_LIMBS];
    const uint64_t borrow = limbs_sub(less, x, m, limbs);
    limbs_select(r, top >= borrow, less, x, limbs);
    return top <= borrow;
}

/* ---- the modulus ------------------------------------------------------------------------------------------ */

struct field_modulus {
    uint64_t m[FIELD_MAX_LIMBS];
    uint64_t minus_inverse;           /* -1 / m modulo 2^64 */
    uint64_t one[FIELD_MAX_LIMBS];    /* R modulo m */
    uint64_t square[FIELD_MAX_LIMBS]; /* R^2 modulo m */
    bool ready;                       /* the three above are there */
};

/*
 * a b / R modulo m, less than m if a or b is, and else less than a and b. Column by column of the product; q m is added
 * so that each of the low columns becomes 0, and what is left is shifted down by being written one R lower.
 */
SIMD_INLINE void field_redc(uint64_t *r, const uint64_t *a, const uint64_t *b, const struct field_modulus *m,
                            int limbs) {
    uint64_t q[FIELD_MAX_LIMBS], t[FIELD_MAX_LIMBS];
    struct field_column c = {0, 0, 0};
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        FIELD_UNROLL for (int j = 0; j <= i; j++) column_add(&c, a[j], b[i - j]);
        FIELD_UNROLL for (int j = 0; j < i; j++) column_add(&c, q[j], m->m[i - j]);
        q[i] = c.low * m->minus_inverse;
        column_add(&c, q[i], m->m[0]);
        column_next(&c);
    }
    FIELD_UNROLL for (int i = limbs; i < 2 * limbs - 1; i++) {
        FIELD_UNROLL for (int j = i - limbs + 1; j < limbs; j++) {
            column_add(&c, a[j], b[i - j]);
            column_add(&c, q[j], m->m[i - j]);
        }
        t[i - limbs] = column_next(&c);
    }
    t[limbs - 1] = column_next(&c);
    limbs_below(r, t, c.low, m->m, limbs);
}

/* x = 2 x modulo m, for x < m */
SIMD_INLINE void field_double(uint64_t *x, const uint64_t *m, int limbs) {
    const uint64_t top = limbs_add(x, x, x, limbs);
    limbs_below(x, x, top, m, limbs);
}

/* With b bits in m, 2^b modulo m is 2^b - m. Doubled it becomes R, and R 2^limbs; six squarings make R 2^(64 limbs). */
SIMD_INLINE void field_prepare_limbs(struct field_modulus *m, int limbs) {
    uint64_t x[FIELD_MAX_LIMBS] = {0}, inverse = m->m[0]; /* three bits are right, and twice as many after each step */
    for (int i = 0; i < 5; i++) inverse *= 2 - m->m[0] * inverse;
    m->minus_inverse = -inverse;
    int top = limbs - 1;
    while (m->m[top] == 0) top--;
    const int bits = 64 * top + 64 - __builtin_clzll(m->m[top]);
    if (bits < 64 * limbs) x[bits / 64] = UINT64_C(1) << bits % 64;
    limbs_sub(x, x, m->m, limbs);
    for (int i = bits; i < 64 * limbs; i++) field_double(x, m->m, limbs);
    limbs_copy(m->one, x, limbs);
    for (int i = 0; i < limbs; i++) field_double(x, m->m, limbs);
    for (int i = 0; i < 6; i++) field_redc(x, x, x, m, limbs);
    limbs_copy(m->square, x, limbs);
    m->ready = true;
}

/* What is rare stays out of the loops. */
#define FIELD_RARE static __attribute__((noinline, unused))

FIELD_RARE void field_prepare_4(struct field_modulus *m) { field_prepare_limbs(m, 4); }

FIELD_RARE void field_prepare_6(struct field_modulus *m) { field_prepare_limbs(m, 6); }

SIMD_INLINE void field_prepare(struct field_modulus *m, int limbs) {
    if (!m->ready) limbs == 4 ? field_prepare_4(m) : field_prepare_6(m);
}

/* ---- elements --------------------------------------------------------------------------------------------- */

/* out = a (op) b modulo m, less than m; the modulus is made ready when that is needed. out may be a or b. */
typedef void (*field_fn)(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m, int limbs);

SIMD_INLINE void field_reduce_limbs(uint64_t *x, struct field_modulus *m, int limbs) {
    field_prepare(m, limbs);
    field_redc(x, x, m->one, m, limbs);
}

FIELD_RARE void field_reduce_4(uint64_t *x, struct field_modulus *m) { field_reduce_limbs(x, m, 4); }

FIELD_RARE void field_reduce_6(uint64_t *x, struct field_modulus *m) { field_reduce_limbs(x, m, 6); }

/* r = x modulo m, for any x. */
SIMD_INLINE void field_reduce(uint64_t *r, const uint64_t *x, struct field_modulus *m, int limbs) {
    uint64_t copy[FIELD_MAX_LIMBS]; /* so that r and x are seen by nobody else and stay in registers */
    limbs_copy(copy, x, limbs);
    limbs == 4 ? field_reduce_4(copy, m) : field_reduce_6(copy, m);
    limbs_copy(r, copy, limbs);
}

/* Mostly the top word tells. */
SIMD_INLINE bool field_not_below(const uint64_t *x, const struct field_modulus *m, int limbs) {
    uint64_t less[FIELD_MAX_LIMBS];
    return __builtin_expect(x[limbs - 1] >= m->m[limbs - 1], 0) && !limbs_sub(less, x, m->m, limbs);
}

/* False if m is not enough to bring the sum down into the words that there are. */
SIMD_INLINE bool field_add_below(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, int limbs) {
    uint64_t sum[FIELD_MAX_LIMBS];
    const uint64_t carry = limbs_add(sum, a, b, limbs);
    return limbs_below(out, sum, carry, m, limbs);
}

/* Where m is not enough to bring a negative difference up to 0, the result is m and more. */
SIMD_INLINE void field_sub_below(uint64_t *out, const uint64_t *a, const uint64_t *b, const uint64_t *m, int limbs) {
    uint64_t difference[FIELD_MAX_LIMBS], more[FIELD_MAX_LIMBS];
    const bool borrow = limbs_sub(difference, a, b, limbs);
    limbs_add(more, difference, m, limbs);
    limbs_select(out, borrow, more, difference, limbs);
}

SIMD_INLINE void field_add(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m, int limbs) {
    uint64_t r[FIELD_MAX_LIMBS], x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];
    const bool fits = field_add_below(r, a, b, m->m, limbs);
    if (!fits || field_not_below(r, m, limbs)) {
        field_reduce(x, a, m, limbs);
        field_reduce(y, b, m, limbs);
        field_add_below(r, x, y, m->m, limbs);
    }
    limbs_copy(out, r, limbs);
}

SIMD_INLINE void field_sub(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m, int limbs) {
    uint64_t r[FIELD_MAX_LIMBS], x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS];
    field_sub_below(r, a, b, m->m, limbs);
    if (field_not_below(r, m, limbs)) {
        field_reduce(x, a, m, limbs);
        field_reduce(y, b, m, limbs);
        field_sub_below(r, x, y, m->m, limbs);
    }
    limbs_copy(out, r, limbs);
}

SIMD_INLINE void field_mont(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m, int limbs) {
    uint64_t r[FIELD_MAX_LIMBS];
    field_redc(r, a, b, m, limbs);
    if (field_not_below(r, m, limbs)) field_reduce(r, r, m, limbs);
    limbs_copy(out, r, limbs);
}

SIMD_INLINE void field_mul(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m, int limbs) {
    uint64_t r[FIELD_MAX_LIMBS];
    field_redc(r, a, b, m, limbs);
    field_redc(out, r, m->square, m, limbs);
}

/* ---- secp256k1 -------------------------------------------------------------------------------------------- */

/* p = 2^256 - FIELD_SECP: what is above 2^256 comes back below it, times this. */
#define FIELD_SECP UINT64_C(0x1000003d1)

SIMD_INLINE bool field_is_secp(const struct field_modulus *m, int limbs) {
    return limbs == 4 && m->m[0] == -FIELD_SECP && (m->m[1] & m->m[2] & m->m[3]) == UINT64_MAX;
}

/* The high half folds down to 34 bits above 2^256, and those to one, which is hardly ever set. */
SIMD_INLINE void field_mul_secp(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m,
                                int limbs) {
    uint64_t t[8], r[4];
    struct field_column c = {0, 0, 0};
    FIELD_UNROLL for (int i = 0; i < 7; i++) {
        FIELD_UNROLL for (int j = i < 4 ? 0 : i - 3; j <= (i < 4 ? i : 3); j++) column_add(&c, a[j], b[i - j]);
        t[i] = column_next(&c);
    }
    t[7] = column_next(&c);
    FIELD_UNROLL for (int i = 0; i < 4; i++) {
        column_add(&c, t[i + 4], FIELD_SECP);
        column_add(&c, t[i], 1);
        r[i] = column_next(&c);
    }
    const u128 fold = (u128)c.low * FIELD_SECP;
    const uint64_t second[4] = {(uint64_t)fold, (uint64_t)(fold >> 64), 0, 0};
    const uint64_t top = limbs_add(r, r, second, 4);
    if (__builtin_expect(top != 0 || r[3] == UINT64_MAX, 0)) limbs_below(r, r, top, m->m, limbs);
    limbs_copy(out, r, 4);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

/* A piece of a task: addresses of any alignment. */
struct field_piece {
    uint8_t *out;
    const uint8_t *a, *b;
    size_t count;
};

enum field_step { FIELD_DONE, FIELD_SAME_MODULUS, FIELD_NEW_MODULUS };

/* Gives the next piece, and what its modulus is to the piece before. A new one is not ready. */
SIMD_INLINE enum field_step field_next(struct simd_walk *walk, struct field_piece *piece, struct field_modulus *m,
                                       int limbs) {
    struct simd_piece part;
    const size_t bytes = 8 * (size_t)limbs;
    if (!simd_walk_next(walk, &part)) return FIELD_DONE;
    const uint64_t skip = bytes * part.begin;
    const uint8_t *modulus = simd_address(&part.row[3], 0);
    *piece = (struct field_piece){simd_address(&part.row[0], skip), simd_address(&part.row[1], skip),
                                  simd_address(&part.row[2], skip), (size_t)(part.end - part.begin)};
    if (memcmp(m->m, modulus, bytes) == 0) return FIELD_SAME_MODULUS;
    memcpy(m->m, modulus, bytes);
    m->ready = false;
    return FIELD_NEW_MODULUS;
}

/* One element after another. */
SIMD_INLINE void field_map(const struct field_piece *piece, struct field_modulus *m, int limbs, field_fn fn) {
    const size_t bytes = 8 * (size_t)limbs;
    for (size_t i = 0; i < piece->count; i++) {
        uint64_t a[FIELD_MAX_LIMBS], b[FIELD_MAX_LIMBS], out[FIELD_MAX_LIMBS];
        limbs_load(a, piece->a + bytes * i, limbs);
        limbs_load(b, piece->b + bytes * i, limbs);
        fn(out, a, b, m, limbs);
        limbs_store(piece->out + bytes * i, out, limbs);
    }
}

/* For sums and differences, which seldom need more of the modulus than its words. */
SIMD_INLINE void field_run_sum(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int limbs, field_fn fn) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct field_modulus m = {.ready = false};
    struct field_piece piece;
    while (field_next(&walk, &piece, &m, limbs)) field_map(&piece, &m, limbs, fn);
}

/* For products. `secp` takes those modulo its prime, and is NULL where there is none such. */
SIMD_INLINE void field_run_product(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int limbs, field_fn fn,
                                   field_fn secp) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct field_modulus m = {.ready = false};
    struct field_piece piece;
    while (field_next(&walk, &piece, &m, limbs)) {
        if (secp && field_is_secp(&m, limbs)) {
            field_map(&piece, &m, limbs, secp);
        } else {
            field_prepare(&m, limbs);
            field_map(&piece, &m, limbs, fn);
        }
    }
}

#endif
