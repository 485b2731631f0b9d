/*
 * peer_mulx.h: what a good scalar routine does, as a peer of suite ops: 256-bit products modulo the secp256k1
 * prime, and Montgomery products modulo the BN254 prime.
 *
 * Hand-written with mulx and two chains of carries (adcx, adox), which is how the fast libraries do it: a compiler
 * makes neither of the chains. Operands and results are fully reduced, four limbs, least first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_MULX_H
#define SVMX_TESTS_BENCH_PEER_MULX_H

#include <stddef.h>
#include <stdint.h>

extern const uint64_t mulx_secp256k1[4], mulx_bn254[4];

/* out[i] = a[i] b[i] mod p, or a[i] b[i] / 2^256 mod p, for i < n. */
typedef void (*mulx_fn)(uint64_t (*out)[4], const uint64_t (*a)[4], const uint64_t (*b)[4], size_t n);

/* NULL: the machine has no mulx, adcx and adox; `why` then says so, static text. */
mulx_fn mulx_mul_secp256k1(const char **why);
mulx_fn mulx_mont_bn254(const char **why);

#endif
