/*
 * field_lanes.h: eight elements of 4 or 6 words side by side, for AVX-512.
 *
 * In memory the words of an element lie together; in lanes, word k of eight elements is one vector. Getting there and
 * back is eight shuffles for four words. Lanes do not stand in the order of the elements, but in the same one
 * everywhere:
 *
 *   rows in memory     0: e0 e1     1: e2 e3     2: e4 e5     3: e6 e7        a row: two elements of 4 words
 *   lanes of a word    e0 e2 e1 e3 e4 e6 e5 e7
 *
 * Also here: elements of short tasks, and what is left of long ones, gathered until they are eight. Included by
 * field_avx512.c and field_ifma.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_FIELD_LANES_H
#define SVMX_SIMD_FIELD_LANES_H

#include "field.h"

#include <immintrin.h>

typedef __m512i word;

enum { FIELD_LANES = 8 };

SIMD_INLINE word word_all(uint64_t value) { return _mm512_set1_epi64((long long)value); }

/* ---- to lanes and back ------------------------------------------------------------------------------------ */

/* Four rows of two elements of 4 words become 4 words of eight lanes. */
SIMD_INLINE void lanes_from_rows(word x[4], const word row[4]) {
    const word even01 = _mm512_unpacklo_epi64(row[0], row[1]), odd01 = _mm512_unpackhi_epi64(row[0], row[1]);
    const word even23 = _mm512_unpacklo_epi64(row[2], row[3]), odd23 = _mm512_unpackhi_epi64(row[2], row[3]);
    x[0] = _mm512_shuffle_i64x2(even01, even23, 0x88), x[2] = _mm512_shuffle_i64x2(even01, even23, 0xdd);
    x[1] = _mm512_shuffle_i64x2(odd01, odd23, 0x88), x[3] = _mm512_shuffle_i64x2(odd01, odd23, 0xdd);
}

SIMD_INLINE void rows_from_lanes(word row[4], const word x[4]) {
    const word low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const word even01 = _mm512_permutex2var_epi64(x[0], low, x[2]), odd01 = _mm512_permutex2var_epi64(x[1], low, x[3]);
    const word even23 = _mm512_permutex2var_epi64(x[0], high, x[2]);
    const word odd23 = _mm512_permutex2var_epi64(x[1], high, x[3]);
    row[0] = _mm512_unpacklo_epi64(even01, odd01), row[1] = _mm512_unpackhi_epi64(even01, odd01);
    row[2] = _mm512_unpacklo_epi64(even23, odd23), row[3] = _mm512_unpackhi_epi64(even23, odd23);
}

static inline __m256i load_256(const uint8_t *at) { return _mm256_loadu_si256((const __m256i *)(const void *)at); }

static inline __m128i load_128(const uint8_t *at) { return _mm_loadu_si128((const __m128i *)(const void *)at); }

/* Words 4 and 5 of elements e, e + 1, e + 4 and e + 5 of 48 bytes. */
SIMD_INLINE word load_ends(const uint8_t *at, int e) {
    const uint8_t *end = at + 48 * e + 32;
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(end)), load_128(end + 48), 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(end + 192)), load_128(end + 240), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

SIMD_INLINE void lanes_load(word *x, const uint8_t *at, int limbs) {
    word row[4];
    if (limbs == 4) {
        FIELD_UNROLL for (int i = 0; i < 4; i++) row[i] = _mm512_loadu_si512(at + 64 * i);
    } else {
        FIELD_UNROLL for (int i = 0; i < 4; i++) row[i] =
            _mm512_inserti64x4(_mm512_castsi256_si512(load_256(at + 96 * i)), load_256(at + 96 * i + 48), 1);
        const word even = load_ends(at, 0), odd = load_ends(at, 2);
        x[4] = _mm512_unpacklo_epi64(even, odd);
        x[5] = _mm512_unpackhi_epi64(even, odd);
    }
    lanes_from_rows(x, row);
}

SIMD_INLINE void store_ends(uint8_t *at, int e, word ends) {
    uint8_t *end = at + 48 * e + 32;
    _mm_storeu_si128((__m128i *)(void *)end, _mm512_castsi512_si128(ends));
    _mm_storeu_si128((__m128i *)(void *)(end + 48), _mm512_extracti64x2_epi64(ends, 1));
    _mm_storeu_si128((__m128i *)(void *)(end + 192), _mm512_extracti64x2_epi64(ends, 2));
    _mm_storeu_si128((__m128i *)(void *)(end + 240), _mm512_extracti64x2_epi64(ends, 3));
}

SIMD_INLINE void lanes_store(uint8_t *at, const word *x, int limbs) {
    word row[4];
    rows_from_lanes(row, x);
    if (limbs == 4) {
        FIELD_UNROLL for (int i = 0; i < 4; i++) _mm512_storeu_si512(at + 64 * i, row[i]);
    } else {
        FIELD_UNROLL for (int i = 0; i < 4; i++) {
            _mm256_storeu_si256((__m256i *)(void *)(at + 96 * i), _mm512_castsi512_si256(row[i]));
            _mm256_storeu_si256((__m256i *)(void *)(at + 96 * i + 48), _mm512_extracti64x4_epi64(row[i], 1));
        }
        store_ends(at, 0, _mm512_unpacklo_epi64(x[4], x[5]));
        store_ends(at, 2, _mm512_unpackhi_epi64(x[4], x[5]));
    }
}

/* ---- single elements, gathered ---------------------------------------------------------------------------- */

/* Elements of one modulus that wait for company. Lanes that are never filled hold zeros, which hurt nobody. */
struct field_waiting {
    uint8_t a[FIELD_LANES * 8 * FIELD_MAX_LIMBS], b[FIELD_LANES * 8 * FIELD_MAX_LIMBS];
    uint8_t *out[FIELD_LANES];
    int count;
};

SIMD_INLINE void waiting_push(struct field_waiting *w, const struct field_piece *piece, size_t index, int limbs) {
    const size_t bytes = 8 * (size_t)limbs;
    memcpy(w->a + bytes * (size_t)w->count, piece->a + bytes * index, bytes);
    memcpy(w->b + bytes * (size_t)w->count, piece->b + bytes * index, bytes);
    w->out[w->count++] = piece->out + bytes * index;
}

/* Hands the results out. */
SIMD_INLINE void waiting_leave(struct field_waiting *w, const uint8_t *results, int limbs) {
    const size_t bytes = 8 * (size_t)limbs;
    for (int i = 0; i < w->count; i++) memcpy(w->out[i], results + bytes * (size_t)i, bytes);
    w->count = 0;
}

#endif
