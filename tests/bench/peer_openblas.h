/*
 * peer_openblas.h: OpenBLAS as a peer of suite ops: a product of square float matrices.
 *
 * It chooses its kernels when it is loaded, by the name of the processor, and takes slow ones for a name that it
 * does not know. So it is loaded at run time: a child process for each kernel set that may fit measures it, and
 * the fastest is asked for by OPENBLAS_CORETYPE before it is loaded here. Who sets that variable has chosen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_OPENBLAS_H
#define SVMX_TESTS_BENCH_PEER_OPENBLAS_H

#include <stddef.h>
#include <stdint.h>

struct openblas_peer;

/* Call it before the program has threads: it forks. NULL: it is not there; `why` then says so, static text. */
struct openblas_peer *openblas_peer_open(const char **why);
void openblas_peer_close(struct openblas_peer *peer);

/* The kernels that it uses; lives as long as the peer. */
const char *openblas_peer_kernels(const struct openblas_peer *peer);

/* Threads for the products that follow. */
void openblas_peer_threads(struct openblas_peer *peer, uint32_t threads);

/* out = a b, all n x n, row by row. */
void openblas_peer_multiply(struct openblas_peer *peer, float *out, const float *a, const float *b, size_t n);

/* Waits until its threads, which spin for a while after a product, sleep. */
void openblas_peer_settle(struct openblas_peer *peer);

#endif
