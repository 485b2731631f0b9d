/*
 * team.c: see team.h.
 *
 *   caller: takes `busy`, writes the job, calls the helpers, takes pieces, waits until everybody has left
 *   others: join a job that is open, take pieces until there are none, leave
 *   helper: sleeps until called, then the same; who wakes up too late finds the job closed, and nobody waits for him
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/team.h"

enum { LEAVING_NS = 50000 };

static void take_pieces(struct svmx__team *team) {
    uint32_t piece;
    /* relaxed: the job itself is published by the lock, results by the lock on leaving */
    while ((piece = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed)) < team->count)
        team->piece(team->user, piece);
}

/* Under the lock. */
static void leave(struct svmx__team *team) {
    /* release: the caller may see it without the lock */
    if (atomic_fetch_sub_explicit(&team->working, 1, memory_order_release) == 1) pthread_cond_signal(&team->left);
}

/* Under the lock, which it gives away while it works. */
static void work_along(struct svmx__team *team) {
    if (!team->open) return;
    atomic_fetch_add_explicit(&team->working, 1, memory_order_relaxed);
    pthread_mutex_unlock(&team->lock);
    take_pieces(team);
    pthread_mutex_lock(&team->lock);
    leave(team);
}

static void *helper_main(void *argument) {
    struct svmx__team *team = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->generation == seen && !team->closing) pthread_cond_wait(&team->called, &team->lock);
        if (team->closing) break;
        seen = team->generation;
        work_along(team);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

void svmx__team_init(struct svmx__team *team) {
    *team = (struct svmx__team){0};
    pthread_mutex_init(&team->busy, NULL); /* none can fail with default attributes */
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->called, NULL);
    pthread_cond_init(&team->left, NULL);
}

void svmx__team_start(struct svmx__team *team, uint32_t helpers) {
    if (helpers > SVMX__TEAM_LIMIT) helpers = SVMX__TEAM_LIMIT;
    while (team->thread_count < helpers &&
           pthread_create(&team->threads[team->thread_count], NULL, helper_main, team) == 0) {
        (void)pthread_setname_np(team->threads[team->thread_count], "svmx-copy");
        team->thread_count++;
    }
}

void svmx__team_stop(struct svmx__team *team) {
    pthread_mutex_lock(&team->lock);
    team->closing = true;
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < team->thread_count; i++) pthread_join(team->threads[i], NULL);
    team->thread_count = 0;
}

void svmx__team_fini(struct svmx__team *team) {
    pthread_cond_destroy(&team->left);
    pthread_cond_destroy(&team->called);
    pthread_mutex_destroy(&team->lock);
    pthread_mutex_destroy(&team->busy);
}

/* ---- jobs ------------------------------------------------------------------------------------------------------ */

static void start_job(struct svmx__team *team, svmx__piece_fn piece, void *user, uint32_t count,
                      enum svmx__team_hands hands) {
    pthread_mutex_lock(&team->lock);
    team->piece = piece;
    team->user = user;
    team->count = count;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed); /* as what follows: under the lock */
    team->open = true;
    atomic_store_explicit(&team->lends, hands != SVMX__TEAM_CALLED, memory_order_relaxed);
    if (hands != SVMX__TEAM_LENT) {
        team->generation++;
        pthread_cond_broadcast(&team->called);
    }
    pthread_mutex_unlock(&team->lock);
}

static bool have_left(void *user) {
    struct svmx__team *team = user;
    return atomic_load_explicit(&team->working, memory_order_acquire) == 0; /* with leave */
}

static void end_job(struct svmx__team *team) {
    pthread_mutex_lock(&team->lock);
    team->open = false;
    atomic_store_explicit(&team->lends, false, memory_order_relaxed);
    pthread_mutex_unlock(&team->lock);
    if (svmx__spin_until(&team->leaving, have_left, team, LEAVING_NS)) return;
    pthread_mutex_lock(&team->lock);
    while (!have_left(team)) pthread_cond_wait(&team->left, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

void svmx__team_run(struct svmx__team *team, svmx__piece_fn piece, void *user, uint32_t count,
                    enum svmx__team_hands hands) {
    if (count < 2 || pthread_mutex_trylock(&team->busy) != 0) {
        for (uint32_t i = 0; i < count; i++) piece(user, i);
        return;
    }
    start_job(team, piece, user, count, hands);
    take_pieces(team);
    end_job(team);
    pthread_mutex_unlock(&team->busy);
}

void svmx__team_lend(struct svmx__team *team) {
    /* relaxed: only a guess, so that who finds nothing takes no lock */
    if (!atomic_load_explicit(&team->lends, memory_order_relaxed)) return;
    pthread_mutex_lock(&team->lock);
    if (atomic_load_explicit(&team->lends, memory_order_relaxed)) work_along(team);
    pthread_mutex_unlock(&team->lock);
}
