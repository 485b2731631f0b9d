/*
 * goldilocks.c: arithmetic modulo p = 2^64 - 2^32 + 1, the Goldilocks prime: goldilocks_add, goldilocks_mul.
 *
 * Any word is an operand; p and above stand for what is left modulo p. Results are less than p.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/access.h"
#include "ops/items.h"

#include <svmx/ops.h>

__extension__ typedef unsigned __int128 u128;

enum { OUT, A, B, PARAMS };

#define PRIME UINT64_C(0xffffffff00000001)

static const struct svmx_param params[PARAMS] = {
    {"out", SVMX_OUT, SVMX_U64, SVMX_ARRAY, 0, 1},
    {"a", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, 1},
    {"b", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, 1},
};

static enum svmx_status check(const struct svmx_slot *slots, struct svmx__size *size, struct svmx__text *why) {
    return svmx__items_check(params, slots, PARAMS, size, why);
}

static enum svmx_status shape(uint64_t size, uint64_t bytes[SVMX__MAX_PARAMS]) {
    return svmx__items_shape(params, PARAMS, size, bytes);
}

static void store(const struct svmx_slot *slot, uint64_t index, u128 value) {
    const uint64_t residue = (uint64_t)(value % PRIME);
    memcpy(svmx__at(slot, index * sizeof residue), &residue, sizeof residue);
}

static void add(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(uint64_t);
    for (uint64_t i = 0; i < n; i++)
        store(&slots[OUT], i, (u128)svmx__load_u64(&slots[A], i) + svmx__load_u64(&slots[B], i));
}

static void multiply(const struct svmx_slot *slots) {
    const uint64_t n = slots[OUT].bytes / sizeof(uint64_t);
    for (uint64_t i = 0; i < n; i++)
        store(&slots[OUT], i, (u128)svmx__load_u64(&slots[A], i) * svmx__load_u64(&slots[B], i));
}

/* ---- known answers ---------------------------------------------------------------------------------------- */

/*
 * All pairs of 0, 1, 2^32 - 1, 2^32, p - 1, p, p + 1 and 2^64 - 1, where carries and borrows come and go, with one pair
 * left out so that vectors have a rest, then arbitrary words. Results are from Python: (a + b) % p, a * b % p.
 */
enum { N = 75 };

static const uint64_t a[N] = {
    0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x0000000000000001, 0x0000000000000001, 0x0000000000000001,
    0x0000000000000001, 0x0000000000000001, 0x0000000000000001, 0x0000000000000001, 0x0000000000000001,
    0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff,
    0x00000000ffffffff, 0x00000000ffffffff, 0x00000000ffffffff, 0x0000000100000000, 0x0000000100000000,
    0x0000000100000000, 0x0000000100000000, 0x0000000100000000, 0x0000000100000000, 0x0000000100000000,
    0x0000000100000000, 0xffffffff00000000, 0xffffffff00000000, 0xffffffff00000000, 0xffffffff00000000,
    0xffffffff00000000, 0xffffffff00000000, 0xffffffff00000000, 0xffffffff00000000, 0xffffffff00000001,
    0xffffffff00000001, 0xffffffff00000001, 0xffffffff00000001, 0xffffffff00000001, 0xffffffff00000001,
    0xffffffff00000001, 0xffffffff00000001, 0xffffffff00000002, 0xffffffff00000002, 0xffffffff00000002,
    0xffffffff00000002, 0xffffffff00000002, 0xffffffff00000002, 0xffffffff00000002, 0xffffffff00000002,
    0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
    0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0x1ff63c0179e58218, 0x89419f936769fc6f,
    0x34194e2904506350, 0xe9a60be9b440d80f, 0xc3b82493cd985768, 0xc73791d7d1c5554e, 0x146e902c25be0914,
    0x32c129e670a6383e, 0x6726c87d156b2102, 0xed7a429f015e2d1d, 0x9631bbcc1afc52d2, 0x4395e19e96c0e921,
};

static const uint64_t b[N] = {
    0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000, 0xffffffff00000001,
    0xffffffff00000002, 0xffffffffffffffff, 0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff,
    0x0000000100000000, 0xffffffff00000000, 0xffffffff00000001, 0xffffffff00000002, 0xffffffffffffffff,
    0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000,
    0xffffffff00000001, 0xffffffff00000002, 0xffffffffffffffff, 0x0000000000000000, 0x0000000000000001,
    0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000, 0xffffffff00000001, 0xffffffff00000002,
    0xffffffffffffffff, 0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000,
    0xffffffff00000000, 0xffffffff00000001, 0xffffffff00000002, 0xffffffffffffffff, 0x0000000000000000,
    0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000, 0xffffffff00000001,
    0xffffffff00000002, 0xffffffffffffffff, 0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff,
    0x0000000100000000, 0xffffffff00000000, 0xffffffff00000001, 0xffffffff00000002, 0xffffffffffffffff,
    0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000,
    0xffffffff00000001, 0xffffffff00000002, 0xffffffffffffffff, 0x9cecdeeea1560927, 0xafd60b62eb86b180,
    0x44c6267afcd40b9d, 0xa1eedf23cdd29d96, 0xb2db3722338ccb9c, 0xf9997523a728f840, 0x6aaf1061dc80372e,
    0x064cdc2db8a65eba, 0xe96ca3ecadf16743, 0x2cb0327c10570e51, 0xf3358da90bb44eb9, 0x8a0afd773820c30d,
};

