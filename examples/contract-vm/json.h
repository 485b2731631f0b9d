/*
 * json.h: reads a JSON text value by value, without building a tree of it. What a block needs and no more: objects, arrays,
 * strings without escapes, whole numbers.
 *
 *   json_enter(&json, '{');
 *   while (json_next(&json, key, sizeof key)) ...read one value...
 *   if (json.error) ...                    // the first error stays, with the line it is on; nothing is read after it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_JSON_H
#define CONTRACT_VM_JSON_H

#include "bytes.h"
#include "u256.h"

struct json {
    const char *start, *at, *end;
    const char *error; /* static text, or words; NULL: none so far */
    char words[96];    /* of an error that names something */
};

static inline struct json json_of(const char *text, size_t length) {
    return (struct json){.start = text, .at = text, .end = text + length};
}

/* Always false. */
bool json_fail(struct json *json, const char *error);
/* The same for a key that nobody knows: names it. The reader must not move afterwards. */
bool json_fail_key(struct json *json, const char *key);
unsigned json_line(const struct json *json);

/* '{' or '['. */
bool json_enter(struct json *json, char kind);
/* Is there another value in it? Of an object, key gets its name; of an array it is NULL. */
bool json_next(struct json *json, char *key, size_t key_bytes);

/* A string. Its characters, in the text. */
bool json_string(struct json *json, const char **text, size_t *length);
bool json_bool(struct json *json, bool *value);

/* Numbers: 17, or "0x11" for those that JSON has no room for. */
bool json_u64(struct json *json, uint64_t *value);
bool json_u256(struct json *json, struct u256 *value);
/* "0x" and two digits a byte; `length` of them, or any number. */
bool json_fixed(struct json *json, uint8_t *out, size_t length);
bool json_hex(struct json *json, struct bytes *out);
/* Such a text that is not in a value. */
bool json_parse_u256(struct json *json, const char *text, size_t length, struct u256 *value);

/* Is nothing behind it? */
bool json_end(struct json *json);

#endif
