/*
 * eigh_scalar.c: eigenvalues for any machine, a matrix at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdbool.h>

#define LANES 1
typedef double real;
typedef bool lane_mask;

static inline real real_all(double x) { return x; }
static inline real real_add(real a, real b) { return a + b; }
static inline real real_sub(real a, real b) { return a - b; }
static inline real real_mul(real a, real b) { return a * b; }
static inline real real_div(real a, real b) { return a / b; }
static inline real real_sqrt(real a) { return sqrt(a); }
static inline real real_abs(real a) { return fabs(a); }
static inline real real_negate_if_negative(real a, real b) { return b < 0 ? -a : a; }
static inline lane_mask mask_none(void) { return false; }
static inline lane_mask mask_over(real a, real b) { return !(a <= b); }
static inline lane_mask mask_or(lane_mask m, lane_mask n) { return m || n; }
static inline bool mask_any(lane_mask m) { return m; }
static inline real real_select(lane_mask m, real a, real b) {
    (void)b; /* whoever is alone and not turned is not asked */
    (void)m;
    return a;
}

#include "eigh.h"

const struct simd_kernel simd_eigh_scalar[SIMD_EIGH_KERNELS] = {
    {"eigh_f64", eigh_run, NULL, 1, 10000, 0},
};
