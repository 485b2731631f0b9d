/*
 * lines.h: lines of a file descriptor, any length, with a word when the writer pauses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_LINES_H
#define SVMX_CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_lines_event {
    CLI_LINE,  /* a line, without its end */
    CLI_PAUSE, /* nothing came for a moment: a good time to answer what has come */
    CLI_LINES_END,
    CLI_LINES_ERROR /* errno has the reason */
};

struct cli_lines {
    int fd;
    bool ended;
    char *buffer;
    size_t start, scanned, end, capacity; /* [start, end) is unread, [start, scanned) holds no newline */
    uint64_t number;                      /* of the last line, from 1 */
};

/*
 * The next line: text stays until the next call. A line may end in "\n", "\r\n" or with the file. With `may_pause`
 * CLI_PAUSE comes when the writer leaves us waiting, else the call blocks.
 */
enum cli_lines_event cli_lines_next(struct cli_lines *lines, bool may_pause, const char **text, size_t *length);

void cli_lines_free(struct cli_lines *lines);

#endif
