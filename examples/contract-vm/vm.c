/*
 * vm.c: the interpreter: begins a transaction, runs its instructions, parks and goes on, ends it.
 *
 * Called by schedule.c and settle.c. Knows nothing of other transactions, and nothing of svmx.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "vm.h"
#include "opcodes.h"
#include "precompiles.h"

#include <stdarg.h>

/* ---- what instructions use ------------------------------------------------------------------------------------ */

enum vm_status vm_fail(struct vm *vm, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(vm->error, sizeof vm->error, format, args);
    va_end(args);
    return VM_FAILED;
}

bool vm_charge(struct vm *vm, uint64_t gas) {
    if (gas > vm->gas) return (void)vm_fail(vm, "out of gas"), false;
    vm->gas -= gas;
    return true;
}

bool vm_reach(struct vm *vm, struct u256 at, struct u256 length, uint64_t *from, uint64_t *bytes) {
    if (!vm_charge(vm, memory_growth(&vm->memory, at, length))) return false;
    *bytes = length.w[0];
    *from = *bytes ? at.w[0] : 0;
    memory_grow(&vm->memory, *from, *bytes);
    return true;
}

struct entry *vm_place(struct vm *vm, const uint8_t address[20], enum place_kind kind, struct u256 slot) {
    return journal_touch(&vm->journal, vm->world->state, address, kind, slot);
}

uint64_t vm_account_cost(struct vm *vm, const uint8_t address[20]) {
    if (precompile_at(address) || memcmp(address, vm->sender, 20) == 0 || memcmp(address, vm->tx->to, 20) == 0 ||
        memcmp(address, vm->world->block->coinbase, 20) == 0)
        return VM_WARM_ACCOUNT;
    return journal_warm(vm_place(vm, address, PLACE_TOUCHED, u256_of(0))) ? VM_WARM_ACCOUNT : VM_COLD_ACCOUNT;
}

bool vm_is_empty(struct vm *vm, const uint8_t address[20]) {
    const struct u256 zero = u256_of(0);
    if (memcmp(address, vm->sender, 20) == 0 || state_contract(vm->world->state, address)) return false;
    return u256_is_zero(vm_place(vm, address, PLACE_BALANCE, zero)->value) &&
           u256_is_zero(vm_place(vm, address, PLACE_NONCE, zero)->value);
}

/* ---- parking -------------------------------------------------------------------------------------------------- */

const uint8_t *vm_input(const struct vm *vm, size_t *length) {
    const struct vm_request *request = &vm->request;
    const bool words = request->kind == REQUEST_RECOVER;
    *length = words ? sizeof request->words : (size_t)request->length;
    return words || *length == 0 ? request->words : vm->memory.bytes.data + request->at;
}

/* Puts the answer where the instruction would have put it. */
static void take_answer(struct vm *vm, const uint8_t *answer) {
    const struct vm_request *request = &vm->request;
    if (!request->is_call) {
        vm_push(vm, u256_from(answer, 32));
        return;
    }
    bytes_set(&vm->returned, answer, answer ? 32 : 0);
    const size_t bytes = request->out_length < vm->returned.length ? (size_t)request->out_length : vm->returned.length;
    if (bytes) memcpy(vm->memory.bytes.data + request->out_at, answer, bytes);
    vm_push(vm, u256_of(1));
}

enum vm_status vm_ask(struct vm *vm) {
    size_t length;
    const uint8_t *input = vm_input(vm, &length);
    const struct memo_answer *known = memo_find(&vm->memo, vm->request.kind, input, length);
    if (!known) return VM_PARKED;
    take_answer(vm, known->is_there ? known->answer : NULL);
    return VM_RUNNING;
}

void vm_answer(struct vm *vm, const uint8_t *answer) {
    size_t length;
    const uint8_t *input = vm_input(vm, &length);
    if (vm->world->remember) memo_keep(&vm->memo, vm->request.kind, input, length, answer);
    take_answer(vm, answer);
    vm->status = VM_RUNNING;
}

/* ---- begin and end -------------------------------------------------------------------------------------------- */

static void clear(struct vm *vm) {
    table_clear(&vm->journal.table);
    vm->memory.bytes.length = vm->returned.length = vm->output.length = vm->log_data.length = 0;
    vm->log_count = vm->depth = 0;
    vm->pc = 0;
    vm->gas_used = vm->refund = 0;
    vm->error[0] = '\0';
    vm->memo.next = 0;
    vm->runs++;
}

/* Undone but for the gas: of that the sender gets back what is left. */
static void settle_gas(struct vm *vm) {
    const uint64_t limit = vm->tx->gas;
    const struct u256 price = vm->world->block->base_fee;
    if (vm->status == VM_FAILED) vm->gas = 0;
    vm->gas_used = limit - vm->gas;
    if (vm->status == VM_SUCCEEDED) vm->gas_used -= vm->refund < vm->gas_used / 5 ? vm->refund : vm->gas_used / 5;
    if (vm->status != VM_SUCCEEDED) {
        journal_revert(&vm->journal);
        vm->log_count = 0;
        vm->log_data.length = 0;
    }
    if (vm->status == VM_FAILED) vm->output.length = 0;
    struct entry *balance = vm_place(vm, vm->sender, PLACE_BALANCE, u256_of(0));
    if (vm->status == VM_SUCCEEDED)
        balance->value = u256_add(balance->value, u256_mul(price, u256_of(limit - vm->gas_used)));
    else
        balance->value = u256_sub(balance->value, u256_add(u256_mul(price, u256_of(vm->gas_used)),
                                                           transaction_blob_fee(vm->world->block, vm->tx)));
}

