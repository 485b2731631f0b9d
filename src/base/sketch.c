/*
 * sketch.c: see sketch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sketch.h"

/* Puts a number in place of the one at `at`: those between the two places move by one. */
static void put(struct svmx__sketch *sketch, uint32_t at, float value) {
    float *sorted = sketch->sorted;
    for (; at > 0 && sorted[at - 1] > value; at--) sorted[at] = sorted[at - 1];
    for (; at + 1 < sketch->count && sorted[at + 1] < value; at++) sorted[at] = sorted[at + 1];
    sorted[at] = value;
}

void svmx__sketch_add(struct svmx__sketch *sketch, float value) {
    uint32_t at = sketch->count;
    if (at == SVMX__SKETCH_WINDOW)
        for (at = 0; sketch->sorted[at] < sketch->recent[sketch->next]; at++) {
        }
    else
        sketch->count++;
    put(sketch, at, value);
    sketch->recent[sketch->next] = value;
    sketch->next = (sketch->next + 1) % SVMX__SKETCH_WINDOW;
}

float svmx__sketch_quantile(const struct svmx__sketch *sketch, double q) {
    if (sketch->count == 0) return 0;
    const double at = q * (double)(sketch->count - 1) + 0.5;
    return sketch->sorted[at < 0 ? 0 : (uint32_t)at];
}

void svmx__sketch_keep(struct svmx__sketch *sketch, uint32_t count) {
    const struct svmx__sketch before = *sketch;
    if (count > before.count) count = before.count;
    *sketch = (struct svmx__sketch){.count = 0};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t back = count - i; /* how many places before `next` it was */
        svmx__sketch_add(sketch, before.recent[(before.next + SVMX__SKETCH_WINDOW - back) % SVMX__SKETCH_WINDOW]);
    }
}
