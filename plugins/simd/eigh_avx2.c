/*
 * eigh_avx2.c: eigenvalues for AVX2, four matrices side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <immintrin.h>
#include <stdbool.h>

#define LANES 4
typedef __m256d real;
typedef __m256d lane_mask;

static inline real real_all(double x) { return _mm256_set1_pd(x); }
static inline real real_add(real a, real b) { return _mm256_add_pd(a, b); }
static inline real real_sub(real a, real b) { return _mm256_sub_pd(a, b); }
static inline real real_mul(real a, real b) { return _mm256_mul_pd(a, b); }
static inline real real_div(real a, real b) { return _mm256_div_pd(a, b); }
static inline real real_sqrt(real a) { return _mm256_sqrt_pd(a); }
static inline real real_abs(real a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
static inline real real_negate_if_negative(real a, real b) {
    const real below = _mm256_cmp_pd(b, _mm256_setzero_pd(), _CMP_LT_OQ);
    return _mm256_xor_pd(a, _mm256_and_pd(below, _mm256_set1_pd(-0.0)));
}
static inline lane_mask mask_none(void) { return _mm256_setzero_pd(); }
static inline lane_mask mask_over(real a, real b) { return _mm256_cmp_pd(a, b, _CMP_NLE_UQ); }
static inline lane_mask mask_or(lane_mask m, lane_mask n) { return _mm256_or_pd(m, n); }
static inline bool mask_any(lane_mask m) { return _mm256_movemask_pd(m) != 0; }
static inline real real_select(lane_mask m, real a, real b) { return _mm256_blendv_pd(b, a, m); }

#include "eigh.h"

const struct simd_kernel simd_eigh_avx2[SIMD_EIGH_KERNELS] = {
    {"eigh_f64", eigh_run, NULL, 4, 3500, 0},
};
