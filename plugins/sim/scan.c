/*
 * scan.c: see scan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DIGITS = 15 };
static const double max_ns = 1e15; /* eleven days */

bool sim_refuse(const struct sim_scan *scan, const char *format, ...) {
    va_list arguments;
    int used = scan->line ? snprintf(scan->why, scan->why_bytes, "line %u: ", scan->line) : 0;
    if (used < 0 || (size_t)used >= scan->why_bytes) return false;
    va_start(arguments, format);
    (void)vsnprintf(scan->why + used, scan->why_bytes - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- words ------------------------------------------------------------------------------------------------ */

static bool blank(char c) { return c == ' ' || c == '\t'; }

static bool digit(char c) { return c >= '0' && c <= '9'; }

static void skip_blanks(struct sim_scan *scan) {
    while (scan->at < scan->end && blank(*scan->at)) scan->at++;
}

static size_t word_length(const struct sim_scan *scan) {
    size_t length = 0;
    while (scan->at + length < scan->end && !blank(scan->at[length]) && scan->at[length] != ',') length++;
    return length;
}

bool sim_scan_done(struct sim_scan *scan) {
    skip_blanks(scan);
    return scan->at == scan->end;
}

bool sim_scan_word(struct sim_scan *scan, char *word, size_t word_bytes) {
    skip_blanks(scan);
    const size_t length = word_length(scan);
    if (length == 0 || length >= word_bytes) return false;
    memcpy(word, scan->at, length);
    word[length] = '\0';
    scan->at += length;
    return true;
}

bool sim_scan_is(struct sim_scan *scan, const char *word) {
    skip_blanks(scan);
    const size_t length = strlen(word);
    if (word_length(scan) != length || memcmp(scan->at, word, length) != 0) return false;
    scan->at += length;
    return true;
}

bool sim_scan_comma(struct sim_scan *scan) {
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != ',') return false;
    scan->at++;
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

/* What stands where a number should: for a refusal. */
static bool no_number(struct sim_scan *scan, const char *what) {
    const size_t length = word_length(scan);
    if (length == 0) return sim_refuse(scan, "%s is missing: write a number, such as 12 or 0.5", what);
    return sim_refuse(scan, "%s is '%.*s': write a plain number that is not negative, such as 12 or 0.5", what,
                      length > 40 ? 40 : (int)length, scan->at);
}

bool sim_scan_number(struct sim_scan *scan, const char *what, double low, double high, double *number) {
    double digits = 0, scale = 1;
    int count = 0;
    bool point = false;
    skip_blanks(scan);
    const char *at = scan->at;
    if (at == scan->end || !digit(*at)) return no_number(scan, what);
    for (; at < scan->end && (digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++count > MAX_DIGITS) return sim_refuse(scan, "%s has more than %d digits: round it", what, MAX_DIGITS);
        digits = digits * 10 + (*at - '0');
        scale *= point ? 10 : 1;
    }
    if (at < scan->end && (*at == '.' || at[-1] == '.')) return no_number(scan, what); /* 1..2, 1.2.3, 1.ms */
    if (digits / scale < low || digits / scale > high)
        return sim_refuse(scan, "%s is %.*s: write a number from %.15g to %.15g", what, (int)(at - scan->at), scan->at,
                          low, high);
    scan->at = at;
    *number = digits / scale;
    return true;
}

bool sim_scan_whole(struct sim_scan *scan, const char *what, uint64_t low, uint64_t high, uint64_t *number) {
    double value;
    if (!sim_scan_number(scan, what, (double)low, (double)high, &value)) return false;
    if (value != (double)(uint64_t)value) return sim_refuse(scan, "%s is %.15g: write a whole number", what, value);
    *number = (uint64_t)value;
    return true;
}

/* ---- units ------------------------------------------------------------------------------------------------ */

struct unit {
    const char *name;
    double scale;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"GB/s", 1}, {"MB/s", 1e-3}, {"bytes/ns", 1}, {NULL, 0}};

static const struct unit sizes[] = {{"bytes", 1}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {NULL, 0}};

static bool take_unit(struct sim_scan *scan, const struct unit *units, double *scale) {
    for (; units->name; units++) {
        if (!sim_scan_is(scan, units->name)) continue;
        *scale = units->scale;
        return true;
    }
    return false;
}

bool sim_scan_unit(struct sim_scan *scan, const char *what, const char *unit) {
    return sim_scan_is(scan, unit) || sim_refuse(scan, "%s has no unit: write %s after the number", what, unit);
}

bool sim_scan_time(struct sim_scan *scan, const char *what, double *ns) {
    double number, scale;
    if (!sim_scan_number(scan, what, 0, max_ns, &number)) return false;
    if (!take_unit(scan, times, &scale))
        return sim_refuse(scan, "%s has no unit of time: write ns, us, ms or s after the number", what);
    if (number * scale > max_ns) return sim_refuse(scan, "%s is too long: write at most 1000000 s", what);
    *ns = number * scale;
    return true;
}

bool sim_scan_rate(struct sim_scan *scan, const char *what, double *bytes_per_ns) {
    double number, scale;
    if (!sim_scan_number(scan, what, 0.001, 1e6, &number)) return false;
    if (!take_unit(scan, rates, &scale))
        return sim_refuse(scan, "%s has no unit: write GB/s, MB/s or bytes/ns after the number", what);
    *bytes_per_ns = number * scale;
    return true;
}

bool sim_scan_bytes(struct sim_scan *scan, const char *what, uint64_t *bytes) {
    double number, scale;
    if (!sim_scan_number(scan, what, 1, 1e15, &number)) return false;
    if (!take_unit(scan, sizes, &scale) || number * scale >= 0x1p60)
        return sim_refuse(scan, "%s has no unit, or is too large: write bytes, KiB, MiB or GiB after the number", what);
    *bytes = (uint64_t)(number * scale);
    return true;
}
