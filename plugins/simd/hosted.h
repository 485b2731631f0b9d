/*
 * hosted.h: operations that have no kernel here, computed by the host's reference code, task by task, on all threads.
 *
 * Mostly operations that a program registered: the core knows their C function, and this plugin has threads. A task
 * is never cut, so one task is one thread's, but for links of chains (chain.c), which are elementwise. What a task costs is not known beforehand: it is measured while it runs,
 * so that small work stays in the calling thread. Called by plugin.c: it builds such a pipeline when variant.c has no
 * kernel. Knows no operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_HOSTED_H
#define SVMX_SIMD_HOSTED_H

#include "kernel.h"
#include "pool.h"

#include <pthread.h>

struct simd_hosted;

/* All of an instance. One pipeline an operation, whatever the bucket, so that the core proves it once. */
struct simd_hosted_set {
    pthread_mutex_t lock; /* guards the list and its counts; held over nothing but host->alloc and release */
    struct simd_hosted *first;
};

void simd_hosted_init(struct simd_hosted_set *set);
void simd_hosted_fini(struct simd_hosted_set *set); /* every pipeline has been freed */

/* The pipeline of an operation; each get is matched by one put. SVMX_ERR_UNSUPPORTED: the host does not know it either.
 * SVMX_ERR_MEMORY. It begins with a kernel whose `run` is NULL: that is how plugin.c knows it. */
enum svmx_status simd_hosted_get(struct simd_hosted_set *set, const struct svmx_host *host,
                                 const struct svmx_op_desc *op, const struct simd_kernel **kernel);
void simd_hosted_put(struct simd_hosted_set *set, const struct simd_kernel *kernel);

/* Computes one task in the thread that calls: a piece of a link of a chain. */
void simd_hosted_run_task(const struct simd_kernel *kernel, const struct svmx_slot *slots, uint32_t slot_count);

/* What it was seen to take for one work, in picoseconds; 0: nothing is known. */
uint64_t simd_hosted_ps_per_work(const struct simd_kernel *kernel);

/* Computes all tasks of a dispatch of such a pipeline. */
void simd_hosted_run(const struct simd_kernel *kernel, struct simd_pool *pool, const struct svmx_dispatch *dispatch);

#endif
