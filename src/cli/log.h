/*
 * log.h: a log of receipts as a whole, and the fields of its lines.
 *
 * Lines are objects of JSON as svmx_receipt_json writes them; fields that are not known are passed over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_LOG_H
#define SVMX_CLI_LOG_H

#include "command.h"
#include <stdint.h>

struct cli_log {
    const char *source; /* for messages */
    char *text;
    size_t length;
    uint64_t bad; /* lines told of */
};

/* Reads a file, or standard input for "-". On failure it has said why. cli_log_free takes it in any case. */
enum cli_exit cli_log_read(struct cli_log *log, const char *path);
void cli_log_free(struct cli_log *log);

/* Tells of a line that is no receipt: of the first ones each, of the others how many, when the log has been read. */
void cli_log_bad(struct cli_log *log, uint64_t line, const char *reason);
void cli_log_bad_end(const struct cli_log *log);

/* Part of a text. */
struct cli_slice {
    const char *at; /* NULL: not there */
    size_t length;
};

/* The next line at *rest, without its end, and moves past it; false: no more. */
bool cli_log_line(struct cli_slice *rest, struct cli_slice *line);

/* The value of a field at the top of an object, as it stands there (text with its quotes); at == NULL: no such field, or what
 * stands before it is no JSON. */
struct cli_slice cli_field(struct cli_slice line, const char *name);
/* A whole number; false: no such field, or it is none. */
bool cli_field_number(struct cli_slice line, const char *name, uint64_t *number);
/* A text in quotes; at == NULL: no such field, or it is none. The slice has the quotes. */
struct cli_slice cli_field_text(struct cli_slice line, const char *name);

#endif
