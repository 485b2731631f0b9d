/*
 * ed25519_field_ifma.c: inverses and roots modulo p, as powers: x^(p - 2) and x^((p - 5) / 8).
 *
 * Both exponents begin with 250 ones, which come from 5, 10, 20, 40, 50, 100 and 200 of them; p - 2 ends in 01011 and
 * (p - 5) / 8 in 01.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ed25519_lanes.h"

/* x^(250 ones), and x^11 for the end of one of them. */
static void power_begin(struct fe *r, struct fe *x11, const struct fe *x, fe_climb_fn up) {
    struct fe x9[FE_SIDE], ones10[FE_SIDE], ones50[FE_SIDE];
    up(x9, x, 3, x);
    up(x11, x, 1, x9);
    up(r, x11, 1, x9);
    up(ones10, r, 5, r);
    up(r, ones10, 10, ones10);
    up(r, r, 20, r);
    up(ones50, r, 10, ones10);
    up(r, ones50, 50, ones50);
    up(r, r, 100, r);
    up(r, r, 50, ones50);
}

static void invert(struct fe *x) {
    struct fe r, x11;
    power_begin(&r, &x11, x, fe_climb_1);
    fe_climb_1(x, &r, 5, &x11);
}

static void power_2(struct fe x[FE_SIDE]) {
    struct fe r[FE_SIDE], x11[FE_SIDE];
    power_begin(r, x11, x, fe_climb_2);
    fe_climb_2(x, r, 2, x);
}

void simd_ed25519_power(struct fe *x, unsigned count) { fe_in_pairs(x, count, power_2); }

void simd_ed25519_inverse(struct fe *x, struct fe *spare, unsigned count) { fe_inverse_all(x, spare, count, invert); }
