/*
 * cell.h: what one operation took on one device at one size: the last samples, and whether they still tell the truth.
 *
 *   sample --> clean?  --> far from the median, and not alone?  --> the window of the last ones --> median
 *                 |                   |
 *                 no: aside           five of them: the past is over, only they are left
 *
 * Called by model.c, which holds the curve that the cell is part of. Knows nothing of other cells, of devices or of time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_CELL_H
#define SVMX_EXECUTOR_CELL_H

#include "base/sketch.h"
#include "executor/model.h"

/* All zero is empty. */
struct svmx__cell {
    struct svmx__sketch clean, contended; /* of the cost */
    struct svmx__sketch setup, transfer, compute;
    struct svmx__load load; /* of the last sample */
    uint64_t turn;          /* of that among all of its curve: the larger, the later */
    double first_use_ns;
    double high_ns, low_ns;     /* beyond these a sample is suspicious; they stand still while suspicion lasts */
    double short_ns;            /* the last one that was suspiciously short */
    uint64_t learned, restored; /* samples ever; of these, from the profile */
    uint32_t longer, shorter;   /* suspicious samples, less those since that were not */
    uint32_t unclean;           /* contended ones in a row */
    uint32_t changes;
};

/* Samples that count. */
static inline uint32_t svmx__cell_count(const struct svmx__cell *cell) {
    return cell ? cell->clean.count + cell->contended.count : 0;
}

/* What a launch takes, ns: the median; of one or two samples the smaller. 0: nothing is known. */
double svmx__cell_ns(const struct svmx__cell *cell);

/* Takes a sample. false: it counts for nothing. *changed: it showed that the cell is not what it was. */
bool svmx__cell_add(struct svmx__cell *cell, const struct svmx__load *load, const struct svmx__sample *sample,
                    bool *changed);

/* All that is known of a cell with samples. */
void svmx__cell_cost(const struct svmx__cell *cell, struct svmx__cost *cost);

/* For the profile. The summary's op, device and cell are the caller's. */
void svmx__cell_summarize(const struct svmx__cell *cell, struct svmx__cell_summary *summary);
void svmx__cell_restore(struct svmx__cell *cell, const struct svmx__cell_summary *summary);

#endif
