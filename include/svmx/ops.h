/*
 * svmx/ops.h: typed calls for the built-in operations.
 *
 * Each adds one task to a batch, outputs first, and answers what svmx_batch_add answers. docs/OPERATIONS.md has the
 * formula, the rules for arguments and the order of every rounding.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_H
#define SVMX_OPS_H

#include <string.h>
#include <svmx/svmx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of the built-in operations, for svmx_batch_add. Append-only. */
enum svmx_op_id {
    SVMX_OP_VEC_ADD_F32 = 1,
    SVMX_OP_VEC_MUL_F32 = 2,
    SVMX_OP_SUM_F32 = 3,
    SVMX_OP_DOT_F32 = 4,
    SVMX_OP_SHA256 = 5,
    SVMX_OP_KECCAK256 = 6,
    SVMX_OP_VEC_SUB_F32 = 7,
    SVMX_OP_AXPY_F32 = 8,
    SVMX_OP_MAX_F32 = 9,
    SVMX_OP_MIN_F32 = 10,
    SVMX_OP_RELU_F32 = 11,
    SVMX_OP_LEAKY_RELU_F32 = 12,
    SVMX_OP_ELU_F32 = 13,
    SVMX_OP_CLIP_F32 = 14,
    SVMX_OP_SIGMOID_F32 = 15,
    SVMX_OP_TANH_F32 = 16,
    SVMX_OP_SWISH_F32 = 17,
    SVMX_OP_GELU_F32 = 18,
    SVMX_OP_EXP_F32 = 19,
    SVMX_OP_SOFTMAX_F32 = 20,
    SVMX_OP_LOG_SOFTMAX_F32 = 21,
    SVMX_OP_MAX_ABS_DIFF_F32 = 22,
    SVMX_OP_MATMUL_F32 = 23,
    SVMX_OP_MATMUL_BATCH_F32 = 24,
    SVMX_OP_VEC_ADD_F64 = 25,
    SVMX_OP_AXPY_F64 = 26,
    SVMX_OP_SUM_F64 = 27,
    SVMX_OP_MAX_ABS_DIFF_F64 = 28,
    SVMX_OP_MOD_ADD_U256 = 29,
    SVMX_OP_MOD_SUB_U256 = 30,
    SVMX_OP_MOD_MUL_U256 = 31,
    SVMX_OP_MONT_MUL_U256 = 32,
    SVMX_OP_MOD_ADD_U384 = 33,
    SVMX_OP_MOD_SUB_U384 = 34,
    SVMX_OP_MOD_MUL_U384 = 35,
    SVMX_OP_MONT_MUL_U384 = 36,
    SVMX_OP_GOLDILOCKS_ADD = 37,
    SVMX_OP_GOLDILOCKS_MUL = 38,
    SVMX_OP_MERKLE_ROOT_SHA256 = 39,
    SVMX_OP_MERKLE_ROOT_KECCAK256 = 40,
    SVMX_OP_MERKLE_TREE_SHA256 = 41,
    SVMX_OP_MERKLE_TREE_KECCAK256 = 42,
    SVMX_OP_ECRECOVER = 43,
    SVMX_OP_ECDSA_VERIFY_SECP256K1 = 44,
    SVMX_OP_ED25519_VERIFY = 45,
    SVMX_OP_GRID_TRANSPOSE_U8 = 46,
    SVMX_OP_GRID_ROTATE_U8 = 47,
    SVMX_OP_GRID_FLIP_U8 = 48,
    SVMX_OP_EIGH_F64 = 49
};

/* out[i] = a[i] + b[i] for i < n */
static inline enum svmx_status svmx_vec_add_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                                size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3);
}

/* out[i] = a[i] * b[i] for i < n */
static inline enum svmx_status svmx_vec_mul_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                                size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, args, 3);
}

/* *out = a[0] + ... + a[n - 1], added in one fixed order; +0 for n = 0 */
static inline enum svmx_status svmx_sum_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_SUM_F32, args, 2);
}

/* *out = a[0] b[0] + ... + a[n - 1] b[n - 1], products rounded, added in one fixed order; +0 for n = 0 */
static inline enum svmx_status svmx_dot_f32(svmx_batch_t *batch, float *out, const float *a, const float *b, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_DOT_F32, args, 3);
}

/* out[i] = a[i] - b[i] for i < n */
static inline enum svmx_status svmx_vec_sub_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                                size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_VEC_SUB_F32, args, 3);
}

