/*
 * block_file.h: blocks as JSON.
 *
 *   {"chainId": 1, "number": 100, "timestamp": 1700000000, "gasLimit": 30000000, "baseFee": "0x7", "blobBaseFee": "0x1",
 *    "prevRandao": "0x...", "coinbase": "0x<20 bytes>", "blockHashes": ["0x...", the last one first],
 *    "accounts": [{"address": "0x<20 bytes>", "balance": "0x...", "nonce": 0, "code": "0x...", "storage": {"0x0": "0x1"}}],
 *    "transactions": [{"nonce": 0, "gas": 100000, "to": "0x<20 bytes>", "value": "0x0", "data": "0x", "blobHashes": [],
 *                      "v": "0x25", "r": "0x...", "s": "0x..."}]}
 *
 * What is left out is 0 or empty. A transaction has either v, r and s, or "from", and then it is unsigned.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_BLOCK_FILE_H
#define CONTRACT_VM_BLOCK_FILE_H

#include "block.h"

/* false: `error` says what is wrong and on which line, and there is nothing to free. */
bool block_parse(const char *text, size_t length, struct block *block, char *error, size_t error_bytes);
/* From a file, "-" for standard input. */
bool block_read(const char *path, struct block *block, char *error, size_t error_bytes);

void block_write(FILE *out, const struct block *block);

/* Pieces of JSON, for outcome_write.c as well. */
void write_hex(FILE *out, const uint8_t *bytes, size_t length); /* "0x0102" */
void write_number(FILE *out, struct u256 number);               /* "0x102" */

#endif
