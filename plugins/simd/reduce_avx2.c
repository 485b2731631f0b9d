/*
 * reduce_avx2.c: reductions for AVX2. The 64 lanes are eight registers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reduce.h"

#include <immintrin.h>

enum { LANES = SIMD_REDUCE_LANES, ROW = 8, ROWS = LANES / ROW };

static inline __m256 load(const uint8_t *at) { return _mm256_loadu_ps((const float *)(const void *)at); }

/* Row `k` of the last `count` elements, +0.0f past them. */
static inline __m256 load_some(const uint8_t *at, size_t count, size_t k) {
    const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count - ROW * (int)k), index);
    return _mm256_maskload_ps((const float *)(const void *)(at + 4 * ROW * k), mask);
}

static inline float fold(const __m256 acc[ROWS]) {
    const __m256 s0 = _mm256_add_ps(acc[0], acc[4]), s1 = _mm256_add_ps(acc[1], acc[5]);
    const __m256 s2 = _mm256_add_ps(acc[2], acc[6]), s3 = _mm256_add_ps(acc[3], acc[7]);
    const __m256 t0 = _mm256_add_ps(s0, s2), t1 = _mm256_add_ps(s1, s3);
    const __m256 r8 = _mm256_add_ps(t0, t1);
    const __m128 r4 = _mm_add_ps(_mm256_castps256_ps128(r8), _mm256_extractf128_ps(r8, 1));
    const __m128 r2 = _mm_add_ps(r4, _mm_movehl_ps(r4, r4));
    return _mm_cvtss_f32(_mm_add_ss(r2, _mm_movehdup_ps(r2)));
}

static float sum_block(const uint8_t *a, const uint8_t *b, size_t count) {
    __m256 acc[ROWS] = {{0}};
    (void)b;
    for (; count >= LANES; count -= LANES, a += 4 * LANES)
        for (int k = 0; k < ROWS; k++) acc[k] = _mm256_add_ps(acc[k], load(a + 4 * ROW * k));
    if (count > 0) {
#pragma GCC unroll 8 /* else gcc keeps the lanes in memory, here and above */
        for (size_t k = 0; k < ROWS; k++) acc[k] = _mm256_add_ps(acc[k], load_some(a, count, k));
    }
    return fold(acc);
}

static float dot_block(const uint8_t *a, const uint8_t *b, size_t count) {
    __m256 acc[ROWS] = {{0}};
    for (; count >= LANES; count -= LANES, a += 4 * LANES, b += 4 * LANES)
        for (int k = 0; k < ROWS; k++)
            acc[k] = _mm256_add_ps(acc[k], _mm256_mul_ps(load(a + 4 * ROW * k), load(b + 4 * ROW * k)));
    if (count > 0)
        for (size_t k = 0; k < ROWS; k++)
            acc[k] = _mm256_add_ps(acc[k], _mm256_mul_ps(load_some(a, count, k), load_some(b, count, k)));
    return fold(acc);
}

void simd_sum_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 1, sum_block);
}

void simd_sum_f32_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}

void simd_dot_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    simd_reduce_run(d, first, end, 2, dot_block);
}

void simd_dot_f32_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    simd_reduce_finish(d, first, end, sum_block);
}
