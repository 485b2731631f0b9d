/*
 * block_read.c: a block from JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_file.h"
#include "json.h"

#include <errno.h>

enum { KEY = 80 }; /* a slot of storage has 66 characters */

static bool is(const char *key, const char *name) { return strcmp(key, name) == 0; }

static void read_numbers(struct json *json, struct u256 **numbers, size_t *count) {
    (void)json_enter(json, '[');
    while (json_next(json, NULL, 0)) {
        *numbers = memory_resize(*numbers, *count + 1, sizeof **numbers);
        if (json_u256(json, &(*numbers)[*count])) ++*count;
    }
}

static void read_storage(struct json *json, struct account *account) {
    char key[KEY];
    struct u256 slot, value;
    (void)json_enter(json, '{');
    while (json_next(json, key, sizeof key))
        if (json_parse_u256(json, key, strlen(key), &slot) && json_u256(json, &value))
            account_add_slot(account, slot, value);
}

static void read_account(struct json *json, struct account *account) {
    char key[KEY];
    (void)json_enter(json, '{');
    while (json_next(json, key, sizeof key))
        if (is(key, "address"))
            (void)json_fixed(json, account->address, 20);
        else if (is(key, "balance"))
            (void)json_u256(json, &account->balance);
        else if (is(key, "nonce"))
            (void)json_u64(json, &account->nonce);
        else if (is(key, "code"))
            (void)json_hex(json, &account->code);
        else if (is(key, "storage"))
            read_storage(json, account);
        else
            (void)json_fail_key(json, key);
}

static void read_transaction(struct json *json, struct transaction *tx) {
    char key[KEY];
    bool has_from = false;
    (void)json_enter(json, '{');
    while (json_next(json, key, sizeof key))
        if (is(key, "nonce"))
            (void)json_u64(json, &tx->nonce);
        else if (is(key, "gas"))
            (void)json_u64(json, &tx->gas);
        else if (is(key, "to"))
            tx->has_to = json_fixed(json, tx->to, 20);
        else if (is(key, "value"))
            (void)json_u256(json, &tx->value);
        else if (is(key, "data"))
            (void)json_hex(json, &tx->data);
        else if (is(key, "blobHashes"))
            read_numbers(json, &tx->blob_hashes, &tx->blob_count);
        else if (is(key, "from"))
            has_from = json_fixed(json, tx->from, 20);
        else if (is(key, "v"))
            tx->is_signed = json_u256(json, &tx->v);
        else if (is(key, "r"))
            (void)json_u256(json, &tx->r);
        else if (is(key, "s"))
            (void)json_u256(json, &tx->s);
        else
            (void)json_fail_key(json, key);
    if (has_from == tx->is_signed) (void)json_fail(json, "a transaction has either v, r and s, or \"from\"");
}

static void read_block(struct json *json, struct block *block) {
    char key[KEY];
    (void)json_enter(json, '{');
    while (json_next(json, key, sizeof key))
        if (is(key, "chainId"))
            (void)json_u64(json, &block->chain_id);
        else if (is(key, "number"))
            (void)json_u64(json, &block->number);
        else if (is(key, "timestamp"))
            (void)json_u64(json, &block->timestamp);
        else if (is(key, "gasLimit"))
            (void)json_u64(json, &block->gas_limit);
        else if (is(key, "baseFee"))
            (void)json_u256(json, &block->base_fee);
        else if (is(key, "blobBaseFee"))
            (void)json_u256(json, &block->blob_base_fee);
        else if (is(key, "prevRandao"))
            (void)json_u256(json, &block->prev_randao);
        else if (is(key, "coinbase"))
            (void)json_fixed(json, block->coinbase, 20);
        else if (is(key, "blockHashes"))
            read_numbers(json, &block->hashes, &block->hash_count);
        else if (is(key, "accounts"))
            for ((void)json_enter(json, '['); json_next(json, NULL, 0);) read_account(json, block_add_account(block));
        else if (is(key, "transactions"))
            for ((void)json_enter(json, '['); json_next(json, NULL, 0);)
                read_transaction(json, block_add_transaction(block));
        else
            (void)json_fail_key(json, key);
}

bool block_parse(const char *text, size_t length, struct block *block, char *error, size_t error_bytes) {
    struct json json = json_of(text, length);
    *block = (struct block){0};
    read_block(&json, block);
    if (json_end(&json)) return true;
    (void)snprintf(error, error_bytes, "line %u: %s", json_line(&json), json.error);
    block_free(block);
    return false;
}

bool block_read(const char *path, struct block *block, char *error, size_t error_bytes) {
    struct bytes text = {0};
    char piece[65536];
    size_t got;
    FILE *file = is(path, "-") ? stdin : fopen(path, "rb");
    if (!file) return (void)snprintf(error, error_bytes, "%s: %s", path, strerror(errno)), false;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0) bytes_add(&text, piece, got);
    const bool bad = ferror(file);
    if (file != stdin) (void)fclose(file);
    char why[256];
    const bool good = !bad && block_parse((const char *)text.data, text.length, block, why, sizeof why);
    if (!good) (void)snprintf(error, error_bytes, "%s: %s", path, bad ? "it cannot be read" : why);
    bytes_free(&text);
    return good;
}
