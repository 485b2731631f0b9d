/*
 * table.c: the list of operations.
 *
 * A new operation is a file of its own in this folder, a number in svmx/ops.h and its line here. Looked up by the
 * executor for every task: by number it is one load.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <string.h>
#include <svmx/ops.h>

extern const struct svmx__op svmx__op_vec_add_f32, svmx__op_vec_mul_f32, svmx__op_sum_f32, svmx__op_dot_f32;
extern const struct svmx__op svmx__op_sha256, svmx__op_keccak256;
extern const struct svmx__op svmx__op_vec_sub_f32, svmx__op_axpy_f32, svmx__op_max_f32, svmx__op_min_f32;
extern const struct svmx__op svmx__op_relu_f32, svmx__op_leaky_relu_f32, svmx__op_elu_f32, svmx__op_clip_f32;
extern const struct svmx__op svmx__op_sigmoid_f32, svmx__op_tanh_f32, svmx__op_swish_f32, svmx__op_gelu_f32;
extern const struct svmx__op svmx__op_exp_f32, svmx__op_softmax_f32, svmx__op_log_softmax_f32;
extern const struct svmx__op svmx__op_max_abs_diff_f32, svmx__op_vec_add_f64, svmx__op_axpy_f64, svmx__op_sum_f64;
extern const struct svmx__op svmx__op_max_abs_diff_f64;
extern const struct svmx__op svmx__op_mod_add_u256, svmx__op_mod_sub_u256, svmx__op_mod_mul_u256;
extern const struct svmx__op svmx__op_mont_mul_u256, svmx__op_mod_add_u384, svmx__op_mod_sub_u384;
extern const struct svmx__op svmx__op_mod_mul_u384, svmx__op_mont_mul_u384, svmx__op_goldilocks_add;
extern const struct svmx__op svmx__op_goldilocks_mul;
extern const struct svmx__op svmx__op_merkle_root_sha256, svmx__op_merkle_root_keccak256;
extern const struct svmx__op svmx__op_merkle_tree_sha256, svmx__op_merkle_tree_keccak256;
extern const struct svmx__op svmx__op_ecrecover, svmx__op_ecdsa_verify_secp256k1, svmx__op_ed25519_verify;
extern const struct svmx__op svmx__op_grid_transpose_u8, svmx__op_grid_rotate_u8, svmx__op_grid_flip_u8;
extern const struct svmx__op svmx__op_matmul_f32, svmx__op_matmul_batch_f32, svmx__op_eigh_f64;

/* By id. An entry may be missing: an operation whose library was not there at build time. */
static const struct svmx__op *const table[SVMX__OP_LIMIT] = {
    [SVMX_OP_VEC_ADD_F32] = &svmx__op_vec_add_f32,
    [SVMX_OP_VEC_MUL_F32] = &svmx__op_vec_mul_f32,
    [SVMX_OP_SUM_F32] = &svmx__op_sum_f32,
    [SVMX_OP_DOT_F32] = &svmx__op_dot_f32,
    [SVMX_OP_SHA256] = &svmx__op_sha256,
    [SVMX_OP_KECCAK256] = &svmx__op_keccak256,
    [SVMX_OP_VEC_SUB_F32] = &svmx__op_vec_sub_f32,
    [SVMX_OP_AXPY_F32] = &svmx__op_axpy_f32,
    [SVMX_OP_MAX_F32] = &svmx__op_max_f32,
    [SVMX_OP_MIN_F32] = &svmx__op_min_f32,
    [SVMX_OP_RELU_F32] = &svmx__op_relu_f32,
    [SVMX_OP_LEAKY_RELU_F32] = &svmx__op_leaky_relu_f32,
    [SVMX_OP_ELU_F32] = &svmx__op_elu_f32,
    [SVMX_OP_CLIP_F32] = &svmx__op_clip_f32,
    [SVMX_OP_SIGMOID_F32] = &svmx__op_sigmoid_f32,
    [SVMX_OP_TANH_F32] = &svmx__op_tanh_f32,
    [SVMX_OP_SWISH_F32] = &svmx__op_swish_f32,
    [SVMX_OP_GELU_F32] = &svmx__op_gelu_f32,
    [SVMX_OP_EXP_F32] = &svmx__op_exp_f32,
    [SVMX_OP_SOFTMAX_F32] = &svmx__op_softmax_f32,
    [SVMX_OP_LOG_SOFTMAX_F32] = &svmx__op_log_softmax_f32,
    [SVMX_OP_MAX_ABS_DIFF_F32] = &svmx__op_max_abs_diff_f32,
    [SVMX_OP_MATMUL_F32] = &svmx__op_matmul_f32,
    [SVMX_OP_MATMUL_BATCH_F32] = &svmx__op_matmul_batch_f32,
    [SVMX_OP_VEC_ADD_F64] = &svmx__op_vec_add_f64,
    [SVMX_OP_AXPY_F64] = &svmx__op_axpy_f64,
    [SVMX_OP_SUM_F64] = &svmx__op_sum_f64,
    [SVMX_OP_MAX_ABS_DIFF_F64] = &svmx__op_max_abs_diff_f64,
    [SVMX_OP_MOD_ADD_U256] = &svmx__op_mod_add_u256,
    [SVMX_OP_MOD_SUB_U256] = &svmx__op_mod_sub_u256,
    [SVMX_OP_MOD_MUL_U256] = &svmx__op_mod_mul_u256,
    [SVMX_OP_MONT_MUL_U256] = &svmx__op_mont_mul_u256,
    [SVMX_OP_MOD_ADD_U384] = &svmx__op_mod_add_u384,
    [SVMX_OP_MOD_SUB_U384] = &svmx__op_mod_sub_u384,
    [SVMX_OP_MOD_MUL_U384] = &svmx__op_mod_mul_u384,
    [SVMX_OP_MONT_MUL_U384] = &svmx__op_mont_mul_u384,
    [SVMX_OP_GOLDILOCKS_ADD] = &svmx__op_goldilocks_add,
    [SVMX_OP_GOLDILOCKS_MUL] = &svmx__op_goldilocks_mul,
    [SVMX_OP_MERKLE_ROOT_SHA256] = &svmx__op_merkle_root_sha256,
    [SVMX_OP_MERKLE_ROOT_KECCAK256] = &svmx__op_merkle_root_keccak256,
    [SVMX_OP_MERKLE_TREE_SHA256] = &svmx__op_merkle_tree_sha256,
    [SVMX_OP_MERKLE_TREE_KECCAK256] = &svmx__op_merkle_tree_keccak256,
#ifdef SVMX_HAVE_SECP256K1
    [SVMX_OP_ECRECOVER] = &svmx__op_ecrecover,
    [SVMX_OP_ECDSA_VERIFY_SECP256K1] = &svmx__op_ecdsa_verify_secp256k1,
#endif
#ifdef SVMX_HAVE_SODIUM
    [SVMX_OP_ED25519_VERIFY] = &svmx__op_ed25519_verify,
#endif
    [SVMX_OP_GRID_TRANSPOSE_U8] = &svmx__op_grid_transpose_u8,
    [SVMX_OP_GRID_ROTATE_U8] = &svmx__op_grid_rotate_u8,
    [SVMX_OP_GRID_FLIP_U8] = &svmx__op_grid_flip_u8,
    [SVMX_OP_EIGH_F64] = &svmx__op_eigh_f64,
};

const struct svmx__op *svmx__op_by_id(uint32_t id) { return id < SVMX__OP_LIMIT ? table[id] : NULL; }

const struct svmx__op *svmx__op_by_name(const char *name) {
    for (uint32_t id = 0; id < SVMX__OP_LIMIT; id++)
        if (table[id] && strcmp(table[id]->name, name) == 0) return table[id];
    return NULL;
}

const struct svmx__op *svmx__op_at(uint32_t index) {
    for (uint32_t id = 0; id < SVMX__OP_LIMIT; id++)
        if (table[id] && index-- == 0) return table[id];
    return NULL;
}

uint32_t svmx__op_count(void) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < SVMX__OP_LIMIT; id++) count += table[id] != NULL;
    return count;
}
