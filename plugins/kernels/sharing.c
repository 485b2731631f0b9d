/*
 * sharing.c: see sharing.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sharing.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- programs ---------------------------------------------------------------------------------------------- */

bool kernels_program_fits(const char *op) { return strlen(op) < sizeof((struct kernels_program *)0)->op; }

static struct kernels_program *make(const struct svmx_host *host, const char *op, const struct kernels_program *fresh,
                                    size_t bytes) {
    struct kernels_program *program = host->alloc(host, bytes, _Alignof(max_align_t));
    if (!program) return NULL;
    memcpy(program, fresh, bytes);
    (void)snprintf(program->op, sizeof program->op, "%s", op);
    pthread_mutex_init(&program->lock, NULL);
    return program;
}

struct kernels_program *kernels_program_acquire(const struct svmx_host *host, pthread_mutex_t *lock,
                                                struct kernels_program **list, const char *op,
                                                const struct kernels_program *fresh, size_t bytes) {
    pthread_mutex_lock(lock);
    struct kernels_program *program = *list;
    while (program && (program->key != fresh->key || strcmp(program->op, op) != 0)) program = program->next;
    if (!program) {
        program = make(host, op, fresh, bytes);
        if (program) {
            program->next = *list;
            *list = program;
        }
    }
    if (program) program->references++;
    pthread_mutex_unlock(lock);
    return program;
}

bool kernels_program_release(pthread_mutex_t *lock, struct kernels_program **list, struct kernels_program *program) {
    pthread_mutex_lock(lock);
    const bool last = --program->references == 0;
    if (last) {
        while (*list != program) list = &(*list)->next;
        *list = program->next;
    }
    pthread_mutex_unlock(lock);
    return last;
}

void kernels_program_free(const struct svmx_host *host, struct kernels_program *program) {
    pthread_mutex_destroy(&program->lock);
    host->release(host, program);
}

/* ---- pipelines --------------------------------------------------------------------------------------------- */

struct kernels_shared *kernels_shared_find(pthread_mutex_t *lock, struct kernels_shared **list, const void *program,
                                           const uint32_t *grains) {
    pthread_mutex_lock(lock);
    struct kernels_shared *shared = *list;
    while (shared && (shared->program != program || memcmp(shared->grains, grains, sizeof shared->grains) != 0))
        shared = shared->next;
    if (shared) shared->references++;
    pthread_mutex_unlock(lock);
    return shared;
}

void kernels_shared_add(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared,
                        const void *program, const uint32_t *grains) {
    pthread_mutex_lock(lock);
    *shared = (struct kernels_shared){.next = *list, .program = program, .references = 1};
    memcpy(shared->grains, grains, sizeof shared->grains);
    *list = shared;
    pthread_mutex_unlock(lock);
}

bool kernels_shared_release(pthread_mutex_t *lock, struct kernels_shared **list, struct kernels_shared *shared) {
    pthread_mutex_lock(lock);
    const bool last = --shared->references == 0;
    if (last) {
        while (*list != shared) list = &(*list)->next;
        *list = shared->next;
    }
    pthread_mutex_unlock(lock);
    return last;
}
