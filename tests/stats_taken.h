/*
 * stats_taken.h: the counters of an executor as one text, for suites that look for words in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STATS_TAKEN_H
#define STATS_TAKEN_H

#include <criterion/criterion.h>
#include <string.h>
#include <svmx/svmx.h>

static char text[1 << 16];
static size_t length;

static void take(void *user, const char *piece, size_t bytes) {
    (void)user;
    cr_assert_lt(length + bytes, sizeof text);
    memcpy(text + length, piece, bytes);
    length += bytes;
    text[length] = '\0';
}

/* Until the next one is asked for. */
static const char *text_of(const svmx_executor_t *executor, enum svmx_stats_format format) {
    length = 0;
    cr_assert_eq(svmx_stats_write(executor, format, take, NULL), SVMX_OK);
    return text;
}

#endif
