/*
 * random_code.c: random instructions that keep the stack in order, over a handful of slots, so that transactions
 * disturb each other; with hashes, precompiles, jumps ahead, and now and then something that must fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "generate.h"
#include "opcodes.h"
#include "precompiles.h"

enum { LENGTH = 120, SLOTS = 4 };

struct writer {
    struct dice *dice;
    struct bytes *code;
    size_t depth; /* of the stack where the code is */
};

static void put(struct writer *writer, unsigned byte) {
    const uint8_t one = (uint8_t)byte;
    bytes_add(writer->code, &one, 1);
}

static void put_op(struct writer *writer, unsigned op) {
    put(writer, op);
    writer->depth += opcodes[op].out;
    writer->depth -= opcodes[op].in;
}

static void push_byte(struct writer *writer, unsigned value) {
    put_op(writer, OP_PUSH1);
    put(writer, value);
}

/* Small numbers, large ones, and the ones where signs change. */
static void push_any(struct writer *writer) {
    static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    const size_t length = dice_below(writer->dice, 4) ? 1 : 1 + dice_below(writer->dice, 32);
    const uint8_t edge = edges[dice_below(writer->dice, sizeof edges)];
    put_op(writer, OP_PUSH1 + (unsigned)length - 1);
    for (size_t i = 0; i < length; i++)
        put(writer, dice_below(writer->dice, 3) ? edge : (unsigned)dice_below(writer->dice, 256));
}

static unsigned place(struct writer *writer) { return 8 * (unsigned)dice_below(writer->dice, 24); }

static void compute(struct writer *writer) {
    unsigned op;
    do op = (unsigned)dice_below(writer->dice, OP_SAR + 1);
    while (op == OP_STOP || !opcodes[op].name);
    while (writer->depth < opcodes[op].in) push_any(writer);
    put_op(writer, op);
}

static void use_memory(struct writer *writer) {
    static const uint8_t ops[] = {OP_MSTORE, OP_MSTORE8, OP_MLOAD, OP_MCOPY, OP_CALLDATACOPY, OP_CODECOPY};
    const unsigned op = ops[dice_below(writer->dice, sizeof ops)];
    if (opcodes[op].in == 3) push_byte(writer, (unsigned)dice_below(writer->dice, 80));
    if (opcodes[op].in == 3) push_byte(writer, place(writer));
    if (opcodes[op].in == 2) push_any(writer);
    push_byte(writer, place(writer));
    put_op(writer, op);
}

static void use_storage(struct writer *writer) {
    static const uint8_t ops[] = {OP_SLOAD, OP_SSTORE, OP_SLOAD, OP_SSTORE, OP_TLOAD, OP_TSTORE};
    const unsigned op = ops[dice_below(writer->dice, sizeof ops)];
    if (opcodes[op].in == 2 && (writer->depth == 0 || dice_below(writer->dice, 3) == 0)) push_any(writer);
    push_byte(writer, (unsigned)dice_below(writer->dice, SLOTS));
    put_op(writer, op);
}

static void hash(struct writer *writer) {
    push_byte(writer, (unsigned)dice_below(writer->dice, 200));
    push_byte(writer, place(writer));
    put_op(writer, OP_KECCAK256);
}

/* All that the call answered; now and then some bytes that may not be there, which fails. */
static void take_answer(struct writer *writer) {
    if (dice_below(writer->dice, 12)) {
        put_op(writer, OP_RETURNDATASIZE);
        put_op(writer, OP_PUSH0);
    } else {
        push_byte(writer, (unsigned)dice_below(writer->dice, 33));
        push_byte(writer, (unsigned)dice_below(writer->dice, 8));
    }
    push_byte(writer, place(writer));
    put_op(writer, OP_RETURNDATACOPY);
}

static void call(struct writer *writer) {
    static const uint8_t targets[] = {PRECOMPILE_ECRECOVER, PRECOMPILE_SHA256, PRECOMPILE_SHA256, PRECOMPILE_IDENTITY};
    static const uint8_t ops[] = {OP_STATICCALL, OP_DELEGATECALL, OP_CALL, OP_CALLCODE};
    const unsigned op = ops[dice_below(writer->dice, sizeof ops)];
    for (int i = 0; i < 2; i++) { /* the output and the input: where it is, and in front of that its length */
        push_byte(writer, (unsigned)dice_below(writer->dice, 130));
        push_byte(writer, place(writer));
    }
    if (opcodes[op].in == 7) put_op(writer, OP_PUSH0); /* no value */
    push_byte(writer, dice_below(writer->dice, 60) ? targets[dice_below(writer->dice, sizeof targets)]
                                                   : (unsigned)dice_below(writer->dice, 14));
    put_op(writer, OP_GAS);
    put_op(writer, op);
    if (dice_below(writer->dice, 2)) take_answer(writer);
}

