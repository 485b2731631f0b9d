/*
 * generate.c: accounts, contracts, transactions, signatures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "generate.h"
#include "contracts.h"
#include "messages.h"
#include "sign.h"
#include "transaction.h"

#include <svmx/ops.h>

enum {
    HASH_ROUNDS = 64,
    HASH_BYTES = 1024,
    SIGNATURES = 8,
    RANDOM_CONTRACTS = 2,
    RANDOM_SENDERS = 4,
    TOKENS = 1000000
};

const char *const block_kind_names[BLOCK_KINDS] = {
    [BLOCK_TRANSFERS] = "transfers", [BLOCK_HASHES] = "hashes",       [BLOCK_SIGNATURES] = "signatures",
    [BLOCK_MIXED] = "mixed",         [BLOCK_CONFLICTS] = "conflicts", [BLOCK_RANDOM] = "random"};

struct sender {
    uint8_t key[32], address[20];
    uint64_t nonce;
};

struct maker {
    const struct generate_options *options;
    svmx_batch_t *batch;
    struct block *block;
    struct dice dice;
    struct sender *senders;
    size_t sender_count;
    size_t *sent_by; /* the sender of each transaction */
};

/* ---- by the executor ------------------------------------------------------------------------------------------ */

/* `hashes` has 32 bytes for each message. */
static enum svmx_status keccak256(svmx_batch_t *batch, const struct messages *messages, uint8_t *hashes) {
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK)
        status = svmx_keccak256(batch, hashes, messages->data.data, messages->offsets, messages->count);
    return status == SVMX_OK ? svmx_run(batch) : status;
}

/* The address of a key is the end of the hash of its public key. */
static enum svmx_status make_senders(struct maker *maker) {
    struct messages keys = {0};
    uint8_t *hashes = memory_resize(NULL, maker->sender_count, 32);
    for (size_t i = 0; i < maker->sender_count; i++) {
        uint8_t public_key[64];
        struct sender *sender = &maker->senders[i];
        *sender = (struct sender){0};
        dice_bytes(&maker->dice, sender->key, 32);
        sender->key[0] &= 0x7f; /* below the order of the curve */
        if (maker->options->is_unsigned)
            memcpy(public_key, sender->key, 32), memset(public_key + 32, 0, 32);
        else
            (void)sign_public(sender->key, public_key);
        messages_add(&keys, public_key, sizeof public_key);
    }
    const enum svmx_status status = keccak256(maker->batch, &keys, hashes);
    for (size_t i = 0; i < maker->sender_count && status == SVMX_OK; i++)
        memcpy(maker->senders[i].address, hashes + 32 * i + 12, 20);
    messages_free(&keys);
    free(hashes);
    return status;
}

/* Every sender has tokens: slot keccak256(address || 0) of the contract. */
static enum svmx_status give_tokens(struct maker *maker, struct account *token) {
    struct messages places = {0};
    uint8_t *hashes = memory_resize(NULL, maker->sender_count, 32);
    for (size_t i = 0; i < maker->sender_count; i++) {
        uint8_t words[64] = {0};
        memcpy(words + 12, maker->senders[i].address, 20);
        messages_add(&places, words, sizeof words);
    }
    const enum svmx_status status = keccak256(maker->batch, &places, hashes);
    for (size_t i = 0; i < maker->sender_count && status == SVMX_OK; i++)
        account_add_slot(token, u256_from(hashes + 32 * i, 32), u256_of(TOKENS));
    messages_free(&places);
    free(hashes);
    return status;
}

/* ---- accounts ------------------------------------------------------------------------------------------------- */

static void make_head(struct maker *maker) {
    struct block *block = maker->block;
    uint8_t bytes[32];
    block->chain_id = 1;
    block->number = 1000;
    block->timestamp = 1700000000;
    block->gas_limit = 30000000;
    block->base_fee = u256_of(7);
    block->blob_base_fee = u256_of(1);
    dice_bytes(&maker->dice, bytes, 32);
    block->prev_randao = u256_from(bytes, 32);
    block->coinbase[19] = 0xcb;
}

static struct account *add_contract(struct block *block, enum contract_name name) {
    struct account *account = block_add_account(block);
    memcpy(account->address, contract_codes[name].address, 20);
    bytes_set(&account->code, contract_codes[name].code, contract_codes[name].length);
    return account;
}

static void random_address(uint8_t address[20], size_t number) {
    memset(address, 0, 20);
    address[16] = 0xaa;
    address[19] = (uint8_t)number;
}