/* out[i] = alpha * x[i] + y[i] for i < n, product and sum rounded */
static inline enum svmx_status svmx_axpy_f32(svmx_batch_t *batch, float *out, const float *x, const float *y,
                                             float alpha, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, x, n), svmx_in(SVMX_F32, y, n),
                                    svmx_f32(alpha)};
    return svmx_batch_add(batch, SVMX_OP_AXPY_F32, args, 4);
}

/* *out = the greatest of a[0] to a[n - 1]; -inf for n = 0 */
static inline enum svmx_status svmx_max_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_MAX_F32, args, 2);
}

/* *out = the least of a[0] to a[n - 1]; +inf for n = 0 */
static inline enum svmx_status svmx_min_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_MIN_F32, args, 2);
}

/* *out = the greatest |a[i] - b[i]|; +0 for n = 0 */
static inline enum svmx_status svmx_max_abs_diff_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                                     size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_MAX_ABS_DIFF_F32, args, 3);
}

/* out[i] = a[i] > 0 ? a[i] : +0 for i < n */
static inline enum svmx_status svmx_relu_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_RELU_F32, args, 2);
}

/* out[i] = a[i] > 0 ? a[i] : slope * a[i] for i < n */
static inline enum svmx_status svmx_leaky_relu_f32(svmx_batch_t *batch, float *out, const float *a, float slope,
                                                   size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_f32(slope)};
    return svmx_batch_add(batch, SVMX_OP_LEAKY_RELU_F32, args, 3);
}

/* out[i] = a[i] > 0 ? a[i] : alpha * (e^a[i] - 1) for i < n */
static inline enum svmx_status svmx_elu_f32(svmx_batch_t *batch, float *out, const float *a, float alpha, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_f32(alpha)};
    return svmx_batch_add(batch, SVMX_OP_ELU_F32, args, 3);
}

/* out[i] = a[i], but at least low and at most high, for i < n; low <= high */
static inline enum svmx_status svmx_clip_f32(svmx_batch_t *batch, float *out, const float *a, float low, float high,
                                             size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_f32(low), svmx_f32(high)};
    return svmx_batch_add(batch, SVMX_OP_CLIP_F32, args, 4);
}

/* out[i] = 1 / (1 + e^-a[i]) for i < n */
static inline enum svmx_status svmx_sigmoid_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_SIGMOID_F32, args, 2);
}

/* out[i] = tanh a[i] for i < n */
static inline enum svmx_status svmx_tanh_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_TANH_F32, args, 2);
}

/* out[i] = a[i] / (1 + e^-a[i]) for i < n */
static inline enum svmx_status svmx_swish_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_SWISH_F32, args, 2);
}

/* out[i] = a[i] / 2 (1 + tanh(sqrt(2 / pi) (a[i] + 0.044715 a[i]^3))) for i < n */
static inline enum svmx_status svmx_gelu_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_GELU_F32, args, 2);
}

/* out[i] = e^a[i] for i < n */
static inline enum svmx_status svmx_exp_f32(svmx_batch_t *batch, float *out, const float *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n)};
    return svmx_batch_add(batch, SVMX_OP_EXP_F32, args, 2);
}

/* Rows of `width` elements, n in all: out[i] = e^a[i] / the sum of e^a[j] over its row */
static inline enum svmx_status svmx_softmax_f32(svmx_batch_t *batch, float *out, const float *a, uint64_t width,
                                                size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_u64(width)};
    return svmx_batch_add(batch, SVMX_OP_SOFTMAX_F32, args, 3);
}

/* Rows of `width` elements, n in all: out[i] = the logarithm of what softmax_f32 gives */
static inline enum svmx_status svmx_log_softmax_f32(svmx_batch_t *batch, float *out, const float *a, uint64_t width,
                                                    size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, n), svmx_in(SVMX_F32, a, n), svmx_u64(width)};
    return svmx_batch_add(batch, SVMX_OP_LOG_SOFTMAX_F32, args, 3);
}

/* out[i] = a[i] + b[i] for i < n */
static inline enum svmx_status svmx_vec_add_f64(svmx_batch_t *batch, double *out, const double *a, const double *b,
                                                size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F64, out, n), svmx_in(SVMX_F64, a, n), svmx_in(SVMX_F64, b, n)};
    return svmx_batch_add(batch, SVMX_OP_VEC_ADD_F64, args, 3);
}

