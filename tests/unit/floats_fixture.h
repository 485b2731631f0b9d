/*
 * floats_fixture.h: what the suites of the float operations share beside op_fixture.h: bits, random numbers, errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_FLOATS_FIXTURE_H
#define SVMX_TESTS_FLOATS_FIXTURE_H

#include "op_fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static inline float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t to_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* As results are written. */
static inline uint32_t result_bits(float value) { return isnan(value) ? UINT32_C(0x7fc00000) : to_bits(value); }

static inline struct svmx_slot scalar(float value) { return (struct svmx_slot){to_bits(value), 4}; }

static inline uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 16;
}

/* Any pattern at all, half of them near an edge: zeros, denormals, infinities, NaNs, powers of two. */
static inline uint32_t any_bits(uint64_t *state) {
    static const uint32_t edges[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x3f800000,
                                     0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
    const uint32_t r = (uint32_t)next_random(state);
    return r & 1 ? r ^ r << 13 : edges[(r >> 1) % 10] ^ (r & 0x80000000u);
}

/* [low, high) */
static inline float between(uint64_t *state, float low, float high) {
    return low + (high - low) * ((float)(next_random(state) & 0xffffff) * 0x1p-24f);
}

/* |got - exact| in units of the last place of a float. */
static inline double ulps(float got, long double exact) {
    int exponent;
    if (isinf(got) || isnan(got)) return INFINITY;
    frexpl(exact, &exponent);
    return (double)(fabsl(got - exact) / ldexpl(1, (exponent < -125 ? -125 : exponent) - 24));
}

/* One result of an operation of one input, with as many scalars as are given. */
static inline uint32_t one_result(uint32_t id, float x, struct svmx_slot s, struct svmx_slot t) {
    uint32_t out = 0xeeeeeeee;
    const struct svmx_slot slots[] = {slot(&out, 4), slot(&x, 4), s, t};
    svmx__reference_run(svmx__op_by_id(id), slots);
    return out;
}

#endif
