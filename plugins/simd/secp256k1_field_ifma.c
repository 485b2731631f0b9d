/*
 * secp256k1_field_ifma.c: inverses and square roots modulo p, as powers: x^(p - 2) and x^((p + 1) / 4).
 *
 * Both exponents begin with 223 ones; 2^k - 1 is written ones(k):
 *
 *   ones 2 3 6 9 11 22 44 88 176 220 223, each from earlier ones by squaring and one product
 *   (p + 1) / 4   223 ones, 0, 22 ones, 0000, 11, 00
 *   p - 2         223 ones, 0, 22 ones, 0000, 1, 0, 11, 0, 1
 *
 * A power is one long chain in which each square waits for the last: roots go two vectors at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "secp256k1_lanes.h"

enum { SIDE = 2 }; /* most numbers side by side */

/* r = a^(2^times) b, for `side` numbers each */
SIMD_INLINE void climb(struct fe *r, const struct fe *a, int times, const struct fe *b, int side) {
    struct fe x[SIDE];
    FE_UNROLL for (int i = 0; i < side; i++) x[i] = a[i];
    for (int k = 0; k < times; k++) {
        FE_UNROLL for (int i = 0; i < side; i++) fe_sqr(&x[i], &x[i]);
    }
    FE_UNROLL for (int i = 0; i < side; i++) fe_mul(&r[i], &x[i], &b[i]);
}

static SIMD_ALIGNED_FRAME void climb_1(struct fe *r, const struct fe *a, int times, const struct fe *b) {
    climb(r, a, times, b, 1);
}

static SIMD_ALIGNED_FRAME void climb_2(struct fe *r, const struct fe *a, int times, const struct fe *b) {
    climb(r, a, times, b, 2);
}

typedef void (*climb_fn)(struct fe *r, const struct fe *a, int times, const struct fe *b);

/* x^(223 ones, 0, 22 ones), and what else the ends need. */
static void power_begin(struct fe *r, struct fe *ones2, const struct fe *x, climb_fn up) {
    struct fe ones3[SIDE], ones11[SIDE], ones22[SIDE], ones44[SIDE], ones88[SIDE];
    up(ones2, x, 1, x);
    up(ones3, ones2, 1, x);
    up(r, ones3, 3, ones3);
    up(r, r, 3, ones3);
    up(ones11, r, 2, ones2);
    up(ones22, ones11, 11, ones11);
    up(ones44, ones22, 22, ones22);
    up(ones88, ones44, 44, ones44);
    up(r, ones88, 88, ones88);
    up(r, r, 44, ones44);
    up(r, r, 3, ones3);
    up(r, r, 23, ones22);
}

static void invert(struct fe *x) {
    struct fe r, ones2[SIDE];
    power_begin(&r, ones2, x, climb_1);
    climb_1(&r, &r, 5, x);
    climb_1(&r, &r, 3, ones2);
    climb_1(x, &r, 2, x);
}

static void root_2(struct fe x[SIDE]) {
    struct fe r[SIDE], ones2[SIDE], one[SIDE] = {fe_of(1), fe_of(1)};
    power_begin(r, ones2, x, climb_2);
    climb_2(r, r, 6, ones2);
    climb_2(x, r, 2, one);
}

void simd_secp256k1_root(struct fe *x, unsigned count) {
    struct fe pair[SIDE];
    for (unsigned i = 0; i < count; i += SIDE) {
        const unsigned second = i + 1 < count ? i + 1 : i;
        pair[0] = x[i], pair[1] = x[second];
        root_2(pair);
        x[i] = pair[0], x[second] = pair[1];
    }
}

/* Products of all before each; the inverse of the product of all; then backwards, each out of it. */
void simd_secp256k1_inverse(struct fe *x, struct fe *spare, unsigned count) {
    struct fe all = x[0];
    for (unsigned i = 1; i < count; i++) {
        spare[i] = all;
        fe_mul(&all, &all, &x[i]);
    }
    invert(&all);
    for (unsigned i = count; --i > 0;) {
        struct fe one;
        fe_mul(&one, &all, &spare[i]);
        fe_mul(&all, &all, &x[i]);
        x[i] = one;
    }
    x[0] = all;
}
