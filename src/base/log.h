/*
 * log.h: where lines for the user go.
 *
 * One log an executor; a line is formatted only if its level passes. Used everywhere, knows nothing of executors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_LOG_H
#define SVMX_BASE_LOG_H

#include <svmx/types.h>

struct svmx__log {
    enum svmx_log_level level;
    void (*sink)(void *user, enum svmx_log_level level, const char *text); /* NULL: standard error */
    void *user;
};

/* One line, no newline at its end. Thread-safe as far as the sink is. */
SVMX_PRINTF(3, 4) void svmx__log(const struct svmx__log *log, enum svmx_log_level level, const char *format, ...);

/* "off", "error", "warn", "info", "debug" to a level; false for anything else. */
_Bool svmx__log_level_parse(const char *text, enum svmx_log_level *level);
const char *svmx__log_level_name(enum svmx_log_level level);

#endif
