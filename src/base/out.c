/*
 * out.c: see out.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/out.h"

#include <stdarg.h>
#include <stdio.h>

enum { PIECE = 512 };

void svmx__out_end(struct svmx__out *out) {
    if (out->used) out->write(out->user, out->text, out->used);
    out->used = 0;
}

/* Room for a piece. */
static char *room(struct svmx__out *out) {
    if (sizeof out->text - out->used < PIECE) svmx__out_end(out);
    return out->text + out->used;
}

void svmx__out_add(struct svmx__out *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(room(out), PIECE, format, args);
    va_end(args);
    if (length > 0) out->used += length < PIECE ? (size_t)length : PIECE - 1;
}

static void put(struct svmx__out *out, char c) {
    *room(out) = c;
    out->used++;
}

size_t svmx__utf8_bytes(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80) return at[0] >= 0x20 && at[0] != 0x7f;
    const size_t bytes = at[0] >= 0xc2 && at[0] <= 0xdf   ? 2
                         : at[0] >> 4 == 14               ? 3
                         : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                          : 0;
    for (size_t i = 1; i < bytes; i++)
        if (at[i] >> 6 != 2) return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f)) return 0; /* too long a form; half a one */
    if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f)) return 0;
    return bytes;
}

void svmx__out_quoted(struct svmx__out *out, const char *text) {
    put(out, '"');
    for (const char *at = text; *at;) {
        const size_t bytes = svmx__utf8_bytes(at);
        if (*at == '"' || *at == '\\') put(out, '\\');
        for (size_t i = 0; i < bytes; i++) put(out, at[i]);
        if (!bytes) put(out, '?');
        at += bytes ? bytes : 1;
    }
    put(out, '"');
}