static enum vm_status end(struct vm *vm, enum vm_status status) {
    vm->status = status;
    settle_gas(vm);
    vm_trim(vm);
    return status;
}

/* Gas and blobs are paid before anything else, the value moves next. false: there is not enough for it. */
static bool pay(struct vm *vm) {
    const struct block *block = vm->world->block;
    const struct transaction *tx = vm->tx;
    struct entry *balance = vm_place(vm, vm->sender, PLACE_BALANCE, u256_of(0));
    const struct u256 fee = u256_add(u256_mul(block->base_fee, u256_of(tx->gas)), transaction_blob_fee(block, tx));
    if (u256_less(balance->value, fee) || u256_less(u256_sub(balance->value, fee), tx->value)) return false;
    balance->value = u256_sub(u256_sub(balance->value, fee), tx->value);
    if (u256_is_zero(tx->value)) return true;
    struct entry *target = vm_place(vm, tx->to, PLACE_BALANCE, u256_of(0));
    target->value = u256_add(target->value, tx->value);
    return true;
}

static void begin(struct vm *vm, const struct vm_world *world, size_t number) {
    vm->world = world;
    vm->number = number;
    vm->tx = &world->block->transactions[number];
    memcpy(vm->sender, world->prepared[number].sender, 20);
    clear(vm);
}

void vm_refuse(struct vm *vm, const struct vm_world *world, size_t number, const char *why) {
    begin(vm, world, number);
    vm->status = VM_INVALID;
    (void)snprintf(vm->error, sizeof vm->error, "%s", why);
}

void vm_start(struct vm *vm, const struct vm_world *world, size_t number) {
    begin(vm, world, number);
    if (!pay(vm)) {
        vm->status = VM_INVALID; /* what was found stays in the journal: the verdict rests on it */
        (void)snprintf(vm->error, sizeof vm->error, "the sender cannot pay for gas and value");
        return;
    }
    vm->gas = vm->tx->gas - transaction_base_gas(vm->tx);
    vm->status = VM_RUNNING;
    vm->contract = state_contract(world->state, vm->tx->to);
    if (!vm->tx->has_to)
        (void)end(vm, vm_fail(vm, "a transaction without `to` is not supported: no contract creation"));
    else if (precompile_at(vm->tx->to))
        (void)end(vm, vm_fail(vm, "a transaction to a precompile is not supported"));
    else if (!vm->contract)
        (void)end(vm, VM_SUCCEEDED);
}

/* ---- instructions --------------------------------------------------------------------------------------------- */

static void trace(const struct vm *vm, const char *name) {
    (void)fprintf(vm->world->trace, "tx %zu run %u pc %zu %s gas %llu stack %u", vm->number, vm->runs, vm->pc, name,
                  (unsigned long long)vm->gas, vm->depth);
    if (vm->depth) {
        uint8_t top[32];
        u256_to(vm->stack[vm->depth - 1], top);
        size_t first = 0;
        while (first < 31 && top[first] == 0) first++;
        (void)fputs(" top 0x", vm->world->trace);
        for (; first < 32; first++) (void)fprintf(vm->world->trace, "%02x", top[first]);
    }
    (void)fputc('\n', vm->world->trace);
}

/* Is the stack as an instruction needs it? */
static bool stack_fits(struct vm *vm, const struct opcode_info *info) {
    if (vm->depth < info->in) return (void)vm_fail(vm, "%s: the stack has too little on it", info->name), false;
    const uint32_t then = vm->depth - info->in + info->out;
    if (then > VM_STACK) return (void)vm_fail(vm, "%s: the stack is full", info->name), false;
    if (then > vm->stack_room) {
        vm->stack_room = 2 * then;
        vm->stack = memory_resize(vm->stack, vm->stack_room, sizeof *vm->stack);
    }
    return true;
}

static enum vm_status step(struct vm *vm) {
    const unsigned op = vm->pc < vm->contract->length ? vm->contract->code[vm->pc] : OP_STOP;
    const struct opcode_info *info = &opcodes[op];
    if (!info->name) return vm_fail(vm, "0x%02x is no instruction", op);
    if (vm->world->trace) trace(vm, info->name);
    if (!stack_fits(vm, info) || !vm_charge(vm, info->gas)) return VM_FAILED;
    vm->pc++;
    return info->run(vm, op);
}

enum vm_status vm_run(struct vm *vm, uint64_t steps) {
    enum vm_status status = vm->status;
    while (status == VM_RUNNING && steps-- > 0) status = step(vm);
    if (status != VM_RUNNING && status != VM_PARKED) return end(vm, status);
    vm->status = status;
    return status;
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

void vm_trim(struct vm *vm) {
    free(vm->stack);
    vm->stack = NULL;
    vm->stack_room = vm->depth = 0;
    bytes_free(&vm->memory.bytes);
    bytes_free(&vm->returned);
}

void vm_free(struct vm *vm) {
    vm_trim(vm);
    table_free(&vm->journal.table);
    bytes_free(&vm->output);
    free(vm->logs);
    bytes_free(&vm->log_data);
    free(vm->memo.answers);
    *vm = (struct vm){0};
}
