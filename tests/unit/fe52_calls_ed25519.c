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

void fe52_ed25519_combine(fe52_number sum[3], uint64_t s[4][FE52_LANES], uint64_t hash[8][FE52_LANES], fe52_number x,
                          fe52_number y) {
    const struct fe point_x = load(x), point_y = load(y);
    struct ed_windows windows;
    struct extended out;
    word s_words[4], hash_words[8];
    for (int i = 0; i < 4; i++) s_words[i] = _mm512_loadu_si512(s[i]);
    for (int i = 0; i < 8; i++) hash_words[i] = _mm512_loadu_si512(hash[i]);
    simd_ed25519_rows_make();
    simd_ed25519_windows(&windows, s_words, hash_words);
    simd_ed25519_combine(&out, &windows, &point_x, &point_y);
    store(sum[0], &out.x);
    store(sum[1], &out.y);
    store(sum[2], &out.z);
}