static void add_random_contract(struct maker *maker, size_t number) {
    uint8_t addresses[RANDOM_CONTRACTS + RANDOM_SENDERS + 1][20] = {{0}};
    struct account *account = block_add_account(maker->block);
    for (size_t i = 0; i <= RANDOM_CONTRACTS; i++) random_address(addresses[i], i); /* the last one is not there */
    for (size_t i = 0; i < RANDOM_SENDERS; i++)
        memcpy(addresses[RANDOM_CONTRACTS + 1 + i], maker->senders[i % maker->sender_count].address, 20);
    random_address(account->address, number);
    account->balance = u256_of(dice_below(&maker->dice, 2) ? 1000 : 0);
    for (uint64_t slot = 0; slot < 2; slot++) account_add_slot(account, u256_of(slot), u256_of(1 + slot));
    random_code(&maker->dice, &account->code, (const uint8_t(*)[20])addresses, RANDOM_CONTRACTS + RANDOM_SENDERS + 1);
}

static enum svmx_status make_accounts(struct maker *maker) {
    enum svmx_status status = SVMX_OK;
    for (size_t i = 0; i < maker->sender_count; i++) {
        struct account *account = block_add_account(maker->block);
        memcpy(account->address, maker->senders[i].address, 20);
        account->balance = u256_of(UINT64_C(1000000000000000));
    }
    if (maker->options->kind == BLOCK_RANDOM)
        for (size_t i = 0; i < RANDOM_CONTRACTS; i++) add_random_contract(maker, i);
    else
        for (int name = 0; name < CONTRACT_NAMES && status == SVMX_OK; name++) {
            struct account *account = add_contract(maker->block, (enum contract_name)name);
            if (name == CONTRACT_TOKEN) status = give_tokens(maker, account);
        }
    return status;
}

/* ---- transactions --------------------------------------------------------------------------------------------- */

static void put_word(struct bytes *data, uint64_t value) { u256_to(u256_of(value), bytes_extend(data, 32)); }

static struct transaction *call(struct maker *maker, enum contract_name name, uint64_t gas) {
    struct transaction *tx = block_add_transaction(maker->block);
    tx->has_to = true;
    memcpy(tx->to, contract_codes[name].address, 20);
    tx->gas = gas;
    return tx;
}

/* Mostly to somebody new, now and then to another sender, now and then too much. */
static void add_transfer(struct maker *maker) {
    struct transaction *tx = call(maker, CONTRACT_TOKEN, 100000);
    uint8_t *to = bytes_extend(&tx->data, 32);
    memset(to, 0, 12);
    dice_bytes(&maker->dice, to + 12, 20);
    if (dice_below(&maker->dice, 16) == 0)
        memcpy(to + 12, maker->senders[dice_below(&maker->dice, maker->sender_count)].address, 20);
    put_word(&tx->data, dice_below(&maker->dice, 64) ? 1 + dice_below(&maker->dice, 1000) : 2 * TOKENS);
}

static void add_hashes(struct maker *maker) {
    struct transaction *tx = call(maker, CONTRACT_HASHER, 200000);
    dice_bytes(&maker->dice, bytes_extend(&tx->data, 32), 32);
    put_word(&tx->data, HASH_ROUNDS);
    put_word(&tx->data, HASH_BYTES);
}

/* Every eighth is nobody's. */
static void add_signatures(struct maker *maker) {
    struct transaction *tx = call(maker, CONTRACT_SIGNER, 200000);
    for (int i = 0; i < SIGNATURES; i++) {
        uint8_t hash[32];
        struct signature signature = {.odd = 0};
        dice_bytes(&maker->dice, hash, 32);
        if (!sign_hash(maker->senders[dice_below(&maker->dice, maker->sender_count)].key, hash, &signature))
            dice_bytes(&maker->dice, signature.r, 32), dice_bytes(&maker->dice, signature.s, 32);
        bytes_add(&tx->data, hash, 32);
        put_word(&tx->data, dice_below(&maker->dice, 8) ? 27 + signature.odd : 26);
        bytes_add(&tx->data, signature.r, 32);
        bytes_add(&tx->data, signature.s, 32);
    }
}

static void add_count(struct maker *maker) {
    put_word(&call(maker, CONTRACT_COUNTER, 150000)->data, 1 + dice_below(&maker->dice, 100));
}

static void add_digest(struct maker *maker) {
    struct transaction *tx = call(maker, CONTRACT_DIGEST, 100000);
    const size_t length = dice_below(&maker->dice, 500);
    dice_bytes(&maker->dice, bytes_extend(&tx->data, length), length);
}

