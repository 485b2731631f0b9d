/*
 * clock.c: see clock.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"

#define NS_PER_S UINT64_C(1000000000)

uint64_t svmx__clock_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct timespec svmx__clock_deadline(uint64_t timeout_ns) {
    uint64_t now = svmx__clock_ns();
    uint64_t end = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    return (struct timespec){.tv_sec = (time_t)(end / NS_PER_S), .tv_nsec = (long)(end % NS_PER_S)};
}
