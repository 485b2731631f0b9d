/*
 * f32_avx512.c: the kernels of floats for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lanes_f32_avx512.h"

#include "f32.h"

const struct simd_kernel simd_f32_avx512[SIMD_F32_KERNELS] = {
    {"vec_add_f32", run_add, NULL, 4096, 110, 0},
    {"vec_sub_f32", run_subtract, NULL, 4096, 110, 0},
    {"vec_mul_f32", run_multiply, NULL, 4096, 110, 0},
    {"axpy_f32", run_axpy, NULL, 4096, 110, 0},
    {"relu_f32", run_relu, NULL, 4096, 75, 0},
    {"leaky_relu_f32", run_leaky_relu, NULL, 4096, 75, 0},
    {"elu_f32", run_elu, NULL, 2048, 255, 0},
    {"clip_f32", run_clip, NULL, 4096, 75, 0},
    {"sigmoid_f32", run_sigmoid, NULL, 2048, 280, 0},
    {"tanh_f32", run_tanh, NULL, 2048, 430, 0},
    {"swish_f32", run_swish, NULL, 2048, 315, 0},
    {"gelu_f32", run_gelu, NULL, 2048, 400, 0},
    {"exp_f32", run_exp, NULL, 2048, 200, 0},
    {"softmax_f32", run_softmax, NULL, 1, 350, 0},
    {"log_softmax_f32", run_log_softmax, NULL, 1, 300, 0},
    {"sum_f32", run_sum, finish_sum, 4, 38, 0},
    {"dot_f32", run_dot, finish_sum, 4, 72, 0},
    {"max_f32", run_max, finish_max, 4, 60, 0},
    {"min_f32", run_min, finish_min, 4, 60, 0},
    {"max_abs_diff_f32", run_diff, finish_diff, 4, 75, 0},
};
