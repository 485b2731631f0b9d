/*
 * sketch.c: see sketch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sketch.h"

#include <string.h>

static void insert(struct svmx__sketch *sketch, float value) {
    uint32_t at = sketch->count++;
    for (; at > 0 && sketch->sorted[at - 1] > value; at--) sketch->sorted[at] = sketch->sorted[at - 1];
    sketch->sorted[at] = value;
}

static void take_out(struct svmx__sketch *sketch, float value) {
    uint32_t at = 0;
    while (sketch->sorted[at] < value) at++;
    sketch->count--;
    memmove(sketch->sorted + at, sketch->sorted + at + 1, (sketch->count - at) * sizeof *sketch->sorted);
}

void svmx__sketch_add(struct svmx__sketch *sketch, float value) {
    if (sketch->count == SVMX__SKETCH_WINDOW) take_out(sketch, sketch->recent[sketch->next]);
    sketch->recent[sketch->next] = value;
    sketch->next = (sketch->next + 1) % SVMX__SKETCH_WINDOW;
    insert(sketch, value);
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
