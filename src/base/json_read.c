/*
 * json_read.c: see json_read.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json_read.h"

#include <string.h>

/* Where text goes; a zero still fits behind. NULL: nowhere. */
struct room {
    char *at, *end;
};

static bool fail(struct svmx__json *json, const char *error) {
    if (!json->error) json->error = error;
    return false;
}

/* The next character that is no blank; 0 at the end, and after an error. */
static char peek(struct svmx__json *json) {
    if (json->error) return '\0';
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
    return json->at < json->end ? *json->at : '\0';
}

static bool take(struct svmx__json *json, char wanted) {
    if (peek(json) != wanted || json->at == json->end) return false;
    json->at++;
    return true;
}

/* The next character, blanks too; 0 at the end. */
static char raw(const struct svmx__json *json) { return json->at < json->end ? *json->at : '\0'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

void svmx__json_start(struct svmx__json *json, const char *text, size_t length) {
    *json = (struct svmx__json){.at = text, .end = text + length};
}

/* ---- objects and arrays ------------------------------------------------------------------------------------------- */

bool svmx__json_enter(struct svmx__json *json, char kind) {
    if (json->error) return false;
    if (!take(json, kind)) return fail(json, kind == '{' ? "an object is missing" : "an array is missing");
    if (json->depth == SVMX__JSON_DEPTH) return fail(json, "objects and arrays are nested too deep");
    json->close[json->depth] = kind == '{' ? '}' : ']';
    json->used[json->depth++] = false;
    return true;
}

static bool read_text(struct svmx__json *json, struct room *room);

bool svmx__json_next(struct svmx__json *json, char *key, size_t key_bytes) {
    if (json->error || json->depth == 0) return false;
    const uint32_t level = json->depth - 1;
    if (take(json, json->close[level])) {
        json->depth--;
        return false;
    }
    if (json->used[level] && !take(json, ',')) return fail(json, "a comma or an end is missing");
    json->used[level] = true;
    if (json->close[level] == ']') return true;
    if (!(key ? svmx__json_text(json, key, key_bytes) : read_text(json, NULL))) return false;
    return take(json, ':') || fail(json, "a colon is missing");
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static bool put(struct svmx__json *json, struct room *room, char c) {
    if (!room) return true;
    if (room->at == room->end) return fail(json, "a text is too long");
    *room->at++ = c;
    return true;
}

static bool put_point(struct svmx__json *json, struct room *room, uint32_t point) {
    if (point < 0x80) return put(json, room, (char)point);
    const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    static const uint32_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    bool fits = put(json, room, (char)(lead[more] | point >> (6 * more)));
    for (unsigned i = more; i-- > 0;) fits = fits && put(json, room, (char)(0x80 | (point >> (6 * i) & 0x3f)));
    return fits;
}

/* Four hex digits; UINT32_MAX: they are not. */
static uint32_t hex4(struct svmx__json *json) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, json->at++) {
        const char c = raw(json), low = (char)(c | 0x20);
        if (!is_digit(c) && (low < 'a' || low > 'f')) return UINT32_MAX;
        value = value << 4 | (uint32_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    return value;
}

/* Behind "\u": a character, or the two halves of one. Zero is refused: texts here end in one. */
static bool unicode(struct svmx__json *json, struct room *room) {
    uint32_t point = hex4(json);
    if (point >= 0xd800 && point < 0xdc00) {
        if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
            return fail(json, "half a character");
        json->at += 2;
        const uint32_t low = hex4(json);
        if (low < 0xdc00 || low > 0xdfff) return fail(json, "half a character");
        point = 0x10000 + ((point - 0xd800) << 10 | (low - 0xdc00));
    } else if (point == 0 || point > 0xffff || (point >= 0xdc00 && point < 0xe000)) {
        return fail(json, "no character behind \\u");
    }
    return put_point(json, room, point);
}

static bool escape(struct svmx__json *json, struct room *room) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = raw(json);
    json->at += json->at < json->end;
    if (c == 'u') return unicode(json, room);
    const char *found = c ? strchr(from, c) : NULL;
    return found ? put(json, room, to[found - from]) : fail(json, "nothing is written \\ and that");
}

/* A character of several bytes: only the shortest form, no halves. */
static bool utf8(struct svmx__json *json, struct room *room) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)*json->at++;
    const unsigned more = first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : 0;
    uint32_t point = first & (0x3fu >> more);
    if (!more || json->end - json->at < (ptrdiff_t)more) return fail(json, "bytes that are no UTF-8");
    for (unsigned i = 0; i < more; i++) {
        const unsigned char c = (unsigned char)*json->at++;
        if ((c & 0xc0) != 0x80) return fail(json, "bytes that are no UTF-8");
        point = point << 6 | (c & 0x3f);
    }
    if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return fail(json, "bytes that are no UTF-8");
    return put_point(json, room, point);
}

