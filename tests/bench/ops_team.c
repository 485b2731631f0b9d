/*
 * ops_team.c: see ops_team.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops_team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* 50 to 90 us: longer than it takes a caller to come back with the next repeat. */
enum { SPINS = 2000, MAX_MEMBERS = 1024 };

struct ops_team {
    pthread_t threads[MAX_MEMBERS];
    uint32_t count;
    ops_part_fn part; /* written before `piece` is raised, read after it was seen */
    void *user;
    _Atomic uint64_t piece;   /* number of the piece of work; releases part and user */
    _Atomic uint32_t pending; /* members that are not done with it; the last decrement releases their results */
    _Atomic uint32_t joined;  /* gives members their index */
    bool ending;
    pthread_mutex_t mutex; /* for the two below, and around raising `piece` */
    pthread_cond_t wake;
};

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static uint64_t next_piece(struct ops_team *team, uint64_t last) {
    uint64_t piece = last;
    for (int i = 0; i < SPINS && piece == last; i++) {
        relax();
        piece = atomic_load_explicit(&team->piece, memory_order_acquire);
    }
    if (piece != last) return piece;
    pthread_mutex_lock(&team->mutex);
    while ((piece = atomic_load_explicit(&team->piece, memory_order_acquire)) == last)
        pthread_cond_wait(&team->wake, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    return piece;
}

static void *member(void *user) {
    struct ops_team *team = user;
    uint32_t index = atomic_fetch_add(&team->joined, 1) + 1;
    for (uint64_t piece = 0;;) {
        piece = next_piece(team, piece);
        if (team->ending) return NULL;
        team->part(team->user, index, team->count);
        atomic_fetch_sub_explicit(&team->pending, 1, memory_order_release);
    }
}

static void raise_piece(struct ops_team *team) {
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add_explicit(&team->piece, 1, memory_order_release);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

struct ops_team *ops_team_open(uint32_t count) {
    struct ops_team *team = calloc(1, sizeof *team);
    bool failed = !team || count > MAX_MEMBERS;
    if (!failed) {
        team->count = count;
        pthread_mutex_init(&team->mutex, NULL);
        pthread_cond_init(&team->wake, NULL);
        for (uint32_t i = 1; i < count && !failed; i++)
            failed = pthread_create(&team->threads[i], NULL, member, team) != 0;
    }
    if (!failed) return team;
    fprintf(stderr, "no team of %u threads to be had\n", (unsigned)count);
    exit(1);
}

void ops_team_close(struct ops_team *team) {
    if (!team) return;
    team->ending = true;
    raise_piece(team);
    for (uint32_t i = 1; i < team->count; i++) pthread_join(team->threads[i], NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->mutex);
    free(team);
}

uint32_t ops_team_count(const struct ops_team *team) { return team->count; }

void ops_team_run(struct ops_team *team, ops_part_fn part, void *user) {
    team->part = part;
    team->user = user;
    atomic_store_explicit(&team->pending, team->count - 1, memory_order_relaxed);
    if (team->count > 1) raise_piece(team);
    part(user, 0, team->count);
    /* A member that has lost its core needs ours. */
    for (int spins = 0; atomic_load_explicit(&team->pending, memory_order_acquire) != 0; spins++)
        spins < SPINS ? relax() : (void)sched_yield();
}
