/*
 * text.h: words and numbers for people: messages, quantities, guesses, and the memory behind them.
 *
 * Used by all of the command; knows nothing of executors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_TEXT_H
#define SVMX_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "svmx: ..." as a line on standard error. Lines on standard output come before it. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);

/* Writes out what is left for standard output. A result that does not arrive is a failure, however well it was computed:
 * then the process says so and exits with CLI_FAILED. */
void cli_output_flush(void);

/* realloc that cannot fail: without memory the process says so and exits with CLI_FAILED. */
void *cli_grow(void *memory, size_t count, size_t size);

/* Decimal digits and an optional K, M or G; false for anything else and for what does not fit. */
bool cli_number_parse(const char *text, uint64_t *number);

/* Short text by value: valid until the end of the expression that made it. */
struct cli_text {
    char line[64];
};

struct cli_text cli_count(uint64_t count);                       /* 1,048,576 */
struct cli_text cli_counted(uint64_t count, const char *unit);   /* 1 task, 2 tasks */
struct cli_text cli_duration(uint64_t ns);                       /* 950 ns, 12.3 us, 1.25 s */
struct cli_text cli_bytes(uint64_t bytes);                       /* 256 MiB */
struct cli_text cli_byte_rate(uint64_t per_second);              /* 63.9 GB/s */
struct cli_text cli_rate(uint64_t per_second, const char *unit); /* 5.33 G elements/s */

/*
 * The nearest of several words to one that was mistyped. Start, try each candidate, then read `best`: NULL when none
 * is near.
 */
struct cli_guess {
    char word[32];
    const char *best;
    unsigned distance;
};
struct cli_guess cli_guess_start(const char *word, size_t length);
void cli_guess_try(struct cli_guess *guess, const char *candidate);

/*
 * Reads one character of UTF-8 at *text and moves past it. -1 for a byte that starts none: *text moves on by one.
 * Names of devices come from drivers and may hold anything.
 */
int32_t cli_utf8_next(const char **text);

#endif
