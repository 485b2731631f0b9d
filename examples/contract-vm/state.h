/*
 * state.h: the world: balances, nonces, storage and contracts, as they are after the transactions that are settled.
 *
 * Only settling writes it (settle.c), one transaction after another. While transactions run it is read and not written, by
 * as many threads as like.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_STATE_H
#define CONTRACT_VM_STATE_H

#include "block.h"
#include "table.h"

struct contract {
    const uint8_t *code; /* the block's */
    size_t length;
    uint8_t *jumps;   /* bit i: byte i is a JUMPDEST, and no data of a PUSH */
    uint8_t hash[32]; /* set by before.c, for EXTCODEHASH */
};

struct state {
    struct table table;
    struct contract *contracts;
    size_t contract_count;
};

/* The accounts of a block. */
void state_init(struct state *state, const struct block *block);
void state_free(struct state *state);

/* 0 for a place that nobody wrote. */
struct u256 state_read(const struct state *state, const struct place *place);
void state_write(struct state *state, const struct place *place, struct u256 value);

/* NULL: the account has no code. */
const struct contract *state_contract(const struct state *state, const uint8_t address[20]);

/* May code jump there? */
static inline bool contract_has_jump(const struct contract *contract, struct u256 to) {
    return u256_is_small(to) && to.w[0] < contract->length && contract->jumps[to.w[0] / 8] >> (to.w[0] % 8) & 1;
}

#endif
