/*
 * ops_flow.c: instructions that jump, end, and move numbers about on the stack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"

enum vm_status op_stop(struct vm *vm, unsigned op) { return (void)vm, (void)op, VM_SUCCEEDED; }
enum vm_status op_jumpdest(struct vm *vm, unsigned op) { return (void)vm, (void)op, VM_RUNNING; }
enum vm_status op_pop(struct vm *vm, unsigned op) { return (void)op, vm->depth--, VM_RUNNING; }
enum vm_status op_invalid(struct vm *vm, unsigned op) { return (void)op, vm_fail(vm, "INVALID"); }

static enum vm_status jump(struct vm *vm, struct u256 to) {
    if (!contract_has_jump(vm->contract, to)) return vm_fail(vm, "a jump to where there is no JUMPDEST");
    vm->pc = (size_t)to.w[0];
    return VM_RUNNING;
}

enum vm_status op_jump(struct vm *vm, unsigned op) { return (void)op, jump(vm, vm_pop(vm)); }

enum vm_status op_jumpi(struct vm *vm, unsigned op) {
    const struct u256 to = vm_pop(vm), condition = vm_pop(vm);
    return (void)op, u256_is_zero(condition) ? VM_RUNNING : jump(vm, to);
}

/* Code goes on with zeros behind its end. */
enum vm_status op_push(struct vm *vm, unsigned op) {
    const size_t length = op - OP_PUSH0, left = vm->contract->length - vm->pc;
    struct u256 value = u256_from(vm->contract->code + vm->pc, length < left ? length : left);
    if (length > left) value = u256_shl(u256_of(8 * (length - left)), value);
    vm_push(vm, value);
    vm->pc += length < left ? length : left;
    return VM_RUNNING;
}

enum vm_status op_dup(struct vm *vm, unsigned op) {
    const struct u256 value = *vm_top(vm, op - OP_DUP1);
    vm_push(vm, value);
    return VM_RUNNING;
}

enum vm_status op_swap(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0), *other = vm_top(vm, op - OP_SWAP1 + 1);
    const struct u256 value = *top;
    *top = *other;
    *other = value;
    return VM_RUNNING;
}

/* RETURN and REVERT. */
enum vm_status op_return(struct vm *vm, unsigned op) {
    const struct u256 from = vm_pop(vm), length = vm_pop(vm);
    uint64_t at, bytes;
    if (!vm_reach(vm, from, length, &at, &bytes)) return VM_FAILED;
    bytes_set(&vm->output, bytes ? vm->memory.bytes.data + at : NULL, bytes);
    return op == OP_RETURN ? VM_SUCCEEDED : VM_REVERTED;
}
