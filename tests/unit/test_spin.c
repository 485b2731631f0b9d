/*
 * test_spin.c: looking on before sleeping: it ends, it pays, and what never pays is hardly tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/spin.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

enum { SHORT_NS = 1000, ROUNDS = 1000 };
#define FOR_EVER UINT64_MAX

/* So after that many looks. */
struct sight {
    unsigned looks, from;
};

static bool is_in_sight(void *user) {
    struct sight *sight = user;
    return ++sight->looks > sight->from;
}

Test(spin, what_is_so_already_costs_one_look) {
    struct svmx__spin spin = {0};
    struct sight sight = {.from = 0};
    cr_assert(svmx__spin_until(&spin, is_in_sight, &sight, 0));
    cr_assert_eq(sight.looks, 1u);
}

Test(spin, it_looks_until_it_is_so) {
    struct svmx__spin spin = {0};
    struct sight sight = {.from = 100};
    cr_assert(svmx__spin_until(&spin, is_in_sight, &sight, FOR_EVER));
    cr_assert_eq(sight.looks, 101u);
}

Test(spin, it_ends_when_the_time_is_up) {
    struct svmx__spin spin = {0};
    struct sight sight = {.from = UINT32_MAX};
    cr_assert_not(svmx__spin_until(&spin, is_in_sight, &sight, SHORT_NS));
    cr_assert_gt(sight.looks, 1u);
}

/* Of so many waits in vain, in how many it looked more than once. */
static unsigned tries_in_vain(struct svmx__spin *spin, unsigned waits) {
    unsigned tries = 0;
    for (unsigned i = 0; i < waits; i++) {
        struct sight sight = {.from = UINT32_MAX};
        cr_assert_not(svmx__spin_until(spin, is_in_sight, &sight, SHORT_NS));
        tries += sight.looks > 1;
    }
    return tries;
}

Test(spin, what_never_pays_is_hardly_tried) {
    struct svmx__spin spin = {0};
    (void)tries_in_vain(&spin, ROUNDS);
    const unsigned tries = tries_in_vain(&spin, ROUNDS);
    cr_assert_gt(tries, 0u, "it must find out when times change");
    cr_assert_lt(tries, ROUNDS / 20u);
}

Test(spin, what_pays_again_is_tried_again) {
    struct svmx__spin spin = {0};
    (void)tries_in_vain(&spin, ROUNDS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct sight sight = {.from = 2};
        (void)svmx__spin_until(&spin, is_in_sight, &sight, FOR_EVER);
    }
    struct sight sight = {.from = 2};
    cr_assert(svmx__spin_until(&spin, is_in_sight, &sight, FOR_EVER));
    cr_assert_gt(tries_in_vain(&spin, 4), 0u, "credit lasts for a while");
}

/* ---- threads ---------------------------------------------------------------------------------------------------- */

enum { THREADS = 8 };

struct crowd {
    struct svmx__spin spin;
    atomic_uint sent_to_sleep;
    atomic_bool open;
};

static bool is_open(void *user) {
    struct crowd *crowd = user;
    return atomic_load(&crowd->open);
}

static void *look_on(void *user) {
    struct crowd *crowd = user;
    if (!svmx__spin_until(&crowd->spin, is_open, crowd, FOR_EVER)) atomic_fetch_add(&crowd->sent_to_sleep, 1);
    return NULL;
}

Test(spin, only_few_look_at_once_and_the_rest_may_sleep) {
    struct crowd crowd = {0};
    pthread_t threads[THREADS];
    cr_assert_not(svmx__spin_is_on(&crowd.spin));
    for (int i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, look_on, &crowd), 0);
    while (atomic_load(&crowd.sent_to_sleep) < THREADS - 2) sched_yield();
    cr_assert(svmx__spin_is_on(&crowd.spin));
    atomic_store(&crowd.open, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    cr_assert_eq(atomic_load(&crowd.sent_to_sleep), THREADS - 2u);
    cr_assert_not(svmx__spin_is_on(&crowd.spin));
}
