/*
 * secp256k1_scalar_ifma.c: numbers modulo n, the order of the generator, in eight lanes; and how they become windows.
 *
 * Products are Montgomery's with R = 2^260: a b / R, below 2 n if both are below 2 n, since 4 n^2 / R < n / 4.
 *
 * u2 is split in two of half the length by the endomorphism (x, y) -> (beta x, y), which is multiplication by lambda. The
 * pairs (a, b) with a + b lambda = 0 modulo n are a lattice; a short basis of it is (A1, -B1), (A2, A1). With c1 and c2 as
 * u2 (A1, B1) / n rounded down,
 *
 *   first = u2 - c1 A1 - c2 A2      second = c1 B1 - c2 A1      |first|, |second| < 2^129
 *
 * A1 and B1 are odd, A2 is even: taking away (A1, -B1), (A2, A1), both or none makes both numbers odd, and below 2^130
 * still. A point of odd order may be taken n + u1 times instead of u1: so all three numbers are odd.
 *
 * An odd k with |k| < 2^w is a sum of w terms 2^i or -2^i: those of the bits 1 and 0 of (k + 2^w - 1) / 2. No digit of a
 * window is ever zero, and lanes have no reason to differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "secp256k1_lanes.h"

static const uint64_t order[5] = {0x25e8cd0364141, 0xe6af48a03bbfd, 0xffffffebaaedc, 0xfffffffffffff, 0xffffffffffff};
static const uint64_t minus_inverse = 0xdff665588b13f;                                 /* -1 / n modulo 2^52 */
static const uint64_t one_r[5] = {0xa1732fc9bebf0, 0x950b75fc4402d, 0x14551231, 0, 0}; /* R modulo n */
static const uint64_t square_r[5] = {0xe180c268b3b23, 0x94fd6e33e4c8e, 0xd07c73b975948, 0xc5e697f5e45bc,
                                     0x671cd581c69b}; /* R^2 modulo n */

/* n - 2 in windows of four bits, the highest first. */
static const uint8_t exponent[64] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                     15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14,
                                     11, 10, 10, 14, 13, 12, 14, 6,  10, 15, 4,  8,  10, 0,  3,  11,
                                     11, 15, 13, 2,  5,  14, 8,  12, 13, 0,  3,  6,  4,  1,  3,  15};

/* ---- products --------------------------------------------------------------------------------------------- */

static SIMD_ALIGNED_FRAME void multiply(struct scalar *r, const struct scalar *a, const struct scalar *b) {
    scalar_redc(r, a, b, order, minus_inverse);
}

void simd_secp256k1_times(struct scalar *r, const struct scalar *a, const struct scalar *inverse) {
    multiply(r, a, inverse);
}

/* ---- inverses --------------------------------------------------------------------------------------------- */

static SIMD_ALIGNED_FRAME void square_4(struct scalar *x) {
    struct scalar y = *x;
    for (int i = 0; i < 4; i++) scalar_redc(&y, &y, &y, order, minus_inverse);
    *x = y;
}

/* x^(n - 2); both x and the result times R */
static void invert(struct scalar *x) {
    struct scalar power[16], r;
    power[0] = scalar_of(one_r), power[1] = *x;
    for (int i = 2; i < 16; i++) multiply(&power[i], &power[i - 1], x);
    r = power[exponent[0]];
    for (int i = 1; i < 64; i++) {
        square_4(&r);
        if (exponent[i] != 0) multiply(&r, &r, &power[exponent[i]]);
    }
    *x = r;
}

void simd_secp256k1_scalar_inverse(struct scalar *x, struct scalar *spare, unsigned count) {
    const struct scalar square = scalar_of(square_r);
    struct scalar all, one;
    for (unsigned i = 0; i < count; i++) multiply(&x[i], &x[i], &square);
    all = x[0];
    for (unsigned i = 1; i < count; i++) {
        spare[i] = all;
        multiply(&all, &all, &x[i]);
    }
    invert(&all);
    for (unsigned i = count; --i > 0;) {
        multiply(&one, &all, &spare[i]);
        multiply(&all, &all, &x[i]);
        x[i] = one;
    }
    x[0] = all;
}

/* ---- halves ----------------------------------------------------------------------------------------------- */

enum { HALF = 3 }; /* digits of half a number: 156 bits, signed */

static const uint64_t A1[HALF] = {0xc90e49284eb15, 0x21a7d46bcde86, 0x3086d2};
static const uint64_t B1[HALF] = {0x47fa90abfe4c3, 0xd6010e88286f5, 0xe4437e};
static const uint64_t A2[HALF] = {0x1108d9d44cfd8, 0xf7a8e2f3f657c, 0x114ca50};
/* 2^384 A1 / n and 2^384 B1 / n, rounded */
static const uint64_t G1[5] = {0x3209a45dbb031, 0x1471e8ca7fe89, 0x284eb153daa8a, 0x6bcde86c90e49, 0x3086d221a7d4};
static const uint64_t G2[5] = {0x1b4ae8ac47f71, 0xac9df506c6157, 0xabfe4c4221208, 0x88286f547fa90, 0xe4437ed6010e};

