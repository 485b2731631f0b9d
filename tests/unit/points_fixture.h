/*
 * points_fixture.h: a small group of points of a curve y^2 = x^3 + b over the field of secp256k1, by plain arithmetic.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_POINTS_FIXTURE_H
#define SVMX_TESTS_POINTS_FIXTURE_H

#include "big_fixture.h"
#include "op_fixture.h"

enum { LARGEST = 199 };

static const struct fe52_calls *const f = &fe52_secp256k1;

struct point {
    struct big x, y;
};

/* multiple[i] is i times the generator; 0 is infinity and has none. */
static struct point multiple[LARGEST];

static inline struct big times(struct big a, struct big b) { return prime_mod(big_mul(a, b), f); }

static inline struct big minus(struct big a, struct big b) {
    return prime_mod(big_less(big_add(a, prime_of(f)), b), f);
}

static inline struct big inverse(struct big a) {
    fe52_number x, r;
    for (int i = 0; i < FE52_LANES; i++) number_set(x, i, a);
    f->inverse(r, x);
    const struct big result = prime_mod(number_of(r, 0), f), product = times(result, a), one = big_of(1);
    cr_assert(big_equal(&product, &one));
    return result;
}

/* By the slope, as in school; a and b have different x, or are the same. */
static inline struct point add(const struct point *a, const struct point *b) {
    const bool same = big_equal(&a->x, &b->x);
    const struct big above = same ? times(big_of(3), times(a->x, a->x)) : minus(b->y, a->y);
    const struct big below = same ? times(big_of(2), a->y) : minus(b->x, a->x);
    const struct big slope = times(above, inverse(below));
    const struct big x = minus(minus(times(slope, slope), a->x), b->x);
    return (struct point){x, minus(times(slope, minus(a->x, x)), a->y)};
}

static inline void group_make(unsigned order, const char *x, const char *y) {
    multiple[1] = (struct point){from_hex(x), from_hex(y)};
    for (unsigned i = 2; i < order; i++) multiple[i] = add(&multiple[i - 1], &multiple[1]);
    const struct big sum = prime_mod(big_add(multiple[1].y, multiple[order - 1].y), f), zero = big_of(0);
    cr_assert(big_equal(&multiple[1].x, &multiple[order - 1].x) && big_equal(&sum, &zero), "order %u", order);
}

/* b is 4, and the order 199. */
static inline void group_make_199(void) {
    group_make(199, "158b8f8489a6f41b73baa4fb661772e32c3574ac63e436fd49d292e0aabddfbd",
               "bc3399c0c579c53b3134d7d201ce77d9b63721e52ac0805763350a26c6c7d76e");
}

#endif
