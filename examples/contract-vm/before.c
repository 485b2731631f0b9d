/*
 * before.c: senders and names of all transactions, in one batch.
 *
 * The hash that is signed is never seen here: ecrecover takes it as the result of the task before (svmx_result_of), so that
 * the batch goes to the executor once, whoever computes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "before.h"
#include "messages.h"
#include "transaction.h"

#include <svmx/ops.h>

/* The signed transactions of a range, and words of their signatures, side by side as ecrecover takes them. */
struct signatures {
    struct messages encodings;
    uint8_t *v, *r, *s, *hashes, *addresses, *valid;
    size_t *numbers;
};

static void signatures_init(struct signatures *all, size_t most) {
    *all = (struct signatures){0};
    all->v = memory_resize(NULL, most, 32);
    all->r = memory_resize(NULL, most, 32);
    all->s = memory_resize(NULL, most, 32);
    all->hashes = memory_resize(NULL, most, 32);
    all->addresses = memory_resize(NULL, most, 20);
    all->valid = memory_resize(NULL, most, 1);
    all->numbers = memory_resize(NULL, most, sizeof *all->numbers);
}

static void signatures_free(struct signatures *all) {
    messages_free(&all->encodings);
    free(all->v);
    free(all->r);
    free(all->s);
    free(all->hashes);
    free(all->addresses);
    free(all->valid);
    free(all->numbers);
}

static void add_signature(struct signatures *all, const struct block *block, size_t number, struct prepared *prepared) {
    const struct transaction *tx = &block->transactions[number];
    const size_t at = all->encodings.count;
    uint8_t words[96];
    prepared->refusal = transaction_signature(block, tx, words);
    if (prepared->refusal) return;
    memcpy(all->v + 32 * at, words, 32);
    memcpy(all->r + 32 * at, words + 32, 32);
    memcpy(all->s + 32 * at, words + 64, 32);
    all->numbers[at] = number;
    transaction_encode(block, tx, false, &all->encodings.data);
    messages_close(&all->encodings);
}

/* Who signed what the task before hashes. */
static enum svmx_status add_recovery(svmx_batch_t *batch, const struct signatures *all) {
    const size_t n = all->encodings.count;
    const uint32_t hashing = svmx_batch_task_count(batch);
    enum svmx_status status = svmx_keccak256(batch, all->hashes, all->encodings.data.data, all->encodings.offsets, n);
    if (status != SVMX_OK) return status;
    const struct svmx_arg args[] = {svmx_out(SVMX_U8, all->addresses, 20 * n), svmx_out(SVMX_U8, all->valid, n),
                                    svmx_result_of(SVMX_U8, hashing, 0),       svmx_in(SVMX_U8, all->v, 32 * n),
                                    svmx_in(SVMX_U8, all->r, 32 * n),          svmx_in(SVMX_U8, all->s, 32 * n)};
    return svmx_batch_add(batch, SVMX_OP_ECRECOVER, args, 6);
}

static void take_senders(const struct signatures *all, struct prepared *prepared) {
    for (size_t i = 0; i < all->encodings.count; i++) {
        struct prepared *one = &prepared[all->numbers[i]];
        memcpy(one->sender, all->addresses + 20 * i, 20);
        if (!all->valid[i]) one->refusal = "the signature is nobody's";
    }
}

enum svmx_status before_transactions(svmx_batch_t *batch, const struct block *block, size_t first, size_t end,
                                     struct prepared *prepared) {
    struct signatures signatures;
    struct messages names = {0};
    uint8_t *hashes = memory_resize(NULL, end - first, 32);
    signatures_init(&signatures, end - first);
    for (size_t i = first; i < end; i++) {
        const struct transaction *tx = &block->transactions[i];
        prepared[i].refusal = transaction_refusal(block, tx);
        memcpy(prepared[i].sender, tx->from, 20);
        if (!prepared[i].refusal && tx->is_signed) add_signature(&signatures, block, i, &prepared[i]);
        transaction_encode(block, tx, tx->is_signed, &names.data);
        messages_close(&names);
    }
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = svmx_keccak256(batch, hashes, names.data.data, names.offsets, names.count);
    if (status == SVMX_OK && signatures.encodings.count) status = add_recovery(batch, &signatures);
    if (status == SVMX_OK) status = svmx_run(batch);
    if (status == SVMX_OK) take_senders(&signatures, prepared);
    for (size_t i = first; i < end && status == SVMX_OK; i++) memcpy(prepared[i].hash, hashes + 32 * (i - first), 32);
    messages_free(&names);
    signatures_free(&signatures);
    free(hashes);
    return status;
}

enum svmx_status before_contracts(svmx_batch_t *batch, struct state *state) {
    if (state->contract_count == 0) return SVMX_OK;
    struct messages codes = {0};
    uint8_t *hashes = memory_resize(NULL, state->contract_count, 32);
    for (size_t i = 0; i < state->contract_count; i++)
        messages_add(&codes, state->contracts[i].code, state->contracts[i].length);
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = svmx_keccak256(batch, hashes, codes.data.data, codes.offsets, codes.count);
    if (status == SVMX_OK) status = svmx_run(batch);
    for (size_t i = 0; i < state->contract_count && status == SVMX_OK; i++)
        memcpy(state->contracts[i].hash, hashes + 32 * i, 32);
    messages_free(&codes);
    free(hashes);
    return status;
}
