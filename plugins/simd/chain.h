/*
 * chain.h: the links of a chain, piece by piece, so that what passes from one to the next stays in the nearest cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_SIMD_CHAIN_H
#define SVMX_SIMD_CHAIN_H

#include "kernel.h"
#include "pool.h"
#include <stdbool.h>

/* The dispatches behind a command of the kind SVMX_COMMAND_CHAIN, with the stride of the core. */
struct simd_chain {
    const void *first; /* struct svmx_command */
    size_t stride;
    uint32_t count;
};

/* Whether there are kernels for all links, of the kind that takes elements one by one. */
bool simd_chain_is_sound(const struct simd_chain *chain);

/* Computes it, with the pool if it is worth it. */
void simd_chain_run(struct simd_pool *pool, const struct simd_chain *chain);

#endif
