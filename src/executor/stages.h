/*
 * stages.h: the seven stages of the spine, in order. pipeline.c calls them for the parts of a batch, with chain.c and
 * stretch.c for several at once. Launches of the library's own go through stage, dispatch and collect, too: selftest.c,
 * compare.c, bandwidth.c. So two stages come back to others: stage, which has a new pipeline proved where no builder
 * does, and collect, which has a launch compared.
 *
 *   submit -> bucket -> route -> stage -> dispatch -> collect -> learn
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_STAGES_H
#define SVMX_EXECUTOR_STAGES_H

#include "executor/batch.h"

/* 1. Checks the batch as a whole and takes it from the caller: state goes from BUILDING to `next` (QUEUED or RUNNING).
 * QUEUED also takes a place in the executor's queue, and waits for one unless `flags` says not to. On any other status
 * than OK the batch is the caller's, unchanged, and batch->error says why. */
enum svmx_status svmx__submit(struct svmx_batch *batch, enum svmx__batch_state next, uint32_t flags);
/* Part of it: no output overlaps anything. ARGUMENT, MEMORY. */
enum svmx_status svmx__check_overlap(struct svmx_batch *batch);
/* Undoes svmx__submit. */
void svmx__submit_undo(struct svmx_batch *batch);

/* 2. Lays out the rows of every part and gives each its power-of-two bucket. MEMORY is the only error. */
enum svmx_status svmx__bucket(struct svmx_batch *batch);

/* 3. Chooses part->device. Cannot fail: the reference code serves everything. No lock and no allocation, but
 * for the first part of an operation and size, and while a pipeline is wanted. */
void svmx__route(struct svmx__part *part);
/* Cuts a part that was routed into chunks, if several devices are faster than one. Returns how many: they are routed and
 * charged, svmx__cuts_start sends them, and parts may have moved; 0: it is as it was. While no part of the level is under
 * way. Looking for a cut takes some us: parts that are expected to take less than WORTH_A_LOOK are not worth it. */
uint32_t svmx__split(struct svmx_batch *batch, uint32_t part);
enum { SVMX__WORTH_A_LOOK_NS = 100000 };
/* After a failure: chooses another device that computes in the calling thread. false: there was no failure, or the
 * policy is gpu. */
bool svmx__route_again(struct svmx__part *part);

/* 4. Finds pipeline and layout, places inputs, writes the commands. What it took is released by collect, also after an
 * error. */
enum svmx_status svmx__stage(struct svmx__part *part);
/* Finds or makes the layout of a part. false: no memory, and its reason says so. */
bool svmx__layout(struct svmx__part *part);

/* 5. Hands the commands to the device. */
enum svmx_status svmx__dispatch(struct svmx__part *part);
/* The same with other commands than its own: those of a chain. */
enum svmx_status svmx__dispatch_list(struct svmx__part *part, const struct svmx_command *commands, size_t count);

/* 6. Waits for the ticket up to the deadline, takes the results, gives memory back. `so_far` is what the stages before
 * said; returns what became of the part on this device, and leaves the reason of a failure in part->reason. */
enum svmx_status svmx__collect(struct svmx__part *part, enum svmx_status so_far);
/* Waits for a part of the window for so long at most. true: it is over, or as good as; collect will not wait for long. */
bool svmx__collect_look(struct svmx__part *part, uint64_t ns);

/* What the driver still has of a part is left to it. */
void svmx__set_aside(struct svmx__part *part);

/* 7. Folds what was measured into the counters of the device. */
void svmx__learn(struct svmx__part *part);
/* What a launch took for itself: not what it waited for those ahead of it in the window. Of one device they do not overlap. */
uint64_t svmx__own_ns(const struct svmx__part *part);
/* Was there a launch of that operation and about that size on its device? */
bool svmx__was_launched(const struct svmx__part *part);
/* The same of a launch that was gathered, for the model and the health of the device; each member is learned from by itself
 * then, but for these. */
void svmx__learn_whole(struct svmx__part *whole);
/* The sum of what a device's clock says of a launch that took run_ns; 0: it is not to be believed. */
uint64_t svmx__device_time(const struct svmx_timing *timing, uint64_t run_ns);
/* The same, and the device is known by it from then on (svmx_device.clock). */
uint64_t svmx__device_clock(struct svmx__device *device, const struct svmx_timing *timing, uint64_t run_ns);

#endif
