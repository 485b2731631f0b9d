/*
 * u256.h: numbers of 256 bits as Ethereum's machine counts: modulo 2^256, and in two's complement where an opcode says
 * "signed".
 *
 * A number is four words of 64 bits, the lowest first; on the wire and in memory of a contract it is 32 bytes, the highest
 * first. Used by everything here; knows nothing of it. What is called for every second instruction is inline, the rest
 * stands in u256.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_U256_H
#define CONTRACT_VM_U256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct u256 {
    uint64_t w[4];
};

static inline struct u256 u256_of(uint64_t value) { return (struct u256){{value, 0, 0, 0}}; }
static inline bool u256_is_zero(struct u256 a) { return (a.w[0] | a.w[1] | a.w[2] | a.w[3]) == 0; }
static inline bool u256_is_negative(struct u256 a) { return a.w[3] >> 63; }
static inline bool u256_equal(struct u256 a, struct u256 b) {
    return ((a.w[0] ^ b.w[0]) | (a.w[1] ^ b.w[1]) | (a.w[2] ^ b.w[2]) | (a.w[3] ^ b.w[3])) == 0;
}
/* Does it fit into 64 bits? Then it is w[0]. */
static inline bool u256_is_small(struct u256 a) { return (a.w[1] | a.w[2] | a.w[3]) == 0; }

static inline struct u256 u256_add(struct u256 a, struct u256 b) {
    struct u256 sum;
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t half = a.w[i] + carry;
        carry = half < carry;
        sum.w[i] = half + b.w[i];
        carry += sum.w[i] < half;
    }
    return sum;
}

static inline struct u256 u256_not(struct u256 a) { return (struct u256){{~a.w[0], ~a.w[1], ~a.w[2], ~a.w[3]}}; }
static inline struct u256 u256_negate(struct u256 a) { return u256_add(u256_not(a), u256_of(1)); }
static inline struct u256 u256_sub(struct u256 a, struct u256 b) { return u256_add(a, u256_negate(b)); }

static inline bool u256_less(struct u256 a, struct u256 b) {
    for (int i = 3; i > 0; i--)
        if (a.w[i] != b.w[i]) return a.w[i] < b.w[i];
    return a.w[0] < b.w[0];
}
static inline bool u256_less_signed(struct u256 a, struct u256 b) {
    return u256_is_negative(a) != u256_is_negative(b) ? u256_is_negative(a) : u256_less(a, b);
}

struct u256 u256_mul(struct u256 a, struct u256 b);

/* Quotient and remainder; both are 0 where the divisor is, as the machine has it. Signed ones round towards 0, and the
 * remainder has the sign of the dividend. */
struct u256 u256_div(struct u256 a, struct u256 b);
struct u256 u256_mod(struct u256 a, struct u256 b);
struct u256 u256_div_signed(struct u256 a, struct u256 b);
struct u256 u256_mod_signed(struct u256 a, struct u256 b);

/* (a + b) mod m and (a b) mod m, without loss in between; 0 for m = 0. */
struct u256 u256_addmod(struct u256 a, struct u256 b, struct u256 m);
struct u256 u256_mulmod(struct u256 a, struct u256 b, struct u256 m);
struct u256 u256_exp(struct u256 base, struct u256 exponent);

/* Shifted by `by` bits; by 256 and more nothing is left but, of a negative number, its sign. */
struct u256 u256_shl(struct u256 by, struct u256 a);
struct u256 u256_shr(struct u256 by, struct u256 a);
struct u256 u256_sar(struct u256 by, struct u256 a);

/* The number in the low `byte` + 1 bytes of a, its sign carried upwards. */
struct u256 u256_signextend(struct u256 byte, struct u256 a);
/* Byte `index` of a, the highest being 0; 0 beyond them. */
struct u256 u256_byte(struct u256 index, struct u256 a);
/* How many bytes it needs: 0 for 0. */
unsigned u256_bytes(struct u256 a);

/* 32 bytes, the highest first, or fewer: the low ones. */
struct u256 u256_from(const uint8_t *bytes, size_t count);
void u256_to(struct u256 a, uint8_t bytes[32]);

/* An address is 20 bytes: the low ones of a number. */
void u256_to_address(struct u256 a, uint8_t address[20]);

#endif
