/*
 * text.h: the text of an error, carried from the function that first knew of it to the caller.
 *
 * A buffer of the caller's; the last writer wins. Used everywhere, knows nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_TEXT_H
#define SVMX_BASE_TEXT_H

#include <svmx/types.h>

struct svmx__text {
    char line[508];
};

/* Writes a formatted line and returns `status`, so that a check reads `return svmx__fail(why, STATUS, "...")`. `why` may
 * be NULL: only the status counts then. */
SVMX_PRINTF(3, 4)
enum svmx_status svmx__fail(struct svmx__text *why, enum svmx_status status, const char *format, ...);

#endif
