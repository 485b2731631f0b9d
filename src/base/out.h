/*
 * out.h: text on its way to a function of the caller's, gathered so that it is called a few times and not for every word.
 *
 *   struct svmx__out out = {.write = write, .user = user};
 *   svmx__out_add(&out, "\"%s\":", key);   svmx__out_quoted(&out, name);
 *   svmx__out_end(&out);                                                     // what is left
 *
 * Allocates nothing. Not thread-safe. For the texts of svmx_stats_write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_OUT_H
#define SVMX_BASE_OUT_H

#include <stddef.h>
#include <svmx/svmx.h>

struct svmx__out {
    svmx_write_fn write;
    void *user;
    size_t used;
    char text[2048];
};

/* At most 512 bytes at once; what is longer is cut. */
SVMX_PRINTF(2, 3) void svmx__out_add(struct svmx__out *out, const char *format, ...);

/* Names that come from drivers and may hold anything, between quotation marks, for JSON and for labels of Prometheus alike:
 * '"' and '\' are escaped, and what is no text becomes '?'. */
void svmx__out_quoted(struct svmx__out *out, const char *text);

void svmx__out_end(struct svmx__out *out);

/* How many bytes the character of UTF-8 at `at` has; 0: it is none that may stand in a line. */
size_t svmx__utf8_bytes(const char *at);

#endif
