/*
 * near.h: which CPUs a helper of the pool keeps to, so that it stays near the memory that it touched first.
 *
 * A machine with several memory nodes serves each core best from its own. A page lies where the thread that first writes it
 * runs; so results that helpers wrote are near them for as long as they do not move. Each helper is bound to all CPUs of one
 * node, as many helpers to a node as its share of CPUs; within it the kernel places them. On a machine with one node, and
 * where hwloc was not there when this was built, nobody is bound to anything.
 *
 * Called by pool.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_NEAR_H
#define SVMX_SIMD_NEAR_H

#include <sched.h>
#include <stdint.h>

enum { SIMD_NEAR_NODES = 32 };

struct simd_near {
    uint32_t count; /* of nodes with CPUs that may be used; 0 where there is nothing to choose */
    cpu_set_t nodes[SIMD_NEAR_NODES];
};

/* Looks at the machine: the nodes, cut to the CPUs that the calling thread may use. */
void simd_near_find(struct simd_near *near);

/* Where helper `number`, 1 to threads - 1, belongs; NULL: wherever it is put. The caller, number 0, is never bound. */
const cpu_set_t *simd_near_place(const struct simd_near *near, uint32_t number, uint32_t threads);

#endif
