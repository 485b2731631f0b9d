/*
 * ops_call.c: CALL and its family, to precompiles; everything else that would need a second contract is not supported, and
 * says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opcodes.h"
#include "precompiles.h"

static enum vm_status refuse(struct vm *vm, unsigned op, const uint8_t address[20]) {
    char hex[41];
    for (int i = 0; i < 20; i++) (void)snprintf(hex + 2 * i, 3, "%02x", address[i]);
    const char *name = opcodes[op].name;
    if (precompile_at(address)) return vm_fail(vm, "%s to precompile %u is not supported", name, address[19]);
    return vm_fail(vm, "%s to 0x%s is not supported: no calls to other contracts", name, hex);
}

/* At most all but a 64th (EIP-150) goes with the call. */
static uint64_t gas_for_call(const struct vm *vm, struct u256 wanted) {
    const uint64_t most = vm->gas - vm->gas / 64;
    return u256_is_small(wanted) && wanted.w[0] < most ? wanted.w[0] : most;
}

/* gas, address, value (CALL and CALLCODE only), where the input is and its length, where the output goes and its. */
enum vm_status op_call(struct vm *vm, unsigned op) {
    const struct u256 wanted = vm_pop(vm), to = vm_pop(vm);
    const struct u256 value = op == OP_CALL || op == OP_CALLCODE ? vm_pop(vm) : u256_of(0);
    const struct u256 in = vm_pop(vm), in_length = vm_pop(vm), out = vm_pop(vm), out_length = vm_pop(vm);
    struct vm_request *request = &vm->request;
    uint8_t address[20];
    u256_to_address(to, address);
    *request = (struct vm_request){0};
    if (!vm_reach(vm, in, in_length, &request->at, &request->length) ||
        !vm_reach(vm, out, out_length, &request->out_at, &request->out_length) || !vm_touch_account(vm, address))
        return VM_FAILED;
    const unsigned number = precompile_at(address);
    const uint64_t cost = precompile_gas(number, request->length), given = gas_for_call(vm, wanted);
    if (cost == 0) return refuse(vm, op, address);
    if (!u256_is_zero(value)) return vm_fail(vm, "%s with a value is not supported", opcodes[op].name);
    vm->returned.length = 0;
    if (cost > given) { /* the call fails, and what it was given is gone */
        vm->gas -= given;
        vm_push(vm, u256_of(0));
        return VM_RUNNING;
    }
    vm->gas -= cost;
    return precompile_call(vm, number);
}

enum vm_status op_create(struct vm *vm, unsigned op) {
    return vm_fail(vm, "%s is not supported: no contract creation", opcodes[op].name);
}
