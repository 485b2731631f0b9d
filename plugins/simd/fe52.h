/*
 * fe52.h: numbers modulo 2^FE_BITS - FE_C, eight side by side, for AVX-512 with IFMA and VBMI2.
 *
 * Included by the files of a curve after they have defined the prime:
 *
 *   FE_BITS, FE_C           the prime is 2^FE_BITS - FE_C: 256 and less than 2^34, or 255 and less than 2^8
 *
 * A number has five digits of 52 bits, lowest first; digit k of eight numbers is one vector. Two forms:
 *
 *   settled   every digit is 0 .. 2^52 - 1, the number is below 2^(FE_BITS + 2), and not unique: what fe_mul takes and all
 *             functions here give, unless they say otherwise
 *   raw       sums and differences of a few settled digits, signed: fe_settle makes a number of them
 *
 * IFMA takes the low 52 bits of its factors and nothing else: a raw digit as a factor is a wrong product, silently.
 *
 *   product   10 digits t0 .. t9, as sums of up to ten halves of products, 2^56 at most
 *   fold      t5 .. t9 carry upwards, times 2^260 modulo the prime, onto t0 .. t4; then what is above FE_BITS once more
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_FE52_H
#define SVMX_SIMD_FE52_H

#include "tasks.h"

#include <immintrin.h>
#include <stdbool.h>

typedef __m512i word;

#if defined(__clang__)
#define FE_UNROLL _Pragma("clang loop unroll(full)")
#else
#define FE_UNROLL _Pragma("GCC unroll 16")
#endif

enum { FE_DIGIT = 52, FE_TOP = FE_BITS - 4 * FE_DIGIT, FE_ABOVE = 5 * FE_DIGIT - FE_BITS };

#define FE_MASK     ((UINT64_C(1) << FE_DIGIT) - 1)
#define FE_TOP_MASK ((UINT64_C(1) << FE_TOP) - 1)

struct fe {
    word d[5];
};

SIMD_INLINE word word_all(uint64_t value) { return _mm512_set1_epi64((long long)value); }

SIMD_INLINE word word_low(word sum, word a, word b) { return _mm512_madd52lo_epu64(sum, a, b); }

SIMD_INLINE word word_high(word sum, word a, word b) { return _mm512_madd52hi_epu64(sum, a, b); }

SIMD_INLINE word word_add(word a, word b) { return _mm512_add_epi64(a, b); }

SIMD_INLINE word word_sub(word a, word b) { return _mm512_sub_epi64(a, b); }

/* ---- carries ---------------------------------------------------------------------------------------------- */

/* From the lowest digit to the highest, which keeps what is above its 52nd bit. Digits may be negative. */
SIMD_INLINE void digits_carry(word *d, int digits) {
    FE_UNROLL for (int i = 0; i + 1 < digits; i++) {
        d[i + 1] = word_add(d[i + 1], _mm512_srai_epi64(d[i], FE_DIGIT));
        d[i] = _mm512_and_si512(d[i], word_all(FE_MASK));
    }
}

/*
 * Makes a number of raw digits. Taken together they are between -60 and 60 times 2^FE_BITS: 64 primes are added, and all
 * but one of those that are in it then go again. That one makes up for a negative carry into the highest digit.
 */
SIMD_INLINE void fe_settle(struct fe *r) {
    const word top = word_add(r->d[4], word_all(UINT64_C(64) << FE_TOP));
    r->d[0] = word_sub(r->d[0], word_all(UINT64_C(65) * FE_C));
    r->d[0] = word_low(r->d[0], _mm512_srli_epi64(top, FE_TOP), word_all(FE_C));
    r->d[4] = _mm512_ternarylogic_epi64(top, word_all(FE_TOP_MASK), word_all(UINT64_C(1) << FE_TOP), 0xea);
    digits_carry(r->d, 5);
}

/* The number itself, below the prime. */
SIMD_INLINE void fe_normal(struct fe *r) {
    struct fe less;
    r->d[0] = word_low(r->d[0], _mm512_srli_epi64(r->d[4], FE_TOP), word_all(FE_C));
    r->d[4] = _mm512_and_si512(r->d[4], word_all(FE_TOP_MASK));
    digits_carry(r->d, 5);
    less = *r; /* less than twice the prime: adding FE_C to what is not below it reaches 2^FE_BITS */
    less.d[0] = word_add(less.d[0], word_all(FE_C));
    digits_carry(less.d, 5);
    const __mmask8 due = _mm512_cmpgt_epu64_mask(less.d[4], word_all(FE_TOP_MASK));
    less.d[4] = _mm512_and_si512(less.d[4], word_all(FE_TOP_MASK));
    FE_UNROLL for (int i = 0; i < 5; i++) r->d[i] = _mm512_mask_mov_epi64(r->d[i], due, less.d[i]);
}

