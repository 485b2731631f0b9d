/*
 * group_logs.h: signatures in a group of points_fixture.h, by logarithms modulo its order: what code that adds points is compared
 * with. For test_simd_small_group.c and test_opencl_small_group.c, which are built for SMALL_ORDER of 7, 13 and 199.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_GROUP_LOGS_H
#define SVMX_TESTS_GROUP_LOGS_H

#include "ops/messages.h"
#include "points_fixture.h"

#ifndef SMALL_ORDER
#define SMALL_ORDER 199
#endif
enum { ORDER = SMALL_ORDER };

/* Of i times the generator: x and y, big-endian; the hash of both; x modulo ORDER; 1 / i modulo ORDER. */
static uint8_t key_of[ORDER][64], address_of[ORDER][20];
static unsigned r_of[ORDER], inverse_of[ORDER];

static inline unsigned modulo(unsigned a) { return a % ORDER; }

static inline void bytes_of(uint8_t out[32], const struct big *a) {
    for (unsigned i = 0; i < 32; i++) out[31 - i] = (uint8_t)(a->w[i / 8] >> 8 * (i % 8));
}

static inline unsigned remainder_of(const uint8_t number[32]) {
    unsigned r = 0;
    for (unsigned i = 0; i < 32; i++) r = modulo(256 * r + number[i]);
    return r;
}

/* The logarithm of the point with that x and an odd or even y. */
static inline unsigned log_of(const uint8_t x[32], unsigned odd) {
    unsigned i = 1;
    while (i < ORDER && (memcmp(key_of[i], x, 32) != 0 || (key_of[i][63] & 1) != odd)) i++;
    cr_assert_lt(i, (unsigned)ORDER, "no x of the group");
    return i;
}

/* Q = (s R - hash G) / r; 0 is infinity. */
static inline unsigned key_log(const uint8_t *hash, unsigned point, const uint8_t *s) {
    return modulo((remainder_of(s) * point + ORDER - remainder_of(hash)) * inverse_of[r_of[point]]);
}

static inline _Bool is_signature(const uint8_t *hash, const uint8_t *r, const uint8_t *s, unsigned key) {
    const unsigned sum = modulo((remainder_of(hash) + remainder_of(r) * key) * inverse_of[remainder_of(s)]);
    return sum != 0 && memcmp(key_of[sum], r, 32) == 0;
}

static inline void small_number(uint8_t out[32], unsigned value) {
    memset(out, 0, 32);
    out[30] = (uint8_t)(value >> 8), out[31] = (uint8_t)value;
}

static inline void logs_make(void) {
    switch ((int)ORDER) {
    case 7: group_make_7(); break;
    case 13: group_make_13(); break;
    default: group_make_199(); break;
    }
    for (unsigned i = 1; i < ORDER; i++) {
        uint8_t digest[32];
        bytes_of(key_of[i], &multiple[i].x);
        bytes_of(key_of[i] + 32, &multiple[i].y);
        svmx__keccak256(digest, key_of[i], 64);
        memcpy(address_of[i], digest + 12, 20);
        r_of[i] = remainder_of(key_of[i]);
        for (inverse_of[i] = 1; modulo(i * inverse_of[i]) != 1;) inverse_of[i]++;
    }
}

#endif
