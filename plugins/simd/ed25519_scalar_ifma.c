/*
 * ed25519_scalar_ifma.c: hashes modulo L = 2^252 + 27742317777372353535851937790883648493, and windows.
 *
 * With R = 2^260, a hash is a + b R. Montgomery's product with R^2 and R^3 makes a R and b R^2 of the two, and one with 1
 * takes R out of their sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ed25519_lanes.h"

static const uint64_t order[5] = {0x2631a5cf5d3ed, 0xdea2f79cd6581, 0x14def9, 0, 0x100000000000};
static const uint64_t minus_inverse = 0x51da312547e1b; /* -1 / L modulo 2^52 */
static const uint64_t square_r[5] = {0x9d265e952d13b, 0xd63c715bea69f, 0x5be65cb687604, 0x3dceec73d217f, 0x9411b7c309a};
static const uint64_t cube_r[5] = {0x4f516a4e30429, 0xd71e63305a553, 0x5b6514d3c593a, 0x78065dc6c04ec, 0xb773599cec};
static const uint64_t sixteens[5] = {0x2108421084210, 0x842108421084, 0x4210842108421, 0x1084210842108,
                                     0x421084210842}; /* 16 in each of 51 windows of five bits */

/* The ten digits of 512 bits: five and five. */
SIMD_INLINE void hash_split(struct scalar *a, struct scalar *b, const word h[8]) {
    const word mask = word_all(FE_MASK);
    FE_UNROLL for (int i = 0; i < 10; i++) {
        const int at = FE_DIGIT * i / 64, by = FE_DIGIT * i % 64;
        const word d = _mm512_shrdv_epi64(h[at], h[at < 7 ? at + 1 : 7], word_all((uint64_t)by));
        (i < 5 ? a : b)->d[i % 5] = _mm512_and_si512(d, mask);
    }
    b->d[4] = _mm512_srli_epi64(h[7], 9 * FE_DIGIT - 7 * 64);
}

/* The product with 1 leaves L at most, and L only for 0. */
static SIMD_ALIGNED_FRAME void hash_reduce(struct scalar *k, const word h[8]) {
    const struct scalar one = scalar_of((const uint64_t[5]){1}), square = scalar_of(square_r), cube = scalar_of(cube_r);
    struct scalar a, b;
    hash_split(&a, &b, h);
    scalar_redc(&a, &a, &square, order, minus_inverse);
    scalar_redc(&b, &b, &cube, order, minus_inverse);
    FE_UNROLL for (int i = 0; i < 5; i++) a.d[i] = word_add(a.d[i], b.d[i]);
    digits_carry(a.d, 5);
    scalar_redc(k, &a, &one, order, minus_inverse);
    word differ = _mm512_setzero_si512();
    FE_UNROLL for (int i = 0; i < 5; i++) differ =
        _mm512_or_si512(differ, _mm512_xor_si512(k->d[i], word_all(order[i])));
    const __mmask8 other = _mm512_test_epi64_mask(differ, differ);
    FE_UNROLL for (int i = 0; i < 5; i++) k->d[i] = _mm512_maskz_mov_epi64(other, k->d[i]);
}

/* (s - 1) / 2 + 2^259, where s is odd: it may be s + L instead, since L B is neutral */
SIMD_INLINE void odd_windows(word w[5], const word s[4]) {
    struct scalar k;
    digits_from_words(k.d, s);
    const __mmask8 even = _mm512_testn_epi64_mask(k.d[0], word_all(1));
    FE_UNROLL for (int i = 0; i < 5; i++) k.d[i] = _mm512_mask_add_epi64(k.d[i], even, k.d[i], word_all(order[i]));
    digits_carry(k.d, 5);
    words_from_digits(w, k.d);
    FE_UNROLL for (int i = 0; i < 3; i++) w[i] = _mm512_shrdi_epi64(w[i], w[i + 1], 1);
    w[3] = _mm512_srli_epi64(w[3], 1);
    w[4] = word_all(8);
}

void simd_ed25519_windows(struct ed_windows *out, const word s[4], const word hash[8]) {
    struct scalar k;
    odd_windows(out->s, s);
    hash_reduce(&k, hash);
    FE_UNROLL for (int i = 0; i < 5; i++) k.d[i] = word_add(k.d[i], word_all(sixteens[i]));
    digits_carry(k.d, 5);
    words_from_digits(out->k, k.d);
}
