/*
 * stretch.h: levels of a batch that one device with memory of its own computes in one submission.
 *
 *   level 0:  add   mul        one list of commands:   copy in | add, mul | barrier | softmax | copy out
 *   level 1:  softmax          between the launches nothing comes back to the host
 *
 * weigh.c decides where one begins and ends, stretch.c runs it. Called by pipeline.c; docs/adr/0014 has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_STRETCH_H
#define SVMX_EXECUTOR_STRETCH_H

#include "executor/batch.h"

/* Before the first level of a run. MEMORY. Costs a comparison where no device has memory of its own. */
enum svmx_status svmx__stretches_begin(struct svmx_batch *batch);

/* Weighs a stretch from the level that comes next. true: there is one, batch->stretch tells which, its first part is routed
 * and charged, and all others are `joined`. */
bool svmx__stretch_join(struct svmx_batch *batch);

/* The first part of a stretch: stages and dispatches all of it. */
enum svmx_status svmx__stretch_begin(struct svmx__part *head);
/* Collects all of it; `so_far` is what begin said. After an error it may be begun anew. */
enum svmx_status svmx__stretch_collect(struct svmx__part *head, enum svmx_status so_far);
/* Likewise, and learns from every part but the first. After an error no part is joined any more and batch->stretch.apart is
 * set: its first level is to begin anew. The first part is routed to another device and has the failure in its receipt, but
 * for MEMORY, which is nobody's failure. */
enum svmx_status svmx__stretch_end(struct svmx__part *head, enum svmx_status so_far);
/* Its submitter was given up in the midst of it: it falls apart, as after a failure. */
void svmx__stretch_forsake(struct svmx__part *head);

/* What collect does with results that are there. */
void svmx__stretch_take(struct svmx__part *head);

#endif
