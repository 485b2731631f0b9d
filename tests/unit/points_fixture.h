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

static const struct fe52_calls plain_field = {.bits = 256, .c = UINT64_C(0x1000003d1)}; /* its numbers alone */

struct point {
    struct big x, y;
};

/* multiple[i] is i times the generator; 0 is infinity and has none. */
static struct point multiple[LARGEST];

static inline struct big times(struct big a, struct big b) { return prime_mod(big_mul(a, b), &plain_field); }

static inline struct big minus(struct big a, struct big b) {
    return prime_mod(big_less(big_add(a, prime_of(&plain_field)), b), &plain_field);
}

/* a^(p - 2), bit by bit. */
static inline struct big inverse(struct big a) {
    const struct big exponent = big_less(prime_of(&plain_field), big_of(2)), one = big_of(1);
    struct big r = one;
    for (int bit = 255; bit >= 0; bit--) {
        r = times(r, r);
        if (exponent.w[bit / 64] >> bit % 64 & 1) r = times(r, a);
    }
    const struct big product = times(r, a);
    cr_assert(big_equal(&product, &one));
    return r;
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
    const struct big sum = prime_mod(big_add(multiple[1].y, multiple[order - 1].y), &plain_field), zero = big_of(0);
    cr_assert(big_equal(&multiple[1].x, &multiple[order - 1].x) && big_equal(&sum, &zero), "order %u", order);
}

/* b is 6, 2 and 4. These have no x that is a multiple of the order: as a scalar each can be inverted. */
static inline void group_make_7(void) {
    group_make(7, "02326e2a429e640018bf4f59e42fe81a0c46a3e86f8c5d90da03e0844148f6b6",
               "e19f1768583ff383d20ac14967d8b00b9bdad0bd735bb1e8c4dabe7200b54b60");
}

static inline void group_make_13(void) {
    group_make(13, "79ee1c36aebd658afa2e3b40491d77e7962476b87ca04bcdc151f97c12902b8a",
               "6bdac9345c1b6b6dc58fe33c11c1bbc020e7d556ea475595e992c4e5457b4bea");
}

static inline void group_make_199(void) {
    group_make(199, "158b8f8489a6f41b73baa4fb661772e32c3574ac63e436fd49d292e0aabddfbd",
               "bc3399c0c579c53b3134d7d201ce77d9b63721e52ac0805763350a26c6c7d76e");
}

#endif
