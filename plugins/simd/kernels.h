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

/* ---- floats and doubles: a table an instruction set ---------------------------------------------------------- */

enum { SIMD_F32_KERNELS = 20, SIMD_F64_KERNELS = 4 };

extern const struct simd_kernel simd_f32_scalar[SIMD_F32_KERNELS], simd_f64_scalar[SIMD_F64_KERNELS];
extern const struct simd_kernel simd_f32_avx2[SIMD_F32_KERNELS], simd_f64_avx2[SIMD_F64_KERNELS];
extern const struct simd_kernel simd_f32_avx512[SIMD_F32_KERNELS], simd_f64_avx512[SIMD_F64_KERNELS];

/* ---- modulo a number: out, a, b, modulus (Goldilocks: out, a, b); unit = element; tables as above --------------- */

enum { SIMD_FIELD_SUMS = 4, SIMD_FIELD_PRODUCTS = 4, SIMD_FIELD_KERNELS = 8, SIMD_GOLDILOCKS_KERNELS = 2 };

extern const struct simd_kernel simd_field_scalar[SIMD_FIELD_KERNELS], simd_field_avx2[SIMD_FIELD_KERNELS];
extern const struct simd_kernel simd_field_avx512[SIMD_FIELD_SUMS], simd_field_ifma[SIMD_FIELD_PRODUCTS];
extern const struct simd_kernel simd_goldilocks_scalar[SIMD_GOLDILOCKS_KERNELS];
extern const struct simd_kernel simd_goldilocks_avx2[SIMD_GOLDILOCKS_KERNELS];
extern const struct simd_kernel simd_goldilocks_avx512[SIMD_GOLDILOCKS_KERNELS];

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

/* ---- pairs of nodes: digests[32 i ..] = the hash of the 64 bytes at pairs + 64 i -------------------------------- */

/* Digests may overwrite pairs from their start on: a pair is read before anything is written behind its first half. */
typedef void (*simd_pairs_fn)(uint8_t *digests, const uint8_t *pairs, uint64_t count);

void simd_keccak256_pairs_scalar(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_keccak256_pairs_avx2(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_keccak256_pairs_avx512(uint8_t *digests, const uint8_t *pairs, uint64_t count);

void simd_sha256_pairs_scalar(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_sha256_pairs_shani(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_sha256_pairs_avx2(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_sha256_pairs_avx512(uint8_t *digests, const uint8_t *pairs, uint64_t count);
void simd_sha256_pairs_avx512_shani(uint8_t *digests, const uint8_t *pairs, uint64_t count);

/* ---- trees: root or nodes, leaves, odd; unit = 1,024 leaves; scratch = 32 bytes a unit for roots, none for trees --- */

enum { SIMD_MERKLE_KERNELS = 2 };

extern const struct simd_kernel simd_merkle_sha256_scalar[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_sha256_shani[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_sha256_avx2[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_sha256_avx512[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_sha256_avx512_shani[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_keccak256_scalar[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_keccak256_avx2[SIMD_MERKLE_KERNELS];
extern const struct simd_kernel simd_merkle_keccak256_avx512[SIMD_MERKLE_KERNELS];

/* ---- signatures; unit = signature; only with libsecp256k1 and libsodium ----------------------------------------- */

void simd_ecrecover_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_ecdsa_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end);
void simd_ed25519_run_ifma(const struct svmx_dispatch *d, uint64_t first, uint64_t end);

enum { SIMD_SECP256K1_KERNELS = 2, SIMD_ED25519_KERNELS = 1 };

extern const struct simd_kernel simd_secp256k1_scalar[SIMD_SECP256K1_KERNELS];
extern const struct simd_kernel simd_secp256k1_avx2[SIMD_SECP256K1_KERNELS];
extern const struct simd_kernel simd_secp256k1_avx512[SIMD_SECP256K1_KERNELS];
extern const struct simd_kernel simd_secp256k1_ifma[SIMD_SECP256K1_KERNELS];
extern const struct simd_kernel simd_ed25519[SIMD_ED25519_KERNELS]; /* of every variant */
extern const struct simd_kernel simd_ed25519_ifma[SIMD_ED25519_KERNELS];

/* ---- grids: out, grids, height, width, how; unit = grid --------------------------------------------------------- */

enum { SIMD_GRID_KERNELS = 3 };

extern const struct simd_kernel simd_grid[SIMD_GRID_KERNELS]; /* of every variant */

/* ---- matrix products: out, a, b, (count,) m, k, n; unit = 128 x 32 of a product ---------------------------------- */

enum { SIMD_MATMUL_KERNELS = 2 };

extern const struct simd_kernel simd_matmul_scalar[SIMD_MATMUL_KERNELS];
extern const struct simd_kernel simd_matmul_avx2[SIMD_MATMUL_KERNELS];
extern const struct simd_kernel simd_matmul_avx512[SIMD_MATMUL_KERNELS];

/* ---- eigenvalues: values, vectors, matrices, order; unit = matrix ------------------------------------------------ */

enum { SIMD_EIGH_KERNELS = 1 };

extern const struct simd_kernel simd_eigh_scalar[SIMD_EIGH_KERNELS];
extern const struct simd_kernel simd_eigh_avx2[SIMD_EIGH_KERNELS];
extern const struct simd_kernel simd_eigh_avx512[SIMD_EIGH_KERNELS];

#endif
