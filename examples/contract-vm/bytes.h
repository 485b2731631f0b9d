/*
 * bytes.h: a run of bytes that grows.
 *
 * An example may do what a library must not: where there is no memory it says so and ends the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_BYTES_H
#define CONTRACT_VM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *data;
    size_t length, room;
};

/* `count` elements of `size` bytes where `old` were (NULL: none). Contents beyond what was there are not set. */
static inline void *memory_resize(void *old, size_t count, size_t size) {
    const bool fits = size == 0 || count <= SIZE_MAX / size;
    void *new = fits ? realloc(old, count > 0 ? count * size : 1) : NULL;
    if (new) return new;
    (void)fprintf(stderr, "contract-vm: there is no memory for %zu x %zu bytes; make the block smaller\n", count, size);
    exit(1);
}

/* Room for `more` bytes; where they go. They count. */
static inline uint8_t *bytes_extend(struct bytes *bytes, size_t more) {
    if (!bytes->data || bytes->room - bytes->length < more) {
        bytes->room = 2 * bytes->room + more + 16;
        bytes->data = memory_resize(bytes->data, bytes->room, 1);
    }
    bytes->length += more;
    return bytes->data + bytes->length - more;
}

static inline void bytes_add(struct bytes *bytes, const void *data, size_t length) {
    if (length) memcpy(bytes_extend(bytes, length), data, length);
}

static inline void bytes_set(struct bytes *bytes, const void *data, size_t length) {
    bytes->length = 0;
    bytes_add(bytes, data, length);
}

static inline void bytes_free(struct bytes *bytes) {
    free(bytes->data);
    *bytes = (struct bytes){0};
}

#endif
