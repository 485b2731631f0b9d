/*
 * wild.h: data and sizes that show what a device gets wrong, for `svmx conform` and the contract suites.
 *
 * Four kinds of data, by seed % 4:
 *
 *   0  any bits          1  edges: zeros, denormals, the largest, infinities, NaNs, of both signs
 *   2  finite floats of many magnitudes          3  harmless floats, and one NaN among them
 *
 * Public API only; the same bytes for the same seed on every machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_WILD_H
#define SVMX_CLI_WILD_H

#include <stdint.h>

enum { CLI_WILD_KINDS = 4 };

/* A generator of random numbers; `state` is its seed. */
uint32_t cli_random(uint64_t *state);
uint32_t cli_random_below(uint64_t *state, uint32_t limit);

/* Fills memory, which may have any alignment, with elements of a type (enum svmx_type). */
void cli_wild_fill(void *at, uint64_t bytes, uint32_t type, uint64_t seed);

/* Fills memory with offsets of RAGGED data: a start that is not 0, lengths from 0 to 600 (less where there are many).
 * Returns how many bytes the data has: some are left over. */
uint64_t cli_wild_cuts(void *offsets, uint64_t bytes, uint64_t seed);

/* The largest size of an operation that the reference code computes in a moment, by its name. */
uint64_t cli_wild_limit(const char *op);

#endif
