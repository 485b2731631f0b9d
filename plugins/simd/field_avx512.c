/*
 * field_avx512.c: sums and differences modulo an odd number for AVX-512, eight elements side by side.
 *
 * Lanes have no carry flag: a carry is a sum that is less than what went in. A group in which any result may be wrong,
 * because an operand was not below the modulus, is done again one element at a time: field.h. Products need IFMA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field_lanes.h"

/* r = a + b; returns the lanes that carry. */
SIMD_INLINE __mmask8 lanes_add(word *r, const word *a, const word *b, int limbs) {
    __mmask8 carry = 0;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        const word sum = _mm512_add_epi64(a[i], b[i]);
        const __mmask8 over = _mm512_cmplt_epu64_mask(sum, b[i]);
        r[i] = _mm512_mask_sub_epi64(sum, carry, sum, word_all(UINT64_MAX));
        carry = over | _mm512_mask_testn_epi64_mask(carry, r[i], r[i]);
    }
    return carry;
}

/* r = a - b; returns the lanes that borrow. */
SIMD_INLINE __mmask8 lanes_sub(word *r, const word *a, const word *b, int limbs) {
    __mmask8 borrow = 0;
    FIELD_UNROLL for (int i = 0; i < limbs; i++) {
        const word difference = _mm512_sub_epi64(a[i], b[i]);
        const __mmask8 under = _mm512_cmplt_epu64_mask(a[i], b[i]);
        r[i] = _mm512_mask_add_epi64(difference, borrow, difference, word_all(UINT64_MAX));
        borrow = under | _mm512_mask_testn_epi64_mask(borrow, difference, difference);
    }
    return borrow;
}

/* Eight elements; returns whether all results are surely right. */
typedef bool (*group_fn)(word *r, const word *a, const word *b, const word *m, int limbs);

SIMD_INLINE bool group_add(word *r, const word *a, const word *b, const word *m, int limbs) {
    word sum[FIELD_MAX_LIMBS], less[FIELD_MAX_LIMBS];
    const __mmask8 carry = lanes_add(sum, a, b, limbs), borrow = lanes_sub(less, sum, m, limbs);
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] =
        _mm512_mask_mov_epi64(less[i], (__mmask8)(borrow & ~carry), sum[i]);
    const __mmask8 doubtful = _mm512_cmpge_epu64_mask(r[limbs - 1], m[limbs - 1]);
    return (__mmask8)(doubtful | (carry & ~borrow)) == 0;
}

SIMD_INLINE bool group_sub(word *r, const word *a, const word *b, const word *m, int limbs) {
    word difference[FIELD_MAX_LIMBS], more[FIELD_MAX_LIMBS];
    const __mmask8 borrow = lanes_sub(difference, a, b, limbs);
    lanes_add(more, difference, m, limbs); /* where m is not enough to reach 0 again, this is m and more */
    FIELD_UNROLL for (int i = 0; i < limbs; i++) r[i] = _mm512_mask_mov_epi64(difference[i], borrow, more[i]);
    return _mm512_cmpge_epu64_mask(r[limbs - 1], m[limbs - 1]) == 0;
}

/* Full groups in lanes, the rest one by one: a sum costs less than being gathered. */
SIMD_INLINE void run(const struct svmx_dispatch *d, uint64_t first, uint64_t end, int limbs, group_fn group,
                     field_fn single) {
    const size_t bytes = 8 * (size_t)limbs;
    struct simd_walk walk = simd_walk_start(d, first, end);
    struct field_modulus modulus = {.ready = false};
    struct field_piece piece;
    while (field_next(&walk, &piece, &modulus, limbs)) {
        word m[FIELD_MAX_LIMBS], a[FIELD_MAX_LIMBS], b[FIELD_MAX_LIMBS], r[FIELD_MAX_LIMBS];
        FIELD_UNROLL for (int i = 0; i < limbs; i++) m[i] = word_all(modulus.m[i]);
        for (; piece.count >= FIELD_LANES; piece.count -= FIELD_LANES) {
            lanes_load(a, piece.a, limbs);
            lanes_load(b, piece.b, limbs);
            if (__builtin_expect(group(r, a, b, m, limbs), 1)) {
                lanes_store(piece.out, r, limbs);
            } else {
                const struct field_piece again = {piece.out, piece.a, piece.b, FIELD_LANES};
                field_map(&again, &modulus, limbs, single);
            }
            piece.out += FIELD_LANES * bytes, piece.a += FIELD_LANES * bytes, piece.b += FIELD_LANES * bytes;
        }
        field_map(&piece, &modulus, limbs, single);
    }
}

static void add_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 4, group_add, field_add);
}

static void sub_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 4, group_sub, field_sub);
}

static void add_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 6, group_add, field_add);
}

static void sub_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    run(d, first, end, 6, group_sub, field_sub);
}

const struct simd_kernel simd_field_avx512[SIMD_FIELD_SUMS] = {
    {"mod_add_u256", add_u256, NULL, 512, 2000, 0},
    {"mod_sub_u256", sub_u256, NULL, 512, 2000, 0},
    {"mod_add_u384", add_u384, NULL, 512, 4400, 0},
    {"mod_sub_u384", sub_u384, NULL, 512, 4400, 0},
};
