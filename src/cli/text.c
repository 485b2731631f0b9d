/*
 * text.c: words and numbers for people. text.h says what each gives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"
#include "command.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_error(const char *format, ...) {
    fflush(stdout); /* results first where both go to one terminal */
    va_list list;
    va_start(list, format);
    fputs("svmx: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

void cli_output_flush(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    const char *reason = strerror(errno);
    fprintf(stderr, "svmx: cannot write to standard output: %s\n", reason);
    exit(CLI_FAILED);
}

void *cli_grow(void *memory, size_t count, size_t size) {
    size_t bytes;
    void *grown = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes)) grown = realloc(memory, bytes ? bytes : 1);
    if (grown) return grown;
    cli_error("no memory for %zu x %zu bytes", count, size);
    exit(CLI_FAILED);
}

/* ---- numbers ---- */

static unsigned suffix_shift(char suffix) {
    switch (suffix) {
    case 'K':
    case 'k': return 10;
    case 'M':
    case 'm': return 20;
    case 'G':
    case 'g': return 30;
    default: return 0;
    }
}

bool cli_number_parse(const char *text, uint64_t *number) {
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (__builtin_mul_overflow(value, 10, &value)) return false;
        if (__builtin_add_overflow(value, (uint64_t)(*at - '0'), &value)) return false;
    }
    if (at == text) return false;
    unsigned shift = suffix_shift(*at);
    if (shift) at++;
    if (*at != '\0' || value > UINT64_MAX >> shift) return false;
    *number = value << shift;
    return true;
}

struct cli_text cli_count(uint64_t count) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    struct cli_text text = {""};
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text.line[used++] = ',';
        text.line[used++] = digits[i];
    }
    text.line[used] = '\0';
    return text;
}

struct cli_text cli_counted(uint64_t count, const char *unit) {
    struct cli_text text;
    snprintf(text.line, sizeof text.line, "%.26s %.30s%s", cli_count(count).line, unit, count == 1 ? "" : "s");
    return text;
}

/* Three digits of value / step^n and the name of that step; whole numbers below the first step. */
static struct cli_text scaled(uint64_t value, double step, const char *const names[5]) {
    double scale = (double)value;
    unsigned n = 0;
    for (; n < 4 && names[n + 1] && scale >= step; n++) scale /= step;
    int digits = n == 0 || scale >= 99.95 ? 0 : scale >= 9.995 ? 1 : 2;
    struct cli_text text;
    snprintf(text.line, sizeof text.line, "%.*f%s", digits, scale, names[n]);
    return text;
}

struct cli_text cli_duration(uint64_t ns) {
    return scaled(ns, 1000, (const char *const[5]){" ns", " us", " ms", " s"});
}

struct cli_text cli_bytes(uint64_t bytes) {
    return scaled(bytes, 1024, (const char *const[5]){" B", " KiB", " MiB", " GiB", " TiB"});
}

struct cli_text cli_byte_rate(uint64_t per_second) {
    return scaled(per_second, 1000, (const char *const[5]){" B/s", " kB/s", " MB/s", " GB/s", " TB/s"});
}

struct cli_text cli_rate(uint64_t per_second, const char *unit) {
    struct cli_text number = scaled(per_second, 1000, (const char *const[5]){"", " k", " M", " G", " T"}), text;
    snprintf(text.line, sizeof text.line, "%.26s %.30ss/s", number.line, unit);
    return text;
}

/* ---- guesses ---- */

struct cli_guess cli_guess_start(const char *word, size_t length) {
    struct cli_guess guess = {"", NULL, 3}; /* three letters wrong is another word */
    if (length < sizeof guess.word) memcpy(guess.word, word, length);
    return guess;
}

/* Letters to insert, drop or change to get from one word to the other, both shorter than 32. */
static unsigned distance(const char *from, const char *to) {
    unsigned row[33];
    size_t width = strlen(to);
    for (unsigned j = 0; j <= width; j++) row[j] = j;
    for (unsigned i = 1; from[i - 1] != '\0'; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            unsigned change = diagonal + (from[i - 1] != to[j - 1]);
            unsigned shift = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = change < shift ? change : shift;
        }
    }
    return row[width];
}

/* The start of a word counts as near, and more than half of a short word must be right. */
void cli_guess_try(struct cli_guess *guess, const char *candidate) {
    size_t length = strlen(guess->word), other = strlen(candidate);
    if (length < 2 || other >= sizeof guess->word) return;
    unsigned d = strncmp(guess->word, candidate, length) == 0 ? 1 : distance(guess->word, candidate);
    if (d >= guess->distance || 2 * d >= other) return;
    guess->distance = d;
    guess->best = candidate;
}

/* ---- UTF-8 ---- */

static bool is_scalar(int32_t point, unsigned length) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return point >= least[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

int32_t cli_utf8_next(const char **text) {
    const unsigned char *at = (const unsigned char *)*text;
    unsigned length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    *text += 1;
    if (length <= 1) return length == 1 ? at[0] : -1;
    int32_t point = at[0] & (0xff >> (length + 1));
    for (unsigned i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return -1;
        point = point << 6 | (at[i] & 0x3f);
    }
    if (!is_scalar(point, length)) return -1;
    *text += length - 1;
    return point;
}
