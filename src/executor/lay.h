/*
 * lay.h: a piece of a part as a part of its own: whole tasks, or units of tasks that are cut where items are independent.
 *
 *   tasks    [0   )[1       )[2 )        first_unit 0 4 12 14
 *   pieces   [            )[    )        between tasks, or: [      )[      ) within them
 *
 * For devices that share a part (split.c), and for submissions that follow each other on one (slices.c, pipeline.c). A piece
 * computes the very bits that the whole would: only operations that say so are cut within tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_LAY_H
#define SVMX_EXECUTOR_LAY_H

#include "executor/batch.h"

/* Where rows and units of the next piece go; moved on by what it took. A piece of n tasks takes n + 1 units, and n rows if
 * tasks are cut. */
struct svmx__room {
    struct svmx_slot *slots; /* may be NULL if they are not */
    uint64_t *units;
};

/* Into how many pieces a part can be cut if tasks are cut; 0: they are not. */
uint64_t svmx__cuts_within(const struct svmx__part *part);
/* Into how many by rows, which is for a single task whose pieces follow each other on one device: each takes along what is not
 * cut. 0: it is not. */
uint64_t svmx__cuts_by_rows(const struct svmx__part *part);
/* Where piece number `at` of so many begins: a unit, if tasks are cut, else a task. at == count: the end. */
uint64_t svmx__cut_begin(const struct svmx__part *part, uint32_t count, uint32_t at, bool within_tasks);
/* Makes a piece, so far a copy of the whole, what lies in [begin, end): its rows, units, work and bytes. */
void svmx__lay(struct svmx__part *piece, uint64_t begin, uint64_t end, bool within_tasks, struct svmx__room *room);

#endif
