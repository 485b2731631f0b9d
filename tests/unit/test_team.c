/*
 * test_team.c: every piece is done once and before the job returns, whoever helps, and with nobody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/team.h"

#include <criterion/criterion.h>
#include <sched.h>

enum { PIECES = 1000, JOBS = 200, CALLERS = 4 };

struct job {
    atomic_uint done[PIECES];
};

static void count(void *user, uint32_t piece) {
    struct job *job = user;
    atomic_fetch_add(&job->done[piece], 1);
}

static void run_and_check(struct svmx__team *team, uint32_t pieces, enum svmx__team_hands hands) {
    struct job job = {0};
    svmx__team_run(team, count, &job, pieces, hands);
    for (uint32_t i = 0; i < PIECES; i++)
        cr_assert_eq(atomic_load(&job.done[i]), i < pieces ? 1u : 0u, "piece %u of %u", i, pieces);
}

Test(team, with_any_number_of_helpers) {
    for (uint32_t helpers = 0; helpers <= 3; helpers++) {
        struct svmx__team team;
        svmx__team_init(&team);
        svmx__team_start(&team, helpers);
        for (uint32_t pieces = 0; pieces < 5; pieces++) run_and_check(&team, pieces, SVMX__TEAM_CALLED);
        for (int i = 0; i < JOBS; i++) run_and_check(&team, PIECES, SVMX__TEAM_CALLED);
        svmx__team_stop(&team);
        svmx__team_fini(&team);
    }
}

static void *call_often(void *user) {
    for (int i = 0; i < JOBS; i++) run_and_check(user, PIECES, SVMX__TEAM_ALL);
    return NULL;
}

Test(team, who_finds_it_busy_works_alone) {
    struct svmx__team team;
    pthread_t callers[CALLERS];
    svmx__team_init(&team);
    svmx__team_start(&team, 2);
    for (int i = 0; i < CALLERS; i++) cr_assert_eq(pthread_create(&callers[i], NULL, call_often, &team), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    svmx__team_stop(&team);
    svmx__team_fini(&team);
}

/* ---- hands that are lent ---------------------------------------------------------------------------------------- */

/* A job whose first piece waits until another thread has taken one. */
struct meeting {
    struct svmx__team *team;
    pthread_t caller;
    atomic_uint others;
    atomic_bool over;
};

static void meet(void *user, uint32_t piece) {
    struct meeting *meeting = user;
    (void)piece;
    if (!pthread_equal(pthread_self(), meeting->caller))
        atomic_fetch_add(&meeting->others, 1);
    else
        while (atomic_load(&meeting->others) == 0) sched_yield();
}

static void *lend(void *user) {
    struct meeting *meeting = user;
    while (!atomic_load(&meeting->over)) svmx__team_lend(meeting->team);
    return NULL;
}

Test(team, who_waits_lends_a_hand) {
    struct svmx__team team;
    svmx__team_init(&team);
    struct meeting meeting = {.team = &team, .caller = pthread_self()};
    pthread_t lender;
    cr_assert_eq(pthread_create(&lender, NULL, lend, &meeting), 0);
    svmx__team_run(&team, meet, &meeting, 2, SVMX__TEAM_LENT);
    cr_assert_geq(atomic_load(&meeting.others), 1u, "there are no helpers: another thread took a piece");
    for (int i = 0; i < JOBS; i++) run_and_check(&team, PIECES, SVMX__TEAM_LENT);
    atomic_store(&meeting.over, true);
    pthread_join(lender, NULL);
    svmx__team_stop(&team);
    svmx__team_lend(&team); /* finds nothing */
    svmx__team_fini(&team);
}

static void must_be_callers(void *user, uint32_t piece) {
    struct meeting *meeting = user;
    (void)piece;
    if (!pthread_equal(pthread_self(), meeting->caller)) atomic_fetch_add(&meeting->others, 1);
}

Test(team, a_job_for_helpers_takes_no_other_hand) {
    struct svmx__team team;
    svmx__team_init(&team);
    struct meeting meeting = {.team = &team, .caller = pthread_self()};
    pthread_t lender;
    cr_assert_eq(pthread_create(&lender, NULL, lend, &meeting), 0);
    for (int i = 0; i < JOBS; i++) svmx__team_run(&team, must_be_callers, &meeting, PIECES, SVMX__TEAM_CALLED);
    cr_assert_eq(atomic_load(&meeting.others), 0u);
    atomic_store(&meeting.over, true);
    pthread_join(lender, NULL);
    svmx__team_stop(&team);
    svmx__team_fini(&team);
}
