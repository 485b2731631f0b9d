/*
 * sharing.c: see sharing.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sharing.h"

#include <string.h>

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
