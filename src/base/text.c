/*
 * text.c: see text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

enum svmx_status svmx__fail(struct svmx__text *why, enum svmx_status status, const char *format, ...) {
    if (!why) return status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why->line, sizeof why->line, format, args);
    va_end(args);
    return status;
}
