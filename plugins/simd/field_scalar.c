/*
 * field_scalar.c: arithmetic modulo an odd number for any machine, one element at a time.
 *
 * The arithmetic is in field.h: 64 x 64 -> 128 bits, which every 64-bit machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field.h"

void simd_mod_add_u256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_add);
}

void simd_mod_sub_u256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_sub);
}

void simd_mod_mul_u256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mul, field_mul_secp);
}

void simd_mont_mul_u256_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mont, NULL);
}

void simd_mod_add_u384_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_add);
}

void simd_mod_sub_u384_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_sub);
}

void simd_mod_mul_u384_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mul, NULL);
}

void simd_mont_mul_u384_run_scalar(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mont, NULL);
}
