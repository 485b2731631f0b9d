/*
 * merkle.h: how the levels of a Merkle tree count.
 *
 *   level 0   the n leaves
 *   level k   ceil(n / 2^k) nodes; node i is the parent of nodes 2 i and 2 i + 1 of the level below
 *   root      the node of the first level that has one only
 *
 * The last node of a level with an odd number has no sibling: see enum svmx_merkle_odd. Called by merkle.c and its tests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_MERKLE_H
#define SVMX_OPS_MERKLE_H

#include <stdint.h>

/* Leaves of one unit: kernels hash such a subtree on their own. */
enum { SVMX__MERKLE_SUBTREE_LOG2 = 10 };

/* Nodes of a level, for n >= 1. */
static inline uint64_t svmx__merkle_count(uint64_t n, unsigned level) { return ((n - 1) >> level) + 1; }

#endif
