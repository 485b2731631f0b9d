/*
 * pause.c: see pause.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pause.h"

#include <stdbool.h>
#include <time.h>

uint64_t kernels_now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void kernels_sleep_ns(uint64_t ns) {
    const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    (void)nanosleep(&time, NULL);
}

uint64_t kernels_next_pause(uint64_t elapsed_ns, uint64_t expected_ns) {
    const uint64_t early = expected_ns - expected_ns / 8;
    if (expected_ns > KERNELS_ASLEEP_FROM_NS && elapsed_ns < early) return early - elapsed_ns;
    /* Without a break only at the end: an eighth of a long run would be a good part of a core. */
    const bool at_the_end = expected_ns <= KERNELS_ASLEEP_FROM_NS || elapsed_ns + KERNELS_SPIN_NS >= expected_ns;
    if (at_the_end && elapsed_ns < expected_ns + KERNELS_SPIN_NS) return 0;
    const uint64_t pause = at_the_end ? elapsed_ns / 16 : expected_ns / 256;
    if (pause < KERNELS_PAUSE_MIN_NS) return KERNELS_PAUSE_MIN_NS;
    return pause > KERNELS_PAUSE_MAX_NS ? KERNELS_PAUSE_MAX_NS : pause;
}
