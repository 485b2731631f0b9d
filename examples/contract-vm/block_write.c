/*
 * block_write.c: a block as JSON, one account and one transaction a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_file.h"

void write_hex(FILE *out, const uint8_t *bytes, size_t length) {
    (void)fputs("\"0x", out);
    for (size_t i = 0; i < length; i++) (void)fprintf(out, "%02x", bytes[i]);
    (void)fputc('"', out);
}

void write_number(FILE *out, struct u256 number) {
    uint8_t bytes[32];
    unsigned first = 32 - u256_bytes(number);
    u256_to(number, bytes);
    if (first > 31) first = 31;
    (void)fprintf(out, "\"0x%x", bytes[first]);
    for (unsigned i = first + 1; i < 32; i++) (void)fprintf(out, "%02x", bytes[i]);
    (void)fputc('"', out);
}

static void write_numbers(FILE *out, const struct u256 *numbers, size_t count) {
    (void)fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        if (i) (void)fputs(", ", out);
        write_number(out, numbers[i]);
    }
    (void)fputc(']', out);
}

static void write_account(FILE *out, const struct account *account) {
    (void)fputs("{\"address\": ", out);
    write_hex(out, account->address, 20);
    (void)fputs(", \"balance\": ", out);
    write_number(out, account->balance);
    (void)fprintf(out, ", \"nonce\": %llu", (unsigned long long)account->nonce);
    if (account->code.length) {
        (void)fputs(", \"code\": ", out);
        write_hex(out, account->code.data, account->code.length);
    }
    if (account->storage_count) (void)fputs(", \"storage\": {", out);
    for (size_t i = 0; i < account->storage_count; i++) {
        if (i) (void)fputs(", ", out);
        write_number(out, account->storage[i].key);
        (void)fputs(": ", out);
        write_number(out, account->storage[i].value);
    }
    (void)fputs(account->storage_count ? "}}" : "}", out);
}

static void write_signature(FILE *out, const struct transaction *tx) {
    if (!tx->is_signed) {
        (void)fputs(", \"from\": ", out);
        write_hex(out, tx->from, 20);
        return;
    }
    (void)fputs(", \"v\": ", out);
    write_number(out, tx->v);
    (void)fputs(", \"r\": ", out);
    write_number(out, tx->r);
    (void)fputs(", \"s\": ", out);
    write_number(out, tx->s);
}

static void write_transaction(FILE *out, const struct transaction *tx) {
    (void)fprintf(out, "{\"nonce\": %llu, \"gas\": %llu", (unsigned long long)tx->nonce, (unsigned long long)tx->gas);
    if (tx->has_to) {
        (void)fputs(", \"to\": ", out);
        write_hex(out, tx->to, 20);
    }
    (void)fputs(", \"value\": ", out);
    write_number(out, tx->value);
    (void)fputs(", \"data\": ", out);
    write_hex(out, tx->data.data, tx->data.length);
    if (tx->blob_count) {
        (void)fputs(", \"blobHashes\": ", out);
        write_numbers(out, tx->blob_hashes, tx->blob_count);
    }
    write_signature(out, tx);
    (void)fputc('}', out);
}

static void write_head(FILE *out, const struct block *block) {
    (void)fprintf(out, "{\"chainId\": %llu, \"number\": %llu, \"timestamp\": %llu, \"gasLimit\": %llu,\n \"baseFee\": ",
                  (unsigned long long)block->chain_id, (unsigned long long)block->number,
                  (unsigned long long)block->timestamp, (unsigned long long)block->gas_limit);
    write_number(out, block->base_fee);
    (void)fputs(", \"blobBaseFee\": ", out);
    write_number(out, block->blob_base_fee);
    (void)fputs(", \"prevRandao\": ", out);
    write_number(out, block->prev_randao);
    (void)fputs(", \"coinbase\": ", out);
    write_hex(out, block->coinbase, 20);
    (void)fputs(",\n \"blockHashes\": ", out);
    write_numbers(out, block->hashes, block->hash_count);
}

void block_write(FILE *out, const struct block *block) {
    write_head(out, block);
    (void)fputs(",\n \"accounts\": [", out);
    for (size_t i = 0; i < block->account_count; i++) {
        (void)fputs(i ? ",\n  " : "\n  ", out);
        write_account(out, &block->accounts[i]);
    }
    (void)fputs("],\n \"transactions\": [", out);
    for (size_t i = 0; i < block->transaction_count; i++) {
        (void)fputs(i ? ",\n  " : "\n  ", out);
        write_transaction(out, &block->transactions[i]);
    }
    (void)fputs("]}\n", out);
}
