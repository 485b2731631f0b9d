/*
 * generate.h: makes blocks, the same for the same seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_GENERATE_H
#define CONTRACT_VM_GENERATE_H

#include "block.h"

#include <svmx/svmx.h>

enum block_kind {
    BLOCK_TRANSFERS,  /* of tokens: two short hashes each */
    BLOCK_HASHES,     /* 64 hashes of 1 KiB each */
    BLOCK_SIGNATURES, /* 8 signatures to look at in each */
    BLOCK_MIXED,      /* all of the others */
    BLOCK_CONFLICTS,  /* everybody writes the same slot */
    BLOCK_RANDOM,     /* random code on few slots: for tests */
    BLOCK_KINDS
};

extern const char *const block_kind_names[BLOCK_KINDS];

struct generate_options {
    enum block_kind kind;
    size_t count; /* of transactions */
    uint64_t seed;
    bool is_unsigned;
};

/* Hashes and addresses are computed by the executor. On SVMX_OK the block is the caller's, for block_free. */
enum svmx_status block_generate(svmx_executor_t *executor, const struct generate_options *options, struct block *block,
                                struct svmx_error *error);

/* ---- random_code.c ---------------------------------------------------------------------------------------------- */

/* xorshift64*: the same numbers everywhere. */
struct dice {
    uint64_t state;
};
static inline uint64_t dice_next(struct dice *dice) {
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return dice->state * UINT64_C(2685821657736338717);
}
static inline size_t dice_below(struct dice *dice, size_t limit) { return (size_t)((dice_next(dice) >> 16) % limit); }
static inline void dice_bytes(struct dice *dice, uint8_t *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (uint8_t)(dice_next(dice) >> 32);
}

/* Code that mostly does not fail at once. `addresses` are those that it asks about. */
void random_code(struct dice *dice, struct bytes *code, const uint8_t (*addresses)[20], size_t address_count);

#endif