static bool read_text(struct svmx__json *json, struct room *room) {
    if (!take(json, '"')) return fail(json, "a text is missing");
    while (json->at < json->end) {
        const unsigned char c = (unsigned char)*json->at;
        bool fine;
        if (c >= 0x80) {
            fine = utf8(json, room);
        } else {
            json->at++;
            if (c == '"') return true;
            if (c < 0x20) return fail(json, "a control character in a text");
            fine = c == '\\' ? escape(json, room) : put(json, room, (char)c);
        }
        if (!fine) return false;
    }
    return fail(json, "a text does not end");
}

bool svmx__json_text(struct svmx__json *json, char *text, size_t bytes) {
    if (json->error) return false;
    struct room room = {text, text + bytes - 1};
    const bool read = read_text(json, &room);
    *room.at = '\0';
    return read;
}

/* ---- numbers and words --------------------------------------------------------------------------------------------- */

static bool word(struct svmx__json *json, const char *text) {
    const size_t length = strlen(text);
    (void)peek(json);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, text, length) != 0) return false;
    json->at += length;
    return true;
}

bool svmx__json_bool(struct svmx__json *json, bool *value) {
    if (json->error) return false;
    const bool yes = word(json, "true");
    if (!yes && !word(json, "false")) return fail(json, "true or false is missing");
    *value = yes;
    return true;
}

/* Digits, the first of several not 0. */
static bool digits(struct svmx__json *json) {
    const char *start = json->at;
    while (is_digit(raw(json))) json->at++;
    return json->at > start;
}

static bool whole(struct svmx__json *json) {
    const char *start = json->at;
    return (digits(json) && (*start != '0' || json->at - start == 1)) || fail(json, "a number is missing");
}

bool svmx__json_u64(struct svmx__json *json, uint64_t *number) {
    (void)peek(json);
    const char *start = json->at;
    uint64_t value = 0;
    if (json->error || !whole(json)) return false;
    for (const char *at = start; at < json->at; at++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
            return fail(json, "a number is too large");
    const char next = raw(json);
    if (next == '.' || next == 'e' || next == 'E') return fail(json, "a number is not whole");
    *number = value;
    return true;
}

static bool skip_number(struct svmx__json *json) {
    json->at += raw(json) == '-';
    if (!whole(json)) return false;
    if (raw(json) == '.') {
        json->at++;
        if (!digits(json)) return fail(json, "digits are missing");
    }
    if (raw(json) != 'e' && raw(json) != 'E') return true;
    json->at++;
    json->at += raw(json) == '+' || raw(json) == '-';
    return digits(json) || fail(json, "digits are missing");
}

/* A value that holds no others; an object or array is entered. */
static bool skip_start(struct svmx__json *json) {
    const char first = peek(json);
    if (json->error) return false;
    if (first == '{' || first == '[') return svmx__json_enter(json, first);
    if (first == '"') return read_text(json, NULL);
    if (first == '-' || is_digit(first)) return skip_number(json);
    return word(json, "true") || word(json, "false") || word(json, "null") || fail(json, "a value is missing");
}

/* Not by recursion: until it is as deep as before again. */
bool svmx__json_skip(struct svmx__json *json) {
    const uint32_t before = json->depth;
    do {
        if (!skip_start(json)) return false;
        while (json->depth > before && !svmx__json_next(json, NULL, 0))
            if (json->error) return false;
    } while (json->depth > before);
    return true;
}

bool svmx__json_end(struct svmx__json *json) {
    const char next = peek(json);
    if (json->error) return false;
    if (json->depth) return fail(json, "it does not end");
    return (next == '\0' && json->at == json->end) || fail(json, "something follows its end");
}