static void look_around(struct writer *writer, const uint8_t (*addresses)[20], size_t address_count) {
    static const uint8_t plain[] = {OP_ADDRESS,  OP_ORIGIN,   OP_CALLER,   OP_CALLVALUE,   OP_CALLDATASIZE,
                                    OP_CODESIZE, OP_GASPRICE, OP_COINBASE, OP_TIMESTAMP,   OP_NUMBER,
                                    OP_GASLIMIT, OP_CHAINID,  OP_BASEFEE,  OP_SELFBALANCE, OP_PREVRANDAO,
                                    OP_PC,       OP_MSIZE,    OP_GAS,      OP_PUSH0,       OP_RETURNDATASIZE};
    static const uint8_t asking[] = {OP_BALANCE, OP_EXTCODESIZE, OP_EXTCODEHASH};
    if (dice_below(writer->dice, 3)) {
        put_op(writer, plain[dice_below(writer->dice, sizeof plain)]);
        return;
    }
    put_op(writer, OP_PUSH20);
    bytes_add(writer->code, addresses[dice_below(writer->dice, address_count)], 20);
    put_op(writer, asking[dice_below(writer->dice, sizeof asking)]);
}

static void log_something(struct writer *writer) {
    const unsigned op = OP_LOG0 + (unsigned)dice_below(writer->dice, 5);
    while (writer->depth + 2 < opcodes[op].in) push_any(writer);
    push_byte(writer, (unsigned)dice_below(writer->dice, 64));
    push_byte(writer, place(writer));
    put_op(writer, op);
}

static void shuffle(struct writer *writer) {
    const unsigned many = (unsigned)(writer->depth < 16 ? writer->depth : 16);
    if (many == 0) return;
    if (many > 1 && dice_below(writer->dice, 2))
        put_op(writer, OP_SWAP1 + (unsigned)dice_below(writer->dice, many - 1));
    else
        put_op(writer, dice_below(writer->dice, 4) ? OP_DUP1 + (unsigned)dice_below(writer->dice, many) : OP_POP);
}

/* Over instructions that leave the stack as it is, on a condition that may depend on anything. */
static void jump_ahead(struct writer *writer) {
    if (writer->depth == 0) push_any(writer);
    push_byte(writer, (unsigned)writer->code->length + 8); /* 3 up to JUMPI, 5 up to SSTORE */
    put_op(writer, OP_JUMPI);
    push_byte(writer, (unsigned)dice_below(writer->dice, 256));
    push_byte(writer, (unsigned)dice_below(writer->dice, SLOTS));
    put_op(writer, OP_SSTORE);
    put_op(writer, OP_JUMPDEST);
}

/* Returns, reverts, stops, gives its balance away, or fails. */
static void finish(struct writer *writer) {
    static const uint8_t ops[] = {OP_RETURN, OP_RETURN, OP_RETURN,       OP_REVERT,
                                  OP_STOP,   OP_STOP,   OP_SELFDESTRUCT, OP_INVALID};
    const unsigned op = ops[dice_below(writer->dice, sizeof ops)];
    if (opcodes[op].in > 1) push_byte(writer, (unsigned)dice_below(writer->dice, 100));
    if (opcodes[op].in > 0) push_byte(writer, place(writer));
    put_op(writer, op);
}

void random_code(struct dice *dice, struct bytes *code, const uint8_t (*addresses)[20], size_t address_count) {
    struct writer writer = {dice, code, 0};
    if (dice_below(dice, 16) == 0) { /* anything at all */
        dice_bytes(dice, bytes_extend(code, LENGTH), LENGTH);
        return;
    }
    while (code->length < LENGTH) switch (dice_below(dice, 12)) {
        case 0: push_any(&writer); break;
        case 1:
        case 2: compute(&writer); break;
        case 3: use_memory(&writer); break;
        case 4:
        case 5:
        case 6: use_storage(&writer); break;
        case 7: hash(&writer); break;
        case 8: call(&writer); break;
        case 9: look_around(&writer, addresses, address_count); break;
        case 10: dice_below(dice, 2) ? log_something(&writer) : shuffle(&writer); break;
        default: jump_ahead(&writer); break;
        }
    finish(&writer);
}
