/*
 * ops_state.c: instructions on accounts and storage, all by way of the journal; logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"

/* ---- accounts ------------------------------------------------------------------------------------------------- */

/* The account that the top of the stack names, touched; false: there is no gas for it. */
static bool touch_top(struct vm *vm, uint8_t address[20]) {
    u256_to_address(*vm_top(vm, 0), address);
    return vm_touch_account(vm, address);
}

enum vm_status op_balance(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    uint8_t address[20];
    if (!touch_top(vm, address)) return VM_FAILED;
    *top = vm_place(vm, address, PLACE_BALANCE, u256_of(0))->value;
    return (void)op, VM_RUNNING;
}

enum vm_status op_selfbalance(struct vm *vm, unsigned op) {
    vm_push(vm, vm_place(vm, vm->tx->to, PLACE_BALANCE, u256_of(0))->value);
    return (void)op, VM_RUNNING;
}

enum vm_status op_extcodesize(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    uint8_t address[20];
    if (!touch_top(vm, address)) return VM_FAILED;
    const struct contract *contract = state_contract(vm->world->state, address);
    *top = u256_of(contract ? contract->length : 0);
    return (void)op, VM_RUNNING;
}

/* Of no code, but a balance or a nonce: Keccak-256 of nothing. Of nothing at all: 0 (EIP-1052). */
enum vm_status op_extcodehash(struct vm *vm, unsigned op) {
    static const struct u256 hash_of_nothing = {{UINT64_C(0x7bfad8045d85a470), UINT64_C(0xe500b653ca82273b),
                                                 UINT64_C(0x927e7db2dcc703c0), UINT64_C(0xc5d2460186f7233c)}};
    struct u256 *top = vm_top(vm, 0);
    uint8_t address[20];
    if (!touch_top(vm, address)) return VM_FAILED;
    const struct contract *contract = state_contract(vm->world->state, address);
    *top = contract ? u256_from(contract->hash, 32) : vm_is_empty(vm, address) ? u256_of(0) : hash_of_nothing;
    return (void)op, VM_RUNNING;
}

/* The balance goes to another account; the contract stays, as it was not made in this transaction (EIP-6780). */
enum vm_status op_selfdestruct(struct vm *vm, unsigned op) {
    uint8_t address[20];
    (void)op;
    u256_to_address(vm_pop(vm), address);
    const struct u256 balance = vm_place(vm, vm->tx->to, PLACE_BALANCE, u256_of(0))->value;
    /* Only the first touch costs here. */
    const uint64_t cost = vm_account_cost(vm, address);
    if (!vm_charge(vm, cost == VM_COLD_ACCOUNT ? cost : 0)) return VM_FAILED;
    if (!u256_is_zero(balance) && vm_is_empty(vm, address) && !vm_charge(vm, 25000)) return VM_FAILED;
    if (memcmp(address, vm->tx->to, 20) == 0) return VM_SUCCEEDED;
    vm_place(vm, vm->tx->to, PLACE_BALANCE, u256_of(0))->value = u256_of(0);
    struct entry *other = vm_place(vm, address, PLACE_BALANCE, u256_of(0));
    other->value = u256_add(other->value, balance);
    return VM_SUCCEEDED;
}

/* ---- storage -------------------------------------------------------------------------------------------------- */

enum vm_status op_sload(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    struct entry *entry = vm_place(vm, vm->tx->to, PLACE_STORAGE, *top);
    const struct u256 value = entry->value;
    if (!vm_charge(vm, journal_warm(entry) ? 100 : 2100)) return VM_FAILED;
    *top = value;
    return (void)op, VM_RUNNING;
}

/* What a write costs (EIP-2200 and EIP-2929), but for the first touch. */
static uint64_t write_cost(const struct entry *slot, struct u256 value) {
    if (u256_equal(slot->value, value) || !u256_equal(slot->before, slot->value)) return 100;
    return u256_is_zero(slot->before) ? 20000 : 2900;
}

/* What comes back at the end (EIP-3529): the sum may fall, but is never below 0 at the end. */
static uint64_t write_refund(const struct entry *slot, struct u256 value) {
    uint64_t refund = 0; /* modulo 2^64 */
    if (u256_equal(slot->value, value)) return 0;
    if (!u256_is_zero(slot->before)) {
        if (u256_is_zero(slot->value)) refund -= 4800;
        if (u256_is_zero(value)) refund += 4800;
    }
    if (u256_equal(slot->before, slot->value)) return refund;
    if (u256_equal(slot->before, value)) refund += u256_is_zero(slot->before) ? 19900 : 2800;
    return refund;
}

enum vm_status op_sstore(struct vm *vm, unsigned op) {
    const struct u256 key = vm_pop(vm), value = vm_pop(vm);
    (void)op;
    if (vm->gas <= 2300) return vm_fail(vm, "SSTORE with 2300 gas or less");
    struct entry *slot = vm_place(vm, vm->tx->to, PLACE_STORAGE, key);
    const uint64_t first = journal_warm(slot) ? 0 : 2100;
    if (!vm_charge(vm, first + write_cost(slot, value))) return VM_FAILED;
    vm->refund += write_refund(slot, value);
    slot->value = value;
    return VM_RUNNING;
}

enum vm_status op_tload(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    *top = vm_place(vm, vm->tx->to, PLACE_TRANSIENT, *top)->value;
    return (void)op, VM_RUNNING;
}

enum vm_status op_tstore(struct vm *vm, unsigned op) {
    const struct u256 key = vm_pop(vm), value = vm_pop(vm);
    vm_place(vm, vm->tx->to, PLACE_TRANSIENT, key)->value = value;
    return (void)op, VM_RUNNING;
}

/* ---- logs ----------------------------------------------------------------------------------------------------- */

/* 375 and as much for a topic (in the table), 8 for a byte. */
enum vm_status op_log(struct vm *vm, unsigned op) {
    const struct u256 from = vm_pop(vm), length = vm_pop(vm);
    uint64_t at, bytes;
    if (!vm_reach(vm, from, length, &at, &bytes) || !vm_charge(vm, 8 * bytes)) return VM_FAILED;
    if ((vm->log_count & (vm->log_count - 1)) == 0)
        vm->logs = memory_resize(vm->logs, vm->log_count ? 2 * vm->log_count : 1, sizeof *vm->logs);
    struct vm_log *log = &vm->logs[vm->log_count++];
    *log = (struct vm_log){.topic_count = op - OP_LOG0, .data_at = vm->log_data.length, .data_length = bytes};
    for (uint32_t i = 0; i < log->topic_count; i++) log->topics[i] = vm_pop(vm);
    if (bytes) bytes_add(&vm->log_data, vm->memory.bytes.data + at, bytes);
    return VM_RUNNING;
}
