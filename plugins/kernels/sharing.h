/*
 * sharing.h: programs that serve several pipelines, and pipelines that serve several buckets: whoever asks for the same code gets the
 * same program, and with the same geometry the same pipeline, counted by references.
 *
 * Shared by the backends that run device code. Knows no driver: what a program or a pipeline is made of is the backend's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_SHARING_H
#define SVMX_KERNELS_SHARING_H

#include "catalog.h"

#include <pthread.h>
#include <svmx/plugin.h>

/* All functions take the lock that guards the list, and hold it for a few instructions. */

/* ---- programs: the compiled form of an operation and a variant ------------------------------------------------------- */

/* The first member of a backend's own. */
struct kernels_program {
    struct kernels_program *next;
    uint32_t references;
    char op[64];
    uint64_t key;         /* of what is compiled, options and driver */
    pthread_mutex_t lock; /* held while it is built: who comes second waits for it */
};

/* Whether its name fits; one that does not has no program. */
bool kernels_program_fits(const char *op);
/* The program of that name and of the key of `fresh`, with one more reference; if there is none, a copy of `fresh`, which has so many
 * bytes. NULL: no memory. */
struct kernels_program *kernels_program_acquire(const struct svmx_host *host, pthread_mutex_t *lock,
                                                struct kernels_program **list, const char *op,
                                                const struct kernels_program *fresh, size_t bytes);
/* true: it was the last reference, and the list has it no more: the caller gives its code back, and then itself
 * (kernels_program_free). */
bool kernels_program_release(pthread_mutex_t *lock, struct kernels_program **list, struct kernels_program *program);
void kernels_program_free(const struct svmx_host *host, struct kernels_program *program);

/* ---- pipelines ------------------------------------------------------------------------------------------------------ */

/* The first member of a backend's struct svmx_pipeline. */
struct kernels_shared {
    struct kernels_shared *next;
    const void *program;
    uint32_t grains[CATALOG_PASSES]; /* 0 where there is no such pass */
    uint32_t references;
};

/* One that was given before, with one more reference; NULL: none. */
struct kernels_shared *kernels_shared_find(pthread_mutex_t *lock, struct kernels_shared **list, const void *program,
                                           const uint32_t *grains);
/* A new one, with one reference. */
void kernels_shared_add(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared,
                        const void *program, const uint32_t *grains);
/* true: it was the last reference, and the list has it no more. */
bool kernels_shared_release(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared);

#endif
