/*
 * peer_cl.h: the OpenCL API used directly, in the ways that programs use it, on the device that the executor uses.
 *
 *   naive      buffers and kernel arguments made for every task, a blocking read each
 *   enqueued   buffers and kernel made once, a launch a task, one wait; with copies, or on shared memory in place
 *
 * All ways run one kernel, which has the shape that runs best on CPUs: a work-item adds some thousand floats in a row, in
 * vectors. Errors of the driver end the program: there is nothing to measure then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_PEER_CL_H
#define SVMX_TESTS_BENCH_PEER_CL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer_cl;

/* One sum of two vectors. */
struct peer_cl_task {
    float *out;
    const float *a, *b;
    size_t n;
};

/* The device of this name (as svmx shows it); NULL if there is none. */
struct peer_cl *peer_cl_open(const char *device_name);
void peer_cl_close(struct peer_cl *peer);

/* Can the host and kernels use the same memory without mapping it (fine-grain SVM)? */
bool peer_cl_shares(const struct peer_cl *peer);

/* Memory that both use; NULL where the device does not share. Freed by close. */
void *peer_cl_shared(struct peer_cl *peer, size_t bytes);

void peer_cl_naive(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count);
/* Makes the buffers of the enqueued way for these tasks, in place of earlier ones. */
void peer_cl_prepare(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count);
void peer_cl_enqueued(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count);
/* The tasks' memory is from peer_cl_shared. */
void peer_cl_in_place(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count);

/* A square matrix product, one element a work-item, buffers made once: the kernel of every first tutorial. */
void peer_cl_matmul(struct peer_cl *peer, float *out, const float *a, const float *b, size_t n);

#endif