/* ---- products --------------------------------------------------------------------------------------------- */

/* t += a b, ten digits. */
SIMD_INLINE void product_add(word t[10], const struct fe *a, const struct fe *b) {
    FE_UNROLL for (int i = 0; i < 5; i++) {
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j] = word_low(t[i + j], a->d[j], b->d[i]);
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = word_high(t[i + j + 1], a->d[j], b->d[i]);
    }
}

SIMD_INLINE void product(word t[10], const struct fe *a, const struct fe *b) {
    FE_UNROLL for (int i = 0; i < 10; i++) t[i] = _mm512_setzero_si512();
    product_add(t, a, b);
}

/* Products of two different digits come twice: they are summed first, then doubled. */
SIMD_INLINE void square(word t[10], const struct fe *a) {
    FE_UNROLL for (int i = 0; i < 10; i++) t[i] = _mm512_setzero_si512();
    FE_UNROLL for (int i = 0; i < 4; i++) {
        FE_UNROLL for (int j = i + 1; j < 5; j++) t[i + j] = word_low(t[i + j], a->d[j], a->d[i]);
        FE_UNROLL for (int j = i + 1; j < 5; j++) t[i + j + 1] = word_high(t[i + j + 1], a->d[j], a->d[i]);
    }
    FE_UNROLL for (int i = 1; i < 9; i++) t[i] = word_add(t[i], t[i]);
    FE_UNROLL for (int i = 0; i < 5; i++) {
        t[2 * i] = word_low(t[2 * i], a->d[i], a->d[i]);
        t[2 * i + 1] = word_high(t[2 * i + 1], a->d[i], a->d[i]);
    }
}

/* d times a constant of 1, 2, 3, 4 or 8. */
SIMD_INLINE word word_times(word d, int times) {
    if (times == 3) return word_add(d, word_add(d, d));
    return times == 1 ? d : _mm512_slli_epi64(d, times == 2 ? 1 : times == 4 ? 2 : 3);
}

/* r = t times a small constant. What comes out is barely above 2^FE_BITS. */
SIMD_INLINE void fold(struct fe *r, word t[10], int times) {
    const word by = word_all((uint64_t)FE_C << FE_ABOVE);
    FE_UNROLL for (int i = 5; i < 9; i++) t[i + 1] = word_add(t[i + 1], _mm512_srli_epi64(t[i], FE_DIGIT));
    word above = word_high(_mm512_setzero_si512(), t[9], by);
    FE_UNROLL for (int i = 0; i < 5; i++) t[i] = word_low(t[i], t[i + 5], by);
    FE_UNROLL for (int i = 0; i < 4; i++) t[i + 1] = word_high(t[i + 1], t[i + 5], by);
    FE_UNROLL for (int i = 0; i < 5; i++) t[i] = word_times(t[i], times);
    above = word_add(word_times(_mm512_slli_epi64(above, FE_ABOVE), times), _mm512_srli_epi64(t[4], FE_TOP));
    t[4] = _mm512_and_si512(t[4], word_all(FE_TOP_MASK));
    t[0] = word_low(t[0], above, word_all(FE_C));
    if (FE_BITS == 256) t[1] = word_high(t[1], above, word_all(FE_C));
    FE_UNROLL for (int i = 0; i < 5; i++) r->d[i] = t[i];
    digits_carry(r->d, 5);
}

SIMD_INLINE void fe_mul_times(struct fe *r, const struct fe *a, const struct fe *b, int times) {
    word t[10];
    product(t, a, b);
    fold(r, t, times);
}

SIMD_INLINE void fe_sqr_times(struct fe *r, const struct fe *a, int times) {
    word t[10];
    square(t, a);
    fold(r, t, times);
}

SIMD_INLINE void fe_mul(struct fe *r, const struct fe *a, const struct fe *b) { fe_mul_times(r, a, b, 1); }

SIMD_INLINE void fe_sqr(struct fe *r, const struct fe *a) { fe_sqr_times(r, a, 1); }

/* r = a b + c d */
SIMD_INLINE void fe_mul_mul(struct fe *r, const struct fe *a, const struct fe *b, const struct fe *c,
                            const struct fe *d) {
    word t[10];
    product(t, a, b);
    product_add(t, c, d);
    fold(r, t, 1);
}

#endif
