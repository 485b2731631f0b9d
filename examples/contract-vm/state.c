/*
 * state.c: the world in one table, and the contracts beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "state.h"
#include "opcodes.h"

/* A byte 0x5b behind a PUSH is data and no place to jump to, so code is gone through once from its beginning. */
static uint8_t *find_jumps(const uint8_t *code, size_t length) {
    uint8_t *jumps = memory_resize(NULL, length / 8 + 1, 1);
    memset(jumps, 0, length / 8 + 1);
    for (size_t at = 0; at < length; at++) {
        if (code[at] == OP_JUMPDEST) jumps[at / 8] |= (uint8_t)(1u << (at % 8));
        if (code[at] >= OP_PUSH1 && code[at] <= OP_PUSH32) at += (size_t)(code[at] - OP_PUSH1 + 1);
    }
    return jumps;
}

/* What was there before the block. */
static void put(struct state *state, const uint8_t address[20], enum place_kind kind, struct u256 slot,
                struct u256 value) {
    const struct place place = place_of(address, kind, slot);
    struct entry *entry = table_find(&state->table, &place);
    if (!entry) entry = table_add(&state->table, &place);
    entry->before = entry->value = value;
}

static void add_account(struct state *state, const struct account *account) {
    const struct u256 zero = u256_of(0);
    put(state, account->address, PLACE_BALANCE, zero, account->balance);
    put(state, account->address, PLACE_NONCE, zero, u256_of(account->nonce));
    for (size_t i = 0; i < account->storage_count; i++)
        put(state, account->address, PLACE_STORAGE, account->storage[i].key, account->storage[i].value);
    if (account->code.length == 0) return;
    state->contracts[state->contract_count++] =
        (struct contract){.code = account->code.data,
                          .length = account->code.length,
                          .jumps = find_jumps(account->code.data, account->code.length)};
    put(state, account->address, PLACE_CODE, zero, u256_of(state->contract_count));
}

void state_init(struct state *state, const struct block *block) {
    *state = (struct state){0};
    state->contracts = memory_resize(NULL, block->account_count, sizeof *state->contracts);
    for (size_t i = 0; i < block->account_count; i++) add_account(state, &block->accounts[i]);
}

void state_free(struct state *state) {
    for (size_t i = 0; i < state->contract_count; i++) free(state->contracts[i].jumps);
    free(state->contracts);
    table_free(&state->table);
    *state = (struct state){0};
}

struct u256 state_read(const struct state *state, const struct place *place) {
    const struct entry *entry = table_find(&state->table, place);
    return entry ? entry->value : u256_of(0);
}

void state_write(struct state *state, const struct place *place, struct u256 value) {
    struct entry *entry = table_find(&state->table, place);
    if (!entry) entry = table_add(&state->table, place);
    entry->value = value;
}

const struct contract *state_contract(const struct state *state, const uint8_t address[20]) {
    const struct place place = place_of(address, PLACE_CODE, u256_of(0));
    const struct u256 number = state_read(state, &place);
    return u256_is_zero(number) ? NULL : &state->contracts[number.w[0] - 1];
}
