/*
 * lanes_f32_avx2.h: a vector of floats and what can be done with it, for AVX2 with FMA.
 *
 * One of the headers lanes_<type>_<isa>.h, of which a file includes one before the kernels that are written over them
 * (map.h, reduce.h, recipe_f32.h, softmax_f32.h). All have the same names; docs in lanes_f32_scalar.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_LANES_H
#define SVMX_SIMD_LANES_H

#include "tasks.h"

#include <immintrin.h>

typedef float elem;
typedef __m256 vec;
typedef __m256 mask; /* all bits of a lane, or none */
enum { V_LANES = 8, V_PACK = 4 };

static inline vec v_set(elem x) { return _mm256_set1_ps(x); }
static inline elem v_first(vec x) { return _mm256_cvtss_f32(x); }

static inline vec v_load(const uint8_t *at) { return _mm256_loadu_ps((const float *)(const void *)at); }
static inline void v_store(uint8_t *at, vec x) { _mm256_storeu_ps((float *)(void *)at, x); }
static inline void v_stream(uint8_t *at, vec x) { _mm256_stream_ps((float *)(void *)at, x); }

static inline __m256i v_first_lanes(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    const __m256i m = v_first_lanes(count);
    const vec x = _mm256_maskload_ps((const float *)(const void *)at, m);
    return _mm256_blendv_ps(fill, x, _mm256_castsi256_ps(m));
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm256_maskstore_ps((float *)(void *)at, v_first_lanes(count), x);
}

static inline vec v_add(vec a, vec b) { return _mm256_add_ps(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
static inline vec v_div(vec a, vec b) { return _mm256_div_ps(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
static inline vec v_min(vec a, vec b) { return _mm256_min_ps(a, b); }
static inline vec v_max(vec a, vec b) { return _mm256_max_ps(a, b); }
static inline vec v_and(vec a, vec b) { return _mm256_and_ps(a, b); }
static inline vec v_or(vec a, vec b) { return _mm256_or_ps(a, b); }
static inline vec v_andnot(vec a, vec b) { return _mm256_andnot_ps(a, b); }

static inline vec v_max_bits(vec a, vec b) {
    return _mm256_castsi256_ps(_mm256_max_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}

static inline mask v_less(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
static inline mask v_unordered(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_UNORD_Q); }
static inline mask v_either(mask a, mask b) { return _mm256_or_ps(a, b); }
static inline int v_any(mask m) { return _mm256_movemask_ps(m) != 0; }
static inline vec v_select(mask m, vec yes, vec no) { return _mm256_blendv_ps(no, yes, m); }

static inline vec v_nan(void) { return _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)); }
static inline vec v_one_nan(vec x) { return v_select(v_unordered(x, x), v_nan(), x); }

/* `distance` is a constant after inlining. */
SIMD_INLINE vec v_swap(vec x, int distance) {
    switch (distance) {
    case 4: return _mm256_permute2f128_ps(x, x, 1);
    case 2: return _mm256_permute_ps(x, 0x4e);
    default: return _mm256_permute_ps(x, 0xb1);
    }
}

static inline vec v_minus(vec x) { return _mm256_xor_ps(x, v_set(-0.0f)); }

static inline __m256i v_bits(vec x) { return _mm256_castps_si256(x); }
static inline vec v_from_bits(__m256i bits) { return _mm256_castsi256_ps(bits); }

static inline vec v_power_from(vec start, vec magic) {
    return v_from_bits(_mm256_add_epi32(v_bits(start), _mm256_slli_epi32(v_bits(magic), 23)));
}

static inline vec v_power(vec magic) { return v_power_from(v_set(1), magic); }

static inline vec v_halves(vec magic, vec *half) {
    const __m256i h = _mm256_and_si256(_mm256_slli_epi32(v_bits(magic), 22), _mm256_set1_epi32((int)0xff800000));
    *half = v_from_bits(_mm256_sub_epi32(_mm256_set1_epi32(0x3f800000), h));
    return v_power_from(*half, magic);
}

/* In two steps, of which the first is exact. */
static inline vec v_scale(vec p, vec magic) {
    const __m256i n = v_bits(magic), half = _mm256_srai_epi32(n, 1);
    const vec rest = v_power(v_from_bits(_mm256_sub_epi32(n, half)));
    return v_mul(v_mul(p, v_power(v_from_bits(half))), rest);
}

/* Likewise, by 2^(n + 100) and 2^-100. */
static inline vec v_scale_down(vec p, vec magic) {
    return v_mul(v_mul(p, v_power_from(v_set(0x1p100f), magic)), v_set(0x1p-100f));
}

#endif
