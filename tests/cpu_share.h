/*
 * cpu_share.h: what a wait costs: the CPU time of all threads of the process, beside the time that passed in the same run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CPU_SHARE_H
#define TESTS_CPU_SHARE_H

#include "sanitized.h"

#include <time.h>

/* What may be taken of a core while a device computes. Sanitizers take more of everything. */
#define CPU_SHARE_LIMIT (UNDER_SANITIZER ? 0.5 : 0.05)

struct cpu_share {
    struct timespec wall, cpu;
};

static inline double cpu_share_seconds(clockid_t clock, const struct timespec *since) {
    struct timespec now;
    (void)clock_gettime(clock, &now); /* cannot fail for these clocks */
    return (double)(now.tv_sec - since->tv_sec) + 1e-9 * (double)(now.tv_nsec - since->tv_nsec);
}

static inline struct cpu_share cpu_share_start(void) {
    struct cpu_share start;
    (void)clock_gettime(CLOCK_MONOTONIC, &start.wall);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start.cpu);
    return start;
}

/* Of one core, since the start; 0.05 is 5 %. */
static inline double cpu_share(const struct cpu_share *start) {
    return cpu_share_seconds(CLOCK_PROCESS_CPUTIME_ID, &start->cpu) / cpu_share_seconds(CLOCK_MONOTONIC, &start->wall);
}

#endif
