/*
 * scalar52.h: products modulo the order of a curve's base point, eight side by side, for AVX-512 with IFMA.
 *
 * Montgomery's with R = 2^260: a b / R, below 2^256 and less than the order more than a b / R is. For any odd order below
 * 2^256. Included with fe52.h, whose digits these are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SCALAR52_H
#define SVMX_SIMD_SCALAR52_H

#include "fe52.h"

/* Five digits of 52 bits, clean. */
struct scalar {
    word d[5];
};

SIMD_INLINE struct scalar scalar_of(const uint64_t d[5]) {
    return (struct scalar){{word_all(d[0]), word_all(d[1]), word_all(d[2]), word_all(d[3]), word_all(d[4])}};
}

/* Digit by digit of b: a b_i, then q times the order that makes the lowest digit zero, then all move down by one. */
SIMD_INLINE void scalar_redc(struct scalar *r, const struct scalar *a, const struct scalar *b, const uint64_t order[5],
                             uint64_t minus_inverse) {
    const word zero = _mm512_setzero_si512();
    word t[6] = {zero, zero, zero, zero, zero, zero};
    FE_UNROLL for (int i = 0; i < 5; i++) {
        FE_UNROLL for (int j = 0; j < 5; j++) t[j] = word_low(t[j], a->d[j], b->d[i]);
        FE_UNROLL for (int j = 0; j < 5; j++) t[j + 1] = word_high(t[j + 1], a->d[j], b->d[i]);
        const word q = word_low(zero, t[0], word_all(minus_inverse));
        FE_UNROLL for (int j = 0; j < 5; j++) t[j] = word_low(t[j], q, word_all(order[j]));
        FE_UNROLL for (int j = 0; j < 5; j++) t[j + 1] = word_high(t[j + 1], q, word_all(order[j]));
        t[1] = word_add(t[1], _mm512_srli_epi64(t[0], FE_DIGIT));
        FE_UNROLL for (int j = 0; j < 5; j++) t[j] = t[j + 1];
        t[5] = zero;
    }
    FE_UNROLL for (int j = 0; j < 5; j++) r->d[j] = t[j];
    digits_carry(r->d, 5);
}

#endif
