/*
 * clock.c: see clock.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"

static uint64_t read_ns(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now); /* cannot fail for these clocks */
    return (uint64_t)now.tv_sec * SVMX__NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t svmx__clock_ns(void) { return read_ns(CLOCK_MONOTONIC); }

uint64_t svmx__clock_epoch_ns(void) { return read_ns(CLOCK_REALTIME) - read_ns(CLOCK_MONOTONIC); }

struct timespec svmx__clock_deadline(uint64_t timeout_ns) {
    uint64_t now = svmx__clock_ns();
    uint64_t end = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;
    return (struct timespec){.tv_sec = (time_t)(end / SVMX__NS_PER_S), .tv_nsec = (long)(end % SVMX__NS_PER_S)};
}
