/*
 * building.h: how a device comes to a pipeline: compiled or taken from disk, proved by known answers, the fastest of its
 * variants; in the thread of the work, or beside it.
 *
 *   stage -> prepare -> a pipeline that is there
 *                    -> builder -> kept on disk? else compiled -> selftest -> trial -> filed, kept
 *
 * Called by the stages and by who warms up. Knows nothing of batches but the part that waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_BUILDING_H
#define SVMX_EXECUTOR_BUILDING_H

#include "executor/executor.h"

/* ---- prepare.c: the pipeline of a part: cached, or built and proved ---- */

/* Sets part->pipeline, pinned where that is needed. UNSUPPORTED, WRONG_RESULT or the plugin's error: this device does
 * not serve this operation, and is not asked again. */
enum svmx_status svmx__prepare(struct svmx__part *part);

/* Steps of it, for the builder. Build sets made->compiled. File tells the log of a refusal and takes made->compiled;
 * the entry that counts may be another thread's. Drop takes NULL. */
enum svmx_status svmx__pipeline_build(struct svmx__device *device, const struct svmx__op *op,
                                      const struct svmx_pipeline_desc *desc, struct svmx__pipeline *made,
                                      struct svmx__text *why);
/* Builds and proves, for a device that this thread may submit to; drops what does not prove itself. */
enum svmx_status svmx__pipeline_make(struct svmx__device *device, const struct svmx__op *op,
                                     struct svmx__pipeline *made, struct svmx__text *why);
enum svmx_status svmx__pipeline_file(struct svmx__device *device, const struct svmx__op *op,
                                     const struct svmx__pipeline *made, const struct svmx__pipeline **entry);
void svmx__pipeline_drop(struct svmx__life *life, struct svmx_pipeline *compiled);
/* A build that failed for want of memory, or on a device that is gone, says nothing of the operation. */
bool svmx__verdict_counts(enum svmx_status verdict);

/* ---- kept.c: compiled pipelines on disk ---- */

/* What an earlier process kept of a variant; free() takes it. NULL: nothing. */
void *svmx__kept_binary(struct svmx__device *device, const struct svmx__op *op, uint32_t variant, size_t *bytes);
/* Keeps what the plugin gives for a pipeline that was proved, and which variant was the fastest. */
void svmx__keep_binary(struct svmx__life *life, const struct svmx__op *op, uint32_t variant,
                       struct svmx_pipeline *compiled);
/* It did not prove itself. */
void svmx__unkeep_binary(struct svmx__device *device, const struct svmx__op *op, uint32_t variant);
/* 1 + the variant that an earlier process found fastest; 0: not known. */
uint8_t svmx__kept_choice(struct svmx__device *device, const struct svmx__op *op);

/* ---- builder.c: pipelines of devices with a queue, built beside the work ---- */

/* 0, or the error number of pthread. Stop ends the thread once nobody waits for a pipeline; the submitter must still
 * run. Safe without a start. */
int svmx__builder_start(struct svmx__device *device);
void svmx__builder_stop(struct svmx__device *device);
/* Sends all parts on that wait for a pipeline, which they do not get: for that reason, a text that stays. */
void svmx__builder_unpark(struct svmx__device *device, enum svmx_status verdict, const char *reason);
/* Its thread was given up: what it was at comes to nothing, and another one goes on. By who looks at posts. */
void svmx__builder_forsake(struct svmx__device *device);
/* Starts another thread if there was none to be had then. By the same. */
void svmx__builder_reopen(struct svmx__device *device);

/* Wants a pipeline, and returns. `parked` (may be NULL) goes to the device's queue once it is there, or refused. */
void svmx__build_request(struct svmx__device *device, const struct svmx__op *op, uint64_t bucket,
                         struct svmx__part *parked);
/* Wants a pipeline and waits until it is settled. Not from a submitter. */
void svmx__build_wait(struct svmx__device *device, const struct svmx__op *op, uint64_t bucket);

/* ---- selftest.c ---- */

/* Runs the operation's known answers, and examples against the reference code, through a pipeline on its device.
 * WRONG_RESULT, or whatever the device answered. Only the device's submitter may call it, unless inline_. */
enum svmx_status svmx__selftest(struct svmx__device *device, const struct svmx__op *op,
                                const struct svmx__pipeline *pipeline, struct svmx__text *why);

/* Stages 4 to 6 for a part of the library's own, with more patience than work has. Who may call it is as above. */
enum svmx_status svmx__selftest_launch(struct svmx__part *part);

/* ---- trial.c: which variant is the fastest ---- */

/* A variant that was built and proved. */
struct svmx__racer {
    struct svmx__pipeline pipeline;
    uint32_t variant;
    bool kept;                   /* it came from disk */
    uint64_t device_ns, host_ns; /* of its shortest run by either clock; UINT64_MAX: none, or none to be believed */
    enum svmx_status status;     /* OK, or why it is out */
};

/* Has them run an example by turns, for a bounded time, and fills in their times. One that fails is out, with the
 * reason of the last one in `why`; on TIMEOUT the device may still be running it. Who may call it is as above. */
void svmx__trial(struct svmx__device *device, const struct svmx__op *op, struct svmx__racer *racers, uint32_t count,
                 struct svmx__text *why);
/* The first one, unless a later one was clearly faster. NULL: all are out. */
struct svmx__racer *svmx__trial_winner(struct svmx__racer *racers, uint32_t count);

/* ---- examples.c ---- */

/* Slots of an example of `size` units, its inputs filled in and its outputs zero, in one block that free() takes. A
 * block is set on OK only. OVERFLOW, MEMORY. */
enum svmx_status svmx__example_make(const struct svmx__op *op, uint64_t size, uint64_t seed, struct svmx_slot *slots,
                                    void **block);

#endif
