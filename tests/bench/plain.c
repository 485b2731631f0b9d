/*
 * plain.c: see plain.h. In a file of its own, so that no compiler sees that a result is never looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plain.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3") /* gcc's -O2 does not vectorise loops of unknown length; clang's does */
#endif

static inline __attribute__((always_inline)) void add_row(float *restrict out, const float *restrict a,
                                                          const float *restrict b, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = a[i] + b[i];
}

static inline __attribute__((always_inline)) void add(const struct plain_work *work) {
    for (size_t row = 0; row < work->rows; row++) {
        size_t at = row * work->stride;
        add_row(work->out + at, work->a + at, work->b + at, work->n);
    }
}

static void add_baseline(const struct plain_work *work) { add(work); }

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void add_avx2(const struct plain_work *work) { add(work); }
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) static void add_avx512(const struct plain_work *work) {
    add(work);
}
#endif

plain_fn plain_vec_add_f32(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return add_avx512;
    if (__builtin_cpu_supports("avx2")) return add_avx2;
#endif
    return add_baseline;
}
