/*
 * precompiles.c: ecrecover, sha256 and identity.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "precompiles.h"

unsigned precompile_at(const uint8_t address[20]) {
    static const uint8_t zeros[19];
    if (memcmp(address, zeros, sizeof zeros) != 0 || address[19] > PRECOMPILE_LAST) return 0;
    return address[19];
}

uint64_t precompile_gas(unsigned number, uint64_t length) {
    switch (number) {
    case PRECOMPILE_ECRECOVER: return 3000;
    case PRECOMPILE_SHA256: return 60 + 12 * memory_words(length);
    case PRECOMPILE_IDENTITY: return 15 + 3 * memory_words(length);
    default: return 0;
    }
}

/* Nothing to compute, so nothing to wait for. */
static enum vm_status identity(struct vm *vm) {
    const struct vm_request *request = &vm->request;
    const uint64_t bytes = request->length < request->out_length ? request->length : request->out_length;
    bytes_set(&vm->returned, request->length ? vm->memory.bytes.data + request->at : NULL, request->length);
    if (bytes) memcpy(vm->memory.bytes.data + request->out_at, vm->returned.data, bytes);
    vm_push(vm, u256_of(1));
    return VM_RUNNING;
}

enum vm_status precompile_call(struct vm *vm, unsigned number) {
    struct vm_request *request = &vm->request;
    if (number == PRECOMPILE_IDENTITY) return identity(vm);
    request->is_call = true;
    request->kind = number == PRECOMPILE_SHA256 ? REQUEST_SHA256 : REQUEST_RECOVER;
    if (number == PRECOMPILE_ECRECOVER) { /* reads 128 bytes, zeros behind the end */
        const uint64_t there = request->length < 128 ? request->length : 128;
        memset(request->words, 0, sizeof request->words);
        if (there) memcpy(request->words, vm->memory.bytes.data + request->at, there);
    }
    return vm_ask(vm);
}
