/*
 * kernels.h: every kernel of this plugin, by operation and instruction set.
 *
 * kernel.h says what a kernel may assume; variant.c puts these into its tables. Which variant a machine may call is
 * variant.c's knowledge: nothing here looks at the CPU. A function named for an instruction set runs it unasked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_KERNELS_H
#define SVMX_SIMD_KERNELS_H

#include "kernel.h"

/* ---- elementwise: out, a, b; unit = element --------------------------------------------------------------- */

void simd_vec_add_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_vec_add_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_vec_add_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

void simd_vec_mul_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_vec_mul_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_vec_mul_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

/* ---- reductions: out, a (and b); unit = block; scratch = one float a unit ---------------------------------- */

void simd_sum_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sum_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sum_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sum_f32_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end);
void simd_sum_f32_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end);
void simd_sum_f32_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end);

void simd_dot_f32_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_dot_f32_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_dot_f32_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_dot_f32_finish_scalar(const struct svmx_dispatch *d, uint32_t first, uint32_t end);
void simd_dot_f32_finish_avx2(const struct svmx_dispatch *d, uint32_t first, uint32_t end);
void simd_dot_f32_finish_avx512(const struct svmx_dispatch *d, uint32_t first, uint32_t end);

/* ---- hashes: digests, data, offsets; unit = message -------------------------------------------------------- */

void simd_keccak256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_keccak256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_keccak256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

void simd_sha256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sha256_run_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sha256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_sha256_run_avx512(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
/* Needs both: full groups of equal length in lanes, everything else on the SHA instructions. */
void simd_sha256_run_avx512_shani(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

/* For the lane kernels: a last message that would run alone goes on here. `state` is one lane's. */
void simd_keccak256_blocks_scalar(uint64_t state[25], const uint8_t *at, uint64_t blocks);
void simd_sha256_blocks_scalar(uint32_t state[8], const uint8_t *at, uint64_t blocks);

#endif
