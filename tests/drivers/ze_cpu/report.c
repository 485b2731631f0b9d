/*
 * report.c: where misuse and leaks are told: a line each, to the file ZE_CPU_REPORT or, without one, to stderr. A client
 * that makes no mistake leaves no file. Leaks are known at the end of the process only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* In one write, so that lines of threads and processes do not mix. */
static void tell(const char *what, const char *format, va_list arguments) {
    char line[512];
    int length = snprintf(line, sizeof line, "%s: ", what);
    length += vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
    line[length++] = '\n';
    const int file =
        zecpu_settings.report ? open(zecpu_settings.report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file < 0) (void)!write(STDERR_FILENO, "ze_cpu: ", 8);
    (void)!write(file < 0 ? STDERR_FILENO : file, line, (size_t)length);
    if (file >= 0) close(file);
}

void zecpu_misuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell("misuse", format, arguments);
    va_end(arguments);
}

void zecpu_leak(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tell("leak", format, arguments);
    va_end(arguments);
}
