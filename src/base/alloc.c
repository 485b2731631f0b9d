/*
 * alloc.c: see alloc.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"

#include <stdlib.h>

bool svmx__grow_now(void **array, size_t *capacity, size_t need, size_t entry_bytes) {
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (wanted < need) wanted = need;
    if (wanted > SIZE_MAX / entry_bytes) return false;
    void *grown = realloc(*array, wanted * entry_bytes);
    if (!grown) return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

void *svmx__aligned_alloc(size_t bytes, size_t alignment) {
    if (alignment < 64) alignment = 64;
    if (bytes > SIZE_MAX - alignment) return NULL;
    size_t rounded = (size_t)svmx__align(bytes ? bytes : 1, alignment);
    return aligned_alloc(alignment, rounded);
}
