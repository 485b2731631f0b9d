/*
 * f32_avx2.c: the kernels of floats for AVX2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lanes_f32_avx2.h"

#include "f32.h"

const struct simd_kernel simd_f32_avx2[SIMD_F32_KERNELS] = {
    {"vec_add_f32", run_add, NULL, 4096, 110},
    {"vec_sub_f32", run_subtract, NULL, 4096, 110},
    {"vec_mul_f32", run_multiply, NULL, 4096, 110},
    {"axpy_f32", run_axpy, NULL, 4096, 110},
    {"relu_f32", run_relu, NULL, 4096, 75},
    {"leaky_relu_f32", run_leaky_relu, NULL, 4096, 75},
    {"elu_f32", run_elu, NULL, 2048, 340},
    {"clip_f32", run_clip, NULL, 4096, 75},
    {"sigmoid_f32", run_sigmoid, NULL, 2048, 430},
    {"tanh_f32", run_tanh, NULL, 2048, 600},
    {"swish_f32", run_swish, NULL, 2048, 570},
    {"gelu_f32", run_gelu, NULL, 2048, 720},
    {"exp_f32", run_exp, NULL, 2048, 350},
    {"softmax_f32", run_softmax, NULL, 1, 500},
    {"log_softmax_f32", run_log_softmax, NULL, 1, 430},
    {"sum_f32", run_sum, finish_sum, 4, 40},
    {"dot_f32", run_dot, finish_sum, 4, 75},
    {"max_f32", run_max, finish_max, 4, 70},
    {"min_f32", run_min, finish_min, 4, 70},
    {"max_abs_diff_f32", run_diff, finish_diff, 4, 80},
};