/* out[i] = alpha * x[i] + y[i] for i < n, product and sum rounded */
static inline enum svmx_status svmx_axpy_f64(svmx_batch_t *batch, double *out, const double *x, const double *y,
                                             double alpha, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F64, out, n), svmx_in(SVMX_F64, x, n), svmx_in(SVMX_F64, y, n),
                                    svmx_f64(alpha)};
    return svmx_batch_add(batch, SVMX_OP_AXPY_F64, args, 4);
}

/* *out = a[0] + ... + a[n - 1], added in one fixed order; +0 for n = 0 */
static inline enum svmx_status svmx_sum_f64(svmx_batch_t *batch, double *out, const double *a, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F64, out, 1), svmx_in(SVMX_F64, a, n)};
    return svmx_batch_add(batch, SVMX_OP_SUM_F64, args, 2);
}

/* *out = the greatest |a[i] - b[i]|; +0 for n = 0 */
static inline enum svmx_status svmx_max_abs_diff_f64(svmx_batch_t *batch, double *out, const double *a, const double *b,
                                                     size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F64, out, 1), svmx_in(SVMX_F64, a, n), svmx_in(SVMX_F64, b, n)};
    return svmx_batch_add(batch, SVMX_OP_MAX_ABS_DIFF_F64, args, 3);
}

/*
 * Shared by arithmetic modulo a number: n elements of `limbs` words each, lowest word first. The modulus is one
 * element, odd and greater than 1. Operands may be any numbers, also above the modulus; results are below it.
 */
static inline enum svmx_status svmx_field_task(svmx_batch_t *batch, uint32_t op, uint32_t limbs, uint64_t *out,
                                               const uint64_t *a, const uint64_t *b, const uint64_t *modulus,
                                               size_t n) {
    const uint64_t words = n <= (UINT64_MAX >> 9) ? (uint64_t)limbs * n : UINT64_MAX;
    const struct svmx_arg args[] = {svmx_out(SVMX_U64, out, words), svmx_in(SVMX_U64, a, words),
                                    svmx_in(SVMX_U64, b, words), svmx_in(SVMX_U64, modulus, limbs)};
    return svmx_batch_add(batch, op, args, 4);
}

/* out[i] = a[i] + b[i] modulo m, for i < n; elements of 4 words */
static inline enum svmx_status svmx_mod_add_u256(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[4], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_ADD_U256, 4, out, a, b, modulus, n);
}

/* out[i] = a[i] - b[i] modulo m, for i < n; elements of 4 words */
static inline enum svmx_status svmx_mod_sub_u256(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[4], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_SUB_U256, 4, out, a, b, modulus, n);
}

/* out[i] = a[i] b[i] modulo m, for i < n; elements of 4 words */
static inline enum svmx_status svmx_mod_mul_u256(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[4], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_MUL_U256, 4, out, a, b, modulus, n);
}

/* out[i] = a[i] b[i] 2^-256 modulo m: Montgomery's product, for i < n; elements of 4 words */
static inline enum svmx_status svmx_mont_mul_u256(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                  const uint64_t *b, const uint64_t modulus[4], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MONT_MUL_U256, 4, out, a, b, modulus, n);
}

/* out[i] = a[i] + b[i] modulo m, for i < n; elements of 6 words */
static inline enum svmx_status svmx_mod_add_u384(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[6], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_ADD_U384, 6, out, a, b, modulus, n);
}

/* out[i] = a[i] - b[i] modulo m, for i < n; elements of 6 words */
static inline enum svmx_status svmx_mod_sub_u384(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[6], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_SUB_U384, 6, out, a, b, modulus, n);
}

/* out[i] = a[i] b[i] modulo m, for i < n; elements of 6 words */
static inline enum svmx_status svmx_mod_mul_u384(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                 const uint64_t *b, const uint64_t modulus[6], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MOD_MUL_U384, 6, out, a, b, modulus, n);
}

/* out[i] = a[i] b[i] 2^-384 modulo m: Montgomery's product, for i < n; elements of 6 words */
static inline enum svmx_status svmx_mont_mul_u384(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                  const uint64_t *b, const uint64_t modulus[6], size_t n) {
    return svmx_field_task(batch, SVMX_OP_MONT_MUL_U384, 6, out, a, b, modulus, n);
}

