/*
 * tally.h: what one operation did on one device, counted.
 *
 *   learn.c   adds each part that was answered:   tasks, bytes, times, why it went there, how long it took
 *   route.c   adds each that failed:              by reason
 *   prepare.c, stage.c   add what was found in their caches
 *   tally.c   reads: svmx_op_stats_get, and what svmx_device_get says a device did
 *
 * Numbers of a device are sums of these, made when somebody asks: so to count by operation costs no more than to count by
 * device did. All are relaxed: each stands for itself. A short launch in the caller's thread adds to the first lines only;
 * the rest is added to where it is not zero.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_TALLY_H
#define SVMX_EXECUTOR_TALLY_H

#include "executor/model.h"
#include <svmx/svmx.h>

struct svmx__part;
struct svmx__device;

/* All zero is empty. */
struct svmx__tally {
    _Atomic uint64_t tasks, bytes_in, bytes_out, run_ns;
    _Atomic uint64_t pipeline_hits, pipeline_misses, layout_hits, layout_misses; /* self-tests count too */
    _Atomic uint64_t decisions[SVMX_WHY_LINES];                                  /* parts by enum svmx_why */
    _Atomic uint64_t latency[SVMX_LATENCY_LINES];                                /* parts by log2 of their ns */

    _Atomic uint64_t more_launches; /* launches less parts: some take several, links of a chain none; wraps */
    /* Launches that a device has at once count one after another: run_ns is what each took for itself, and what it waited for
     * those ahead is in wait_ns. So run_ns of a device is never more than passed, unless it computes in calling threads. */
    _Atomic uint64_t wait_ns, stage_ns, collect_ns, setup_ns, transfer_ns, device_ns;
    _Atomic uint64_t compute_ns, busy_ns; /* of devices with memory of their own; others compute for all of run_ns */
    _Atomic uint64_t failures[SVMX_FAILURE_LINES]; /* by enum svmx_failure */
};

/* A part was answered by its device; its trail and the sample say how. */
void svmx__tally_part(const struct svmx__part *part, const struct svmx__sample *sample);
/* Its device failed it; part->status says how. */
void svmx__tally_failure(const struct svmx__part *part);

/* Something was looked for in a cache. */
static inline void svmx__tally_look(_Atomic uint64_t *hits, _Atomic uint64_t *misses, bool found) {
    atomic_fetch_add_explicit(found ? hits : misses, 1, memory_order_relaxed);
}

/* Was any work counted? Most operations were not used on most devices: these need not be read. */
bool svmx__tally_is_used(const struct svmx__tally *tally);
/* Adds what was counted of an operation on a device to `sum`. */
void svmx__tally_read(const struct svmx__device *device, uint32_t op, struct svmx_op_stats *sum);
/* What was looked for in caches, of all operations of a device, used or not, is added. */
void svmx__tally_looks(const struct svmx__device *device, struct svmx_stats *sum);
/* The same as svmx__tally_read for all operations of a device that were used. */
void svmx__tally_device(const struct svmx__device *device, struct svmx_op_stats *sum);

#endif
