/*
 * team.c: see team.h.
 *
 *   caller: takes `busy`, writes the job, calls the helpers, takes pieces, waits until every helper has left
 *   helper: sleeps until called, takes pieces until there are none, leaves
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/team.h"

static void take_pieces(struct svmx__team *team) {
    uint32_t piece;
    /* relaxed: the job itself is published by the lock, results by the lock on leaving */
    while ((piece = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed)) < team->count)
        team->piece(team->user, piece);
}

static void *helper_main(void *argument) {
    struct svmx__team *team = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->generation == seen && !team->closing) pthread_cond_wait(&team->called, &team->lock);
        if (team->closing) break;
        seen = team->generation;
        pthread_mutex_unlock(&team->lock);
        take_pieces(team);
        pthread_mutex_lock(&team->lock);
        if (--team->working == 0) pthread_cond_signal(&team->left);
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

void svmx__team_fini(struct svmx__team *team) {
    pthread_mutex_lock(&team->lock);
    team->closing = true;
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < team->thread_count; i++) pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->left);
    pthread_cond_destroy(&team->called);
    pthread_mutex_destroy(&team->lock);
    pthread_mutex_destroy(&team->busy);
}

void svmx__team_run(struct svmx__team *team, svmx__piece_fn piece, void *user, uint32_t count) {
    if (team->thread_count == 0 || count < 2 || pthread_mutex_trylock(&team->busy) != 0) {
        for (uint32_t i = 0; i < count; i++) piece(user, i);
        return;
    }
    pthread_mutex_lock(&team->lock);
    team->piece = piece;
    team->user = user;
    team->count = count;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    team->working = team->thread_count;
    team->generation++;
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
    take_pieces(team);
    pthread_mutex_lock(&team->lock);
    while (team->working > 0) pthread_cond_wait(&team->left, &team->lock);
    pthread_mutex_unlock(&team->lock);
    pthread_mutex_unlock(&team->busy);
}
