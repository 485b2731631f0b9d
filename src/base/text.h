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

/* Writes a formatted line. `why` may be NULL: then nothing. */
SVMX_PRINTF(2, 3) void svmx__say(struct svmx__text *why, const char *format, ...);

/* The same as an expression that is `status`, so that a check reads `return svmx__fail(why, STATUS, "...")`. A macro,
 * because a compiler that sees the status knows that the outputs of a failed call are not used. */
#define svmx__fail(why, status, ...) (svmx__say((why), __VA_ARGS__), (enum svmx_status)(status))

#endif
