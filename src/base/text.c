/*
 * text.c: see text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

void svmx__say(struct svmx__text *why, const char *format, ...) {
    if (!why) return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why->line, sizeof why->line, format, args);
    va_end(args);
}
