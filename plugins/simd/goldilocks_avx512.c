/*
 * goldilocks_avx512.c: arithmetic modulo the Goldilocks prime for AVX-512, eight words side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tasks.h"

#include <immintrin.h>

typedef uint64_t elem;
typedef __m512i vec;
enum { V_LANES = 8 };

static inline vec v_set(elem x) { return _mm512_set1_epi64((long long)x); }

static inline vec v_load(const uint8_t *at) { return _mm512_loadu_si512(at); }

static inline void v_store(uint8_t *at, vec x) { _mm512_storeu_si512(at, x); }

static inline void v_stream(uint8_t *at, vec x) { _mm512_stream_si512((vec *)(void *)at, x); }

static inline __mmask8 v_first_lanes(size_t count) { return (__mmask8)((1u << count) - 1); }

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    return _mm512_mask_loadu_epi64(fill, v_first_lanes(count), at);
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm512_mask_storeu_epi64(at, v_first_lanes(count), x);
}

static inline vec v_plus(vec a, vec b) { return _mm512_add_epi64(a, b); }

static inline vec v_minus(vec a, vec b) { return _mm512_sub_epi64(a, b); }

static inline vec v_plus_where_less(vec x, vec y, vec a, vec b) {
    return _mm512_mask_add_epi64(x, _mm512_cmplt_epu64_mask(a, b), x, y);
}

static inline vec v_minus_where_less(vec x, vec y, vec a, vec b) {
    return _mm512_mask_sub_epi64(x, _mm512_cmplt_epu64_mask(a, b), x, y);
}

static inline vec v_min(vec a, vec b) { return _mm512_min_epu64(a, b); }

static inline vec v_high_half(vec x) { return _mm512_srli_epi64(x, 32); }

static inline vec v_low_half_times_carry(vec x) { return _mm512_mul_epu32(x, v_set(UINT64_C(0xffffffff))); }

/* Four products of halves: vpmullq is slower. No sum overflows: a product is at most 2^64 - 2^33 + 1. */
static inline vec v_product(vec a, vec b, vec *high) {
    const vec half = v_set(UINT64_C(0xffffffff)), a_high = v_high_half(a), b_high = v_high_half(b);
    const vec low = _mm512_mul_epu32(a, b), top = _mm512_mul_epu32(a_high, b_high);
    const vec first = v_plus(_mm512_mul_epu32(a_high, b), v_high_half(low));
    const vec second = v_plus(_mm512_mul_epu32(a, b_high), _mm512_and_si512(first, half));
    *high = v_plus(v_plus(top, v_high_half(first)), v_high_half(second));
    return _mm512_mask_shuffle_epi32(low, 0xaaaa, second, _MM_PERM_CCAA); /* its low half goes above that of `low` */
}

#include "goldilocks.h"

const struct simd_kernel simd_goldilocks_avx512[SIMD_GOLDILOCKS_KERNELS] = {
    {"goldilocks_add", run_add, NULL, 2048, 220, 0},
    {"goldilocks_mul", run_multiply, NULL, 2048, 500, 0},
};