/* out[i] = a[i] + b[i] modulo 2^64 - 2^32 + 1, for i < n; any words, results below the prime */
static inline enum svmx_status svmx_goldilocks_add(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                   const uint64_t *b, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_U64, out, n), svmx_in(SVMX_U64, a, n), svmx_in(SVMX_U64, b, n)};
    return svmx_batch_add(batch, SVMX_OP_GOLDILOCKS_ADD, args, 3);
}

/* out[i] = a[i] b[i] modulo 2^64 - 2^32 + 1, for i < n; any words, results below the prime */
static inline enum svmx_status svmx_goldilocks_mul(svmx_batch_t *batch, uint64_t *out, const uint64_t *a,
                                                   const uint64_t *b, size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_U64, out, n), svmx_in(SVMX_U64, a, n), svmx_in(SVMX_U64, b, n)};
    return svmx_batch_add(batch, SVMX_OP_GOLDILOCKS_MUL, args, 3);
}

/* Shared by the hashes: n messages end to end in `data`, message i being data[offsets[i] .. offsets[i + 1]). */
static inline enum svmx_status svmx_hash_messages(svmx_batch_t *batch, uint32_t op, uint8_t *digests,
                                                  const uint8_t *data, const uint64_t *offsets, size_t n) {
    uint64_t data_bytes = 0;
    if (offsets && n <= (UINT64_C(1) << 41)) memcpy(&data_bytes, offsets + n, sizeof data_bytes); /* more is refused */
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, digests, n <= (UINT64_MAX >> 9) ? 32 * (uint64_t)n : UINT64_MAX),
                                    svmx_in(SVMX_U8, data, data_bytes),
                                    svmx_in(SVMX_U64, offsets, offsets ? (uint64_t)n + 1 : 0)};
    return svmx_batch_add(batch, op, args, 3);
}

/* digests[32 i ..] = SHA-256 of message i. offsets has n + 1 entries. */
static inline enum svmx_status svmx_sha256(svmx_batch_t *batch, uint8_t *digests, const uint8_t *data,
                                           const uint64_t *offsets, size_t n) {
    return svmx_hash_messages(batch, SVMX_OP_SHA256, digests, data, offsets, n);
}

/* digests[32 i ..] = Keccak-256 (the padding of Ethereum, not of SHA-3) of message i. offsets has n + 1 entries. */
static inline enum svmx_status svmx_keccak256(svmx_batch_t *batch, uint8_t *digests, const uint8_t *data,
                                              const uint64_t *offsets, size_t n) {
    return svmx_hash_messages(batch, SVMX_OP_KECCAK256, digests, data, offsets, n);
}

/* a * b, or the largest number where that does not fit: no memory has so many elements, so the batch refuses them. */
static inline uint64_t svmx_times(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* ---- trees ------------------------------------------------------------------------------------------------ */

/* What becomes of the last node of a level with an odd number of them. */
enum svmx_merkle_odd {
    SVMX_MERKLE_DUPLICATE = 0, /* its parent is the hash of it and itself (Bitcoin) */
    SVMX_MERKLE_PROMOTE = 1    /* it is its own parent */
};

/* Nodes of a tree over n leaves, the leaves not counted: ceil(n / 2) + ceil(n / 4) + ... + 1; none for n < 2. */
static inline uint64_t svmx_merkle_nodes(uint64_t n) {
    uint64_t nodes = 0;
    for (; n > 1; nodes += n) n = n / 2 + n % 2;
    return nodes;
}

/* Shared by the trees: `out` has `items` nodes of 32 bytes. */
static inline enum svmx_status svmx_merkle(svmx_batch_t *batch, uint32_t op, uint8_t *out, uint64_t items,
                                           const uint8_t *leaves, size_t n, enum svmx_merkle_odd odd) {
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, out, svmx_times(items, 32)),
                                    svmx_in(SVMX_U8, leaves, svmx_times(n, 32)), svmx_u32((uint32_t)odd)};
    return svmx_batch_add(batch, op, args, 3);
}

/* root = the root of the tree over n leaves of 32 bytes, n at least 1; a parent is SHA-256(left || right) */
static inline enum svmx_status svmx_merkle_root_sha256(svmx_batch_t *batch, uint8_t root[32], const uint8_t *leaves,
                                                       size_t n, enum svmx_merkle_odd odd) {
    return svmx_merkle(batch, SVMX_OP_MERKLE_ROOT_SHA256, root, 1, leaves, n, odd);
}

