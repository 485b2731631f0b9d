/*
 * top.h: the files of `svmx top`: where texts come from, and what is shown of them.
 *
 *   cmd_top.c      the command: a picture each second, until Ctrl-C or q
 *   top_source.c   a text from an executor of this process, or from a server (libsvmx-metrics) of another
 *   top_view.c     two of them, some time apart -> a picture
 *   top_more.c     what counters do not say: reasons, crossovers, what was redone last
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

/* As a server has them: /metrics, /stats.json, /curves.json, /fallbacks. */
enum top_text { TOP_METRICS, TOP_STATS, TOP_CURVES, TOP_FALLBACKS };

/* A text of it, to be freed. NULL after a message. */
char *top_source_read(const struct top_source *source, enum top_text which);

/* What is shown beside the counters. */
struct top_texts {
    char *stats, *curves, *fallbacks;
};
/* False after a message. */
bool top_texts_read(const struct top_source *source, struct top_texts *texts);
void top_texts_free(struct top_texts *texts);

/* Why devices are not healthy; who is the fastest at which size, and what was redone last. */
void top_health_print(FILE *out, const struct top_texts *texts);
void top_more_print(FILE *out, const struct top_texts *texts);

/* Shows what happened between two texts, `seconds` apart; what may be cut off comes last. */
void top_view_print(FILE *out, const struct top_source *source, const struct cli_samples *before,
                    const struct cli_samples *now, const struct top_texts *texts, double seconds);

#endif
