/*
 * ops_others.h: how much of the machine other processes used meanwhile.
 *
 * A lane of one thread is timed by its own CPU time and does not mind. Lanes of all threads need all cores: where
 * others have some of them, whoever waits for a thread that lost its core looks slow, and no verdict is worth
 * anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_BENCH_OPS_OTHERS_H
#define SVMX_TESTS_BENCH_OPS_OTHERS_H

#include <stdint.h>

struct ops_others {
    uint64_t busy, idle; /* of all CPUs, in ticks */
    uint64_t own_ns;     /* CPU time of this process */
};

struct ops_others ops_others_now(void);

/* The part of all CPU time since then that was neither idle nor ours, 0 to 1; 0 when the system does not tell. */
double ops_others_since(const struct ops_others *then);

#endif
