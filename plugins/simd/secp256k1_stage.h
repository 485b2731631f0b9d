/*
 * secp256k1_stage.h: from bytes in memory to lanes, for ecrecover_ifma.c and ecdsa_ifma.c.
 *
 * Signatures come from many tasks, one here and hundreds there: their numbers are copied, word by word, to where eight of
 * them are a vector. What is out of range is found on the way, without lanes: it costs nothing beside the curve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_SECP256K1_STAGE_H
#define SVMX_SIMD_SECP256K1_STAGE_H

#include "secp256k1_lanes.h"

#include <stdalign.h>
#include <stdbool.h>

/* Sixteen groups share the two inversions; more would save less than one in a hundred. */
enum { STAGE_GROUPS = 16, STAGE_ITEMS = STAGE_GROUPS * SECP_LANES, STAGE_WORD = 32 };

/* Eight numbers of four words, lowest first. */
struct stage {
    alignas(64) uint64_t words[4][SECP_LANES];
};

static const uint64_t stage_prime[4] = {0xfffffffefffffc2f, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff};

static inline void stage_number(struct stage *to, int lane, const uint8_t *bytes) {
    for (int i = 0; i < 4; i++) to->words[i][lane] = __builtin_bswap64(simd_load_u64(bytes + 24 - 8 * i));
}

static inline void stage_one(struct stage *to, int lane) {
    for (int i = 0; i < 4; i++) to->words[i][lane] = i == 0;
}

static inline bool stage_below(const struct stage *at, int lane, const uint64_t limit[4]) {
    int i = 3;
    while (i > 0 && at->words[i][lane] == limit[i]) i--;
    return at->words[i][lane] < limit[i];
}

static inline bool stage_zero(const struct stage *at, int lane) {
    return (at->words[0][lane] | at->words[1][lane] | at->words[2][lane] | at->words[3][lane]) == 0;
}

/* 0 < number < n */
static inline bool stage_in_range(const struct stage *at, int lane) {
    return !stage_zero(at, lane) && stage_below(at, lane, r_limit);
}

static inline void stage_digits(word d[5], const struct stage *from) {
    word w[4];
    for (int i = 0; i < 4; i++) w[i] = _mm512_load_si512(from->words[i]);
    digits_from_words(d, w);
}

#endif
