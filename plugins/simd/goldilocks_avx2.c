/*
 * goldilocks_avx2.c: arithmetic modulo the Goldilocks prime for AVX2, four words side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tasks.h"

#include <immintrin.h>

typedef uint64_t elem;
typedef __m256i vec;
enum { V_LANES = 4 };

static inline vec v_set(elem x) { return _mm256_set1_epi64x((long long)x); }

static inline vec v_load(const uint8_t *at) { return _mm256_loadu_si256((const vec *)(const void *)at); }

static inline void v_store(uint8_t *at, vec x) { _mm256_storeu_si256((vec *)(void *)at, x); }

static inline void v_stream(uint8_t *at, vec x) { _mm256_stream_si256((vec *)(void *)at, x); }

static inline vec v_first_lanes(size_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)count), _mm256_setr_epi64x(0, 1, 2, 3));
}

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    const vec m = v_first_lanes(count);
    return _mm256_blendv_epi8(fill, _mm256_maskload_epi64((const long long *)(const void *)at, m), m);
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm256_maskstore_epi64((long long *)(void *)at, v_first_lanes(count), x);
}

static inline vec v_plus(vec a, vec b) { return _mm256_add_epi64(a, b); }

static inline vec v_minus(vec a, vec b) { return _mm256_sub_epi64(a, b); }

/* There is a comparison of numbers with a sign only: the sign is turned in both. */
static inline vec v_less(vec a, vec b) {
    const vec sign = _mm256_set1_epi64x(INT64_MIN);
    return _mm256_cmpgt_epi64(_mm256_xor_si256(b, sign), _mm256_xor_si256(a, sign));
}

static inline vec v_plus_where_less(vec x, vec y, vec a, vec b) { return v_plus(x, _mm256_and_si256(y, v_less(a, b))); }

static inline vec v_minus_where_less(vec x, vec y, vec a, vec b) {
    return v_minus(x, _mm256_and_si256(y, v_less(a, b)));
}

static inline vec v_min(vec a, vec b) { return _mm256_blendv_epi8(b, a, v_less(a, b)); }

static inline vec v_high_half(vec x) { return _mm256_srli_epi64(x, 32); }

static inline vec v_low_half_times_carry(vec x) { return _mm256_mul_epu32(x, v_set(UINT64_C(0xffffffff))); }

/* Four products of halves. No sum overflows: a product is at most 2^64 - 2^33 + 1. */
static inline vec v_product(vec a, vec b, vec *high) {
    const vec half = v_set(UINT64_C(0xffffffff)), a_high = v_high_half(a), b_high = v_high_half(b);
    const vec low = _mm256_mul_epu32(a, b), top = _mm256_mul_epu32(a_high, b_high);
    const vec first = v_plus(_mm256_mul_epu32(a_high, b), v_high_half(low));
    const vec second = v_plus(_mm256_mul_epu32(a, b_high), _mm256_and_si256(first, half));
    *high = v_plus(v_plus(top, v_high_half(first)), v_high_half(second));
    return _mm256_blend_epi32(low, _mm256_slli_epi64(second, 32), 0xaa);
}

#include "goldilocks.h"

const struct simd_kernel simd_goldilocks_avx2[SIMD_GOLDILOCKS_KERNELS] = {
    {"goldilocks_add", run_add, NULL, 2048, 400, 0},
    {"goldilocks_mul", run_multiply, NULL, 2048, 800, 0},
};
