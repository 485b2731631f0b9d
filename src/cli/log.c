/*
 * log.c: see log.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "log.h"

#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20, BAD_SHOWN = 20 };

/* ---- reading ---- */

static enum cli_exit read_all(struct cli_log *log, int fd) {
    for (size_t room = 0;;) {
        if (room - log->length < READ_BYTES) {
            room = 2 * room + 2 * (size_t)READ_BYTES;
            log->text = cli_grow(log->text, room, 1);
        }
        const ssize_t got = read(fd, log->text + log->length, READ_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            cli_error("cannot read %s: %s", log->source, strerror(errno));
            return CLI_BAD_INPUT;
        }
        if (got == 0) return CLI_OK;
        log->length += (size_t)got;
    }
}

enum cli_exit cli_log_read(struct cli_log *log, const char *path) {
    const bool standard = strcmp(path, "-") == 0;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *log = (struct cli_log){.source = standard ? "standard input" : path};
    if (fd < 0) {
        cli_error("cannot open %s: %s", path, strerror(errno));
        return CLI_BAD_INPUT;
    }
    const enum cli_exit code = read_all(log, fd);
    if (!standard) close(fd);
    return code;
}

void cli_log_free(struct cli_log *log) { free(log->text); }

void cli_log_bad(struct cli_log *log, uint64_t line, const char *reason) {
    if (log->bad++ < BAD_SHOWN) cli_error("%s, line %" PRIu64 ": %s", log->source, line, reason);
}

void cli_log_bad_end(const struct cli_log *log) {
    if (log->bad > BAD_SHOWN)
        cli_error("%s: %" PRIu64 " more bad lines are not shown", log->source, log->bad - BAD_SHOWN);
}

/* ---- lines and fields ---- */

bool cli_log_line(struct cli_slice *rest, struct cli_slice *line) {
    if (rest->length == 0) return false;
    const char *end = memchr(rest->at, '\n', rest->length);
    *line = (struct cli_slice){rest->at, end ? (size_t)(end - rest->at) : rest->length};
    const size_t taken = line->length + (end != NULL);
    *rest = (struct cli_slice){rest->at + taken, rest->length - taken};
    return true;
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) at++;
    return at;
}

/* Behind a text that begins at its quote; NULL: it has no end. */
static const char *skip_text(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\') at++;
    return at < end ? at + 1 : NULL;
}

/* Behind a value, whatever it is made of; NULL: it has no end. */
static const char *skip_value(const char *at, const char *end) {
    unsigned depth = 0;
    do {
        if (at >= end) return NULL;
        if (*at == '"') {
            at = skip_text(at, end);
            if (!at) return NULL;
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == '}')) break;
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        at++;
    } while (depth || (at < end && *at != ',' && *at != '}'));
    return at;
}

/* The next field at *at, which stands at its name; false: no more, or no JSON. */
static bool next_field(const char **at, const char *end, struct cli_slice *name, struct cli_slice *value) {
    const char *from = skip_blanks(*at, end);
    if (from >= end || *from != '"') return false;
    const char *behind = skip_text(from, end);
    if (!behind) return false;
    *name = (struct cli_slice){from + 1, (size_t)(behind - from) - 2};
    from = skip_blanks(behind, end);
    if (from >= end || *from != ':') return false;
    from = skip_blanks(from + 1, end);
    behind = skip_value(from, end);
    if (!behind || behind == from) return false;
    *value = (struct cli_slice){from, (size_t)(behind - from)};
    *at = behind < end && *behind == ',' ? behind + 1 : behind;
    return true;
}

struct cli_slice cli_field(struct cli_slice line, const char *name) {
    const char *end = line.at + line.length, *at = skip_blanks(line.at, end);
    struct cli_slice found, value;
    if (at >= end || *at != '{') return (struct cli_slice){NULL, 0};
    at++;
    while (next_field(&at, end, &found, &value))
        if (found.length == strlen(name) && memcmp(found.at, name, found.length) == 0) return value;
    return (struct cli_slice){NULL, 0};
}

bool cli_field_number(struct cli_slice line, const char *name, uint64_t *number) {
    const struct cli_slice value = cli_field(line, name);
    uint64_t sum = 0;
    if (!value.at) return false;
    for (size_t i = 0; i < value.length; i++) {
        const unsigned digit = (unsigned char)value.at[i] - (unsigned)'0';
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

struct cli_slice cli_field_text(struct cli_slice line, const char *name) {
    const struct cli_slice value = cli_field(line, name);
    const char *end = value.at + value.length;
    const bool text = value.at && *value.at == '"' && skip_text(value.at, end) == end;
    return text ? value : (struct cli_slice){NULL, 0};
}
