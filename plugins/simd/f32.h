/*
 * f32.h: the kernels of floats, written once over a lanes header: elementwise operations, reductions and softmax.
 *
 * Included by f32_scalar.c, f32_avx2.c and f32_avx512.c, each of which puts these functions into a table of its own.
 * docs/OPERATIONS.md is the definition of every operation here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_F32_H
#define SVMX_SIMD_F32_H

#include "map_pack.h"
#include "recipe_f32.h"
#include "reduce.h"
#include "softmax_f32.h"

/* For functions of a shape that others of it use more of. */
#define UNUSED __attribute__((unused))

/* ---- elementwise: a, b, and the scalars s and t ------------------------------------------------------------- */

SIMD_INLINE vec add(vec a, vec b, vec s UNUSED, vec t UNUSED) { return v_add(a, b); }
SIMD_INLINE vec subtract(vec a, vec b, vec s UNUSED, vec t UNUSED) { return v_sub(a, b); }
SIMD_INLINE vec multiply(vec a, vec b, vec s UNUSED, vec t UNUSED) { return v_mul(a, b); }
SIMD_INLINE vec axpy(vec a, vec b, vec s, vec t UNUSED) { return v_add(v_mul(s, a), b); }

/* v_max gives its second where both are zeros, +0, but also where a is a NaN. */
SIMD_INLINE vec relu(vec a, vec b UNUSED, vec s UNUSED, vec t UNUSED) {
    return v_select(v_unordered(a, a), v_nan(), v_max(a, v_set(0)));
}

SIMD_INLINE vec leaky_relu(vec a, vec b UNUSED, vec s, vec t UNUSED) {
    return v_select(v_less(v_set(0), a), a, v_mul(s, a));
}

SIMD_INLINE pack elu(pack a, pack s) { return p_select(p_less(p_set(0), a), a, p_mul(s, expm1_of(a))); }

SIMD_INLINE vec clip(vec a, vec b UNUSED, vec s, vec t) { return v_min(t, v_max(s, a)); }
SIMD_INLINE pack sigmoid(pack a, pack s UNUSED) { return sigmoid_of(a); }
SIMD_INLINE pack hyperbolic(pack a, pack s UNUSED) { return tanh_of(a); }
SIMD_INLINE pack swish(pack a, pack s UNUSED) { return swish_of(a); }
SIMD_INLINE pack gelu(pack a, pack s UNUSED) { return gelu_of(a); }
SIMD_INLINE pack exponential(pack a, pack s UNUSED) { return exp_of(a); }

/* The last step of a row: s is the sum or its logarithm, t the greatest value. */
SIMD_INLINE vec share(vec a, vec b UNUSED, vec s, vec t UNUSED) { return v_div(a, s); }
SIMD_INLINE vec log_share(vec a, vec b UNUSED, vec s, vec t) { return v_sub(v_sub(a, t), s); }

static void run_add(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, add, 0});
}
static void run_subtract(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, subtract, 0});
}
static void run_multiply(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, multiply, 0});
}
static void run_axpy(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 1, axpy, 0});
}
static void run_relu(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){1, 0, relu, 1});
}
static void run_leaky_relu(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){1, 1, leaky_relu, 0});
}
static void run_elu(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 1, elu);
}
static void run_clip(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){1, 2, clip, 0});
}
static void run_sigmoid(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 0, sigmoid);
}
static void run_tanh(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 0, hyperbolic);
}
static void run_swish(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 0, swish);
}
static void run_gelu(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 0, gelu);
}
static void run_exp(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_pack_run(d, first, end, 0, exponential);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

static void run_softmax(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    softmax_run(d, first, end, share, 0);
}
static void run_log_softmax(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    softmax_run(d, first, end, log_share, 1);
}

/* ---- reductions ----------------------------------------------------------------------------------------------- */

SIMD_INLINE vec term_itself(vec a, vec b UNUSED) { return a; }
SIMD_INLINE vec term_product(vec a, vec b) { return v_mul(a, b); }
SIMD_INLINE vec term_difference(vec a, vec b) { return v_andnot(v_set(-0.0f), v_sub(a, b)); }

/* A NaN wins, and +0 over -0: of zeros v_max gives the second, so the two orders have both signs between them. */
SIMD_INLINE vec larger(vec a, vec b) { return v_select(v_unordered(a, b), v_nan(), v_and(v_max(a, b), v_max(b, a))); }
SIMD_INLINE vec smaller(vec a, vec b) { return v_select(v_unordered(a, b), v_nan(), v_or(v_min(a, b), v_min(b, a))); }

static float block_sum(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(0), v_set(0), term_itself, v_add);
}
static float block_dot(const uint8_t *a, const uint8_t *b, size_t count) {
    return reduce_block(a, b, count, v_set(0), v_set(0), term_product, v_add);
}
static float block_max(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(-INFINITY), v_set(-INFINITY), term_itself, larger);
}
static float block_min(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(INFINITY), v_set(INFINITY), term_itself, smaller);
}
static float block_diff(const uint8_t *a, const uint8_t *b, size_t count) {
    return reduce_block(a, b, count, v_set(0), v_set(0), term_difference, v_max_bits);
}
/* Of differences: they have no sign. */
static float block_max_bits(const uint8_t *a, const uint8_t *b UNUSED, size_t count) {
    return reduce_block(a, NULL, count, v_set(0), v_set(0), term_itself, v_max_bits);
}

static void run_sum(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 1, block_sum);
}
static void run_dot(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 2, block_dot);
}
static void run_max(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 1, block_max);
}
static void run_min(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 1, block_min);
}
static void run_diff(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    reduce_run(d, first, end, 2, block_diff);
}

static void finish_sum(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_sum);
}
static void finish_max(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_max);
}
static void finish_min(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_min);
}
static void finish_diff(const struct svmx_dispatch *d, uint32_t first, uint32_t end) {
    reduce_finish(d, first, end, block_max_bits);
}

#endif