/* The same with Keccak-256. */
static inline enum svmx_status svmx_merkle_root_keccak256(svmx_batch_t *batch, uint8_t root[32], const uint8_t *leaves,
                                                          size_t n, enum svmx_merkle_odd odd) {
    return svmx_merkle(batch, SVMX_OP_MERKLE_ROOT_KECCAK256, root, 1, leaves, n, odd);
}

/* nodes = every node above the leaves, svmx_merkle_nodes(n) of 32 bytes: the leaves' parents first, the root last */
static inline enum svmx_status svmx_merkle_tree_sha256(svmx_batch_t *batch, uint8_t *nodes, const uint8_t *leaves,
                                                       size_t n, enum svmx_merkle_odd odd) {
    return svmx_merkle(batch, SVMX_OP_MERKLE_TREE_SHA256, nodes, svmx_merkle_nodes(n), leaves, n, odd);
}

/* The same with Keccak-256. */
static inline enum svmx_status svmx_merkle_tree_keccak256(svmx_batch_t *batch, uint8_t *nodes, const uint8_t *leaves,
                                                          size_t n, enum svmx_merkle_odd odd) {
    return svmx_merkle(batch, SVMX_OP_MERKLE_TREE_KECCAK256, nodes, svmx_merkle_nodes(n), leaves, n, odd);
}

/* ---- signatures: SVMX_ERR_UNKNOWN in a library built without libsecp256k1 or libsodium ----------------------- */

/* addresses[20 i ..] = who signed hash i, as Ethereum's precompile 1; valid[i] = 1, or 0 and an address of zeros. hashes,
 * v, r and s are n words of 32 bytes, big-endian. */
static inline enum svmx_status svmx_ecrecover(svmx_batch_t *batch, uint8_t *addresses, uint8_t *valid,
                                              const uint8_t *hashes, const uint8_t *v, const uint8_t *r,
                                              const uint8_t *s, size_t n) {
    const uint64_t bytes = svmx_times(n, 32);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, addresses, svmx_times(n, 20)),
                                    svmx_out(SVMX_U8, valid, n),
                                    svmx_in(SVMX_U8, hashes, bytes),
                                    svmx_in(SVMX_U8, v, bytes),
                                    svmx_in(SVMX_U8, r, bytes),
                                    svmx_in(SVMX_U8, s, bytes)};
    return svmx_batch_add(batch, SVMX_OP_ECRECOVER, args, 6);
}

/* valid[i] = 1 if (r[i], s[i]) signs hash i under key i (x || y, 64 bytes), as libsecp256k1 accepts it; else 0 */
static inline enum svmx_status svmx_ecdsa_verify_secp256k1(svmx_batch_t *batch, uint8_t *valid, const uint8_t *hashes,
                                                           const uint8_t *r, const uint8_t *s, const uint8_t *keys,
                                                           size_t n) {
    const uint64_t bytes = svmx_times(n, 32);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, valid, n), svmx_in(SVMX_U8, hashes, bytes),
                                    svmx_in(SVMX_U8, r, bytes), svmx_in(SVMX_U8, s, bytes),
                                    svmx_in(SVMX_U8, keys, svmx_times(n, 64))};
    return svmx_batch_add(batch, SVMX_OP_ECDSA_VERIFY_SECP256K1, args, 5);
}

/* valid[i] = 1 if signature i (64 bytes) is key i's (32 bytes) of message i, as libsodium accepts it; else 0. Messages as
 * in svmx_sha256: offsets has n + 1 entries. */
static inline enum svmx_status svmx_ed25519_verify(svmx_batch_t *batch, uint8_t *valid, const uint8_t *keys,
                                                   const uint8_t *signatures, const uint8_t *messages,
                                                   const uint64_t *offsets, size_t n) {
    uint64_t message_bytes = 0;
    if (offsets && n < (UINT64_C(1) << 43)) memcpy(&message_bytes, offsets + n, sizeof message_bytes);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, valid, n), svmx_in(SVMX_U8, keys, svmx_times(n, 32)),
                                    svmx_in(SVMX_U8, signatures, svmx_times(n, 64)),
                                    svmx_in(SVMX_U8, messages, message_bytes),
                                    svmx_in(SVMX_U64, offsets, offsets ? (uint64_t)n + 1 : 0)};
    return svmx_batch_add(batch, SVMX_OP_ED25519_VERIFY, args, 5);
}

/* ---- grids: n of them, height x width bytes each, row by row ------------------------------------------------- */

