/*
 * lanes_f64_avx512.h: a vector of doubles and what can be done with it, for AVX-512. lanes_f32_scalar.h has the docs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_LANES_H
#define SVMX_SIMD_LANES_H

#include "tasks.h"

#include <immintrin.h>

typedef double elem;
typedef __m512d vec;
typedef __mmask8 mask;
enum { V_LANES = 8 };

static inline vec v_set(elem x) { return _mm512_set1_pd(x); }
static inline elem v_first(vec x) { return _mm512_cvtsd_f64(x); }

static inline vec v_load(const uint8_t *at) { return _mm512_loadu_pd(at); }
static inline void v_store(uint8_t *at, vec x) { _mm512_storeu_pd(at, x); }
static inline void v_stream(uint8_t *at, vec x) { _mm512_stream_pd((double *)(void *)at, x); }

static inline mask v_first_lanes(size_t count) { return (mask)((1u << count) - 1); }

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    return _mm512_mask_loadu_pd(fill, v_first_lanes(count), at);
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm512_mask_storeu_pd(at, v_first_lanes(count), x);
}

static inline vec v_add(vec a, vec b) { return _mm512_add_pd(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm512_sub_pd(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm512_mul_pd(a, b); }
static inline vec v_andnot(vec a, vec b) { return _mm512_andnot_pd(a, b); }

static inline vec v_max_bits(vec a, vec b) {
    return _mm512_castsi512_pd(_mm512_max_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
}

static inline vec v_one_nan(vec x) {
    const vec nan = _mm512_castsi512_pd(_mm512_set1_epi64(INT64_C(0x7ff8000000000000)));
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan);
}

SIMD_INLINE vec v_swap(vec x, int distance) {
    switch (distance) {
    case 4: return _mm512_shuffle_f64x2(x, x, 0x4e);
    case 2: return _mm512_shuffle_f64x2(x, x, 0xb1);
    default: return _mm512_permute_pd(x, 0x55);
    }
}

#endif
