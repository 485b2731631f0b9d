/*
 * transaction.h: what a transaction is before it runs: its encoding, which is signed and hashed, its signature, what it
 * costs in any case, and why it may not be in a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_TRANSACTION_H
#define CONTRACT_VM_TRANSACTION_H

#include "block.h"

/* What before.c finds out. */
struct prepared {
    uint8_t sender[20], hash[32];
    const char *refusal; /* why it may not be in the block; NULL: it may */
};

/* Appends the encoding that is signed, or the one with the signature whose hash names the transaction. */
void transaction_encode(const struct block *block, const struct transaction *tx, bool with_signature,
                        struct bytes *out);

/* The signature as precompile 1 takes it: v (27 or 28), r, s, 32 bytes each. Why it cannot be one, or NULL. */
const char *transaction_signature(const struct block *block, const struct transaction *tx, uint8_t words[96]);
/* v as it stands in the transaction, for a point whose y is even (0) or odd (1). */
struct u256 transaction_v(const struct block *block, const struct transaction *tx, unsigned odd);

/* 21,000, and 4 or 16 for a byte of data. */
uint64_t transaction_base_gas(const struct transaction *tx);
struct u256 transaction_blob_fee(const struct block *block, const struct transaction *tx);

/* Why it may not be in the block, whatever the state is; NULL: it may. */
const char *transaction_refusal(const struct block *block, const struct transaction *tx);

#endif
