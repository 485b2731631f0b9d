/*
 * block.c: memory of a block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block.h"

/* Room for one more where arrays grow at powers of two. */
static void *grow(void *array, size_t count, size_t size) {
    return count & (count - 1) ? array : memory_resize(array, count ? 2 * count : 1, size);
}

struct account *block_add_account(struct block *block) {
    block->accounts = grow(block->accounts, block->account_count, sizeof *block->accounts);
    struct account *account = &block->accounts[block->account_count++];
    *account = (struct account){0};
    return account;
}

struct transaction *block_add_transaction(struct block *block) {
    block->transactions = grow(block->transactions, block->transaction_count, sizeof *block->transactions);
    struct transaction *tx = &block->transactions[block->transaction_count++];
    *tx = (struct transaction){0};
    return tx;
}

void account_add_slot(struct account *account, struct u256 key, struct u256 value) {
    account->storage = grow(account->storage, account->storage_count, sizeof *account->storage);
    account->storage[account->storage_count++] = (struct slot){key, value};
}

void block_free(struct block *block) {
    for (size_t i = 0; i < block->account_count; i++) {
        bytes_free(&block->accounts[i].code);
        free(block->accounts[i].storage);
    }
    for (size_t i = 0; i < block->transaction_count; i++) {
        bytes_free(&block->transactions[i].data);
        free(block->transactions[i].blob_hashes);
    }
    free(block->accounts);
    free(block->transactions);
    free(block->hashes);
    *block = (struct block){0};
}
