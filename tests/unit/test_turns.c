/*
 * test_turns.c: a thread in turns: it takes them, is stopped in the middle of a long one, and takes no signals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/turns.h"

#include "base/clock.h"
#include <criterion/criterion.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

struct taken {
    struct svmx__turns turns;
    uint64_t turn_ns;
    atomic_uint count;
    bool takes_signals;
    char name[16];
};

static void *take_turns(void *user) {
    struct taken *taken = user;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    taken->takes_signals = !sigismember(&blocked, SIGTERM);
    while (svmx__turns_next(&taken->turns, taken->turn_ns)) atomic_fetch_add(&taken->count, 1);
    (void)pthread_getname_np(pthread_self(), taken->name, sizeof taken->name);
    return NULL;
}

Test(turns, are_taken_until_it_is_stopped) {
    struct taken taken = {.turn_ns = 1000};
    cr_assert(svmx__turns_start(&taken.turns, "svmx-test", take_turns, &taken));
    while (atomic_load(&taken.count) < 3) sched_yield();
    svmx__turns_stop(&taken.turns);
    const unsigned count = atomic_load(&taken.count);
    cr_assert_geq(count, 3);
    cr_assert_not(taken.takes_signals);
    cr_assert_str_eq(taken.name, "svmx-test");
    cr_assert_not(taken.turns.has_thread);
}

/* An hour's turn would outlast the suite. */
Test(turns, a_long_one_is_cut_short, .timeout = 60) {
    struct taken taken = {.turn_ns = 3600 * SVMX__NS_PER_S};
    cr_assert(svmx__turns_start(&taken.turns, "svmx-test", take_turns, &taken));
    svmx__turns_stop(&taken.turns);
    cr_assert_eq(atomic_load(&taken.count), 0);
}

Test(turns, starts_again_and_stops_without_a_start) {
    struct taken taken = {.turn_ns = 1000};
    svmx__turns_stop(&taken.turns);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(svmx__turns_start(&taken.turns, "svmx-test", take_turns, &taken));
        svmx__turns_stop(&taken.turns);
    }
    svmx__turns_stop(&taken.turns);
}
