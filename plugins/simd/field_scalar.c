/*
 * field_scalar.c: arithmetic modulo an odd number for any machine, one element at a time.
 *
 * The arithmetic is in field.h: 64 x 64 -> 128 bits, which every 64-bit machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "field.h"

static void add_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_add);
}

static void sub_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 4, field_sub);
}

static void mul_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mul, field_mul_secp);
}

static void mont_u256(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 4, field_mont, NULL);
}

static void add_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_add);
}

static void sub_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_sum(d, first, end, 6, field_sub);
}

static void mul_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mul, NULL);
}

static void mont_u384(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    field_run_product(d, first, end, 6, field_mont, NULL);
}

const struct simd_kernel simd_field_scalar[SIMD_FIELD_KERNELS] = {
    {"mod_add_u256", add_u256, NULL, 512, 4500, 0},  {"mod_sub_u256", sub_u256, NULL, 512, 4500, 0},
    {"mod_mul_u256", mul_u256, NULL, 64, 28000, 0},  {"mont_mul_u256", mont_u256, NULL, 64, 28000, 0},
    {"mod_add_u384", add_u384, NULL, 512, 7000, 0},  {"mod_sub_u384", sub_u384, NULL, 512, 7000, 0},
    {"mod_mul_u384", mul_u384, NULL, 64, 110000, 0}, {"mont_mul_u384", mont_u384, NULL, 64, 60000, 0},
};
