/*
 * aside.h: a thread for calls that may never return: its caller waits for each of them for so long and no longer.
 *
 *   struct svmx__aside aside = {NULL};
 *   if (!svmx__aside_call(&aside, run, user, limit_ns)) ...      // `user` is that thread's for ever
 *   svmx__aside_end(&aside);
 *
 * One call after another runs in the same thread, which is made for the first; one that is late keeps its thread, and the next
 * call has another. A thread whose call comes back late sleeps for ever: whoever waited for it has gone on without it. The
 * thread takes no signals but those that it brings about itself: the others are the embedding program's. Called by executor.c
 * for registry.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_ASIDE_H
#define SVMX_BASE_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

struct svmx__aside_thread;

/* All zero is one without a thread. Used by one thread at a time. */
struct svmx__aside {
    struct svmx__aside_thread *thread;
};

/* run(user). false: it has not returned within the limit; `user`, and all that it points to, must stay as it is. Without a
 * thread to be had it is called right here, for as long as it takes. */
bool svmx__aside_call(struct svmx__aside *aside, void (*run)(void *user), void *user, uint64_t limit_ns);

/* Safe without a call. */
void svmx__aside_end(struct svmx__aside *aside);

#endif
