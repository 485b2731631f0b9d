/*
 * team.h: a few threads that help with one job at a time, for copies too large for one core.
 *
 * The caller works along and returns when all is done. Helpers are called for large jobs only, because waking them costs
 * as much as copying some hundred kilobytes; a thread that has nothing to do but wait may lend a hand at any job. A team
 * that is busy with another caller's job is no help: then the caller does all of it. Nothing is allocated. Knows nothing
 * of batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_TEAM_H
#define SVMX_BASE_TEAM_H

#include "base/spin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SVMX__TEAM_LIMIT = 15 };

/* One of `count` pieces, 0 to count - 1. Pieces run in any order, several at once. */
typedef void (*svmx__piece_fn)(void *user, uint32_t piece);

struct svmx__team {
    pthread_mutex_t busy; /* held by the caller whose job it is */
    pthread_mutex_t lock; /* guards generation, working, lends, open and closing */
    pthread_cond_t called, left;
    uint64_t generation; /* of jobs */
    atomic_uint working; /* that have joined the job and not left it; changed under the lock */
    atomic_bool lends;   /* others than helpers may join; changed under the lock */
    bool open;           /* the job may be joined */
    struct svmx__spin leaving;
    bool closing;
    /* The job: written by the caller before the helpers are called, under the lock. */
    svmx__piece_fn piece;
    void *user;
    uint32_t count;
    atomic_uint next; /* piece to take */
    pthread_t threads[SVMX__TEAM_LIMIT];
    uint32_t thread_count;
};

/* Prepares a team without helpers. Cannot fail. */
void svmx__team_init(struct svmx__team *team);
/* Starts up to `helpers` threads; fewer, or none, where the system refuses. Called once, before the first job. */
void svmx__team_start(struct svmx__team *team, uint32_t helpers);
/* Ends the helpers. No job may be under way, and there will be none. Others may still lend a hand: they find nothing. */
void svmx__team_stop(struct svmx__team *team);
/* After stop, and after the last call of any kind. */
void svmx__team_fini(struct svmx__team *team);

/* Who works along: threads that happen to wait, helpers that are woken for it, or both. */
enum svmx__team_hands { SVMX__TEAM_LENT, SVMX__TEAM_CALLED, SVMX__TEAM_ALL };

/* Does all pieces and returns. Any thread; not from within a piece. */
void svmx__team_run(struct svmx__team *team, svmx__piece_fn piece, void *user, uint32_t count,
                    enum svmx__team_hands hands);

/* Takes pieces of the job under way, if there is one that takes such hands, until none is left. Any thread, at any time
 * before fini. */
void svmx__team_lend(struct svmx__team *team);

#endif
