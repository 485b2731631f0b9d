/*
 * channel.c: see channel.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/channel.h"

#include "base/clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static void lane_free(struct svmx__lane *lane) {
    if (lane->socket >= 0) (void)close(lane->socket);
    svmx__wire_free(&lane->request);
    svmx__wire_free(&lane->answer);
    free(lane);
}

static void free_idle(struct svmx__channel *channel) {
    while (channel->idle) {
        struct svmx__lane *lane = channel->idle;
        channel->idle = lane->next;
        lane_free(lane);
    }
}

/* ---- its end ---------------------------------------------------------------------------------------------------- */

/* Under the lock. `late`: it did not answer, or is of no use any more, and is killed; else it is ending by itself. */
static void lose(struct svmx__channel *channel, const char *late) {
    if (svmx__channel_is_gone(channel)) return;
    const long pid = (long)channel->helper.pid;
    svmx__helper_stop(&channel->helper, late != NULL, SECOND_NS);
    (void)snprintf(channel->how, sizeof channel->how, "its process %ld is gone: %s", pid,
                   late ? late : channel->helper.how);
    free_idle(channel);
    atomic_store_explicit(&channel->gone, true, memory_order_release);
}

void svmx__channel_kill(struct svmx__channel *channel, const char *how) {
    pthread_mutex_lock(&channel->lock);
    lose(channel, how);
    pthread_mutex_unlock(&channel->lock);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

/* Under the lock: the control socket takes one message at a time. */
static bool send_end(struct svmx__channel *channel, int socket) {
    const struct svmx__wire message = {.file = socket};
    return svmx__wire_send(channel->helper.control, &message, svmx__clock_ns() + SECOND_NS) == SVMX__WIRE_DONE;
}

/* Under the lock. NULL: no memory, no socket, or the process has gone. */
static struct svmx__lane *lane_make(struct svmx__channel *channel) {
    int ends[2];
    struct svmx__lane *lane = calloc(1, sizeof *lane);
    if (!lane) return NULL;
    *lane = (struct svmx__lane){.socket = -1, .request = {.file = -1}, .answer = {.file = -1, .plain = true}};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        lane_free(lane);
        return NULL;
    }
    lane->socket = ends[0];
    const bool sent = send_end(channel, ends[1]);
    (void)close(ends[1]);
    if (sent) return lane;
    lane_free(lane);
    lose(channel, NULL);
    return NULL;
}

struct svmx__lane *svmx__lane_take(struct svmx__channel *channel) {
    if (svmx__channel_is_gone(channel)) return NULL;
    pthread_mutex_lock(&channel->lock);
    struct svmx__lane *lane = channel->idle;
    if (lane)
        channel->idle = lane->next;
    else if (!svmx__channel_is_gone(channel))
        lane = lane_make(channel);
    pthread_mutex_unlock(&channel->lock);
    return lane;
}

void svmx__lane_give(struct svmx__channel *channel, struct svmx__lane *lane) {
    if (!lane) return;
    svmx__wire_reset(&lane->request);
    svmx__wire_reset(&lane->answer);
    pthread_mutex_lock(&channel->lock);
    lane->next = channel->idle;
    channel->idle = lane;
    if (svmx__channel_is_gone(channel)) free_idle(channel); /* a socket less, for as long as the program runs */
    pthread_mutex_unlock(&channel->lock);
}

bool svmx__lane_call(struct svmx__channel *channel, struct svmx__lane *lane, uint64_t limit_ns) {
    if (svmx__channel_is_gone(channel)) return false;
    const uint64_t now = svmx__clock_ns();
    const uint64_t end_ns = limit_ns < UINT64_MAX - now ? now + limit_ns : UINT64_MAX;
    enum svmx__wire_end end = svmx__wire_send(lane->socket, &lane->request, end_ns);
    if (end == SVMX__WIRE_DONE) end = svmx__wire_receive(lane->socket, &lane->answer, end_ns);
    if (end == SVMX__WIRE_DONE) return true;
    pthread_mutex_lock(&channel->lock);
    lose(channel, end == SVMX__WIRE_LATE ? "it did not answer in time and was killed" : NULL);
    pthread_mutex_unlock(&channel->lock);
    return false;
}

/* ---- open and close --------------------------------------------------------------------------------------------- */

enum svmx_status svmx__channel_open(struct svmx__channel *channel, const char *path, const char *backend_path,
                                    const char *title, struct svmx__text *why) {
    struct svmx__helper helper;
    const enum svmx_status status = svmx__helper_start(&helper, path, backend_path, title, why);
    if (status != SVMX_OK) return status;
    *channel = (struct svmx__channel){.helper = helper};
    pthread_mutex_init(&channel->lock, NULL); /* cannot fail with default attributes */
    return SVMX_OK;
}

void svmx__channel_close(struct svmx__channel *channel, uint64_t limit_ns) {
    if (!svmx__channel_is_gone(channel)) svmx__helper_stop(&channel->helper, false, limit_ns);
    free_idle(channel);
    pthread_mutex_destroy(&channel->lock);
}
