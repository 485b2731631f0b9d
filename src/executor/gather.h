/*
 * gather.h: small parts of several batches in one launch.
 *
 *   queue of a device      a  b  c | d       d: another tenant, another operation, or too much
 *                          \  |  /
 *   one launch              a+b+c            rows side by side, as those of one part
 *                          /  |  \
 *   each by itself         a  b  c           results, receipt, the end of its batch
 *
 * Only what waits in the device's queue already, one behind the other, and what comes within SUPERVM_GATHER_US. Of one tenant
 * only. docs/adr/0021 has the reasons, docs/PIPELINING.md the rules. All of it is in the submitter's thread: nothing here is
 * locked but the queue. Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_GATHER_H
#define SVMX_EXECUTOR_GATHER_H

#include "executor/batch.h"

/* Parts of a launch at most. */
enum { SVMX__MOST_GATHERED = 64 };

/* A launch that was gathered. One for each place of a window and one more, made when they are first wanted. */
struct svmx__gather {
    struct svmx__part whole; /* what the stages see; whole.gather is this */
    struct svmx__part *members[SVMX__MOST_GATHERED];
    uint32_t count;
    struct svmx_slot *slots; /* rows of all members, in order */
    uint64_t *first_unit;
    size_t slot_capacity, unit_capacity;
};

/* May a part, which was popped and has its device, be launched with others? */
bool svmx__gather_takes(const struct svmx__part *part);

/* Takes what goes with it from the device's queue. `enter` is called with each, and says whether it is to be launched: one that
 * was cancelled is not, and is gone then. Returns the launch, or the part itself if nothing goes with it. If there is no memory
 * for their rows, the members are handed to `apart` one by one, the first one as well, and NULL is returned. */
struct svmx__part *svmx__gather(struct svmx__part *first, bool (*enter)(struct svmx__part *part),
                                void (*apart)(struct svmx__part *part));

/* It went well: what each member has of the launch. */
void svmx__gather_share(struct svmx__gather *gather);

void svmx__gathers_free(struct svmx__device *device);

#endif
