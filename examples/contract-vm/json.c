/*
 * json.c: the reader. Texts come from outside: every byte is looked at before it is used.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <stdio.h>

bool json_fail(struct json *json, const char *error) {
    if (!json->error) json->error = error;
    return false;
}

bool json_fail_key(struct json *json, const char *key) {
    if (json->error) return false;
    char seen[41]; /* what would disturb a terminal is not shown */
    size_t length = 0;
    for (; key[length] && length + 1 < sizeof seen; length++)
        seen[length] = key[length] >= ' ' && key[length] <= '~' ? key[length] : '?';
    seen[length] = '\0';
    (void)snprintf(json->words, sizeof json->words, "there is no such key: \"%s\"; block_file.h lists them", seen);
    return json_fail(json, json->words);
}

unsigned json_line(const struct json *json) {
    unsigned line = 1;
    for (const char *at = json->start; at < json->at; at++) line += *at == '\n';
    return line;
}

static void skip_space(struct json *json) {
    while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at) json->at++;
}

/* The next character that is no space; 0 at the end. */
static char peek(struct json *json) {
    skip_space(json);
    return json->at < json->end ? *json->at : '\0';
}

static const char ends[] = "the text ends in the middle";

/* After peek. */
static bool at_end(const struct json *json) { return json->at == json->end; }

bool json_enter(struct json *json, char kind) {
    if (json->error) return false;
    if (peek(json) != kind)
        return json_fail(json, kind == '{' ? "an object {...} was expected" : "a list [...] was expected");
    json->at++;
    return true;
}

/* Behind a value, a comma or the end comes; behind '{' and '[', no comma. */
bool json_next(struct json *json, char *key, size_t key_bytes) {
    const char *name;
    size_t length;
    const char close = key ? '}' : ']';
    if (json->error) return false;
    const char *before = json->at - 1; /* where the last value ended, or the bracket stands */
    const char next = peek(json);
    if (next == close) return json->at++, false;
    if (at_end(json)) return json_fail(json, ends);
    if (next == ',') {
        if (*before == '{' || *before == '[') return json_fail(json, "a comma was not expected here");
        json->at++;
        if (peek(json) == close) return json_fail(json, "a comma stands at the end");
    } else if (*before != '{' && *before != '[') {
        return json_fail(json, "a comma or the end was expected");
    }
    if (!key) return true;
    if (!json_string(json, &name, &length)) return false;
    if (length >= key_bytes) return json_fail(json, "no key is so long");
    memcpy(key, name, length);
    key[length] = '\0';
    if (peek(json) != ':') return json_fail(json, "a colon was expected");
    json->at++;
    return true;
}

bool json_string(struct json *json, const char **text, size_t *length) {
    if (json->error) return false;
    if (peek(json) != '"') return json_fail(json, at_end(json) ? ends : "a string was expected");
    const char *start = ++json->at;
    while (json->at < json->end && *json->at != '"' && *json->at != '\\' && (unsigned char)*json->at >= ' ') json->at++;
    if (json->at == json->end || *json->at != '"') return json_fail(json, "a string has no end, or an escape in it");
    *text = start;
    *length = (size_t)(json->at++ - start);
    return true;
}

bool json_bool(struct json *json, bool *value) {
    if (json->error) return false;
    (void)peek(json);
    const size_t left = (size_t)(json->end - json->at);
    *value = left >= 4 && memcmp(json->at, "true", 4) == 0;
    if (!*value && (left < 5 || memcmp(json->at, "false", 5) != 0))
        return json_fail(json, "true or false was expected");
    json->at += *value ? 4 : 5;
    return true;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool json_parse_u256(struct json *json, const char *text, size_t length, struct u256 *value) {
    struct u256 sum = {{0}};
    if (length < 3 || length > 66 || text[0] != '0' || text[1] != 'x')
        return json_fail(json, "a number \"0x...\" of 1 to 64 digits was expected");
    for (size_t i = 2; i < length; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0) return json_fail(json, "a number has a digit that is none");
        sum = u256_add(u256_shl(u256_of(4), sum), u256_of((uint64_t)digit));
    }
    *value = sum;
    return true;
}

bool json_u256(struct json *json, struct u256 *value) {
    const char *text;
    size_t length;
    if (json->error) return false;
    if (peek(json) == '"') return json_string(json, &text, &length) && json_parse_u256(json, text, length, value);
    uint64_t sum = 0;
    const char *start = json->at;
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++) {
        const uint64_t digit = (uint64_t)(*json->at - '0');
        if (sum > (UINT64_MAX - digit) / 10) return json_fail(json, "a number is too large: write it as \"0x...\"");
        sum = 10 * sum + digit;
    }
    if (json->at == start) return json_fail(json, "a whole number was expected");
    *value = u256_of(sum);
    return true;
}

bool json_u64(struct json *json, uint64_t *value) {
    struct u256 number;
    if (!json_u256(json, &number)) return false;
    if (!u256_is_small(number)) return json_fail(json, "a number is too large: 64 bits are the limit here");
    *value = number.w[0];
    return true;
}

bool json_hex(struct json *json, struct bytes *out) {
    const char *text;
    size_t length;
    if (!json_string(json, &text, &length)) return false;
    if (length < 2 || length % 2 || text[0] != '0' || text[1] != 'x')
        return json_fail(json, "bytes \"0x...\", two digits each, were expected");
    out->length = 0;
    uint8_t *at = bytes_extend(out, length / 2 - 1);
    for (size_t i = 2; i < length; i += 2) {
        const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
        if (high < 0 || low < 0) return json_fail(json, "bytes have a digit that is none");
        *at++ = (uint8_t)(16 * high + low);
    }
    return true;
}

bool json_fixed(struct json *json, uint8_t *out, size_t length) {
    struct bytes bytes = {0};
    bool fits = json_hex(json, &bytes);
    if (fits && bytes.length != length)
        fits = json_fail(json, "bytes of another length were expected: an address has 20");
    if (fits) memcpy(out, bytes.data, length);
    bytes_free(&bytes);
    return fits;
}

bool json_end(struct json *json) {
    if (json->error) return false;
    return peek(json) == '\0' && json->at == json->end ? true : json_fail(json, "something stands behind the end");
}
