/*
 * fork.c: see fork.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/fork.h"

#include <pthread.h>

_Atomic unsigned svmx__forks;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int error;

static void count(void) { atomic_fetch_add_explicit(&svmx__forks, 1, memory_order_relaxed); }

static void watch(void) { error = pthread_atfork(NULL, NULL, count); }

int svmx__fork_watch(void) {
    pthread_once(&once, watch);
    return error;
}
