/*
 * top.h: the files of `svmx top`: where texts come from, and what is shown of them.
 *
 *   cmd_top.c      the command: a picture each second, until Ctrl-C or q
 *   top_source.c   a text from an executor of this process, or from a server (libsvmx-metrics) of another
 *   top_view.c     two of them, some time apart -> a picture
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_TOP_H
#define SVMX_CLI_TOP_H

#include "samples.h"
#include "session.h"
#include <stdio.h>

/* An executor, or an address. */
struct top_source {
    svmx_executor_t *executor;
    const char *address; /* "127.0.0.1:9469" */
};

/* Is it HOST:PORT, with a number for the port? */
bool top_address_parse(const char *address);

/* A text of it, to be freed; /metrics, or with `json` /stats.json. NULL after a message. */
char *top_source_read(const struct top_source *source, bool json);

/* Shows what happened between two texts, `seconds` apart; what may be cut off comes last. */
void top_view_print(FILE *out, const struct top_source *source, const struct cli_samples *before,
                    const struct cli_samples *now, double seconds);

#endif
