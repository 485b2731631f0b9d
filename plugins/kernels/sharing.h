/*
 * sharing.h: pipelines that serve several buckets: whoever asks for the same program with the same geometry gets the same
 * one, counted by references.
 *
 * Shared by the backends that run device code. Knows no driver: what a pipeline is made of is the backend's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_SHARING_H
#define SVMX_KERNELS_SHARING_H

#include "catalog.h"

#include <pthread.h>

/* The first member of a backend's struct svmx_pipeline. */
struct kernels_shared {
    struct kernels_shared *next;
    const void *program;
    uint32_t grains[CATALOG_PASSES]; /* 0 where there is no such pass */
    uint32_t references;
};

/* All functions take the lock that guards the list, and hold it for a few instructions. */

/* One that was given before, with one more reference; NULL: none. */
struct kernels_shared *kernels_shared_find(pthread_mutex_t *lock, struct kernels_shared **list, const void *program,
                                           const uint32_t *grains);
/* A new one, with one reference. */
void kernels_shared_add(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared,
                        const void *program, const uint32_t *grains);
/* true: it was the last reference, and the list has it no more. */
bool kernels_shared_release(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared);

#endif
