/*
 * order.h: batches that name buffers wait for one another.
 *
 *   submitted   a: writes x      b: reads x, writes y      c: reads x      d: reads z
 *   starts      at once          when a is over            when a is over  at once
 *
 * Of two batches that name a buffer, one of which writes to it, the one that was submitted later starts when the other is
 * over, on whichever devices they run: so a program hands over work that hangs together without waiting for it in between. A
 * batch waits for earlier ones only, so nobody waits in a circle. Batches without buffers know nothing of it.
 * Called by pipeline.c and completion.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_ORDER_H
#define SVMX_EXECUTOR_ORDER_H

#include <pthread.h>
#include <stdbool.h>

struct svmx_batch;

/* Of an executor: the batches under way that name buffers, in the order of their submission. */
struct svmx__order {
    pthread_mutex_t lock; /* guards the list, and what it needs in batches; nothing else is taken under it */
    pthread_cond_t moved; /* one that is waited for in svmx__order_join may start */
    struct svmx_batch *first, *last;
};

void svmx__order_init(struct svmx__order *order);
void svmx__order_fini(struct svmx__order *order);

enum svmx__turn {
    SVMX__TURN_STARTS,
    SVMX__TURN_WAITS, /* svmx__order_leave of another one will say when it starts */
    SVMX__TURN_HANGS  /* it did not join: a thread of the library would have to wait, maybe for itself */
};

/* A batch that names buffers was submitted. With `here` the caller waits until it starts, and never hears WAITS. */
enum svmx__turn svmx__order_join(struct svmx_batch *batch, bool here);

/* A batch that joined is over. Returns those that may start now, linked by `next_to_start`, the oldest first; NULL: nobody. Who
 * waits in svmx__order_join is woken and not among them. */
struct svmx_batch *svmx__order_leave(struct svmx_batch *batch);

#endif
