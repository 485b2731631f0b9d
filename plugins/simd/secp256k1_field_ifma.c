/*
 * secp256k1_field_ifma.c: inverses and square roots modulo p, as powers: x^(p - 2) and x^((p + 1) / 4).
 *
 * Both exponents begin with 223 ones; 2^k - 1 is written ones(k):
 *
 *   ones 2 3 6 9 11 22 44 88 176 220 223, each from earlier ones by squaring and one product
 *   (p + 1) / 4   223 ones, 0, 22 ones, 0000, 11, 00
 *   p - 2         223 ones, 0, 22 ones, 0000, 1, 0, 11, 0, 1
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "secp256k1_lanes.h"

/* x^(223 ones, 0, 22 ones), and what else the ends need. */
static void power_begin(struct fe *r, struct fe *ones2, const struct fe *x, fe_climb_fn up) {
    struct fe ones3[FE_SIDE], ones11[FE_SIDE], ones22[FE_SIDE], ones44[FE_SIDE], ones88[FE_SIDE];
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
    struct fe r, ones2[FE_SIDE];
    power_begin(&r, ones2, x, fe_climb_1);
    fe_climb_1(&r, &r, 5, x);
    fe_climb_1(&r, &r, 3, ones2);
    fe_climb_1(x, &r, 2, x);
}

static void root_2(struct fe x[FE_SIDE]) {
    struct fe r[FE_SIDE], ones2[FE_SIDE], one[FE_SIDE] = {fe_of(1), fe_of(1)};
    power_begin(r, ones2, x, fe_climb_2);
    fe_climb_2(r, r, 6, ones2);
    fe_climb_2(x, r, 2, one);
}

void simd_secp256k1_root(struct fe *x, unsigned count) { fe_in_pairs(x, count, root_2); }

void simd_secp256k1_inverse(struct fe *x, struct fe *spare, unsigned count) { fe_inverse_all(x, spare, count, invert); }
