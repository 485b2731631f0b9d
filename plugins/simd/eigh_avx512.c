/*
 * eigh_avx512.c: eigenvalues for AVX-512, eight matrices side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>
#include <stdbool.h>

#define LANES 8
typedef __m512d real;
typedef __mmask8 lane_mask;

static inline real real_all(double x) { return _mm512_set1_pd(x); }
static inline real real_add(real a, real b) { return _mm512_add_pd(a, b); }
static inline real real_sub(real a, real b) { return _mm512_sub_pd(a, b); }
static inline real real_mul(real a, real b) { return _mm512_mul_pd(a, b); }
static inline real real_div(real a, real b) { return _mm512_div_pd(a, b); }
static inline real real_sqrt(real a) { return _mm512_sqrt_pd(a); }
static inline real real_abs(real a) { return _mm512_abs_pd(a); }
static inline real real_negate_if_negative(real a, real b) {
    const __mmask8 below = _mm512_cmp_pd_mask(b, _mm512_setzero_pd(), _CMP_LT_OQ);
    return _mm512_mask_xor_pd(a, below, a, _mm512_set1_pd(-0.0));
}
static inline lane_mask mask_none(void) { return 0; }
static inline lane_mask mask_over(real a, real b) { return _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ); }
static inline lane_mask mask_or(lane_mask m, lane_mask n) { return (lane_mask)(m | n); }
static inline bool mask_any(lane_mask m) { return m != 0; }
static inline real real_select(lane_mask m, real a, real b) { return _mm512_mask_mov_pd(b, m, a); }

#include "eigh.h"

const struct simd_kernel simd_eigh_avx512[SIMD_EIGH_KERNELS] = {
    {"eigh_f64", eigh_run, NULL, 8, 1800, 0},
};
