/*
 * scan.h: words, numbers and quantities of one line of a model. Called by parse.c; knows nothing of what a line means.
 *
 * Numbers are read here and not by strtod, which listens to the locale and takes nan, inf, hex and signs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SCAN_H
#define SIM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where we are in a line, and where to say what is wrong with it. */
struct sim_scan {
    const char *at, *end; /* of the line, without its comment */
    unsigned line;        /* from 1; 0 = the text as a whole */
    char *why;
    size_t why_bytes;
};

/* Writes "line N: ..." and answers false. */
bool sim_refuse(const struct sim_scan *scan, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Is there nothing more, but blanks? */
bool sim_scan_done(struct sim_scan *scan);

/* The next word: up to a blank, a ',' or the end; false, and nothing said, if there is none or it does not fit. */
bool sim_scan_word(struct sim_scan *scan, char *word, size_t word_bytes);

/* Takes the next word if it is this one. */
bool sim_scan_is(struct sim_scan *scan, const char *word);

/* Takes a ',' if one is next. */
bool sim_scan_comma(struct sim_scan *scan);

/* A number of the range; `what` it is goes into the refusal. At most 15 digits, which a double holds exactly. */
bool sim_scan_number(struct sim_scan *scan, const char *what, double low, double high, double *number);
bool sim_scan_whole(struct sim_scan *scan, const char *what, uint64_t low, uint64_t high, uint64_t *number);

/* A number and its unit, with or without a blank between. Times in ns: "1.5 ms". Rates in bytes per ns: "24 GB/s". */
bool sim_scan_time(struct sim_scan *scan, const char *what, double *ns);
bool sim_scan_rate(struct sim_scan *scan, const char *what, double *bytes_per_ns);
/* Bytes: "64 MiB". At least one. */
bool sim_scan_bytes(struct sim_scan *scan, const char *what, uint64_t *bytes);

/* The unit that has to follow. */
bool sim_scan_unit(struct sim_scan *scan, const char *what, const char *unit);

#endif
