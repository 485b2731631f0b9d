/*
 * server.h: the web server of libsvmx-metrics, as the files of this folder see it.
 *
 *   address.c   "127.0.0.1:9469" -> a socket that listens, or why not
 *   server.c    one thread: libmicrohttpd's loop, and connections that have had their time
 *   answer.c    a request -> a response: path, method, host
 *   body.c      the texts behind the paths, each made at most every so often
 *   page.c      the page, made at build time from page/ and Chart.js
 *
 * Uses the public API of libsvmx and nothing else of it. All but listen and close happens in the server's one thread: no
 * lock is needed, none is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_METRICS_SERVER_H
#define SVMX_METRICS_SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <svmx/metrics.h>

enum { METRICS_CONNECTIONS = 32, METRICS_SECONDS = 10 };

struct metrics_connection {
    int socket; /* -1: the place is free */
    uint64_t end_ns;
};

enum metrics_body {
    METRICS_PROMETHEUS,
    METRICS_STATS,
    METRICS_CURVES,
    METRICS_RECEIPTS,
    METRICS_FALLBACKS,
    METRICS_HEALTH,
    METRICS_BODIES
};

/* A text, and until when it is good. */
struct metrics_cached {
    struct MHD_Response *response; /* NULL: none yet */
    uint64_t end_ns;
};

struct svmx_metrics {
    svmx_executor_t *executor;
    int socket;
    bool local; /* only this machine reaches the address */
    char address[64];
    struct MHD_Daemon *daemon;
    pthread_t thread;
    atomic_bool stopping; /* set by close, read by the thread; relaxed: nothing comes with it */
    struct metrics_connection connections[METRICS_CONNECTIONS];
    struct metrics_cached cached[METRICS_BODIES];
    struct MHD_Response *page;
};

/* ---- address.c ---- */

/* Sets socket, local and address. Errors as svmx_metrics_listen, with the text. */
enum svmx_status metrics_address_open(struct svmx_metrics *metrics, const char *address, uint32_t flags,
                                      struct svmx_error *error);

SVMX_PRINTF(3, 4)
enum svmx_status metrics_fail(struct svmx_error *error, enum svmx_status status, const char *format, ...);

/* ---- answer.c ---- */

enum MHD_Result metrics_answer(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                               const char *version, const char *upload, size_t *upload_bytes, void **state);

/* With the headers that all answers have. NULL: no memory. Text that is not `owned` is static. */
struct MHD_Response *metrics_response(const char *type, char *text, size_t bytes, bool owned);

/* ---- body.c ---- */

/* The response of a body, made anew if it is too old. NULL: no memory, or the executor was closed. It stays the cache's. */
struct MHD_Response *metrics_body(struct svmx_metrics *metrics, enum metrics_body body);

/* ---- server.c ---- */
uint64_t metrics_now_ns(void);

/* ---- page.c, made by page/embed ---- */
extern const unsigned char metrics_page[];
extern const size_t metrics_page_bytes;

#endif
