/*
 * fe52_calls.h: the functions of plugins/simd/fe52.h as calls, once for each prime, for test_simd_fe52.c.
 *
 * They are inline and for AVX-512 with IFMA only; a suite must start on any machine. So a file of its own is built for those
 * instructions, for each prime, and offers this table. A number is five digits of eight lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_FE52_CALLS_H
#define SVMX_TESTS_FE52_CALLS_H

#include <stdint.h>

enum { FE52_LANES = 8, FE52_DIGITS = 5 };

typedef uint64_t fe52_number[FE52_DIGITS][FE52_LANES];

struct fe52_calls {
    const char *name;
    unsigned bits;
    uint64_t c;
    void (*mul)(fe52_number r, fe52_number a, fe52_number b, int times);
    void (*sqr)(fe52_number r, fe52_number a, int times);
    void (*mul_mul)(fe52_number r, fe52_number a, fe52_number b, fe52_number c, fe52_number d);
    void (*less)(fe52_number r, fe52_number a, fe52_number b, int times); /* a - times b */
    void (*normal)(fe52_number r, fe52_number a);
    unsigned (*is_zero)(fe52_number a); /* lanes */
    void (*inverse)(fe52_number r, fe52_number a);
};

extern const struct fe52_calls fe52_secp256k1, fe52_ed25519;

/* simd_secp256k1_double, and simd_secp256k1_add with x, y; in place. */
void fe52_secp256k1_double(fe52_number p[3]);
void fe52_secp256k1_add(fe52_number p[3], fe52_number x, fe52_number y, unsigned minus);

/* The windows of simd_secp256k1_windows, word by word: u1 in five, the halves of u2 in three each. */
void fe52_secp256k1_windows(uint64_t low[5][FE52_LANES], uint64_t first[3][FE52_LANES], uint64_t second[3][FE52_LANES],
                            fe52_number u1, fe52_number u2);

/* simd_ed25519_windows and simd_ed25519_combine: x, y and z of s B + k (x, y), where k is the hash modulo L. */
void fe52_ed25519_combine(fe52_number sum[3], uint64_t s[4][FE52_LANES], uint64_t hash[8][FE52_LANES], fe52_number x,
                          fe52_number y);

#endif
