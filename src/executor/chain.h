/*
 * chain.h: parts that follow one another in one pass over memory. See chain.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CHAIN_H
#define SVMX_EXECUTOR_CHAIN_H

#include "executor/batch.h"

/* Finds the links of a batch that was bucketed: part->next. Takes the time of a few stores for a batch without levels. */
void svmx__chains_find(struct svmx_batch *batch);

/* Of a part that was routed: takes as many links with it as go to the same device. part->links says how many; those are
 * `joined`, and are passed over at their levels. */
void svmx__chain_join(struct svmx_batch *batch, uint32_t first);

/* Leaves every part to be run on its own. */
void svmx__chain_undo(struct svmx__part *head);

/* Stages, dispatches and collects a part with its links, and learns from the links. An error leaves every part to be run on
 * its own, and its reason in head->reason. */
enum svmx_status svmx__chain_run(struct svmx__part *head);

#endif
