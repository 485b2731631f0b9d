/*
 * lines.c: lines of a file descriptor. Its own buffer instead of stdio's, to know when a read would block: a program
 * that writes one line and waits for its answer must get it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lines.h"
#include "text.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READ_BYTES = 1 << 18,
    PAUSE_MS = 2 /* long enough for a busy writer to go on, short enough for one that waits */
};

/* Room for READ_BYTES behind `end`: moves what is unread to the front, and grows only when a line is that long. */
static void room_make(struct cli_lines *lines) {
    if (lines->start > 0) memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
    lines->end -= lines->start;
    lines->scanned -= lines->start;
    lines->start = 0;
    if (lines->capacity - lines->end >= READ_BYTES) return;
    lines->capacity = 2 * lines->capacity + READ_BYTES;
    lines->buffer = cli_grow(lines->buffer, lines->capacity, 1);
}

static bool would_block(int fd) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, PAUSE_MS) == 0;
}

/* Reads what there is. False on an error. */
static bool more(struct cli_lines *lines) {
    room_make(lines);
    ssize_t got;
    do got = read(lines->fd, lines->buffer + lines->end, READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0) return false;
    lines->ended = got == 0;
    lines->end += (size_t)got;
    return true;
}

/* The line that ends at `end`, the next one starting at `next`. */
static enum cli_lines_event take(struct cli_lines *lines, size_t end, size_t next, const char **text, size_t *length) {
    *text = lines->buffer + lines->start;
    *length = end - lines->start;
    if (*length > 0 && (*text)[*length - 1] == '\r') --*length;
    lines->start = lines->scanned = next;
    lines->number++;
    return CLI_LINE;
}

enum cli_lines_event cli_lines_next(struct cli_lines *lines, bool may_pause, const char **text, size_t *length) {
    for (;;) {
        size_t unseen = lines->end - lines->scanned;
        const char *newline = unseen ? memchr(lines->buffer + lines->scanned, '\n', unseen) : NULL;
        if (newline) {
            size_t at = (size_t)(newline - lines->buffer);
            return take(lines, at, at + 1, text, length);
        }
        lines->scanned = lines->end;
        if (lines->ended)
            return lines->start == lines->end ? CLI_LINES_END : take(lines, lines->end, lines->end, text, length);
        if (may_pause && would_block(lines->fd)) return CLI_PAUSE;
        if (!more(lines)) return CLI_LINES_ERROR;
    }
}

void cli_lines_free(struct cli_lines *lines) {
    free(lines->buffer);
    *lines = (struct cli_lines){.fd = -1};
}
