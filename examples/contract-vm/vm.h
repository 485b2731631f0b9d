/*
 * vm.h: one transaction, being run: stack, memory, gas, journal, logs; and the pattern that this example is about.
 *
 *   vm_start     checks, buys gas, moves the value
 *   vm_run       runs until it is done, or PARKED: it wants a hash or a signature looked at, and cannot go on without
 *   vm_input     what a parked one wants to have hashed or looked at
 *   vm_answer    gives it, whoever computed it; the next vm_run goes on behind the instruction that asked
 *
 *   RUNNING --KECCAK256, or a call of a heavy precompile--> PARKED --vm_answer--> RUNNING --> SUCCEEDED, REVERTED, FAILED
 *
 * A VM that would call a hash function becomes one that can be put aside, and that is all that embedding the executor
 * asks of it: everything of a transaction lives in this struct, nothing of it on the C stack. Who runs many of these, and
 * puts their requests together, is schedule.c.
 *
 * One thread at a time has a vm. It reads the state and never writes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_VM_H
#define CONTRACT_VM_VM_H

#include "journal.h"
#include "memo.h"
#include "memory.h"
#include "transaction.h"

enum vm_status {
    VM_RUNNING,
    VM_PARKED,
    VM_SUCCEEDED, /* STOP, RETURN, SELFDESTRUCT */
    VM_REVERTED,  /* REVERT: what it did is undone, gas that is left comes back */
    VM_FAILED,    /* ran out of gas, jumped nowhere, not supported ...: undone, and all gas is gone */
    VM_INVALID    /* may not be in a block at all: costs nothing and does nothing */
};

enum { VM_STACK = 1024, VM_ERROR = 96 };

/* What a parked vm wants. */
struct vm_request {
    enum request_kind kind;
    bool is_call;        /* answered as a call is: return data, memory, 1 on the stack; else the hash on the stack */
    uint64_t at, length; /* the input, in the memory of the contract */
    uint64_t out_at, out_length;
    uint8_t words[128]; /* the input of REQUEST_RECOVER: hash, v, r, s */
};

struct vm_log {
    uint32_t topic_count;
    struct u256 topics[4];
    size_t data_at, data_length; /* in log_data */
};

/* What all transactions of a block share while they run. */
struct vm_world {
    const struct block *block;
    const struct state *state;
    const struct prepared *prepared; /* by transaction */
    FILE *trace;                     /* every instruction is written there; NULL: none */
    bool remember;                   /* keep answers, because the transaction may have to run again */
};

struct vm {
    const struct vm_world *world;
    const struct transaction *tx;
    size_t number; /* of the transaction in the block */
    uint8_t sender[20];
    const struct contract *contract; /* NULL: none at that address */

    enum vm_status status;
    char error[VM_ERROR]; /* why it FAILED or is INVALID */
    uint64_t gas, gas_used, refund;
    size_t pc;
    struct u256 *stack;
    uint32_t depth, stack_room;
    struct memory memory;
    struct journal journal;
    struct bytes returned; /* by the last call */
    struct bytes output;   /* of the transaction: RETURN, REVERT */
    struct vm_log *logs;
    size_t log_count;
    struct bytes log_data;

    struct vm_request request;
    struct memo memo;
    uint32_t runs; /* 1, or more if it was run again */
};

/* Begins a transaction that was not refused, or begins it anew. `vm` is all 0 the first time. RUNNING, or done already. */
void vm_start(struct vm *vm, const struct vm_world *world, size_t number);

/* Instead of it: the transaction may not be in the block. */
void vm_refuse(struct vm *vm, const struct vm_world *world, size_t number, const char *why);

/* Runs at most `steps` instructions. RUNNING: there is more to do. */
enum vm_status vm_run(struct vm *vm, uint64_t steps);

/* The input of what is wanted: its length is in *length. Stays until vm_answer. */
const uint8_t *vm_input(const struct vm *vm, size_t *length);
/* `answer` has 32 bytes; of REQUEST_RECOVER it may be NULL: nobody signed that. */
void vm_answer(struct vm *vm, const uint8_t *answer);

/* Gives back what only running needs; the result stays. */
void vm_trim(struct vm *vm);
void vm_free(struct vm *vm);

/* ---- for the instructions: ops_*.c and precompiles.c ------------------------------------------------------------ */

/* Ends the transaction. Always VM_FAILED. */
enum vm_status vm_fail(struct vm *vm, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* false: there was not enough gas, and the transaction has failed. */
bool vm_charge(struct vm *vm, uint64_t gas);
/* Pays for memory [at, at + length) and makes it; sets both as plain numbers. false: it has failed. */
bool vm_reach(struct vm *vm, struct u256 at, struct u256 length, uint64_t *from, uint64_t *bytes);

/* Asks for what request says: PARKED, or RUNNING if the answer is known from an earlier run. */
enum vm_status vm_ask(struct vm *vm);

/* What touching an account costs: dear the first time, cheap from now on (EIP-2929). */
enum { VM_WARM_ACCOUNT = 100, VM_COLD_ACCOUNT = 2600 };
uint64_t vm_account_cost(struct vm *vm, const uint8_t address[20]);
static inline bool vm_touch_account(struct vm *vm, const uint8_t address[20]) {
    return vm_charge(vm, vm_account_cost(vm, address));
}
/* Has it no code, no balance and no nonce (EIP-161)? */
bool vm_is_empty(struct vm *vm, const uint8_t address[20]);
struct entry *vm_place(struct vm *vm, const uint8_t address[20], enum place_kind kind, struct u256 slot);

/* Depth was looked at before an instruction runs (opcodes.c says how much each takes and leaves). */
static inline struct u256 *vm_top(struct vm *vm, uint32_t below) { return &vm->stack[vm->depth - 1 - below]; }
static inline struct u256 vm_pop(struct vm *vm) { return vm->stack[--vm->depth]; }
static inline void vm_push(struct vm *vm, struct u256 value) { vm->stack[vm->depth++] = value; }

#endif
