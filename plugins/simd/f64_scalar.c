/*
 * f64_scalar.c: the kernels of doubles for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lanes_f64_scalar.h"

#include "f64.h"

const struct simd_kernel simd_f64_scalar[SIMD_F64_KERNELS] = {
    {"vec_add_f64", run_add, NULL, 2048, 630, 0},
    {"axpy_f64", run_axpy, NULL, 2048, 630, 0},
    {"sum_f64", run_sum, finish_sum, 4, 170, 0},
    {"max_abs_diff_f64", run_diff, finish_diff, 4, 900, 0},
};
