/*
 * test_op_goldilocks.c: arithmetic modulo 2^64 - 2^32 + 1 against another way to it: shifts and additions, a bit at a
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#define PRIME UINT64_C(0xffffffff00000001)

static uint64_t below(uint64_t x) { return x >= PRIME ? x - PRIME : x; }

/* a + b modulo p for numbers below p, without a carry: what is missing to p decides. */
static uint64_t sum(uint64_t a, uint64_t b) { return b >= PRIME - a ? b - (PRIME - a) : a + b; }

static uint64_t product(uint64_t a, uint64_t b) {
    uint64_t result = 0;
    for (int bit = 63; bit >= 0; bit--) {
        result = sum(result, result);
        if (b >> bit & 1) result = sum(result, a);
    }
    return result;
}

static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 0x7fffffff,
                                 0x80000000,
                                 0xfffffffe,
                                 0xffffffff,
                                 0x100000000,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0xfffffffe00000000,
                                 0xfffffffeffffffff,
                                 0xffffffff00000000,
                                 0xffffffff00000001,
                                 0xffffffff00000002,
                                 0xffffffffffffffff};
enum { EDGES = sizeof edges / sizeof edges[0], N = 5000 };

/* All pairs of edges, then an edge and any word, then any two. */
static uint64_t operand(size_t i, int second, uint64_t *state) {
    const uint64_t any = (uint64_t)random_u32(state) << 32 | random_u32(state);
    if (i < (size_t)EDGES * EDGES) return edges[second ? i % EDGES : i / EDGES];
    return i < N / 2 && (i % 2 == 0) == !second ? edges[any % EDGES] : any;
}

static void compare(uint32_t op, uint64_t (*expected)(uint64_t, uint64_t), size_t shift) {
    static uint8_t memory[3][8 * N + 8];
    uint64_t state = 17 + shift;
    for (size_t i = 0; i < N; i++)
        for (int p = 1; p <= 2; p++) {
            const uint64_t x = operand(i, p == 2, &state);
            memcpy(memory[p] + shift + 8 * i, &x, 8);
        }
    const struct svmx_slot slots[] = {slot(memory[0] + shift, 8 * N), slot(memory[1] + shift, 8 * N),
                                      slot(memory[2] + shift, 8 * N)};
    compute(op, slots);
    for (size_t i = 0; i < N; i++) {
        uint64_t got, a, b;
        memcpy(&got, memory[0] + shift + 8 * i, 8);
        memcpy(&a, memory[1] + shift + 8 * i, 8);
        memcpy(&b, memory[2] + shift + 8 * i, 8);
        cr_assert_eq(got, expected(below(a), below(b)), "%lx and %lx: %lx", (unsigned long)a, (unsigned long)b,
                     (unsigned long)got);
    }
}

Test(op_goldilocks, sums) { compare(SVMX_OP_GOLDILOCKS_ADD, sum, 0); }
Test(op_goldilocks, products) { compare(SVMX_OP_GOLDILOCKS_MUL, product, 0); }

Test(op_goldilocks, any_alignment_will_do) {
    compare(SVMX_OP_GOLDILOCKS_ADD, sum, 3);
    compare(SVMX_OP_GOLDILOCKS_MUL, product, 5);
}

/* 7 generates the units of the field (so do the papers on it say), whose order p - 1 is 2^32 (2^32 - 1). */
Test(op_goldilocks, seven_to_the_half_of_the_order_is_minus_one) {
    uint64_t x = 7, result = 1, next = 0;
    const struct svmx_slot times[] = {slot(&next, 8), slot(&result, 8), slot(&x, 8)};
    const struct svmx_slot square[] = {slot(&next, 8), slot(&x, 8), slot(&x, 8)};
    for (uint64_t exponent = (PRIME - 1) / 2; exponent; exponent >>= 1) {
        if (exponent & 1) {
            compute(SVMX_OP_GOLDILOCKS_MUL, times);
            result = next;
        }
        compute(SVMX_OP_GOLDILOCKS_MUL, square);
        x = next;
    }
    cr_assert_eq(result, PRIME - 1);
}

Test(op_goldilocks, size_is_the_number_of_elements_and_lengths_must_agree) {
    const uint64_t x[5] = {0};
    const struct svmx_slot five[] = {slot(x, 40), slot(x, 40), slot(x, 40)}, none[3] = {{0, 0}, {0, 0}, {0, 0}};
    const struct svmx_slot short_a[] = {slot(x, 40), slot(x, 8), slot(x, 40)};
    const struct svmx_slot long_b[] = {slot(x, 32), slot(x, 32), slot(x, 40)};
    for (uint32_t op = SVMX_OP_GOLDILOCKS_ADD; op <= SVMX_OP_GOLDILOCKS_MUL; op++) {
        accepted(op, five, 5, 5);
        accepted(op, none, 0, 0);
        refused(op, short_a, "a has 1 item but out has 5: give both the same length");
        refused(op, long_b, "b has 5 items but out has 4: give both the same length");
    }
}
