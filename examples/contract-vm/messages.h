/*
 * messages.h: messages end to end, as the hashes of svmx take them: message i is bytes [offsets[i], offsets[i + 1]).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_MESSAGES_H
#define CONTRACT_VM_MESSAGES_H

#include "bytes.h"

struct messages {
    struct bytes data;
    uint64_t *offsets; /* count + 1 */
    size_t count, room;
};

/* The last message goes up to here. */
static inline void messages_close(struct messages *messages) {
    if (messages->count + 2 > messages->room) {
        messages->room = 2 * messages->room + 16;
        messages->offsets = memory_resize(messages->offsets, messages->room, sizeof *messages->offsets);
    }
    messages->offsets[0] = 0;
    messages->offsets[++messages->count] = messages->data.length;
}

static inline void messages_add(struct messages *messages, const uint8_t *data, size_t length) {
    bytes_add(&messages->data, data, length);
    messages_close(messages);
}

static inline void messages_clear(struct messages *messages) { messages->count = messages->data.length = 0; }

static inline void messages_free(struct messages *messages) {
    bytes_free(&messages->data);
    free(messages->offsets);
    *messages = (struct messages){0};
}

#endif
