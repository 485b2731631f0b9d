/*
 * before.h: what is known of every transaction of a block before the first one runs: its hash, and who sent it.
 *
 * One batch for the whole block:
 *
 *   encodings to be signed --keccak256--> hashes --ecrecover--> senders     the second takes the results of the first
 *   encodings with signature --keccak256--> names of transactions
 *
 * Code of contracts is hashed before it, for EXTCODEHASH.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_BEFORE_H
#define CONTRACT_VM_BEFORE_H

#include "state.h"
#include "transaction.h"

#include <svmx/svmx.h>

/* Into prepared[transaction_count] and the contracts of state. `at_once` transactions go into one batch: all of them, or 1
 * for comparison. SVMX_OK, or svmx_batch_error(batch) has the reason. The batch is left as it was run. */
enum svmx_status before_block(svmx_batch_t *batch, const struct block *block, size_t at_once, struct state *state,
                              struct prepared *prepared);

#endif
