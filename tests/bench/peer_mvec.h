/*
 * peer_mvec.h: libmvec, glibc's vector mathematics, as a peer of suite ops: expf over an array, and what a programmer
 * makes of it who needs a sigmoid, a tanh, a softmax.
 *
 * Its widest function that the machine has is called, 16 or 8 elements at a time. Its error is up to 4 ulp, and what is
 * made of it has more where terms cancel (tanh near 0); ours has at most 1.5 everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_MVEC_H
#define SVMX_TESTS_BENCH_PEER_MVEC_H

#include <stdbool.h>
#include <stddef.h>

/* n is a multiple of `width`, and that of 16; rows of `width` elements, for softmax. */
typedef void (*mvec_fn)(float *out, const float *a, size_t n, size_t width);

/* What does `op`: exp_f32, sigmoid_f32, tanh_f32, swish_f32, gelu_f32, elu_f32 (alpha 1), softmax_f32 or log_softmax_f32;
 * no wider than AVX2 unless `avx512`. NULL: it is not there; `why` then says so, static text. */
mvec_fn mvec_find(const char *op, bool avx512, const char **why);

#endif
