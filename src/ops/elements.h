/*
 * elements.h: what operations on vectors, element by element, share.
 *
 * Their arrays have as many elements as `out`; a unit is an element and so is work. Included by the operations of this
 * folder; knows none of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_ELEMENTS_H
#define SVMX_OPS_ELEMENTS_H

#include "ops/access.h"
#include "ops/items.h"

/* out[i] = function(a[i]), out and a being the slots 0 and 1 */
static inline void svmx__elements_map_f32(const struct svmx_slot *slots, float (*function)(float)) {
    for (uint64_t i = 0; i < slots[0].bytes / sizeof(float); i++)
        svmx__store_f32(&slots[0], i, function(svmx__load_f32(&slots[1], i)));
}

#endif
