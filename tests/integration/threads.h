/*
 * threads.h: what the suites of threads share: the count of checks that many threads make, and eight of them at once.
 * Included by each, one copy: all is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_INTEGRATION_THREADS_H
#define TESTS_INTEGRATION_THREADS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8 };

static atomic_uint passed, failed;

static inline bool check(bool condition, const char *what) {
    atomic_fetch_add(condition ? &passed : &failed, 1);
    if (!condition) fprintf(stderr, "failed: %s\n", what);
    return condition;
}

/* A thread of a part of this program: its number and what all of them share. */
struct actor {
    unsigned number;
    void *shared;
};

static inline void act(unsigned count, void *(*run)(void *), void *shared) {
    pthread_t threads[THREADS];
    struct actor actors[THREADS];
    for (unsigned i = 0; i < count; i++) {
        actors[i] = (struct actor){i, shared};
        if (pthread_create(&threads[i], NULL, run, &actors[i]) != 0) exit(2);
    }
    for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static inline int threads_end(unsigned skipped) {
    printf("%u passed, %u failed, %u skipped\n", atomic_load(&passed), atomic_load(&failed), skipped);
    return atomic_load(&failed) == 0 ? 0 : 1;
}

#endif
