/*
 * spread.h: how many chunks of equal size each of several devices gets, so that all of them end together.
 *
 *   device 0  [busy....][chunk][chunk][chunk]
 *   device 1  [chunk][chunk][chunk][chunk][chunk]          each chunk goes to whoever would be done with it first
 *   device 2  [   chunk   ][   chunk   ]|
 *                                       finish
 *
 * For chunks of one size no other way to hand them out ends earlier. Numbers only: neither devices nor a clock. Called by
 * split.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_EXECUTOR_SPREAD_H
#define SVMX_EXECUTOR_SPREAD_H

#include <stdint.h>

/* One who takes chunks. */
struct svmx__taker {
    uint32_t device;
    uint32_t chunks; /* that it gets: the answer */
    double busy_ns;  /* what it does before */
    double chunk_ns; /* what a chunk takes there; 0 or less: it gets none */
};

/* Sets `chunks` of all takers. Returns when the last of them is done, ns from now; less than 0: nobody takes any. Among
 * equals the first is preferred. */
double svmx__spread(struct svmx__taker *takers, uint32_t taker_count, uint32_t chunk_count);

#endif
