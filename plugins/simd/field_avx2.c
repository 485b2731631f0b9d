/*
 * field_avx2.c: arithmetic modulo an odd number for machines with AVX2, one element at a time.
 *
 * The same code as field_scalar.c, with mulx, which all of them have. Four lanes of 32 x 32 -> 64 bits would need four
 * products for one of mulx, and more for the carries between them: mulx is faster. Serves AVX-512 without IFMA too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field.h"

void simd_mod_add_u256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_add);
}

void simd_mod_sub_u256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_sub);
}

void simd_mod_mul_u256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mul, field_mul_secp);
}

void simd_mont_mul_u256_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mont, NULL);
}

void simd_mod_add_u384_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_add);
}

void simd_mod_sub_u384_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_sub);
}

void simd_mod_mul_u384_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mul, NULL);
}

void simd_mont_mul_u384_run_avx2(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mont, NULL);
}
