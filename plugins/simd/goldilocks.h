/*
 * goldilocks.h: arithmetic modulo p = 2^64 - 2^32 + 1, written once over the vectors of an instruction set.
 *
 * Modulo p, 2^64 is 2^32 - 1 and 2^96 is -1: a carry out of a word comes back as 2^32 - 1, and a product of 128 bits is
 *
 *   low + middle (2^32 - 1) - high        low: 64 bits, middle and high: the halves of the upper word
 *
 * Any word is an operand. Included by goldilocks_<isa>.c after its vectors, which map.h and this file need:
 *
 *   v_plus, v_minus                        modulo 2^64
 *   v_plus_where_less(x, y, a, b)          x + y where a < b, else x; v_minus_where_less likewise
 *   v_min                                  the lesser of two, as numbers without a sign
 *   v_product(a, b, high)                  the low words of the products of 128 bits; the high ones go to *high
 *   v_high_half, v_low_half_times_carry    x >> 32;  (x & 0xffffffff) (2^32 - 1)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_GOLDILOCKS_H
#define SVMX_SIMD_GOLDILOCKS_H

/* Integers have no NaN; map.h asks for it by name. */
static inline vec v_one_nan(vec x) { return x; }

#include "map.h"

/* 2^64 modulo p */
#define GOLDILOCKS_CARRY UINT64_C(0xffffffff)

/* Adding the carry is taking p away: it makes a word less only where that was p or more. */
SIMD_INLINE vec below_prime(vec x) { return v_min(x, v_plus(x, v_set(GOLDILOCKS_CARRY))); }

/* With one operand below p a carry out of the sum is the only one. */
SIMD_INLINE vec add(vec a, vec b, vec s __attribute__((unused)), vec t __attribute__((unused))) {
    const vec sum = v_plus(below_prime(a), b);
    return below_prime(v_plus_where_less(sum, v_set(GOLDILOCKS_CARRY), sum, b));
}

/* Neither correction overflows: low - high is close to 2^64 after a borrow, the last sum far from it after a carry. */
SIMD_INLINE vec multiply(vec a, vec b, vec s __attribute__((unused)), vec t __attribute__((unused))) {
    const vec carry = v_set(GOLDILOCKS_CARRY);
    vec upper;
    const vec low = v_product(a, b, &upper), high = v_high_half(upper), middle = v_low_half_times_carry(upper);
    const vec difference = v_minus_where_less(v_minus(low, high), carry, low, high);
    const vec sum = v_plus(difference, middle);
    return below_prime(v_plus_where_less(sum, carry, sum, middle));
}

static void run_add(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, add, 1});
}

static void run_multiply(const struct svmx_dispatch *d, uint64_t first, uint64_t end) {
    map_run(d, first, end, (struct map_kind){2, 0, multiply, 1});
}

#endif
