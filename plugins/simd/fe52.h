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

/* ---- small things ----------------------------------------------------------------------------------------- */

SIMD_INLINE struct fe fe_of(uint64_t small) {
    const word zero = _mm512_setzero_si512();
    return (struct fe){{word_all(small), zero, zero, zero, zero}};
}

SIMD_INLINE struct fe fe_const(const uint64_t d[5]) {
    return (struct fe){{word_all(d[0]), word_all(d[1]), word_all(d[2]), word_all(d[3]), word_all(d[4])}};
}

SIMD_INLINE struct fe fe_less(const struct fe *a, const struct fe *b) {
    struct fe r;
    FE_UNROLL for (int i = 0; i < 5; i++) r.d[i] = word_sub(a->d[i], b->d[i]);
    fe_settle(&r);
    return r;
}

/* Lanes in which a settled number is zero. */
SIMD_INLINE __mmask8 fe_is_zero(struct fe a) {
    fe_normal(&a);
    const word any =
        _mm512_or_si512(_mm512_or_si512(_mm512_or_si512(a.d[0], a.d[1]), a.d[2]), _mm512_or_si512(a.d[3], a.d[4]));
    return _mm512_testn_epi64_mask(any, any);
}

SIMD_INLINE __mmask8 fe_equal(const struct fe *a, const struct fe *b) { return fe_is_zero(fe_less(a, b)); }

/* b in some lanes */
SIMD_INLINE void fe_blend(struct fe *a, __mmask8 lanes, const struct fe *b) {
    FE_UNROLL for (int i = 0; i < 5; i++) a->d[i] = _mm512_mask_mov_epi64(a->d[i], lanes, b->d[i]);
}

/* -a in some lanes; raw */
SIMD_INLINE void fe_turn(struct fe *a, __mmask8 lanes) {
    FE_UNROLL for (int i = 0; i < 5; i++) a->d[i] =
        _mm512_mask_sub_epi64(a->d[i], lanes, _mm512_setzero_si512(), a->d[i]);
}

/* ---- words of 64 bits -------------------------------------------------------------------------------------- */

/* Digits as factors: bits above the 52nd are any. `w` is below 2^256. */
SIMD_INLINE void factor_from_words(word d[5], const word w[4]) {
    d[0] = w[0];
    d[1] = _mm512_shrdi_epi64(w[0], w[1], 52);
    d[2] = _mm512_shrdi_epi64(w[1], w[2], 40);
    d[3] = _mm512_shrdi_epi64(w[2], w[3], 28);
    d[4] = _mm512_srli_epi64(w[3], 16);
}

SIMD_INLINE void digits_from_words(word d[5], const word w[4]) {
    factor_from_words(d, w);
    FE_UNROLL for (int i = 0; i < 4; i++) d[i] = _mm512_and_si512(d[i], word_all(FE_MASK));
}

SIMD_INLINE void words_from_digits(word w[4], const word d[5]) {
    w[0] = _mm512_or_si512(d[0], _mm512_slli_epi64(d[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(d[1], 12), _mm512_slli_epi64(d[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(d[2], 24), _mm512_slli_epi64(d[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(d[3], 36), _mm512_slli_epi64(d[4], 16));
}

/* `bits` bits from `bit` on, and any above them. */
SIMD_INLINE word window(const word *words, int bit, int bits) {
    const int at = bit / 64, by = bit % 64;
    return _mm512_shrdv_epi64(words[at], words[by + bits > 64 ? at + 1 : at], word_all((uint64_t)by));
}

/* The digit of a window of an odd number is twice its value less 2^bits - 1, odd itself. Gives the row of its size, and
 * where it is negative. */
SIMD_INLINE word odd_digit(const word *words, int bit, int bits, __mmask8 *minus) {
    const word half = word_all(UINT64_C(1) << (bits - 1)), mask = word_all((UINT64_C(1) << (bits - 1)) - 1);
    const word value = window(words, bit, bits);
    *minus = _mm512_testn_epi64_mask(value, half);
    return _mm512_and_si512(_mm512_mask_xor_epi64(value, *minus, value, mask), mask);
}

/* ---- powers -------------------------------------------------------------------------------------------------- */

/* A power is one long chain in which each square waits for the last: where there are many, two vectors go side by side. */
enum { FE_SIDE = 2 };

/* r = a^(2^times) b, for `side` numbers each */
SIMD_INLINE void fe_climb(struct fe *r, const struct fe *a, int times, const struct fe *b, int side) {
    struct fe x[FE_SIDE];
    FE_UNROLL for (int i = 0; i < side; i++) x[i] = a[i];
    for (int k = 0; k < times; k++) {
        FE_UNROLL for (int i = 0; i < side; i++) fe_sqr(&x[i], &x[i]);
    }
    FE_UNROLL for (int i = 0; i < side; i++) fe_mul(&r[i], &x[i], &b[i]);
}

__attribute__((unused)) static SIMD_ALIGNED_FRAME void fe_climb_1(struct fe *r, const struct fe *a, int times,
                                                                  const struct fe *b) {
    fe_climb(r, a, times, b, 1);
}

__attribute__((unused)) static SIMD_ALIGNED_FRAME void fe_climb_2(struct fe *r, const struct fe *a, int times,
                                                                  const struct fe *b) {
    fe_climb(r, a, times, b, 2);
}

typedef void (*fe_climb_fn)(struct fe *r, const struct fe *a, int times, const struct fe *b);

/* Two at a time; a last one with itself. */
static inline void fe_in_pairs(struct fe *x, unsigned count, void (*power)(struct fe x[FE_SIDE])) {
    struct fe pair[FE_SIDE];
    for (unsigned i = 0; i < count; i += FE_SIDE) {
        const unsigned second = i + 1 < count ? i + 1 : i;
        pair[0] = x[i], pair[1] = x[second];
        power(pair);
        x[i] = pair[0], x[second] = pair[1];
    }
}

/* Products of all before each; the inverse of the product of all; then backwards, each out of it. */
static inline void fe_inverse_all(struct fe *x, struct fe *spare, unsigned count, void (*invert)(struct fe *x)) {
    struct fe all = x[0];
    for (unsigned i = 1; i < count; i++) {
        spare[i] = all;
        fe_mul(&all, &all, &x[i]);
    }
    invert(&all);
    for (unsigned i = count; --i > 0;) {
        struct fe one;
        fe_mul(&one, &all, &spare[i]);
        fe_mul(&all, &all, &x[i]);
        x[i] = one;
    }
    x[0] = all;
}

#endif
