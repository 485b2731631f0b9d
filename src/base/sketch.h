/*
 * sketch.h: quantiles of the last few numbers of a stream.
 *
 * A window, kept in order of arrival and in order of size. Its median does not move for a sample that is a thousand times
 * too long, follows a change after half a window, and needs no memory but its own. Used by model.c. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_SKETCH_H
#define SVMX_BASE_SKETCH_H

#include <stdint.h>

enum { SVMX__SKETCH_WINDOW = 31 };

/* All zero is empty. */
struct svmx__sketch {
    float recent[SVMX__SKETCH_WINDOW]; /* a ring; next is the oldest once it is full */
    float sorted[SVMX__SKETCH_WINDOW]; /* the same, smallest first */
    uint32_t count, next;
};

/* Takes a number, which must be finite; the oldest goes when there is no room. */
void svmx__sketch_add(struct svmx__sketch *sketch, float value);

/* The number that a share `q` (0 to 1) of the window is not above; 0 for an empty one. */
float svmx__sketch_quantile(const struct svmx__sketch *sketch, double q);

/* Leaves only the last `count` numbers. */
void svmx__sketch_keep(struct svmx__sketch *sketch, uint32_t count);

#endif
