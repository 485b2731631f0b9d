/*
 * big_fixture.h: numbers of 768 bits, slow and plain, and numbers in lanes (fe52_calls.h) made of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BIG_FIXTURE_H
#define SVMX_TESTS_BIG_FIXTURE_H

#include "../../plugins/simd/variant.h"
#include "fe52_calls.h"

#include <stdbool.h>
#include <string.h>

enum { WORDS = 12 };
#define MASK52 ((UINT64_C(1) << 52) - 1)

static inline bool has_ifma(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return (simd_features(&cpuid) & SIMD_FEATURE_IFMA) != 0;
}

#define NEEDS_IFMA                                                                                                     \
    if (!has_ifma()) cr_skip_test("this machine has no IFMA")

struct big {
    uint64_t w[WORDS];
};

typedef unsigned __int128 u128;

static inline struct big big_of(uint64_t small) { return (struct big){{small}}; }

static inline struct big big_add(struct big a, struct big b) {
    u128 carry = 0;
    for (int i = 0; i < WORDS; i++) a.w[i] = (uint64_t)(carry += (u128)a.w[i] + b.w[i]), carry >>= 64;
    return a;
}

static inline bool big_below(const struct big *a, const struct big *b) {
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->w[i] != b->w[i]) return a->w[i] < b->w[i];
    return false;
}

static inline struct big big_less(struct big a, struct big b) {
    uint64_t borrow = 0;
    for (int i = 0; i < WORDS; i++) {
        const u128 difference = (u128)a.w[i] - b.w[i] - borrow;
        a.w[i] = (uint64_t)difference, borrow = (uint64_t)(difference >> 64) & 1;
    }
    return a;
}

static inline struct big big_mul(struct big a, struct big b) {
    struct big r = {{0}};
    for (int i = 0; i < WORDS; i++) {
        u128 carry = 0;
        for (int j = 0; i + j < WORDS; j++) {
            carry += (u128)a.w[i] * b.w[j] + r.w[i + j];
            r.w[i + j] = (uint64_t)carry, carry >>= 64;
        }
    }
    return r;
}

static inline struct big big_shift(struct big a, unsigned left) {
    for (; left >= 64; left -= 64) {
        memmove(a.w + 1, a.w, sizeof a.w - 8);
        a.w[0] = 0;
    }
    return big_mul(a, big_of(UINT64_C(1) << left));
}

/* By subtracting the modulus, moved up by ever less. */
static inline struct big big_mod(struct big a, struct big modulus) {
    for (int up = 64 * WORDS - 260; up >= 0; up--) {
        const struct big moved = big_shift(modulus, (unsigned)up);
        if (!big_below(&a, &moved)) a = big_less(a, moved);
    }
    return a;
}

static inline bool big_equal(const struct big *a, const struct big *b) { return memcmp(a, b, sizeof *a) == 0; }

static inline struct big from_hex(const char *hex) {
    struct big r = big_of(0);
    for (; *hex; hex++) r = big_add(big_shift(r, 4), big_of((uint64_t)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10)));
    return r;
}

/* ---- modulo the prime of a field ------------------------------------------------------------------------------- */

static inline struct big prime_of(const struct fe52_calls *f) {
    return big_less(big_shift(big_of(1), f->bits), big_of(f->c));
}

/* 2^bits is c: what is above goes down until nothing is. */
static inline struct big prime_mod(struct big a, const struct fe52_calls *f) {
    const struct big p = prime_of(f);
    for (int round = 0; round < 4; round++) {
        struct big above = {{0}}, low = {{0}};
        const unsigned at = f->bits / 64, by = f->bits % 64;
        for (unsigned i = 0; at + i < WORDS; i++)
            above.w[i] = by ? a.w[at + i] >> by | (at + i + 1 < WORDS ? a.w[at + i + 1] << (64 - by) : 0) : a.w[at + i];
        memcpy(low.w, a.w, 8 * at);
        if (by) low.w[at] = a.w[at] & ((UINT64_C(1) << by) - 1);
        a = big_add(low, big_mul(above, big_of(f->c)));
    }
    return big_below(&a, &p) ? a : big_less(a, p);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

static inline struct big number_of(fe52_number a, int lane) {
    struct big r = big_of(0);
    for (int i = FE52_DIGITS - 1; i >= 0; i--) r = big_add(big_shift(r, 52), big_of(a[i][lane]));
    return r;
}

static inline void number_set(fe52_number a, int lane, struct big x) {
    for (unsigned i = 0; i < FE52_DIGITS; i++) {
        const unsigned at = 52 * i / 64, by = 52 * i % 64;
        a[i][lane] = (x.w[at] >> by | (by ? x.w[at + 1] << (64 - by) : 0)) & MASK52;
    }
}

#endif
