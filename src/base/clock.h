/*
 * clock.h: the real clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_CLOCK_H
#define SVMX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SVMX__NS_PER_MS UINT64_C(1000000)
#define SVMX__NS_PER_S  UINT64_C(1000000000)

/* Monotonic, ns. Answered by the vDSO: no system call. */
uint64_t svmx__clock_ns(void);

/* What to add to svmx__clock_ns for the time since 1970, as it is now. */
uint64_t svmx__clock_epoch_ns(void);

/* From `before` to `after`, ns, or 0 where one of them was not taken. */
static inline uint64_t svmx__clock_since(uint64_t after, uint64_t before) {
    return before && after > before ? after - before : 0;
}

/* The moment `timeout_ns` from now on CLOCK_MONOTONIC, for pthread_cond_timedwait; a sum past the end of time stays there. */
struct timespec svmx__clock_deadline(uint64_t timeout_ns);

#endif
