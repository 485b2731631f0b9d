/*
 * ops_env.c: instructions that tell of the transaction and of the block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"

/* An address. Contracts are called by transactions only, so who calls is who sent. */
enum vm_status op_account(struct vm *vm, unsigned op) {
    const uint8_t *address = op == OP_ADDRESS    ? vm->tx->to
                             : op == OP_COINBASE ? vm->world->block->coinbase
                                                 : vm->sender; /* ORIGIN, CALLER */
    vm_push(vm, u256_from(address, 20));
    return VM_RUNNING;
}

enum vm_status op_word(struct vm *vm, unsigned op) {
    const struct block *block = vm->world->block;
    vm_push(vm, op == OP_CALLVALUE     ? vm->tx->value
                : op == OP_PREVRANDAO  ? block->prev_randao
                : op == OP_BLOBBASEFEE ? block->blob_base_fee
                                       : block->base_fee); /* BASEFEE, GASPRICE */
    return VM_RUNNING;
}

static uint64_t number_of(const struct vm *vm, unsigned op) {
    const struct block *block = vm->world->block;
    switch (op) {
    case OP_CALLDATASIZE: return vm->tx->data.length;
    case OP_CODESIZE: return vm->contract->length;
    case OP_RETURNDATASIZE: return vm->returned.length;
    case OP_TIMESTAMP: return block->timestamp;
    case OP_NUMBER: return block->number;
    case OP_GASLIMIT: return block->gas_limit;
    case OP_CHAINID: return block->chain_id;
    case OP_PC: return vm->pc - 1;
    case OP_MSIZE: return vm->memory.bytes.length;
    default: return vm->gas; /* GAS: what is left after it was paid */
    }
}

enum vm_status op_number(struct vm *vm, unsigned op) {
    vm_push(vm, u256_of(number_of(vm, op)));
    return VM_RUNNING;
}

/* Of the last 256 blocks, as far as the file has them; else 0. */
enum vm_status op_blockhash(struct vm *vm, unsigned op) {
    const struct block *block = vm->world->block;
    struct u256 *top = vm_top(vm, 0);
    const uint64_t ago = u256_is_small(*top) && top->w[0] < block->number ? block->number - top->w[0] : 0;
    *top = ago >= 1 && ago <= 256 && ago <= block->hash_count ? block->hashes[ago - 1] : u256_of(0);
    return (void)op, VM_RUNNING;
}

enum vm_status op_blobhash(struct vm *vm, unsigned op) {
    struct u256 *top = vm_top(vm, 0);
    *top = u256_is_small(*top) && top->w[0] < vm->tx->blob_count ? vm->tx->blob_hashes[top->w[0]] : u256_of(0);
    return (void)op, VM_RUNNING;
}
