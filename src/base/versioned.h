/*
 * versioned.h: structures that callers hand over to be filled in, and that grow at their end from version to version.
 *
 * The first field of each is `size_t size`, which the caller sets to what it was compiled with. An older caller gets the
 * fields that it knows; fields that only a newer one knows are left alone. Used by the get-functions of the public API.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_VERSIONED_H
#define SVMX_BASE_VERSIONED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Bytes of a layout that ends with the field `last`. */
#define SVMX__THROUGH(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

static inline size_t svmx__size_given(const void *to) {
    size_t size;
    memcpy(&size, to, sizeof size);
    return size;
}

/* Can a caller's structure be filled in? Not if it is NULL, or smaller than the layout that was shipped first. */
static inline bool svmx__is_served(const void *to, size_t first_bytes) {
    return to && svmx__size_given(to) >= first_bytes;
}

/* Fills in what the caller knows of the `bytes` bytes at `from`. The caller's `size` stays. */
static inline void svmx__give(void *to, const void *from, size_t bytes) {
    const size_t given = svmx__size_given(to), both = given < bytes ? given : bytes;
    memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t), both - sizeof(size_t));
}

/* The same for element `at` of an array whose first element says the size of all. */
static inline void svmx__give_element(void *array, size_t at, const void *from, size_t bytes) {
    const size_t given = svmx__size_given(array), both = given < bytes ? given : bytes;
    char *to = (char *)array + at * given;
    memcpy(to, &given, sizeof given);
    memcpy(to + sizeof given, (const char *)from + sizeof given, both - sizeof given);
}

#endif
