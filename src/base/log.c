/*
 * log.c: see log.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const level_names[] = {"off", "error", "warn", "info", "debug"};

void svmx__log(const struct svmx__log *log, enum svmx_log_level level, const char *format, ...) {
    if (level > log->level || level == SVMX_LOG_OFF) return;
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (log->sink)
        log->sink(log->user, level, line);
    else
        (void)fprintf(stderr, "svmx: %s: %s\n", svmx__log_level_name(level), line);
}

_Bool svmx__log_level_parse(const char *text, enum svmx_log_level *level) {
    for (int i = 0; i <= SVMX_LOG_DEBUG; i++) {
        if (strcmp(text, level_names[i]) != 0) continue;
        *level = (enum svmx_log_level)i;
        return 1;
    }
    return 0;
}

const char *svmx__log_level_name(enum svmx_log_level level) {
    return level >= SVMX_LOG_OFF && level <= SVMX_LOG_DEBUG ? level_names[level] : "unknown";
}
