/*
 * secp256k1_group.h: the curve's constant, n, the order of its generator, and all numbers that follow from these.
 *
 * For secp256k1_lanes.h. The field is another matter, and its numbers are not here: a test computes with the same code in
 * groups of 7, 13 and 199 points over the same field, by naming a header of its own as SECP_GROUP (tests/unit/small_group.h).
 *
 * Digits have 52 bits and words 64, lowest first. R is 2^260.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SECP256K1_GROUP_H
#define SVMX_SIMD_SECP256K1_GROUP_H

#include <stdint.h>

enum { SECP_B = 7 }; /* y^2 = x^3 + B */

/* ---- n ------------------------------------------------------------------------------------------------------ */

static const uint64_t secp_order[5] = {0x25e8cd0364141, 0xe6af48a03bbfd, 0xffffffebaaedc, 0xfffffffffffff,
                                       0xffffffffffff};
static const uint64_t secp_minus_inverse = 0xdff665588b13f;                            /* -1 / n modulo 2^52 */
static const uint64_t one_r[5] = {0xa1732fc9bebf0, 0x950b75fc4402d, 0x14551231, 0, 0}; /* R modulo n */
static const uint64_t square_r[5] = {0xe180c268b3b23, 0x94fd6e33e4c8e, 0xd07c73b975948, 0xc5e697f5e45bc,
                                     0x671cd581c69b}; /* R^2 modulo n */
/* A multiple of n that is at least 2 n. */
static const uint64_t twice_order[5] = {0x4bd19a06c8282, 0xcd5e9140777fa, 0xffffffd755db9, 0xfffffffffffff,
                                        0x1ffffffffffff};

/* n - 2 in windows of four bits, the highest first. */
static const uint8_t order_less_2[64] = {15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                         15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 14,
                                         11, 10, 10, 14, 13, 12, 14, 6,  10, 15, 4,  8,  10, 0,  3,  11,
                                         11, 15, 13, 2,  5,  14, 8,  12, 13, 0,  3,  6,  4,  1,  3,  15};

/* ---- ranges: words ------------------------------------------------------------------------------------------- */

static const uint64_t r_limit[4] = {0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, 0xffffffffffffffff};
static const uint64_t low_s_limit[4] = {0xdfe92f46681b20a1, 0x5d576e7357a4501d, 0xffffffffffffffff, 0x7fffffffffffffff};
static const uint64_t prime_less_order[4] = {0x402da1722fc9baee, 0x4551231950b75fc4, 1, 0};

/* ---- halves -------------------------------------------------------------------------------------------------- */

enum { HALF = 3 }; /* digits of half a number: 156 bits, signed */

/* A short basis: (A1, -B1), (A2, A1). */
static const uint64_t A1[HALF] = {0xc90e49284eb15, 0x21a7d46bcde86, 0x3086d2};
static const uint64_t B1[HALF] = {0x47fa90abfe4c3, 0xd6010e88286f5, 0xe4437e};
static const uint64_t A2[HALF] = {0x1108d9d44cfd8, 0xf7a8e2f3f657c, 0x114ca50};

/* 2^384 A1 / n and 2^384 B1 / n, rounded; 384 = 7 digits and 20 bits */
enum { SPLIT_DIGITS = 7, SPLIT_BITS = 20 };
static const uint64_t G1[5] = {0x3209a45dbb031, 0x1471e8ca7fe89, 0x284eb153daa8a, 0x6bcde86c90e49, 0x3086d221a7d4};
static const uint64_t G2[5] = {0x1b4ae8ac47f71, 0xac9df506c6157, 0xabfe4c4221208, 0x88286f547fa90, 0xe4437ed6010e};

/* What is taken from (first, second) where first is even, and then where second is: A1 and B1 are odd, A2 is even. */
#define FIRST_EVEN  A1, B1 /* less this, plus this */
#define SECOND_EVEN A2, A1 /* less this, less this */

/* ---- windows -------------------------------------------------------------------------------------------------- */

/* The halves, made odd, are between -2^130 and 2^130; multiples 1, 3, .. 31 of P. */
enum { SECP_HALF_BITS = 130, SECP_P_BITS = 5 };

/* Multiples 1, 3, 5, ... of G, then of 2^132 G. */
enum { SECP_G_BITS = 12, SECP_G_WINDOWS = 11 };

#endif
