/*
 * team.h: a few threads that help with one job at a time, for copies too large for one core.
 *
 * The caller works along and returns when all is done. A team that is busy with another caller's job, or was never
 * started, is no help: then the caller does all of it. Nothing is allocated. Knows nothing of batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_TEAM_H
#define SVMX_BASE_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SVMX__TEAM_LIMIT = 15 };

/* One of `count` pieces, 0 to count - 1. Pieces run in any order, several at once. */
typedef void (*svmx__piece_fn)(void *user, uint32_t piece);

struct svmx__team {
    pthread_mutex_t busy; /* held by the caller whose job it is */
    pthread_mutex_t lock; /* guards generation, working and closing */
    pthread_cond_t called, left;
    uint64_t generation; /* of jobs */
    uint32_t working;    /* helpers that have not left the job yet */
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
/* Ends the helpers. No job may be under way. */
void svmx__team_fini(struct svmx__team *team);

/* Does all pieces and returns. Any thread; not from within a piece. */
void svmx__team_run(struct svmx__team *team, svmx__piece_fn piece, void *user, uint32_t count);

#endif
