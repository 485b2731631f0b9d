/*
 * peer_mvec.h: libmvec, glibc's vector mathematics, as a peer of suite ops: expf over an array.
 *
 * Its widest function that the machine has is called, 16 or 8 elements at a time. Its error is up to 4 ulp, ours
 * is at most 1.5.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_MVEC_H
#define SVMX_TESTS_BENCH_PEER_MVEC_H

#include <stdbool.h>
#include <stddef.h>

typedef void (*mvec_fn)(float *out, const float *a, size_t n);

/* out[i] = e^a[i] for i < n, n a multiple of 16; no wider than AVX2 unless `avx512`. NULL: it is not there; `why` then
 * says so, static text. */
mvec_fn mvec_expf(bool avx512, const char **why);

#endif