/* out[g][x][y] = grids[g][y][x]: width x height */
static inline enum svmx_status svmx_grid_transpose_u8(svmx_batch_t *batch, uint8_t *out, const uint8_t *grids, size_t n,
                                                      uint32_t height, uint32_t width) {
    const uint64_t bytes = svmx_times(n, (uint64_t)height * width);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, out, bytes), svmx_in(SVMX_U8, grids, bytes), svmx_u32(height),
                                    svmx_u32(width)};
    return svmx_batch_add(batch, SVMX_OP_GRID_TRANSPOSE_U8, args, 4);
}

/* Each grid turned clockwise by 1, 2 or 3 quarters. */
static inline enum svmx_status svmx_grid_rotate_u8(svmx_batch_t *batch, uint8_t *out, const uint8_t *grids, size_t n,
                                                   uint32_t height, uint32_t width, uint32_t quarter_turns) {
    const uint64_t bytes = svmx_times(n, (uint64_t)height * width);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, out, bytes), svmx_in(SVMX_U8, grids, bytes), svmx_u32(height),
                                    svmx_u32(width), svmx_u32(quarter_turns)};
    return svmx_batch_add(batch, SVMX_OP_GRID_ROTATE_U8, args, 5);
}

enum svmx_grid_axis {
    SVMX_GRID_LEFT_RIGHT = 0, /* out[g][y][x] = grids[g][y][width - 1 - x] */
    SVMX_GRID_UP_DOWN = 1     /* out[g][y][x] = grids[g][height - 1 - y][x] */
};

/* Each grid mirrored. */
static inline enum svmx_status svmx_grid_flip_u8(svmx_batch_t *batch, uint8_t *out, const uint8_t *grids, size_t n,
                                                 uint32_t height, uint32_t width, enum svmx_grid_axis axis) {
    const uint64_t bytes = svmx_times(n, (uint64_t)height * width);
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, out, bytes), svmx_in(SVMX_U8, grids, bytes), svmx_u32(height),
                                    svmx_u32(width), svmx_u32((uint32_t)axis)};
    return svmx_batch_add(batch, SVMX_OP_GRID_FLIP_U8, args, 5);
}

/* ---- matrix products -------------------------------------------------------------------------------------- */

/* out = a b: a has m rows of k, b has k rows of n, out has m rows of n, without gaps. A fused multiply-add a step. */
static inline enum svmx_status svmx_matmul_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                               uint64_t m, uint64_t k, uint64_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, svmx_times(m, n)),
                                    svmx_in(SVMX_F32, a, svmx_times(m, k)),
                                    svmx_in(SVMX_F32, b, svmx_times(k, n)),
                                    svmx_u64(m),
                                    svmx_u64(k),
                                    svmx_u64(n)};
    return svmx_batch_add(batch, SVMX_OP_MATMUL_F32, args, 6);
}

/* `count` such products of one shape, their matrices one after another. */
static inline enum svmx_status svmx_matmul_batch_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                                     uint64_t count, uint64_t m, uint64_t k, uint64_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, svmx_times(count, svmx_times(m, n))),
                                    svmx_in(SVMX_F32, a, svmx_times(count, svmx_times(m, k))),
                                    svmx_in(SVMX_F32, b, svmx_times(count, svmx_times(k, n))),
                                    svmx_u64(count),
                                    svmx_u64(m),
                                    svmx_u64(k),
                                    svmx_u64(n)};
    return svmx_batch_add(batch, SVMX_OP_MATMUL_BATCH_F32, args, 7);
}

/* ---- eigenvalues ------------------------------------------------------------------------------------------ */

/* Of n symmetric matrices of order 2 to 32, row by row, of which the lower triangle is read: values[order g ..] ascending,
 * and row k of vectors[order order g ..] is the unit vector that belongs to value k. */
static inline enum svmx_status svmx_eigh_f64(svmx_batch_t *batch, double *values, double *vectors,
                                             const double *matrices, size_t n, uint32_t order) {
    const uint64_t cells = svmx_times(n, (uint64_t)order * order);
    const struct svmx_arg args[] = {svmx_out(SVMX_F64, values, svmx_times(n, order)),
                                    svmx_out(SVMX_F64, vectors, cells), svmx_in(SVMX_F64, matrices, cells),
                                    svmx_u32(order)};
    return svmx_batch_add(batch, SVMX_OP_EIGH_F64, args, 4);
}

#ifdef __cplusplus
}
#endif
#endif
