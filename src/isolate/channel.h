/*
 * channel.h: calls to a process that runs a backend: lanes, limits, and what is left when it is gone.
 *
 *   thread of the program  --lane-->  thread of svmx-host     one call at a time on each; a lane is a socket
 *   another thread         --lane-->  another thread
 *
 * So calls run beside one another over there as they do here. A lane is made when one is wanted and none is idle; who
 * keeps one has a thread of svmx-host to itself, as the submitter of a device must. The process is gone once a lane
 * ends, a call is not answered in time, or proxy.c has no more use for it: then it is killed, its lanes are closed as
 * they come back, and every call from now on says so. Called by proxy.c. Knows processes and messages, nothing of what
 * they mean.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_ISOLATE_CHANNEL_H
#define SVMX_ISOLATE_CHANNEL_H

#include "isolate/helper.h"
#include "isolate/wire.h"
#include <pthread.h>
#include <stdatomic.h>

struct svmx__lane {
    struct svmx__lane *next; /* while it is idle */
    int socket;
    struct svmx__wire request, answer;
};

struct svmx__channel {
    atomic_bool gone;     /* release when `how` is written, acquire when read without the lock */
    pthread_mutex_t lock; /* guards all below */
    struct svmx__helper helper;
    struct svmx__lane *idle;
    char how[192]; /* it ended */
};

/* Starts the process. As svmx__helper_start. */
enum svmx_status svmx__channel_open(struct svmx__channel *channel, const char *path, const char *backend_path,
                                    const char *title, struct svmx__text *why);
/* Ends the process, by itself within the limit or else by a signal. No call is under way; every lane was given back. */
void svmx__channel_close(struct svmx__channel *channel, uint64_t limit_ns);

/* A lane with an empty request; NULL: the process is gone, or no memory. Any thread. */
struct svmx__lane *svmx__lane_take(struct svmx__channel *channel);
/* Gives it back, or only what its messages hold, if it is to be used again by the same thread. NULL is fine. */
void svmx__lane_give(struct svmx__channel *channel, struct svmx__lane *lane);

/* Sends lane->request and waits for lane->answer. false: the process is gone, or is now, since it did not answer in
 * time. */
bool svmx__lane_call(struct svmx__channel *channel, struct svmx__lane *lane, uint64_t limit_ns);

/* Kills the process; `how` is told as the reason of its end. */
void svmx__channel_kill(struct svmx__channel *channel, const char *how);

static inline bool svmx__channel_is_gone(const struct svmx__channel *channel) {
    return atomic_load_explicit(&channel->gone, memory_order_acquire);
}

#endif
