/*
 * ops_data.c: instructions on memory, call data, code and return data; and KECCAK256, which parks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"

/* 30 and 6 for a word. The answer is pushed by vm_answer, now or when a batch has run. */
enum vm_status op_keccak256(struct vm *vm, unsigned op) {
    const struct u256 at = vm_pop(vm), length = vm_pop(vm);
    struct vm_request *request = &vm->request;
    (void)op;
    *request = (struct vm_request){.kind = REQUEST_KECCAK256};
    if (!vm_reach(vm, at, length, &request->at, &request->length)) return VM_FAILED;
    if (!vm_charge(vm, 6 * memory_words(request->length))) return VM_FAILED;
    return vm_ask(vm);
}

enum vm_status op_calldataload(struct vm *vm, unsigned op) {
    struct u256 *at = vm_top(vm, 0);
    const struct bytes *data = &vm->tx->data;
    uint8_t word[32] = {0};
    const size_t there = u256_is_small(*at) && at->w[0] < data->length ? data->length - (size_t)at->w[0] : 0;
    if (there) memcpy(word, data->data + at->w[0], there < 32 ? there : 32);
    *at = u256_from(word, 32);
    return (void)op, VM_RUNNING;
}

/* To, from, length on the stack; 3 for a word. */
static enum vm_status copy(struct vm *vm, const uint8_t *source, size_t source_length) {
    const struct u256 to = vm_pop(vm), from = vm_pop(vm), length = vm_pop(vm);
    uint64_t at, bytes;
    if (!vm_reach(vm, to, length, &at, &bytes) || !vm_charge(vm, 3 * memory_words(bytes))) return VM_FAILED;
    memory_put(&vm->memory, at, bytes, source, source_length, from);
    return VM_RUNNING;
}

enum vm_status op_calldatacopy(struct vm *vm, unsigned op) {
    return (void)op, copy(vm, vm->tx->data.data, vm->tx->data.length);
}

enum vm_status op_codecopy(struct vm *vm, unsigned op) {
    return (void)op, copy(vm, vm->contract->code, vm->contract->length);
}

enum vm_status op_extcodecopy(struct vm *vm, unsigned op) {
    uint8_t address[20];
    (void)op;
    u256_to_address(vm_pop(vm), address);
    if (!vm_touch_account(vm, address)) return VM_FAILED;
    const struct contract *contract = state_contract(vm->world->state, address);
    return copy(vm, contract ? contract->code : NULL, contract ? contract->length : 0);
}

/* The only copy that may not read behind the end (EIP-211). */
enum vm_status op_returndatacopy(struct vm *vm, unsigned op) {
    const struct u256 from = *vm_top(vm, 1), length = *vm_top(vm, 2);
    const uint64_t there = vm->returned.length;
    (void)op;
    if (!u256_is_small(from) || !u256_is_small(length) || from.w[0] > there || length.w[0] > there - from.w[0])
        return vm_fail(vm, "RETURNDATACOPY reads behind the end of the return data");
    return copy(vm, vm->returned.data, vm->returned.length);
}

enum vm_status op_mload(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    uint64_t at, bytes;
    if (!vm_reach(vm, *top, u256_of(32), &at, &bytes)) return VM_FAILED;
    *top = u256_from(vm->memory.bytes.data + at, 32);
    return (void)op, VM_RUNNING;
}

enum vm_status op_mstore(struct vm *vm, unsigned op) {
    const struct u256 to = vm_pop(vm), value = vm_pop(vm);
    uint64_t at, bytes;
    if (!vm_reach(vm, to, u256_of(32), &at, &bytes)) return VM_FAILED;
    u256_to(value, vm->memory.bytes.data + at);
    return (void)op, VM_RUNNING;
}

enum vm_status op_mstore8(struct vm *vm, unsigned op) {
    const struct u256 to = vm_pop(vm), value = vm_pop(vm);
    uint64_t at, bytes;
    if (!vm_reach(vm, to, u256_of(1), &at, &bytes)) return VM_FAILED;
    vm->memory.bytes.data[at] = (uint8_t)value.w[0];
    return (void)op, VM_RUNNING;
}

/* Both ends count for memory, and may overlap (EIP-5656). */
enum vm_status op_mcopy(struct vm *vm, unsigned op) {
    const struct u256 to = vm_pop(vm), from = vm_pop(vm), length = vm_pop(vm);
    uint64_t target, source, bytes;
    (void)op;
    const struct u256 far = u256_less(to, from) ? from : to;
    if (!vm_reach(vm, far, length, &target, &bytes) || !vm_charge(vm, 3 * memory_words(bytes))) return VM_FAILED;
    target = to.w[0]; /* the farther one fits, so both do */
    source = from.w[0];
    if (bytes) memmove(vm->memory.bytes.data + target, vm->memory.bytes.data + source, bytes);
    return VM_RUNNING;
}
