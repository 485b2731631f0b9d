/*
 * turns.h: a thread that does something now and then until it is told to end.
 *
 *   svmx__turns_start(&turns, "svmx-watch", watch, executor);
 *   static void *watch(void *user) { while (svmx__turns_next(turns, ns)) ...; return NULL; }
 *   svmx__turns_stop(&turns);                              // cuts the sleep short, and waits for the thread
 *
 * The thread takes no signals: they are the embedding program's. Called by contention.c, post.c and stats_folder.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_TURNS_H
#define SVMX_BASE_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* All zero is one without a thread. start and stop by one thread at a time. */
struct svmx__turns {
    pthread_mutex_t lock;   /* guards stopping */
    pthread_cond_t changed; /* stopping */
    bool stopping, has_thread;
    pthread_t thread;
};

/* False: there is no thread to be had. */
bool svmx__turns_start(struct svmx__turns *turns, const char *name, void *(*run)(void *), void *user);

/* By the thread: sleeps for a turn; false: it is over. */
bool svmx__turns_next(struct svmx__turns *turns, uint64_t ns);

/* Safe without a start. */
void svmx__turns_stop(struct svmx__turns *turns);

#endif
