/*
 * f32_scalar.c: the kernels of floats for any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lanes_f32_scalar.h"

#include "f32.h"

const struct simd_kernel simd_f32_scalar[SIMD_F32_KERNELS] = {
    {"vec_add_f32", run_add, NULL, 4096, 170},
    {"vec_sub_f32", run_subtract, NULL, 4096, 170},
    {"vec_mul_f32", run_multiply, NULL, 4096, 170},
    {"axpy_f32", run_axpy, NULL, 4096, 190},
    {"relu_f32", run_relu, NULL, 4096, 130},
    {"leaky_relu_f32", run_leaky_relu, NULL, 4096, 1400},
    {"elu_f32", run_elu, NULL, 2048, 11000},
    {"clip_f32", run_clip, NULL, 4096, 350},
    {"sigmoid_f32", run_sigmoid, NULL, 2048, 20000},
    {"tanh_f32", run_tanh, NULL, 2048, 20000},
    {"swish_f32", run_swish, NULL, 2048, 25000},
    {"gelu_f32", run_gelu, NULL, 2048, 25000},
    {"exp_f32", run_exp, NULL, 2048, 20000},
    {"softmax_f32", run_softmax, NULL, 1, 22000},
    {"log_softmax_f32", run_log_softmax, NULL, 1, 22000},
    {"sum_f32", run_sum, finish_sum, 4, 60},
    {"dot_f32", run_dot, finish_sum, 4, 110},
    {"max_f32", run_max, finish_max, 4, 330},
    {"min_f32", run_min, finish_min, 4, 330},
    {"max_abs_diff_f32", run_diff, finish_diff, 4, 200},
};
