/*
 * json_read.h: reads one JSON text, value by value, without building anything.
 *
 *   svmx__json_start(&json, line, length);
 *   svmx__json_enter(&json, '{');
 *   while (svmx__json_next(&json, key, sizeof key)) {          // false: the end of the object, or an error
 *       if (strcmp(key, "units") == 0) svmx__json_u64(&json, &units);
 *       else svmx__json_skip(&json);
 *   }
 *   if (!svmx__json_end(&json)) complain(json.error);          // the first error stays; nothing moves after it
 *
 * Strict (RFC 8259): no comments, no comma at the end, UTF-8 only, nothing behind the value; and bounded: no deeper than
 * SVMX__JSON_DEPTH. The text need not end in a zero. Used by log_read.c; knows nothing of what it reads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_JSON_READ_H
#define SVMX_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SVMX__JSON_DEPTH = 8 };

struct svmx__json {
    const char *at, *end;
    const char *error; /* static text; NULL: none so far */
    uint32_t depth;
    char close[SVMX__JSON_DEPTH]; /* what ends the object or array at each depth */
    bool used[SVMX__JSON_DEPTH];  /* it has a value already: a comma must come before the next */
};

void svmx__json_start(struct svmx__json *json, const char *text, size_t length);

/* The next value is an object '{' or an array '[': goes into it. */
bool svmx__json_enter(struct svmx__json *json, char kind);
/* Is there a next value in it? Of an object `key` gets its name, unless it is NULL. false: no, and the object or
 * array is left; or there was an error. */
bool svmx__json_next(struct svmx__json *json, char *key, size_t key_bytes);

/* The next value, of the kind that is wanted. false, and an error, if it is another or does not fit. */
bool svmx__json_u64(struct svmx__json *json, uint64_t *number); /* a whole number, without '.' or 'e' */
bool svmx__json_bool(struct svmx__json *json, bool *value);
bool svmx__json_text(struct svmx__json *json, char *text, size_t bytes);
/* Reads over a value of any kind. */
bool svmx__json_skip(struct svmx__json *json);

/* Was that all, and right? */
bool svmx__json_end(struct svmx__json *json);

#endif
