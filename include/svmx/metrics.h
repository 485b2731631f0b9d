/*
 * svmx/metrics.h: watch an executor over HTTP: libsvmx-metrics, a library of its own, so that libsvmx needs no web server.
 *
 *   svmx_metrics_t *metrics;  struct svmx_error error;
 *   svmx_metrics_listen(&metrics, executor, "127.0.0.1:9469", 0, &error);
 *   ...                                                       // the executor works as ever
 *   svmx_metrics_close(metrics);  svmx_close(executor);       // in this order
 *
 *   /               a page that shows all of it, live; it needs no network but this server
 *   /metrics        counters in the text format of Prometheus (svmx_stats_write)
 *   /stats.json     the same as JSON
 *   /curves.json    what launches took, by operation, device and size (svmx_curves_read)
 *   /receipts       the last 256 receipts, a line of JSON each (svmx_receipt_json): svmx replay reads it
 *   /fallbacks      the same of the last parts that were redone or failed
 *   /healthz        200 and "ok", or "degraded" with the devices that may have no work
 *
 * Answers GET, and HEAD like it without a body, and nothing else, to nobody but this machine unless told otherwise. One thread; at most 32 connections, and each
 * request has 10 s from the end of the one before: who is slower is cut off. A text is made at most ten times a
 * second, however many ask. There is no password and no encryption: to watch from afar put something before it that has.
 *
 * Link with `pkg-config --libs svmx-metrics`. docs/WATCHING.md has more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_METRICS_H
#define SVMX_METRICS_H

#include <svmx/svmx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct svmx_metrics svmx_metrics_t;

enum svmx_metrics_flags {
    SVMX_METRICS_ANY_ADDRESS = 1 << 0 /* also one that other machines reach: whoever can connect reads everything */
};

/* Where it listens unless told otherwise. */
#define SVMX_METRICS_ADDRESS "127.0.0.1:9469"

/*
 * Starts to answer for an executor, in a thread of its own, and returns. `address` is "IPv4:PORT", "[IPv6]:PORT" or
 * "localhost:PORT"; port 0 takes a free one; NULL: SVMX_METRICS_ADDRESS. `error` may be NULL. The executor must stay open until
 * svmx_metrics_close. Errors: ARGUMENT (NULL, unknown flags, address), PERMISSION (other machines reach that address, and
 * ANY_ADDRESS is not given), SYSTEM (the port is in use, say), MEMORY.
 */
SVMX_EXPORT SVMX_MUST_CHECK enum svmx_status svmx_metrics_listen(svmx_metrics_t **metrics, svmx_executor_t *executor,
                                                                 const char *address, uint32_t flags,
                                                                 struct svmx_error *error);

/* Ends it: connections are cut, the thread is gone when this returns, which takes some 100 ms at most. NULL is fine. */
SVMX_EXPORT void svmx_metrics_close(svmx_metrics_t *metrics);

/* Where it listens, "127.0.0.1:9469", with the port that it got. Lives as long as the handle; "" for NULL. */
SVMX_EXPORT const char *svmx_metrics_address(const svmx_metrics_t *metrics);

#ifdef __cplusplus
}
#endif
#endif
