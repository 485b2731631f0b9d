/*
 * queue.h: a first-in first-out list between threads, for entries that carry their own link.
 *
 * Never full and never allocates: how much may wait is decided before an entry is pushed (submit.c). One queue a
 * device; its submitter thread pops.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_QUEUE_H
#define SVMX_BASE_QUEUE_H

#include "base/spin.h"

#include <pthread.h>
#include <stdbool.h>

struct svmx__link {
    struct svmx__link *next;
};

struct svmx__queue {
    pthread_mutex_t lock; /* guards all below; held for a few instructions only */
    pthread_cond_t filled;
    struct svmx__link *first, *last;
    bool closed;
    _Atomic uint64_t count; /* of entries; read without the lock */
    atomic_bool stirred;    /* something to pop, or closed: looked at without the lock before a popper sleeps */
    struct svmx__spin spin;
};

/* 0, or the error number of pthread. */
int svmx__queue_init(struct svmx__queue *queue);
void svmx__queue_fini(struct svmx__queue *queue);

/* Appends. The entry may be popped, and gone, before this returns. */
void svmx__queue_push(struct svmx__queue *queue, struct svmx__link *link);

/* The same in front of all others. */
void svmx__queue_push_first(struct svmx__queue *queue, struct svmx__link *link);

/* Takes the oldest entry; blocks while there is none. NULL once the queue is closed and empty. */
struct svmx__link *svmx__queue_pop(struct svmx__queue *queue);

/* The same without blocking: NULL also while there is none. */
struct svmx__link *svmx__queue_try(struct svmx__queue *queue);

/* Takes the oldest entry if it fits. `fits` is called under the lock. While there is none it waits for one until that time of
 * the clock (svmx__clock_ns); 0: it does not. NULL: there was none, or it does not fit and stays. */
struct svmx__link *svmx__queue_take_if(struct svmx__queue *queue,
                                       bool (*fits)(const struct svmx__link *link, void *user), void *user,
                                       uint64_t until_ns);

/* Without the lock: what is pushed just now may be overlooked. */
static inline bool svmx__queue_looks_empty(const struct svmx__queue *queue) {
    return !atomic_load_explicit(&queue->stirred, memory_order_relaxed);
}

/* No more pushes; pops give what is left, then NULL. */
void svmx__queue_close(struct svmx__queue *queue);

#endif
