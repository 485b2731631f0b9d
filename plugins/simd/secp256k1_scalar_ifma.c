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

/* ---- products --------------------------------------------------------------------------------------------- */

static SIMD_ALIGNED_FRAME void multiply(struct scalar *r, const struct scalar *a, const struct scalar *b) {
    scalar_redc(r, a, b, secp_order, secp_minus_inverse);
}

void simd_secp256k1_times(struct scalar *r, const struct scalar *a, const struct scalar *inverse) {
    multiply(r, a, inverse);
}

/* ---- inverses --------------------------------------------------------------------------------------------- */

static SIMD_ALIGNED_FRAME void square_4(struct scalar *x) {
    struct scalar y = *x;
    for (int i = 0; i < 4; i++) scalar_redc(&y, &y, &y, secp_order, secp_minus_inverse);
    *x = y;
}

/* x^(n - 2); both x and the result times R */
static void invert(struct scalar *x) {
    struct scalar power[16], r;
    power[0] = scalar_of(one_r), power[1] = *x;
    for (int i = 2; i < 16; i++) multiply(&power[i], &power[i - 1], x);
    r = power[order_less_2[0]];
    for (int i = 1; i < 64; i++) {
        square_4(&r);
        if (order_less_2[i] != 0) multiply(&r, &r, &power[order_less_2[i]]);
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

/* c = k g / 2^384, rounded down; the group says 384 */
SIMD_INLINE void quotient(word c[HALF], const struct scalar *k, const uint64_t g[5]) {
    const struct scalar factor = scalar_of(g);
    word t[11];
    FE_UNROLL for (int i = 0; i < 11; i++) t[i] = _mm512_setzero_si512();
    FE_UNROLL for (int i = 0; i < 5; i++) {
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j] = word_low(t[i + j], k->d[j], factor.d[i]);
        FE_UNROLL for (int j = 0; j < 5; j++) t[i + j + 1] = word_high(t[i + j + 1], k->d[j], factor.d[i]);
    }
    digits_carry(t, 10);
    FE_UNROLL for (int i = 0; i < HALF; i++) {
        const word below = _mm512_srli_epi64(t[SPLIT_DIGITS + i], SPLIT_BITS);
        const word above = _mm512_slli_epi64(t[SPLIT_DIGITS + 1 + i], FE_DIGIT - SPLIT_BITS);
        c[i] = _mm512_and_si512(_mm512_or_si512(below, above), word_all(FE_MASK));
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

/* first -= a, and second += b or -= b, in some lanes */
SIMD_INLINE void pair_less(word first[HALF], word second[HALF], __mmask8 lanes, bool minus, const uint64_t a[HALF],
                           const uint64_t b[HALF]) {
    FE_UNROLL for (int i = 0; i < HALF; i++) {
        first[i] = _mm512_mask_sub_epi64(first[i], lanes, first[i], word_all(a[i]));
        second[i] = minus ? _mm512_mask_sub_epi64(second[i], lanes, second[i], word_all(b[i]))
                          : _mm512_mask_add_epi64(second[i], lanes, second[i], word_all(b[i]));
    }
}

SIMD_INLINE __mmask8 even(word lowest) { return _mm512_testn_epi64_mask(lowest, word_all(1)); }

/* (k + 2^130 - 1) / 2 in words of 64; k is odd and of raw digits. The highest digit is a sum modulo 2^52, sign and all. */
SIMD_INLINE void half_windows(word w[3], word k[HALF]) {
    k[0] = word_sub(k[0], word_all(1));
    k[SECP_HALF_BITS / FE_DIGIT] =
        word_add(k[SECP_HALF_BITS / FE_DIGIT], word_all(UINT64_C(1) << SECP_HALF_BITS % FE_DIGIT));
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
    pair_less(first, second, even(first[0]), false, FIRST_EVEN);
    pair_less(first, second, even(second[0]), true, SECOND_EVEN);
    half_windows(out->first, first);
    half_windows(out->second, second);
}

/* As many bits as both halves of the windows of G have, 264, and the digit with the last of them: the highest has room for more. */
enum {
    WHOLE_BITS = 2 * SECP_G_BITS * SECP_G_WINDOWS,
    WHOLE_DIGIT = WHOLE_BITS / FE_DIGIT < 4 ? WHOLE_BITS / FE_DIGIT : 4
};

/* (k + 2^264 - 1) / 2, where k is u1 or u1 + n */
SIMD_INLINE void whole_windows(word w[5], const struct scalar *u1) {
    word k[5];
    const __mmask8 lanes = even(u1->d[0]);
    FE_UNROLL for (int i = 0; i < 5; i++) k[i] =
        _mm512_mask_add_epi64(u1->d[i], lanes, u1->d[i], word_all(secp_order[i]));
    k[0] = word_sub(k[0], word_all(1));
    k[WHOLE_DIGIT] = word_add(k[WHOLE_DIGIT], word_all(UINT64_C(1) << (WHOLE_BITS - WHOLE_DIGIT * FE_DIGIT)));
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
