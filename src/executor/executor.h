/*
 * executor.h: the executor and its devices, as the files of this folder see them.
 *
 * LOCKS, in the order in which they may be taken: executor->admission, executor->publishing, device->queue.lock,
 * pool->lock, batch->lock.
 * None is held while a plugin runs. docs/ARCHITECTURE.md says the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_EXECUTOR_H
#define SVMX_EXECUTOR_EXECUTOR_H

#include "base/log.h"
#include "base/queue.h"
#include "cache/layout_cache.h"
#include "cache/pipeline_cache.h"
#include "cache/staging_pool.h"
#include "executor/config.h"
#include "ops/op.h"
#include "plugin/registry.h"
#include <stdatomic.h>
#include <svmx/svmx.h>

/* What is known of an operation on a device. */
enum svmx__fitness { SVMX__UNTRIED, SVMX__FIT, SVMX__UNFIT };

struct svmx__device {
    struct svmx_executor *executor;
    struct svmx__backend *backend;
    uint32_t id;    /* in the executor */
    uint32_t index; /* in the backend */
    struct svmx_device_info info;
    bool inline_; /* SVMX_DEVICE_INLINE: any thread may submit */
    bool host_memory;
    struct svmx__staging_pool pool;
    struct svmx__queue queue; /* of parts */
    pthread_t submitter;      /* pops the queue; the only one that submits, unless inline_ */
    bool has_submitter;

    atomic_bool usable;                      /* false: given up */
    atomic_bool abandoned;                   /* it holds memory of ours past a deadline: its backend is never closed */
    _Atomic uint8_t fitness[SVMX__OP_LIMIT]; /* enum svmx__fitness by operation */
    atomic_uint_fast64_t tasks, launches, bytes_in, bytes_out, busy_ns, failures;
};

struct svmx_executor {
    atomic_uint references; /* one of the caller, one of every batch */
    atomic_bool closed;
    struct svmx__config config;
    struct svmx__log log;
    struct svmx__registry registry;
    struct svmx__device *devices; /* in order of preference, the reference last */
    uint32_t device_count;
    struct svmx__pipeline_cache pipelines;
    struct svmx__layout_cache layouts;
    _Atomic uint32_t best_device[SVMX__OP_LIMIT]; /* what route reads; see route.c */
    pthread_mutex_t publishing;                   /* of writers of best_device */

    pthread_mutex_t admission; /* guards under_way */
    pthread_cond_t room;       /* under_way went down */
    uint32_t under_way;        /* batches between svmx_submit and completion */

    atomic_uint_fast64_t batches, tasks, cancelled, fallbacks;
};

/* ---- executor.c ---- */
void svmx__executor_retain(struct svmx_executor *executor);
void svmx__executor_release(struct svmx_executor *executor);

/* ---- device.c: making devices from backends, their memory and their threads ---- */

/* Fills executor->devices from the registry. BACKEND, UNKNOWN (the user named a device that is not there), MEMORY. */
enum svmx_status svmx__devices_find(struct svmx_executor *executor, struct svmx__text *why);
/* Starts submitters. SYSTEM. */
enum svmx_status svmx__devices_start(struct svmx_executor *executor, struct svmx__text *why);
/* Ends submitters after their queues are empty, frees pools and devices. Safe after a partial start. */
void svmx__devices_stop(struct svmx_executor *executor);
void svmx__devices_free(struct svmx_executor *executor);

/* ---- pipeline.c ---- */

/* What a device's submitter does with a part that it popped. */
struct svmx__part;
void svmx__pipeline_part(struct svmx__part *part);

/* ---- completion.c ---- */

/* Ends a batch: counters, callback, eventfd, and last the hand-over to the caller. The batch may be gone afterwards. */
void svmx__complete(struct svmx_batch *batch, enum svmx_status status);

/* ---- route.c ---- */

/* Publishes anew which device an operation prefers. After devices were found, lost, or refused an operation. */
void svmx__route_publish(struct svmx_executor *executor, uint32_t op);

/* ---- prepare.c: the pipeline of a part: cached, or built and proved ---- */

/* Sets part->pipeline. UNSUPPORTED, WRONG_RESULT or the plugin's error: this device does not serve this operation, and
 * is not asked again. */
enum svmx_status svmx__prepare(struct svmx__part *part);

/* ---- selftest.c ---- */

/* Runs the operation's known answers, and examples against the reference code, through a pipeline on its device.
 * WRONG_RESULT, or whatever the device answered. Only the device's submitter may call it, unless inline_. */
enum svmx_status svmx__selftest(struct svmx__device *device, const struct svmx__op *op,
                                const struct svmx__pipeline *pipeline, struct svmx__text *why);

/* ---- examples.c ---- */

/* Slots of an example of `size` units, its inputs filled in and its outputs zero, in one block that free() takes. A
 * block is set on OK only. OVERFLOW, MEMORY. */
enum svmx_status svmx__example_make(const struct svmx__op *op, uint64_t size, uint64_t seed, struct svmx_slot *slots,
                                    void **block);

/* ---- host.c: the upcalls that backends get ---- */
struct svmx__host_maker svmx__host_maker(struct svmx_executor *executor);
/* Takes the last error line that a backend logged: it is told once, with the failure that it belongs to. */
void svmx__host_take_error(const struct svmx__backend *backend, char *line, size_t bytes);
/* From now on its error lines are errors: it is open. */
void svmx__host_opened(const struct svmx__backend *backend);
/* The executor goes, an abandoned instance stays: its upcalls keep working, its log lines go nowhere. */
void svmx__host_orphan(const struct svmx__backend *backend);

/* A description of an operation for plugins. */
static inline struct svmx_op_desc svmx__op_desc(const struct svmx__op *op) {
    return (struct svmx_op_desc){.size = sizeof(struct svmx_op_desc),
                                 .name = op->name,
                                 .params = op->params,
                                 .param_count = op->param_count,
                                 .scratch_bytes_per_unit = op->scratch_bytes_per_unit};
}

#endif
