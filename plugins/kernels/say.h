/*
 * say.h: a line for the host's log, by format; for the files of each backend that turn what a driver answered into words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_SAY_H
#define SVMX_KERNELS_SAY_H

#include <stdarg.h>
#include <stdio.h>
#include <svmx/plugin.h>

enum { KERNELS_LINE = 256 };

__attribute__((format(printf, 3, 0))) static inline void
kernels_say(const struct svmx_host *host, enum svmx_log_level level, const char *format, va_list arguments) {
    char line[KERNELS_LINE];
    (void)vsnprintf(line, sizeof line, format, arguments);
    host->log(host, level, line);
}

#endif
