/*
 * lanes_f32_avx512.h: a vector of floats and what can be done with it, for AVX-512.
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
typedef __m512 vec;
typedef __mmask16 mask;
enum { V_LANES = 16, V_PACK = 4 };

static inline vec v_set(elem x) { return _mm512_set1_ps(x); }
static inline elem v_first(vec x) { return _mm512_cvtss_f32(x); }

static inline vec v_load(const uint8_t *at) { return _mm512_loadu_ps(at); }
static inline void v_store(uint8_t *at, vec x) { _mm512_storeu_ps(at, x); }
static inline void v_stream(uint8_t *at, vec x) { _mm512_stream_ps((float *)(void *)at, x); }

static inline mask v_first_lanes(size_t count) { return (mask)((1u << count) - 1); }

static inline vec v_load_some(const uint8_t *at, size_t count, vec fill) {
    return _mm512_mask_loadu_ps(fill, v_first_lanes(count), at);
}

static inline void v_store_some(uint8_t *at, size_t count, vec x) {
    _mm512_mask_storeu_ps(at, v_first_lanes(count), x);
}

static inline vec v_add(vec a, vec b) { return _mm512_add_ps(a, b); }
static inline vec v_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
static inline vec v_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
static inline vec v_div(vec a, vec b) { return _mm512_div_ps(a, b); }
static inline vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
static inline vec v_min(vec a, vec b) { return _mm512_min_ps(a, b); }
static inline vec v_max(vec a, vec b) { return _mm512_max_ps(a, b); }
static inline vec v_and(vec a, vec b) { return _mm512_and_ps(a, b); }
static inline vec v_or(vec a, vec b) { return _mm512_or_ps(a, b); }
static inline vec v_andnot(vec a, vec b) { return _mm512_andnot_ps(a, b); }

static inline vec v_max_bits(vec a, vec b) {
    return _mm512_castsi512_ps(_mm512_max_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}

static inline mask v_less(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
static inline mask v_unordered(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
static inline mask v_either(mask a, mask b) { return (mask)(a | b); }
static inline int v_any(mask m) { return m != 0; }
static inline vec v_select(mask m, vec yes, vec no) { return _mm512_mask_mov_ps(no, m, yes); }

static inline vec v_nan(void) { return _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)); }
static inline vec v_one_nan(vec x) { return v_select(v_unordered(x, x), v_nan(), x); }

/* `distance` is a constant after inlining. */
SIMD_INLINE vec v_swap(vec x, int distance) {
    switch (distance) {
    case 8: return _mm512_shuffle_f32x4(x, x, 0x4e);
    case 4: return _mm512_shuffle_f32x4(x, x, 0xb1);
    case 2: return _mm512_permute_ps(x, 0x4e);
    default: return _mm512_permute_ps(x, 0xb1);
    }
}

static inline vec v_minus(vec x) { return _mm512_xor_ps(x, v_set(-0.0f)); }

static inline __m512i v_bits(vec x) { return _mm512_castps_si512(x); }
static inline vec v_from_bits(__m512i bits) { return _mm512_castsi512_ps(bits); }

static inline vec v_power_from(vec start, vec magic) {
    return v_from_bits(_mm512_add_epi32(v_bits(start), _mm512_slli_epi32(v_bits(magic), 23)));
}

static inline vec v_power(vec magic) { return v_power_from(v_set(1), magic); }

static inline vec v_halves(vec magic, vec *half) {
    const __m512i h = _mm512_and_si512(_mm512_slli_epi32(v_bits(magic), 22), _mm512_set1_epi32((int)0xff800000));
    *half = v_from_bits(_mm512_sub_epi32(_mm512_set1_epi32(0x3f800000), h));
    return v_power_from(*half, magic);
}

static inline vec v_scale(vec p, vec magic) { return _mm512_scalef_ps(p, _mm512_sub_ps(magic, v_set(0x1.8p23f))); }

static inline vec v_scale_down(vec p, vec magic) { return v_scale(p, magic); }

#endif
