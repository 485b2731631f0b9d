/*
 * count_allocations.h: a malloc, calloc, realloc, free and the rest of a test program's own, which count and pass on to libc; the
 * library, shared or not, and its plugins get them too. Included by one file of a program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COUNT_ALLOCATIONS_H
#define COUNT_ALLOCATIONS_H

#include "../sanitized.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Sanitizers own malloc, and make system calls of their own whenever they like. */
#if !UNDER_SANITIZER && defined(__GLIBC__)
#define COUNTS_ALLOCATIONS 1
#else
#define COUNTS_ALLOCATIONS 0
#endif

/* Of any thread. Relaxed: read by the thread that ran the batches, about its own calls. */
static atomic_bool counting;
static atomic_uint allocations;

#if COUNTS_ALLOCATIONS

#define TAKE_OVER __attribute__((visibility("default")))

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static void count_one(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

TAKE_OVER void *malloc(size_t bytes) {
    count_one();
    return __libc_malloc(bytes);
}
TAKE_OVER void *calloc(size_t count, size_t bytes) {
    count_one();
    return __libc_calloc(count, bytes);
}
TAKE_OVER void *realloc(void *memory, size_t bytes) {
    count_one();
    return __libc_realloc(memory, bytes);
}
TAKE_OVER void *aligned_alloc(size_t alignment, size_t bytes) {
    count_one();
    return __libc_memalign(alignment, bytes);
}
TAKE_OVER void *memalign(size_t alignment, size_t bytes) {
    count_one();
    return __libc_memalign(alignment, bytes);
}
TAKE_OVER int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    count_one();
    void *made = __libc_memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *memory = made;
    return 0;
}
/* Counted as well: what is freed in steady state was allocated in it, or will be missing in it. */
TAKE_OVER void free(void *memory) {
    if (memory) count_one();
    __libc_free(memory);
}

#endif

static void count_from_here(void) {
    atomic_store_explicit(&allocations, 0, memory_order_relaxed);
    atomic_store_explicit(&counting, true, memory_order_relaxed);
}

static unsigned counted(void) {
    atomic_store_explicit(&counting, false, memory_order_relaxed);
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

/* Makes each of seven calls that are to be noticed, once; how many were. */
static unsigned count_seven(void) {
    static void *volatile made[6]; /* volatile: a compiler may drop a malloc that nobody looks at */
    count_from_here();
    made[0] = malloc(10);
    made[1] = calloc(1, 10);
    made[2] = realloc(NULL, 10);
    made[3] = aligned_alloc(64, 64);
    void *aligned = NULL;
    made[4] = posix_memalign(&aligned, 64, 64) == 0 ? aligned : NULL;
    made[5] = strdup("libc's own calls come by here as well");
    free(made[5]);
    const unsigned count = counted();
    for (int i = 0; i < 5; i++) free(made[i]);
    return count;
}

#endif
