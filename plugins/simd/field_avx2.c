/*
 * field_avx2.c: arithmetic modulo an odd number for machines with AVX2, one element at a time.
 *
 * The same code as field_scalar.c, with mulx, which all of them have. Four lanes of 32 x 32 -> 64 bits would need four
 * products for one of mulx, and more for the carries between them: mulx is faster. Serves AVX-512 without IFMA too. Products
 * modulo the primes of BN254 and BLS12-381 have a way of their own (field_spare.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field_spare.h"

static void add_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_add);
}

static void sub_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_sub);
}

static void mul_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_spare(d, first, end, 4, field_mul, field_mul_secp, field_mul_spare);
}

static void mont_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_spare(d, first, end, 4, field_mont, NULL, field_mont_spare);
}

static void add_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_add);
}

static void sub_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_sub);
}

static void mul_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_spare(d, first, end, 6, field_mul, NULL, field_mul_spare);
}

static void mont_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_spare(d, first, end, 6, field_mont, NULL, field_mont_spare);
}

const struct simd_kernel simd_field_avx2[SIMD_FIELD_KERNELS] = {
    {"mod_add_u256", add_u256, NULL, 512, 4500, 0},  {"mod_sub_u256", sub_u256, NULL, 512, 4500, 0},
    {"mod_mul_u256", mul_u256, NULL, 64, 28000, 0},  {"mont_mul_u256", mont_u256, NULL, 64, 28000, 0},
    {"mod_add_u384", add_u384, NULL, 512, 7000, 0},  {"mod_sub_u384", sub_u384, NULL, 512, 7000, 0},
    {"mod_mul_u384", mul_u384, NULL, 64, 110000, 0}, {"mont_mul_u384", mont_u384, NULL, 64, 60000, 0},
};
