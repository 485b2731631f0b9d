/*
 * window.h: the launches that a device has at once.
 *
 *   submitter   stage 1 | dispatch 1 | stage 2 | dispatch 2 | stage 3 | dispatch 3 | collect 1 | stage 4 | dispatch 4 | ...
 *   device      . . . . . . copy in 1 | compute 1, copy in 2 | copy out 1, compute 2, copy in 3 | ...
 *
 * The submitter hands the next part over before it collects the one before, up to `depth` of them, and collects the oldest
 * first. All of it is in the submitter's thread: nothing here is locked. docs/adr/0017 has the reasons, docs/PIPELINING.md
 * the rules. Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_WINDOW_H
#define SVMX_EXECUTOR_WINDOW_H

#include "executor/config.h"
#include <stdbool.h>

struct svmx__device;
struct svmx__part;

struct svmx__window {
    struct svmx__part *parts[SVMX__MAX_WINDOW]; /* under way, the oldest first */
    uint32_t count, depth;
    uint64_t over_ns; /* when the last that was collected was over */
};

/* By the settings and by what the device takes; 1 where it computes in the caller's memory. */
void svmx__window_init(struct svmx__device *device);

/* May a part be under way beside others? Not what is compared with another device's answer, no chains, and not what goes in
 * several submissions. */
bool svmx__window_takes(const struct svmx__part *part);

/* Must the oldest be collected before this one is staged? There is no room, not enough memory for one more, or one under way
 * uploads a buffer that it reads. */
bool svmx__window_holds_up(const struct svmx__part *part);

/* Does one under way compute in the heap of its device (buffer.h)? */
bool svmx__window_is_in_heap(const struct svmx__device *device);
/* Widens [*low, *high) to all that those have there beside buffers. */
void svmx__window_heap_span(const struct svmx__device *device, uint64_t *low, uint64_t *high);

/* A part that was dispatched. */
void svmx__window_push(struct svmx__part *part);
/* The oldest, to be collected now. There is one. */
struct svmx__part *svmx__window_pop(struct svmx__device *device);

#endif
