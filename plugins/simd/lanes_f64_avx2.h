/*
 * lanes_f64_avx2.h: a vector of doubles and what can be done with it, for AVX2. lanes_f32_scalar.h has the docs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_LANES_H
#define SVMX_SIMD_LANES_H

#include "tasks.h"

#include <immintrin.h>

typedef double elem;
typedef __m256d vec;
enum { V_LANES = 4 };

static inline vec v_set(elem x) { return _mm256_set1_pd(x); }
static inline elem v_first(vec x) { return _mm256_cvtsd_f64(x); }

static inline vec v_load(const uint8_t *at) { return _mm256_loadu_pd((const double *)(const void *)at); }
static inline void v_store(uint8_t *at, vec x) { _mm256_storeu_pd((double *)(void *)at, x); }
static inline void v_stream(uint8_t *at, vec x) { _mm256_stream_pd((double *)(void *)at, x); }

static inline __m256i v_first_lanes(size_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)count), _mm256_setr_epi64x(0, 1, 2, 3));
}

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    const __m256i m = v_first_lanes(count);
    const vec x = _mm256_maskload_pd((const double *)(const void *)at, m);
    return _mm256_blendv_pd(fill, x, _mm256_castsi256_pd(m));
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm256_maskstore_pd((double *)(void *)at, v_first_lanes(count), x);
}

static inline vec v_add(vec a, vec b) { return _mm256_add_pd(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm256_sub_pd(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm256_mul_pd(a, b); }
static inline vec v_andnot(vec a, vec b) { return _mm256_andnot_pd(a, b); }

static inline vec v_max_bits(vec a, vec b) {
    const __m256i greater = _mm256_cmpgt_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b));
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(greater));
}

static inline vec v_one_nan(vec x) {
    const vec nan = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_C(0x7ff8000000000000)));
    return _mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
}

SIMD_INLINE vec v_swap(vec x, int distance) {
    return distance == 2 ? _mm256_permute2f128_pd(x, x, 1) : _mm256_permute_pd(x, 0x5);
}

#endif