/* To a random contract, or a sender, with or without data and value; sometimes with little gas. */
static void add_random(struct maker *maker) {
    struct transaction *tx = block_add_transaction(maker->block);
    struct dice *dice = &maker->dice;
    const size_t length = dice_below(dice, 80);
    tx->has_to = dice_below(dice, 100) != 0;
    random_address(tx->to, dice_below(dice, RANDOM_CONTRACTS));
    if (dice_below(dice, 10) == 0) memcpy(tx->to, maker->senders[dice_below(dice, maker->sender_count)].address, 20);
    tx->gas = dice_below(dice, 8) ? 500000 : 21000 + dice_below(dice, 60000);
    if (dice_below(dice, 3) == 0) tx->value = u256_of(dice_below(dice, 5));
    dice_bytes(dice, bytes_extend(&tx->data, length), length);
}

static void add_any(struct maker *maker) {
    switch (dice_below(&maker->dice, 16)) {
    case 0: add_count(maker); break;
    case 1:
    case 2: add_signatures(maker); break;
    case 3:
    case 4: add_hashes(maker); break;
    case 5:
    case 6: add_digest(maker); break;
    default: add_transfer(maker); break;
    }
}

static void make_transactions(struct maker *maker) {
    static void (*const add[BLOCK_KINDS])(struct maker *) = {
        [BLOCK_TRANSFERS] = add_transfer, [BLOCK_HASHES] = add_hashes,   [BLOCK_SIGNATURES] = add_signatures,
        [BLOCK_MIXED] = add_any,          [BLOCK_CONFLICTS] = add_count, [BLOCK_RANDOM] = add_random};
    for (size_t i = 0; i < maker->options->count; i++) {
        const bool random = maker->options->kind == BLOCK_RANDOM;
        const size_t from = random ? dice_below(&maker->dice, maker->sender_count) : i;
        add[maker->options->kind](maker);
        struct transaction *tx = &maker->block->transactions[i];
        maker->sent_by[i] = from;
        memcpy(tx->from, maker->senders[from].address, 20);
        const bool may_be = !random || dice_below(&maker->dice, 50); /* in the block: else its nonce is wrong */
        tx->nonce = may_be ? maker->senders[from].nonce++ : UINT64_C(99);
    }
}

static enum svmx_status sign_transactions(struct maker *maker) {
    struct block *block = maker->block;
    struct messages encodings = {0};
    struct signature signature;
    uint8_t *hashes = memory_resize(NULL, block->transaction_count, 32);
    for (size_t i = 0; i < block->transaction_count; i++) {
        transaction_encode(block, &block->transactions[i], false, &encodings.data);
        messages_close(&encodings);
    }
    const enum svmx_status status = keccak256(maker->batch, &encodings, hashes);
    for (size_t i = 0; i < block->transaction_count && status == SVMX_OK; i++) {
        struct transaction *tx = &block->transactions[i];
        tx->is_signed = sign_hash(maker->senders[maker->sent_by[i]].key, hashes + 32 * i, &signature);
        tx->v = transaction_v(block, tx, signature.odd);
        tx->r = u256_from(signature.r, 32);
        tx->s = u256_from(signature.s, 32);
    }
    messages_free(&encodings);
    free(hashes);
    return status;
}

enum svmx_status block_generate(svmx_executor_t *executor, const struct generate_options *options, struct block *block,
                                struct svmx_error *error) {
    struct maker maker = {.options = options, .block = block, .dice = {options->seed * 2 + 1}};
    *block = (struct block){0};
    error->text[0] = '\0';
    if (!options->is_unsigned && !sign_is_there()) {
        (void)snprintf(error->text, sizeof error->text,
                       "signing needs libsecp256k1, which this was built without; ask for --unsigned");
        return SVMX_ERR_UNSUPPORTED;
    }
    enum svmx_status status = svmx_batch_create(executor, &maker.batch);
    if (status != SVMX_OK) return status;
    for (int i = 0; i < 8; i++) (void)dice_next(&maker.dice); /* seeds that are near each other part */
    maker.sender_count = options->kind == BLOCK_RANDOM ? RANDOM_SENDERS : options->count;
    maker.senders = memory_resize(NULL, maker.sender_count, sizeof *maker.senders);
    maker.sent_by = memory_resize(NULL, options->count, sizeof *maker.sent_by);
    make_head(&maker);
    if (maker.sender_count) status = make_senders(&maker);
    if (status == SVMX_OK) status = make_accounts(&maker);
    if (status == SVMX_OK) make_transactions(&maker);
    if (status == SVMX_OK && !options->is_unsigned) status = sign_transactions(&maker);
    if (status != SVMX_OK) {
        (void)snprintf(error->text, sizeof error->text, "%.500s", svmx_batch_error(maker.batch));
        block_free(block);
    }
    svmx_batch_destroy(maker.batch);
    free(maker.senders);
    free(maker.sent_by);
    return status;
}
