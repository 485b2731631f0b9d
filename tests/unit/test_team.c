/*
 * test_team.c: every piece is done once and before the job returns, whoever helps, and with nobody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/team.h"

#include <criterion/criterion.h>

enum { PIECES = 1000, JOBS = 200, CALLERS = 4 };

struct job {
    atomic_uint done[PIECES];
};

static void count(void *user, uint32_t piece) {
    struct job *job = user;
    atomic_fetch_add(&job->done[piece], 1);
}

static void run_and_check(struct svmx__team *team, uint32_t pieces) {
    struct job job = {0};
    svmx__team_run(team, count, &job, pieces);
    for (uint32_t i = 0; i < PIECES; i++)
        cr_assert_eq(atomic_load(&job.done[i]), i < pieces ? 1u : 0u, "piece %u of %u", i, pieces);
}

Test(team, with_any_number_of_helpers) {
    for (uint32_t helpers = 0; helpers <= 3; helpers++) {
        struct svmx__team team;
        svmx__team_init(&team);
        svmx__team_start(&team, helpers);
        for (uint32_t pieces = 0; pieces < 5; pieces++) run_and_check(&team, pieces);
        for (int i = 0; i < JOBS; i++) run_and_check(&team, PIECES);
        svmx__team_fini(&team);
    }
}

static void *call_often(void *user) {
    for (int i = 0; i < JOBS; i++) run_and_check(user, PIECES);
    return NULL;
}

Test(team, who_finds_it_busy_works_alone) {
    struct svmx__team team;
    pthread_t callers[CALLERS];
    svmx__team_init(&team);
    svmx__team_start(&team, 2);
    for (int i = 0; i < CALLERS; i++) cr_assert_eq(pthread_create(&callers[i], NULL, call_often, &team), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    svmx__team_fini(&team);
}
