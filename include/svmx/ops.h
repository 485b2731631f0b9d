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
    SVMX_OP_VEC_ADD_F64 = 25,
    SVMX_OP_AXPY_F64 = 26,
    SVMX_OP_SUM_F64 = 27,
    SVMX_OP_MAX_ABS_DIFF_F64 = 28
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
static inline enum svmx_status svmx_dot_f32(svmx_batch_t *batch, float *out, const float *a, const float *b,
                                            size_t n) {
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, 1), svmx_in(SVMX_F32, a, n), svmx_in(SVMX_F32, b, n)};
    return svmx_batch_add(batch, SVMX_OP_DOT_F32, args, 3);
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

#ifdef __cplusplus
}
#endif
#endif
