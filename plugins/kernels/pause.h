/*
 * pause.h: how a driver is asked whether a launch is over: when, and with which pauses. Used by the backends that run device
 * code.
 *
 *   asleep until shortly before the time that the last one took, then in short pauses, without a break around that time,
 *   and in growing pauses after it
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_PAUSE_H
#define SVMX_KERNELS_PAUSE_H

#include <stdint.h>

enum {
    KERNELS_SPIN_NS = 50000, /* without a break, before and after the expected time */
    KERNELS_PAUSE_MIN_NS = 20000,
    KERNELS_PAUSE_MAX_NS = 1000000,
    KERNELS_ASLEEP_FROM_NS = 200000 /* what is expected to take less is not slept for */
};

/* Real time, whatever the executor's clock is: drivers know no other. What a ticket reports is the device's own. */
uint64_t kernels_now_ns(void);

void kernels_sleep_ns(uint64_t ns);

/* How long to look away, so long after the start; 0: not at all. `expected_ns` is 0 where nothing is known. */
uint64_t kernels_next_pause(uint64_t elapsed_ns, uint64_t expected_ns);

#endif