/* c = k g / 2^384, rounded down */
SIMD_INLINE void quotient(word c[HALF], const struct scalar *k, const uint64_t g[5]) {
    const struct scalar factor = scalar_of(g);
    word t[11];
    FE_UNROLL for (int i = 0; i < 11; i++) t[i] = _mm512_setzero_si512();
    FE_UNROLL for (int i = 0; i < 5; i++) {
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j] = word_low(t[i + j], k->d[j], factor.d[i]);
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = word_high(t[i + j + 1], k->d[j], factor.d[i]);
    }
    digits_carry(t, 10);
    FE_UNROLL for (int i = 0; i < HALF; i++) { /* 384 = 7 digits and 20 bits */
        const word above = _mm512_slli_epi64(t[8 + i], FE_DIGIT - 20);
        c[i] = _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(t[7 + i], 20), above), word_all(FE_MASK));
    }
}

/* t += c b, or t -= c b, of which nothing above HALF digits is wanted */
SIMD_INLINE void half_product(word t[HALF], const word c[HALF], const uint64_t b[HALF], bool minus) {
    word s[HALF + 1] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
    FE_UNROLL for (int i = 0; i < HALF; i++) {
        FE_UNROLL for (int j = 0; i + j < HALF; j++) {
            s[i + j] = word_low(s[i + j], c[j], word_all(b[i]));
            s[i + j + 1] = word_high(s[i + j + 1], c[j], word_all(b[i]));
        }
    }
    FE_UNROLL for (int i = 0; i < HALF; i++) t[i] = minus ? word_sub(t[i], s[i]) : word_add(t[i], s[i]);
}

/* t -= b, or t += b, in some lanes */
SIMD_INLINE void half_less(word t[HALF], __mmask8 lanes, const uint64_t b[HALF], bool minus) {
    FE_UNROLL for (int i = 0; i < HALF; i++) t[i] = minus ? _mm512_mask_sub_epi64(t[i], lanes, t[i], word_all(b[i]))
                                                          : _mm512_mask_add_epi64(t[i], lanes, t[i], word_all(b[i]));
}

SIMD_INLINE __mmask8 even(word lowest) { return _mm512_testn_epi64_mask(lowest, word_all(1)); }

/* (k + 2^130 - 1) / 2 in words of 64; k is odd and of raw digits. The highest digit is a sum modulo 2^52, sign and all. */
SIMD_INLINE void half_windows(word w[3], word k[HALF]) {
    k[0] = word_sub(k[0], word_all(1));
    k[2] = word_add(k[2], word_all(UINT64_C(1) << 26));
    digits_carry(k, HALF);
    k[2] = _mm512_and_si512(k[2], word_all(FE_MASK));
    w[0] = _mm512_or_si512(_mm512_srli_epi64(k[0], 1), _mm512_slli_epi64(k[1], 51));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(k[1], 13), _mm512_slli_epi64(k[2], 39));
    w[2] = _mm512_srli_epi64(k[2], 25);
}

SIMD_INLINE void split(struct windows *out, const struct scalar *k) {
    word c1[HALF], c2[HALF], first[HALF], second[HALF];
    quotient(c1, k, G1);
    quotient(c2, k, G2);
    FE_UNROLL for (int i = 0; i < HALF; i++) first[i] = k->d[i], second[i] = _mm512_setzero_si512();
    half_product(first, c1, A1, true);
    half_product(first, c2, A2, true);
    half_product(second, c1, B1, false);
    half_product(second, c2, A1, true);
    const __mmask8 by_first = even(first[0]);
    half_less(first, by_first, A1, true);
    half_less(second, by_first, B1, false);
    const __mmask8 by_second = even(second[0]);
    half_less(first, by_second, A2, true);
    half_less(second, by_second, A1, true);
    half_windows(out->first, first);
    half_windows(out->second, second);
}

/* (k + 2^264 - 1) / 2, where k is u1 or u1 + n */
SIMD_INLINE void whole_windows(word w[5], const struct scalar *u1) {
    word k[5];
    const __mmask8 lanes = even(u1->d[0]);
    FE_UNROLL for (int i = 0; i < 5; i++) k[i] = _mm512_mask_add_epi64(u1->d[i], lanes, u1->d[i], word_all(order[i]));
    k[0] = word_sub(k[0], word_all(1));
    k[4] = word_add(k[4], word_all(UINT64_C(1) << 56));
    digits_carry(k, 5);
    w[0] = _mm512_or_si512(_mm512_srli_epi64(k[0], 1), _mm512_slli_epi64(k[1], 51));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(k[1], 13), _mm512_slli_epi64(k[2], 39));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(k[2], 25), _mm512_slli_epi64(k[3], 27));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(k[3], 37), _mm512_slli_epi64(k[4], 15));
    w[4] = _mm512_srli_epi64(k[4], 49);
}

void simd_secp256k1_windows(struct windows *out, const struct scalar *u1, const struct scalar *u2) {
    whole_windows(out->low, u1);
    split(out, u2);
}