static const uint64_t sums[N] = {
    0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000, 0x0000000000000000,
    0x0000000000000001, 0x00000000fffffffe, 0x0000000000000001, 0x0000000000000002, 0x0000000100000000,
    0x0000000100000001, 0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x00000000ffffffff,
    0x00000000ffffffff, 0x0000000100000000, 0x00000001fffffffe, 0x00000001ffffffff, 0x00000000fffffffe,
    0x00000000ffffffff, 0x0000000100000000, 0x00000001fffffffd, 0x0000000100000000, 0x0000000100000001,
    0x00000001ffffffff, 0x0000000200000000, 0x00000000ffffffff, 0x0000000100000000, 0x0000000100000001,
    0x00000001fffffffe, 0xffffffff00000000, 0x0000000000000000, 0x00000000fffffffe, 0x00000000ffffffff,
    0xfffffffeffffffff, 0xffffffff00000000, 0x0000000000000000, 0x00000000fffffffd, 0x0000000000000000,
    0x0000000000000001, 0x00000000ffffffff, 0x0000000100000000, 0xffffffff00000000, 0x0000000000000000,
    0x0000000000000001, 0x00000000fffffffe, 0x0000000000000001, 0x0000000000000002, 0x0000000100000000,
    0x0000000100000001, 0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x00000000ffffffff,
    0x00000000fffffffe, 0x00000000ffffffff, 0x00000001fffffffd, 0x00000001fffffffe, 0x00000000fffffffd,
    0x00000000fffffffe, 0x00000000ffffffff, 0x00000001fffffffc, 0xbce31af01b3b8b3f, 0x3917aaf752f0adee,
    0x78df74a401246eed, 0x8b94eb0e821375a4, 0x76935bb701252303, 0xc0d106fc78ee4d8d, 0x7f1da08e023e4042,
    0x390e0614294c96f8, 0x50936c6ac35c8844, 0x1a2a751c11b53b6d, 0x8967497626b0a18a, 0xcda0df15cee1ac2e,
};

static const uint64_t products[N] = {
    0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff,
    0x0000000100000000, 0xffffffff00000000, 0x0000000000000000, 0x0000000000000001, 0x00000000fffffffe,
    0x0000000000000000, 0x00000000ffffffff, 0xfffffffe00000001, 0xffffffff00000000, 0xfffffffe00000002,
    0x0000000000000000, 0x00000000ffffffff, 0xfffffffd00000002, 0x0000000000000000, 0x0000000100000000,
    0xffffffff00000000, 0x00000000ffffffff, 0xfffffffe00000001, 0x0000000000000000, 0x0000000100000000,
    0xfffffffe00000000, 0x0000000000000000, 0xffffffff00000000, 0xfffffffe00000002, 0xfffffffe00000001,
    0x0000000000000001, 0x0000000000000000, 0xffffffff00000000, 0xfffffffe00000003, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
    0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000001, 0x00000000ffffffff,
    0x0000000100000000, 0xffffffff00000000, 0x0000000000000000, 0x0000000000000001, 0x00000000fffffffe,
    0x0000000000000000, 0x00000000fffffffe, 0xfffffffd00000002, 0xfffffffe00000000, 0xfffffffe00000003,
    0x0000000000000000, 0x00000000fffffffe, 0xfffffffc00000004, 0x0fd52345d14424ba, 0xe59c4eeda12e906c,
    0x5300b1cbe7d634e6, 0x753c7672ae71978f, 0xa01af92f4d285ab6, 0x27ae5e9bd69166fb, 0xabe762c5bf460dad,
    0x4db44d0700c04df0, 0x0f6c8c254762e1d8, 0x8ec17e0877b98c10, 0xf8807800e389cb69, 0x048e34d4ea215ac9,
};

/* All; a part that starts off the alignment of vectors; the rest of vectors of 8 and 4; one; none. */
/* clang-format off */
static const struct svmx__known known_add[] = {
    {sums, sizeof sums}, {a, sizeof a},   {b, sizeof b},
    {sums + 1, 8 * 47},  {a + 1, 8 * 47}, {b + 1, 8 * 47},
    {sums + 8, 8 * 7},   {a + 8, 8 * 7},  {b + 8, 8 * 7},
    {sums + 44, 8 * 3},  {a + 44, 8 * 3}, {b + 44, 8 * 3},
    {sums + 60, 8},      {a + 60, 8},     {b + 60, 8},
    {sums, 0},           {NULL, 0},       {NULL, 0},
};

static const struct svmx__known known_multiply[] = {
    {products, sizeof products}, {a, sizeof a},   {b, sizeof b},
    {products + 1, 8 * 47},      {a + 1, 8 * 47}, {b + 1, 8 * 47},
    {products + 8, 8 * 7},       {a + 8, 8 * 7},  {b + 8, 8 * 7},
    {products + 44, 8 * 3},      {a + 44, 8 * 3}, {b + 44, 8 * 3},
    {products + 60, 8},          {a + 60, 8},     {b + 60, 8},
    {products, 0},               {NULL, 0},       {NULL, 0},
};
/* clang-format on */

const struct svmx__op svmx__op_goldilocks_add = {
    .name = "goldilocks_add",
    .summary = "out[i] = (a[i] + b[i]) mod p, p = 2^64 - 2^32 + 1",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_GOLDILOCKS_ADD,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = add,
    .shape = shape,
    .known = known_add,
    .known_count = sizeof known_add / sizeof *known_add / PARAMS,
};

const struct svmx__op svmx__op_goldilocks_mul = {
    .name = "goldilocks_mul",
    .summary = "out[i] = a[i] b[i] mod p, p = 2^64 - 2^32 + 1",
    .unit = "element",
    .params = params,
    .id = SVMX_OP_GOLDILOCKS_MUL,
    .param_count = PARAMS,
    .elementwise = true,
    .check = check,
    .reference = multiply,
    .shape = shape,
    .known = known_multiply,
    .known_count = sizeof known_multiply / sizeof *known_multiply / PARAMS,
};
