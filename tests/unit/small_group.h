/*
 * small_group.h: groups of 7, 13 and 199 points in place of plugins/simd/secp256k1_group.h, for test_simd_small_group.c.
 *
 * Curves y^2 = x^3 + b with another b over the field of secp256k1 have points that are a group of so few: SMALL_ORDER of them.
 * ecrecover_ifma.c, ecdsa_ifma.c and what they compute scalars and points with are built once more with this header as SECP_GROUP,
 * under names of their own.
 *
 * In all of them r is the whole x of a point, up to p, and only as a scalar is it taken modulo the order. Otherwise they show
 * different things:
 *
 *   199      The pass is as long as in the large group, and one in three comes through it. u1 is a number of 238 bits in
 *            recovery: what is subtracted from is a large multiple of 199. Any c1 and c2 will do for the halves; here G1 and G2
 *            are any numbers, and so the halves have all their bits.
 *   7, 13    A table may not hold infinity, which 7 or 13 times a point is: windows have two or three bits. And a sum of a
 *            hundred points would meet what cannot be added for certain, and show nothing but that: halves and u1 have four
 *            or six bits, so that a pass is five additions, and some come through.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_SMALL_GROUP_H
#define SVMX_TESTS_SMALL_GROUP_H

#include <stdint.h>

#define simd_secp256k1_scalar_inverse small_scalar_inverse
#define simd_secp256k1_times          small_times
#define simd_secp256k1_windows        small_windows
#define simd_secp256k1_rows           small_rows
#define simd_secp256k1_rows_make      small_rows_make
#define simd_secp256k1_double         small_double
#define simd_secp256k1_add            small_add
#define simd_secp256k1_combine        small_combine
#define simd_ecrecover_run_ifma       small_ecrecover_run
#define simd_ecdsa_run_ifma           small_ecdsa_run
#define simd_recover                  small_recover
#define simd_verify                   small_verify

static const uint64_t r_limit[4] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};
static const uint64_t prime_less_order[4] = {0};

#if SMALL_ORDER == 7

enum { SECP_B = 6 };

static const uint64_t secp_order[5] = {7};
static const uint64_t secp_minus_inverse = 0x9249249249249;
static const uint64_t one_r[5] = {4}, square_r[5] = {2};
static const uint64_t twice_order[5] = {7}; /* products are at most the order here: once is enough */
static const uint8_t order_less_2[64] = {[63] = 5};
static const uint64_t low_s_limit[4] = {4};

/* lambda is 2: 2 - lambda and 3 + 2 lambda are 0 modulo 7. */
enum { HALF = 3, SPLIT_DIGITS = 2, SPLIT_BITS = 20 };
static const uint64_t A1[HALF] = {2}, B1[HALF] = {1}, A2[HALF] = {3};
static const uint64_t G1[5] = {0x4924924924924, 0x2492492492492, 0x49249};
static const uint64_t G2[5] = {0x2492492492492, 0x9249249249249, 0x24924};

/* As of 199. */
static const uint64_t minus_A1[HALF] = {UINT64_MAX - 1}, minus_B1[HALF] = {UINT64_MAX};
#define FIRST_EVEN  A2, minus_A1
#define SECOND_EVEN A1, minus_B1

enum { SECP_HALF_BITS = 4, SECP_P_BITS = 2, SECP_G_BITS = 2, SECP_G_WINDOWS = 1 };

#elif SMALL_ORDER == 13

enum { SECP_B = 2 };

static const uint64_t secp_order[5] = {13};
static const uint64_t secp_minus_inverse = 0xb13b13b13b13b;
static const uint64_t one_r[5] = {9}, square_r[5] = {3};
static const uint64_t twice_order[5] = {13}; /* as of 7 */
static const uint8_t order_less_2[64] = {[63] = 11};
static const uint64_t low_s_limit[4] = {7};

/* lambda is 9: 1 - 3 lambda and 4 + lambda are 0 modulo 13. */
enum { HALF = 3, SPLIT_DIGITS = 2, SPLIT_BITS = 20 };
static const uint64_t A1[HALF] = {1}, B1[HALF] = {3}, A2[HALF] = {4};
static const uint64_t G1[5] = {0x13b13b13b13b1, 0xb13b13b13b13b, 0x13b13};
static const uint64_t G2[5] = {0x3b13b13b13b13, 0x13b13b13b13b1, 0x3b13b};

/* A1 and B1 are odd, A2 is even: as in the large group. */
#define FIRST_EVEN  A1, B1
#define SECOND_EVEN A2, A1

enum { SECP_HALF_BITS = 6, SECP_P_BITS = 3, SECP_G_BITS = 3, SECP_G_WINDOWS = 1 };

#else

enum { SECP_B = 4 };

static const uint64_t secp_order[5] = {199};
static const uint64_t secp_minus_inverse = 0x8337510b93f09;
static const uint64_t one_r[5] = {131}, square_r[5] = {47};
static const uint64_t twice_order[5] = {0xaaaaaaaaaaa51, 0xaaaaaaaaaaaaa, 0xaaaaaaaaaaaaa, 0xaaaaaaaaaaaaa, 0x2aaaaaaa};
static const uint8_t order_less_2[64] = {[62] = 12, [63] = 5};
static const uint64_t low_s_limit[4] = {100};

/* lambda is 92: 2 - 13 lambda and 15 + 2 lambda are 0 modulo 199. */
enum { HALF = 3, SPLIT_DIGITS = 2, SPLIT_BITS = 20 };
static const uint64_t A1[HALF] = {2}, B1[HALF] = {13}, A2[HALF] = {15};
static const uint64_t G1[5] = {0x4d8399f767c45, 0xbcbde5c099416, 0xb91ce375bc8fb, 0x6beab0c11fdec, 0x6bb6f144};
static const uint64_t G2[5] = {0xb8c9ebd69fe29, 0x25ec1d7da0a6e, 0x76ce2ef87b0b1, 0x0bdbd7210dff0, 0x63527733};

/* A1 is even and A2 is odd: the other way round. */
static const uint64_t minus_A1[HALF] = {UINT64_MAX - 1}, minus_B1[HALF] = {UINT64_MAX - 12};
#define FIRST_EVEN  A2, minus_A1
#define SECOND_EVEN A1, minus_B1

/* 63 is the largest multiple in a row, and no row may be infinity. */
enum { SECP_HALF_BITS = 130, SECP_P_BITS = 5, SECP_G_BITS = 6, SECP_G_WINDOWS = 21 };

#endif

#endif
