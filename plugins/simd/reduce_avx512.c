/*
 * reduce_avx512.c: reductions for AVX-512. The 64 lanes are four registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce.h"

#include <immintrin.h>

enum { LANES = SIMD_REDUCE_LANES, ROW = 16 };

static inline float fold(const __m512 acc[4]) {
    const __m512 s32 = _mm512_add_ps(acc[0], acc[2]), t32 = _mm512_add_ps(acc[1], acc[3]);
    const __m512 s16 = _mm512_add_ps(s32, t32);
    const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(s16), _mm512_extractf32x8_ps(s16, 1));
    const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
    const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
    return _mm_cvtss_f32(_mm_add_ss(s2, _mm_movehdup_ps(s2)));
}

/* The lanes of row `k` that the last `count` elements reach. */
static inline __mmask16 row_mask(size_t count, size_t k) {
    const size_t left = count > ROW * k ? count - ROW * k : 0;
    return (__mmask16)(left >= ROW ? 0xffffu : (1u << left) - 1);
}

static float sum_block(const uint8_t *a, const uint8_t *b, size_t count) {
    __m512 acc[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    (void)b;
    for (; count >= LANES; count -= LANES, a += 4 * LANES)
        for (int k = 0; k < 4; k++) acc[k] = _mm512_add_ps(acc[k], _mm512_loadu_ps(a + 64 * k));
    if (count > 0)
        for (size_t k = 0; k < 4; k++)
            acc[k] = _mm512_add_ps(acc[k], _mm512_maskz_loadu_ps(row_mask(count, k), a + 64 * k));
    return fold(acc);
}

static float dot_block(const uint8_t *a, const uint8_t *b, size_t count) {
    __m512 acc[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    for (; count >= LANES; count -= LANES, a += 4 * LANES, b += 4 * LANES)
        for (int k = 0; k < 4; k++)
            acc[k] = _mm512_add_ps(acc[k], _mm512_mul_ps(_mm512_loadu_ps(a + 64 * k), _mm512_loadu_ps(b + 64 * k)));
    if (count > 0)
        for (size_t k = 0; k < 4; k++) {
            const __mmask16 m = row_mask(count, k);
            const __m512 x = _mm512_maskz_loadu_ps(m, a + 64 * k), y = _mm512_maskz_loadu_ps(m, b + 64 * k);
            acc[k] = _mm512_add_ps(acc[k], _mm512_mul_ps(x, y));
        }
    return fold(acc);
}

void simd_sum_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 1, sum_block);
}

void simd_sum_f32_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}

void simd_dot_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 2, dot_block);
}

void simd_dot_f32_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}
