/*
 * fe52_calls_secp256k1.c: see fe52_calls.h. Built for AVX-512 with IFMA and VBMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/secp256k1_lanes.h"
#include "fe52_calls.h"

#include "fe52_calls_body.h"

static void call_inverse(fe52_number r, fe52_number a) {
    struct fe x = load(a), spare;
    simd_secp256k1_inverse(&x, &spare, 1);
    store(r, &x);
}

const struct fe52_calls fe52_secp256k1 = {"secp256k1",  FE_BITS,   FE_C,        call_mul,     call_sqr,
                                          call_mul_mul, call_less, call_normal, call_is_zero, call_inverse};

static struct jacobian load_point(fe52_number p[3]) { return (struct jacobian){load(p[0]), load(p[1]), load(p[2])}; }

static void store_point(fe52_number p[3], const struct jacobian *from) {
    store(p[0], &from->x);
    store(p[1], &from->y);
    store(p[2], &from->z);
}

void fe52_secp256k1_double(fe52_number p[3]) {
    struct jacobian sum = load_point(p);
    simd_secp256k1_double(&sum);
    store_point(p, &sum);
}

void fe52_secp256k1_add(fe52_number p[3], fe52_number x, fe52_number y, unsigned minus) {
    struct jacobian sum = load_point(p);
    const struct affine q = {load(x), load(y)};
    simd_secp256k1_add(&sum, &q, (__mmask8)minus);
    store_point(p, &sum);
}

void fe52_secp256k1_windows(uint64_t low[5][FE52_LANES], uint64_t first[3][FE52_LANES], uint64_t second[3][FE52_LANES],
                            fe52_number u1, fe52_number u2) {
    const struct fe a = load(u1), b = load(u2);
    struct scalar x, y;
    struct windows w;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    simd_secp256k1_windows(&w, &x, &y);
    memcpy(low, w.low, sizeof w.low);
    memcpy(first, w.first, sizeof w.first);
    memcpy(second, w.second, sizeof w.second);
}
