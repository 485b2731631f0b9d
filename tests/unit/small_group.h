/*
 * small_group.h: a group of 199 points in place of plugins/simd/secp256k1_group.h, for test_simd_small_group.c.
 *
 * The curve y^2 = x^3 + 4 over the field of secp256k1 has 199 points that are a group. ecrecover_ifma.c, ecdsa_ifma.c and what
 * they compute scalars and points with are built once more with this header as SECP_GROUP, under names of their own.
 *
 * Three things are not as in the large group, so that a small one shows more:
 *
 *   r        is the whole x of a point, up to p, and only as a scalar is it taken modulo 199
 *   u1       is a number of 238 bits in recovery: what is subtracted from is a large multiple of 199
 *   halves   any c1 and c2 will do; here G1 and G2 are any numbers, and so the halves have all their bits
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

enum { SECP_B = 4 };

static const uint64_t secp_order[5] = {199};
static const uint64_t secp_minus_inverse = 0x8337510b93f09;
static const uint64_t one_r[5] = {131}, square_r[5] = {47};
static const uint64_t twice_order[5] = {0xaaaaaaaaaaa51, 0xaaaaaaaaaaaaa, 0xaaaaaaaaaaaaa, 0xaaaaaaaaaaaaa, 0x2aaaaaaa};
static const uint8_t order_less_2[64] = {[62] = 12, [63] = 5};

static const uint64_t r_limit[4] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};
static const uint64_t low_s_limit[4] = {100};
static const uint64_t prime_less_order[4] = {0};

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
enum { SECP_G_BITS = 6, SECP_G_WINDOWS = 21 };

#endif
