/*
 * spin.h: a short look-out before a thread goes to sleep, where that paid lately.
 *
 * To be woken costs several microseconds, often more than what is waited for. So a waiting thread looks on for a while,
 * giving its core away at each look: a thread that has work to do takes it, and a thread that looks is running when the
 * moment comes. Bounded in time, and given up by itself where what is waited for mostly takes longer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_SPIN_H
#define SVMX_BASE_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How it went lately, for all threads that wait for the same kind of thing. All zero: nothing is known. */
struct svmx__spin {
    atomic_int debt;      /* look-outs in vain, less those that paid; above a limit only few are tried */
    atomic_uint left_out; /* since the last try */
    atomic_uint lookers;  /* threads that look on just now: others sleep */
};

/* Looks until is_so(user), for limit_ns at most. false: sleep. */
bool svmx__spin_until(struct svmx__spin *spin, bool (*is_so)(void *user), void *user, uint64_t limit_ns);

/* Whether somebody looks on just now. */
bool svmx__spin_is_on(const struct svmx__spin *spin);

#endif
