/*
 * block.h: a block as it comes: what stands in the file, accounts before it, transactions in order.
 *
 * Made by block_read (a file) or by the generator; never changed by running it, so that it can be run again in another
 * mode. Everything that running finds out is in an outcome (run.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_BLOCK_H
#define CONTRACT_VM_BLOCK_H

#include "bytes.h"
#include "u256.h"

struct slot {
    struct u256 key, value;
};

struct account {
    uint8_t address[20];
    struct u256 balance;
    uint64_t nonce;
    struct bytes code;
    struct slot *storage;
    size_t storage_count;
};

struct transaction {
    uint64_t nonce, gas;
    bool has_to; /* without one it would create a contract */
    uint8_t to[20];
    struct u256 value;
    struct bytes data;
    struct u256
        *blob_hashes; /* a transaction that has some is of type 3 (EIP-4844), any other of the first kind (EIP-155) */
    size_t blob_count;
    /* Who sends it is recovered from the signature; an unsigned one, for experiments, says so itself. */
    bool is_signed;
    struct u256 v, r, s;
    uint8_t from[20];
};

struct block {
    uint64_t chain_id, number, timestamp, gas_limit;
    struct u256 base_fee; /* also the price of gas of every transaction: tips are not supported */
    struct u256 blob_base_fee, prev_randao;
    uint8_t coinbase[20];
    struct u256 *hashes; /* of the blocks before it, the last one first */
    size_t hash_count;
    struct account *accounts;
    size_t account_count;
    struct transaction *transactions;
    size_t transaction_count;
};

/* New ones at the end, all 0. They stay where they are until the next one is added. */
struct account *block_add_account(struct block *block);
struct transaction *block_add_transaction(struct block *block);
void account_add_slot(struct account *account, struct u256 key, struct u256 value);

void block_free(struct block *block);

#endif
