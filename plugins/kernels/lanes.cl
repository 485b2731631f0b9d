/*
 * lanes.cl: LANES messages side by side on CPUs: lane l of vector i is RAW i of message l.
 *
 * Behind a hash (keccak256.cl says what that defines) and transpose.cl, in front of messages.cl and merkle.cl; nothing
 * where LANES is 1. Messages have any alignment: the compilers of CPU drivers know how to read such types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if LANES > 1

typedef W __attribute__((aligned(1))) W_ANY;
typedef RAW __attribute__((aligned(1))) RAW_ANY;

/* Digests in lanes become nodes[l], the digest of lane l. */
SVMX_INLINE void lanes_to_nodes(NODE *nodes, const W *digest) {
    W r[LANES];
#pragma unroll
    for (uint i = 0; i < LANES; i++) r[i] = digest[i % NODE_RAWS];
    transpose(r);
#pragma unroll
    for (uint i = 0; i < LANES; i++) nodes[i] = *(const NODE *)&r[i];
}

#endif
