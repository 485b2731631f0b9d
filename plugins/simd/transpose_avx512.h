/*
 * transpose_avx512.h: eight rows of eight words become eight words of eight lanes, and back: it is its own inverse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_TRANSPOSE_AVX512_H
#define SVMX_SIMD_TRANSPOSE_AVX512_H

#include "tasks.h"

#include <immintrin.h>

SIMD_INLINE void transpose(__m512i r[8]) {
    const __m512i a0 = _mm512_unpacklo_epi64(r[0], r[1]), a1 = _mm512_unpackhi_epi64(r[0], r[1]);
    const __m512i a2 = _mm512_unpacklo_epi64(r[2], r[3]), a3 = _mm512_unpackhi_epi64(r[2], r[3]);
    const __m512i a4 = _mm512_unpacklo_epi64(r[4], r[5]), a5 = _mm512_unpackhi_epi64(r[4], r[5]);
    const __m512i a6 = _mm512_unpacklo_epi64(r[6], r[7]), a7 = _mm512_unpackhi_epi64(r[6], r[7]);
    const __m512i b0 = _mm512_shuffle_i64x2(a0, a2, 0x88), b2 = _mm512_shuffle_i64x2(a0, a2, 0xdd);
    const __m512i b1 = _mm512_shuffle_i64x2(a1, a3, 0x88), b3 = _mm512_shuffle_i64x2(a1, a3, 0xdd);
    const __m512i b4 = _mm512_shuffle_i64x2(a4, a6, 0x88), b6 = _mm512_shuffle_i64x2(a4, a6, 0xdd);
    const __m512i b5 = _mm512_shuffle_i64x2(a5, a7, 0x88), b7 = _mm512_shuffle_i64x2(a5, a7, 0xdd);
    r[0] = _mm512_shuffle_i64x2(b0, b4, 0x88), r[4] = _mm512_shuffle_i64x2(b0, b4, 0xdd);
    r[1] = _mm512_shuffle_i64x2(b1, b5, 0x88), r[5] = _mm512_shuffle_i64x2(b1, b5, 0xdd);
    r[2] = _mm512_shuffle_i64x2(b2, b6, 0x88), r[6] = _mm512_shuffle_i64x2(b2, b6, 0xdd);
    r[3] = _mm512_shuffle_i64x2(b3, b7, 0x88), r[7] = _mm512_shuffle_i64x2(b3, b7, 0xdd);
}

#endif
