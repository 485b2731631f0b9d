/*
 * fe52_calls_ed25519.c: see fe52_calls.h. Built for AVX-512 with IFMA and VBMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/ed25519_lanes.h"
#include "fe52_calls.h"

#include "fe52_calls_body.h"

static void call_inverse(fe52_number r, fe52_number a) {
    struct fe x = load(a), spare;
    simd_ed25519_inverse(&x, &spare, 1);
    store(r, &x);
}

const struct fe52_calls fe52_ed25519 = {"ed25519",    FE_BITS,   FE_C,        call_mul,     call_sqr,
                                        call_mul_mul, call_less, call_normal, call_is_zero, call_inverse};
