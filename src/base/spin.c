/*
 * spin.c: see spin.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/spin.h"

#include "base/clock.h"
#include <sched.h>

enum {
    DEBT_MAX = 8,   /* in vain; from then on one in TRY_EVERY looks */
    DEBT_MIN = -16, /* credit that a long good time gives */
    TRY_EVERY = 32,
    LOOKERS_MAX = 2
};

/* relaxed throughout: these are guesses, and order nothing */

static bool is_worth_a_try(struct svmx__spin *spin) {
    if (atomic_load_explicit(&spin->debt, memory_order_relaxed) < DEBT_MAX) return true;
    return atomic_fetch_add_explicit(&spin->left_out, 1, memory_order_relaxed) % TRY_EVERY == TRY_EVERY - 1;
}

static void note(struct svmx__spin *spin, bool paid) {
    int debt = atomic_load_explicit(&spin->debt, memory_order_relaxed);
    debt += paid ? -2 : 1;
    if (debt > DEBT_MAX) debt = DEBT_MAX;
    if (debt < DEBT_MIN) debt = DEBT_MIN;
    atomic_store_explicit(&spin->debt, debt, memory_order_relaxed);
}

static bool look(bool (*is_so)(void *user), void *user, uint64_t limit_ns) {
    const uint64_t start = svmx__clock_ns();
    do {
        (void)sched_yield();
        if (is_so(user)) return true;
    } while (svmx__clock_ns() - start < limit_ns);
    return false;
}

bool svmx__spin_until(struct svmx__spin *spin, bool (*is_so)(void *user), void *user, uint64_t limit_ns) {
    if (is_so(user)) return true;
    if (!is_worth_a_try(spin)) return false;
    bool paid = false;
    if (atomic_fetch_add_explicit(&spin->lookers, 1, memory_order_relaxed) < LOOKERS_MAX) {
        paid = look(is_so, user, limit_ns);
        note(spin, paid);
    }
    atomic_fetch_sub_explicit(&spin->lookers, 1, memory_order_relaxed);
    return paid;
}

bool svmx__spin_is_on(const struct svmx__spin *spin) {
    return atomic_load_explicit(&spin->lookers, memory_order_relaxed) > 0;
}
