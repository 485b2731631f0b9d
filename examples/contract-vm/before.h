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

/* Transactions [first, end) into prepared, which has one for every transaction of the block. SVMX_OK, or
 * svmx_batch_error(batch) has the reason. The batch is left as it was run. */
enum svmx_status before_transactions(svmx_batch_t *batch, const struct block *block, size_t first, size_t end,
                                     struct prepared *prepared);

/* Hashes of code, into the contracts of the state. The same. */
enum svmx_status before_contracts(svmx_batch_t *batch, struct state *state);

#endif
