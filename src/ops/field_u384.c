/*
 * field_u384.c: numbers of 384 bits modulo an odd one: mod_add_u384, mod_sub_u384, mod_mul_u384, mont_mul_u384.
 *
 * The arithmetic is in field.c, the known answers in field_u384_known.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/field.h"
#include "ops/field_u384_known.h"

#include <svmx/ops.h>

enum { LIMBS = 6, BYTES = 8 * LIMBS, PARAMS = SVMX__FIELD_PARAMS };

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

/* Examples modulo the primes of BLS12-381 and P-384: seeds 1 and 2 modulo 4. */
static const uint64_t bls12_381[LIMBS] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                          0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};
static const uint64_t p384[LIMBS] = {0x00000000ffffffff, 0xffffffff00000000, 0xfffffffffffffffe,
                                     0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};

static void fill(const struct svmx_slot *slots, uint64_t seed) {
    static const uint64_t *const moduli[] = {NULL, bls12_381, p384, NULL};
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
    ROW(sum, 1, 1),
    ROW(sum, 0, 0),
};
static const struct svmx__known rows_difference[] = {
    ROW(difference, 0, KNOWN_PAIRS),
    ROW(difference, 1, KNOWN_PAIRS),
    ROW(difference, 2, KNOWN_PAIRS),
    ROW(difference, 1, 1),
    ROW(difference, 0, 0),
};
static const struct svmx__known rows_product[] = {
    ROW(product, 0, KNOWN_PAIRS),
    ROW(product, 1, KNOWN_PAIRS),
    ROW(product, 2, KNOWN_PAIRS),
    ROW(product, 1, 1),
    ROW(product, 0, 0),
};
static const struct svmx__known rows_montgomery[] = {
    ROW(montgomery, 0, KNOWN_PAIRS),
    ROW(montgomery, 1, KNOWN_PAIRS),
    ROW(montgomery, 2, KNOWN_PAIRS),
    ROW(montgomery, 1, 1),
    ROW(montgomery, 0, 0),
};
/* clang-format on */

const struct svmx__op svmx__op_mod_add_u384 = {
    .name = "mod_add_u384",
    .summary = "out[i] = (a[i] + b[i]) mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_ADD_U384,
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

const struct svmx__op svmx__op_mod_sub_u384 = {
    .name = "mod_sub_u384",
    .summary = "out[i] = (a[i] - b[i]) mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_SUB_U384,
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

const struct svmx__op svmx__op_mod_mul_u384 = {
    .name = "mod_mul_u384",
    .summary = "out[i] = a[i] b[i] mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MOD_MUL_U384,
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

const struct svmx__op svmx__op_mont_mul_u384 = {
    .name = "mont_mul_u384",
    .summary = "out[i] = a[i] b[i] 2^-384 mod m",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_MONT_MUL_U384,
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
