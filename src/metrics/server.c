/*
 * server.c: the thread that answers, and the time that connections have. See server.h.
 *
 * libmicrohttpd runs in our thread, not in one of its own, so that between two rounds of it connections can be looked at: it
 * cuts off who is silent, but not who sends a byte now and then for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)
enum { ROUND_MS = 100, CONNECTION_BYTES = 16384 };

uint64_t metrics_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static uint64_t end_of_time(void) { return metrics_now_ns() + METRICS_SECONDS * NS_PER_S; }

/* A connection begins or ends. There is a place for each that libmicrohttpd lets in. */
static void connection_changed(void *user, struct MHD_Connection *connection, void **context,
                               enum MHD_ConnectionNotificationCode code) {
    struct svmx_metrics *metrics = user;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*context) ((struct metrics_connection *)*context)->socket = -1;
        return;
    }
    for (int i = 0; i < METRICS_CONNECTIONS; i++) {
        struct metrics_connection *place = &metrics->connections[i];
        if (place->socket >= 0) continue;
        place->socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        place->end_ns = end_of_time();
        *context = place;
        return;
    }
}

/* A request is over: the next one has its time from now on. */
static void request_completed(void *user, struct MHD_Connection *connection, void **state,
                              enum MHD_RequestTerminationCode code) {
    (void)user, (void)state, (void)code;
    struct metrics_connection *place =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (place) place->end_ns = end_of_time();
}

/* libmicrohttpd finds the end of it in its next round, and closes. */
static void cut_slow(struct svmx_metrics *metrics) {
    const uint64_t now_ns = metrics_now_ns();
    for (int i = 0; i < METRICS_CONNECTIONS; i++) {
        struct metrics_connection *place = &metrics->connections[i];
        if (place->socket >= 0 && now_ns > place->end_ns) shutdown(place->socket, SHUT_RDWR);
    }
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void *serve(void *user) {
    struct svmx_metrics *metrics = user;
    while (!atomic_load_explicit(&metrics->stopping, memory_order_relaxed)) {
        if (MHD_run_wait(metrics->daemon, ROUND_MS) == MHD_NO) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        cut_slow(metrics);
    }
    return NULL;
}

/* Signals are the embedding program's: none is delivered to this thread. */
static int start_thread(struct svmx_metrics *metrics) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&metrics->thread, NULL, serve, metrics);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error) (void)pthread_setname_np(metrics->thread, "svmx-metrics");
    return error;
}

static struct MHD_Daemon *start_daemon(struct svmx_metrics *metrics) {
    return MHD_start_daemon(MHD_USE_AUTO, 0, NULL, NULL, metrics_answer, metrics, MHD_OPTION_LISTEN_SOCKET,
                            metrics->socket, MHD_OPTION_CONNECTION_LIMIT, (unsigned)METRICS_CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)METRICS_SECONDS,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
                            connection_changed, metrics, MHD_OPTION_NOTIFY_COMPLETED, request_completed, metrics,
                            MHD_OPTION_END);
}

static void free_responses(struct svmx_metrics *metrics) {
    for (int i = 0; i < METRICS_BODIES; i++)
        if (metrics->cached[i].response) MHD_destroy_response(metrics->cached[i].response);
    if (metrics->page) MHD_destroy_response(metrics->page);
}

enum svmx_status svmx_metrics_listen(svmx_metrics_t **metrics, svmx_executor_t *executor, const char *address,
                                     uint32_t flags, struct svmx_error *error) {
    if (!metrics || !executor) return metrics_fail(error, SVMX_ERR_ARGUMENT, "metrics or executor is NULL");
    if (flags & ~(uint32_t)SVMX_METRICS_ANY_ADDRESS)
        return metrics_fail(error, SVMX_ERR_ARGUMENT, "flags is 0x%x: this version knows none but 0x%x", flags,
                            (unsigned)SVMX_METRICS_ANY_ADDRESS);
    struct svmx_metrics *made = calloc(1, sizeof *made);
    if (!made) return metrics_fail(error, SVMX_ERR_MEMORY, "no memory for a server");
    made->executor = executor;
    for (int i = 0; i < METRICS_CONNECTIONS; i++) made->connections[i].socket = -1;
    enum svmx_status status = metrics_address_open(made, address ? address : SVMX_METRICS_ADDRESS, flags, error);
    if (status != SVMX_OK) goto free_made;
    made->daemon = start_daemon(made);
    if (!made->daemon) {
        status =
            metrics_fail(error, SVMX_ERR_SYSTEM, "cannot start the server at %s: %s", made->address, strerror(errno));
        close(made->socket);
        goto free_made;
    }
    const int failure = start_thread(made);
    if (failure) {
        status = metrics_fail(error, SVMX_ERR_SYSTEM, "cannot start a thread: %s", strerror(failure));
        goto stop_daemon;
    }
    *metrics = made;
    return SVMX_OK;

stop_daemon:
    MHD_stop_daemon(made->daemon); /* and closes the socket */
free_made:
    free(made);
    return status;
}

void svmx_metrics_close(svmx_metrics_t *metrics) {
    if (!metrics) return;
    atomic_store_explicit(&metrics->stopping, true, memory_order_relaxed);
    pthread_join(metrics->thread, NULL);
    MHD_stop_daemon(metrics->daemon);
    free_responses(metrics);
    free(metrics);
}

const char *svmx_metrics_address(const svmx_metrics_t *metrics) { return metrics ? metrics->address : ""; }
