/*
 * field_u256.c: numbers of 256 bits modulo an odd one: mod_add_u256, mod_sub_u256, mod_mul_u256, mont_mul_u256.
 *
 * The arithmetic is in field.c, the known answers in field_u256_known.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/field.h"
#include "ops/field_u256_known.h"

#include <svmx/ops.h>

enum { LIMBS = 4, BYTES = 8 * LIMBS, PARAMS = SVMX__FIELD_PARAMS };

static const struct svmx_param params[PARAMS] = {
    {"out", SVMX_OUT, SVMX_U64, SVMX_ARRAY, 0, LIMBS},
    {"a", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, LIMBS},
    {"b", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, LIMBS},
    {"modulus", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, LIMBS},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__field_check(params, slots, size, why);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    return svmx__field_shape(params, size, bytes);
}

/* Examples modulo the primes of secp256k1, BN254 and Curve25519: seeds 1, 2 and 3 modulo 4. */
static const uint64_t secp256k1[LIMBS] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff,
                                          0xffffffffffffffff};
static const uint64_t bn254[LIMBS] = {0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029};
static const uint64_t curve25519[LIMBS] = {0xffffffffffffffed, 0xffffffffffffffff, 0xffffffffffffffff,
                                           0x7fffffffffffffff};

static void fill(const struct svmx_slot *slots, uint64_t seed) {
    static const uint64_t *const moduli[] = {NULL, secp256k1, bn254, curve25519};
    svmx__field_fill(slots, seed, LIMBS, moduli, sizeof moduli / sizeof *moduli);
}

static void add(const struct svmx_slot *slots) { svmx__field_run(slots, LIMBS, svmx__field_add); }

static void subtract(const struct svmx_slot *slots) { svmx__field_run(slots, LIMBS, svmx__field_sub); }

static void multiply(const struct svmx_slot *slots) { svmx__field_run(slots, LIMBS, svmx__field_mul); }

static void montgomery(const struct svmx_slot *slots) { svmx__field_run(slots, LIMBS, svmx__field_mont); }

/* A row a modulus; then one element, and none. */
/* clang-format off */
#define ROW(result, i, pairs)                                         \
    {known_##result + (i) * KNOWN_WORDS, (uint64_t)(pairs) * BYTES}, \
    {known_a + (i) * KNOWN_WORDS, (uint64_t)(pairs) * BYTES},         \
    {known_b + (i) * KNOWN_WORDS, (uint64_t)(pairs) * BYTES},         \
    {known_modulus + (i) * LIMBS, BYTES}
static const struct svmx__known rows_sum[] = {
    ROW(sum, 0, KNOWN_PAIRS),
    ROW(sum, 1, KNOWN_PAIRS),
    ROW(sum, 2, KNOWN_PAIRS),
    ROW(sum, 3, KNOWN_PAIRS),
    ROW(sum, 1, 1),
    ROW(sum, 0, 0),
};
static const struct svmx__known rows_difference[] = {
    ROW(difference, 0, KNOWN_PAIRS),
    ROW(difference, 1, KNOWN_PAIRS),
    ROW(difference, 2, KNOWN_PAIRS),
    ROW(difference, 3, KNOWN_PAIRS),
    ROW(difference, 1, 1),
    ROW(difference, 0, 0),
};
static const struct svmx__known rows_product[] = {
    ROW(product, 0, KNOWN_PAIRS),
    ROW(product, 1, KNOWN_PAIRS),
    ROW(product, 2, KNOWN_PAIRS),
    ROW(product, 3, KNOWN_PAIRS),
    ROW(product, 1, 1),
    ROW(product, 0, 0),
};
static const struct svmx__known rows_montgomery[] = {
    ROW(montgomery, 0, KNOWN_PAIRS),
    ROW(montgomery, 1, KNOWN_PAIRS),
    ROW(montgomery, 2, KNOWN_PAIRS),
    ROW(montgomery, 3, KNOWN_PAIRS),
    ROW(montgomery, 1, 1),
    ROW(montgomery, 0, 0),
};
/* clang-format on */

const struct svmx__op svmx__op_mod_add_u256 = {
    .name = "mod_add_u256",
    .summary = "out[i] = (a[i] + b[i]) mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_ADD_U256,
    .param_count = PARAMS,
    .check = check,
    .check_reads = 1 << 3, /* modulus */
    .reference = add,
    .shape = shape,
    .fill = fill,
    .trial_size = 999,
    .known = rows_sum,
    .known_count = sizeof rows_sum / sizeof *rows_sum / PARAMS,
};

const struct svmx__op svmx__op_mod_sub_u256 = {
    .name = "mod_sub_u256",
    .summary = "out[i] = (a[i] - b[i]) mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_SUB_U256,
    .param_count = PARAMS,
    .check = check,
    .check_reads = 1 << 3, /* modulus */
    .reference = subtract,
    .shape = shape,
    .fill = fill,
    .trial_size = 999,
    .known = rows_difference,
    .known_count = sizeof rows_difference / sizeof *rows_difference / PARAMS,
};

const struct svmx__op svmx__op_mod_mul_u256 = {
    .name = "mod_mul_u256",
    .summary = "out[i] = a[i] b[i] mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_MUL_U256,
    .param_count = PARAMS,
    .check = check,
    .check_reads = 1 << 3, /* modulus */
    .reference = multiply,
    .shape = shape,
    .fill = fill,
    .trial_size = 999,
    .known = rows_product,
    .known_count = sizeof rows_product / sizeof *rows_product / PARAMS,
};

const struct svmx__op svmx__op_mont_mul_u256 = {
    .name = "mont_mul_u256",
    .summary = "out[i] = a[i] b[i] 2^-256 mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MONT_MUL_U256,
    .param_count = PARAMS,
    .check = check,
    .check_reads = 1 << 3, /* modulus */
    .reference = montgomery,
    .shape = shape,
    .fill = fill,
    .trial_size = 999,
    .known = rows_montgomery,
    .known_count = sizeof rows_montgomery / sizeof *rows_montgomery / PARAMS,
};
