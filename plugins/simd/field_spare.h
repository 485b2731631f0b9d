/*
 * field_spare.h: products modulo a number whose top bit is 0 and whose top word is not: the primes of BN254 (254 bits in 4
 * words) and BLS12-381 (381 bits in 6 words), and others like them. Included by kernels that have mulx.
 *
 * Montgomery's product row by row instead of column by column. With b < m and 2 m < R, what a row leaves is below 2 m: it
 * never needs a word more, and no carry is kept from row to row. A row is two chains of carries over one chain of mulx, which
 * touches no flag; compilers make neither chain of C, so it is written by hand.
 *
 * Without mulx the columns of field.h are as fast or faster, with IFMA eight elements side by side are: neither comes here.
 *
 *   t += a[i] b;  t += q m, which makes its lowest word 0;  one word up;  at the end t, or t - m
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_FIELD_SPARE_H
#define SVMX_SIMD_FIELD_SPARE_H

#include "field.h"

SIMD_INLINE bool field_has_spare(const struct field_modulus *m, int limbs) {
    const uint64_t top = m->m[limbs - 1];
    return top != 0 && top >> 63 == 0;
}

/* clang-format off */
/* lo, hi = x times a word; lo goes into the chain of low halves. */
#define FIELD_STEP(add, i) \
    "mulxq %[b" #i "], %[lo], %[h" #i "]\n\t" \
    add " %[lo], %[t" #i "]\n\t"

/* t += x b, words 0 to 3; returns the word above. */
SIMD_INLINE uint64_t field_row_4(uint64_t *t, uint64_t x, const uint64_t *b) {
    uint64_t lo, h0, h1, h2, h3;
    __asm__(FIELD_STEP("addq", 0) FIELD_STEP("adcq", 1) FIELD_STEP("adcq", 2) FIELD_STEP("adcq", 3)
            "adcq $0, %[h3]\n\t"
            "addq %[h0], %[t1]\n\t"
            "adcq %[h1], %[t2]\n\t"
            "adcq %[h2], %[t3]\n\t"
            "adcq $0, %[h3]"
            : [t0] "+&r"(t[0]), [t1] "+&r"(t[1]), [t2] "+&r"(t[2]), [t3] "+&r"(t[3]), [lo] "=&r"(lo), [h0] "=&r"(h0),
              [h1] "=&r"(h1), [h2] "=&r"(h2), [h3] "=&r"(h3)
            : "d"(x), [b0] "rm"(b[0]), [b1] "rm"(b[1]), [b2] "rm"(b[2]), [b3] "rm"(b[3])
            : "cc");
    return h3;
}

/* t += x b + below, words 0 to 2; returns the word above. Half of a row of six, which would need more registers than
 * there are. */
SIMD_INLINE uint64_t field_row_3(uint64_t *t, uint64_t x, const uint64_t *b, uint64_t below) {
    uint64_t lo, h0, h1, h2;
    __asm__(FIELD_STEP("addq", 0) FIELD_STEP("adcq", 1) FIELD_STEP("adcq", 2)
            "adcq $0, %[h2]\n\t"
            "addq %[below], %[t0]\n\t"
            "adcq %[h0], %[t1]\n\t"
            "adcq %[h1], %[t2]\n\t"
            "adcq $0, %[h2]"
            : [t0] "+&r"(t[0]), [t1] "+&r"(t[1]), [t2] "+&r"(t[2]), [lo] "=&r"(lo), [h0] "=&r"(h0), [h1] "=&r"(h1),
              [h2] "=&r"(h2)
            : "d"(x), [b0] "rm"(b[0]), [b1] "rm"(b[1]), [b2] "rm"(b[2]), [below] "r"(below)
            : "cc");
    return h2;
}
/* clang-format on */

SIMD_INLINE uint64_t field_row(uint64_t *t, uint64_t x, const uint64_t *b, int limbs) {
    return limbs == 4 ? field_row_4(t, x, b) : field_row_3(t + 3, x, b + 3, field_row_3(t, x, b, 0));
}

/* a b / R modulo m, for any a and for b < m: less than m. */
SIMD_INLINE void field_redc_spare(uint64_t *r, const uint64_t *a, const uint64_t *b, const struct field_modulus *m,
                                  int limbs) {
    uint64_t t[2 * FIELD_MAX_LIMBS] = {0}, less[FIELD_MAX_LIMBS];
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        t[i + limbs] = field_row(t + i, a[i], b, limbs);
        t[i + limbs] += field_row(t + i, t[i] * m->minus_inverse, m->m, limbs);
    }
    const bool below = limbs_sub(less, t + limbs, m->m, limbs);
    limbs_select(r, below, t + limbs, less, limbs);
}

/* Operands that are not below m: the way for any modulus. */
FIELD_RARE void field_mont_any_4(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m) {
    field_mont(out, a, b, m, 4);
}

FIELD_RARE void field_mont_any_6(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m) {
    field_mont(out, a, b, m, 6);
}

/* Of numbers below m the top word nearly always shows that they are. */
SIMD_INLINE void field_mont_spare(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m,
                                  int limbs) {
    if (__builtin_expect(b[limbs - 1] < m->m[limbs - 1], 1)) {
        field_redc_spare(out, a, b, m, limbs);
        return;
    }
    uint64_t x[FIELD_MAX_LIMBS], y[FIELD_MAX_LIMBS]; /* as in field_reduce: the caller's own stay in registers */
    limbs_copy(x, a, limbs);
    limbs_copy(y, b, limbs);
    limbs == 4 ? field_mont_any_4(x, x, y, m) : field_mont_any_6(x, x, y, m);
    limbs_copy(out, x, limbs);
}

/* Right for any operands: R^2 modulo m is below m, and so is a R modulo m, which then is the b of the second. */
SIMD_INLINE void field_mul_spare(uint64_t *out, const uint64_t *a, const uint64_t *b, struct field_modulus *m,
                                 int limbs) {
    uint64_t r[FIELD_MAX_LIMBS];
    field_redc_spare(r, a, m->square, m, limbs);
    field_redc_spare(out, b, r, m, limbs);
}

/* As field_run_product, which has the rest. */
SIMD_INLINE void field_run_spare(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int limbs, field_fn fn,
                                 field_fn secp, field_fn spare) {
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct field_modulus m = {.ready = false};
    struct field_piece piece;
    while (field_next(&walk, &piece, &m, limbs)) {
        if (secp && field_is_secp(&m, limbs)) {
            field_map(&piece, &m, limbs, secp);
            continue;
        }
        field_prepare(&m, limbs);
        if (field_has_spare(&m, limbs))
            field_map(&piece, &m, limbs, spare);
        else
            field_map(&piece, &m, limbs, fn);
    }
}

#endif
