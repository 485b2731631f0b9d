/*
 * opcodes.h: the instructions up to Cancun: number, name, gas and stack; and the functions that do them.
 *
 * The interpreter (vm.c) looks at the table, takes the gas and sees to the stack; what is left is for the function. Those
 * are in ops_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_OPCODES_H
#define CONTRACT_VM_OPCODES_H

#include "vm.h"

/* clang-format off */
enum opcode {
    OP_STOP = 0x00, OP_ADD, OP_MUL, OP_SUB, OP_DIV, OP_SDIV, OP_MOD, OP_SMOD, OP_ADDMOD, OP_MULMOD, OP_EXP,
    OP_SIGNEXTEND,
    OP_LT = 0x10, OP_GT, OP_SLT, OP_SGT, OP_EQ, OP_ISZERO, OP_AND, OP_OR, OP_XOR, OP_NOT, OP_BYTE, OP_SHL, OP_SHR,
    OP_SAR,
    OP_KECCAK256 = 0x20,
    OP_ADDRESS = 0x30, OP_BALANCE, OP_ORIGIN, OP_CALLER, OP_CALLVALUE, OP_CALLDATALOAD, OP_CALLDATASIZE,
    OP_CALLDATACOPY, OP_CODESIZE, OP_CODECOPY, OP_GASPRICE, OP_EXTCODESIZE, OP_EXTCODECOPY, OP_RETURNDATASIZE,
    OP_RETURNDATACOPY, OP_EXTCODEHASH,
    OP_BLOCKHASH = 0x40, OP_COINBASE, OP_TIMESTAMP, OP_NUMBER, OP_PREVRANDAO, OP_GASLIMIT, OP_CHAINID, OP_SELFBALANCE,
    OP_BASEFEE, OP_BLOBHASH, OP_BLOBBASEFEE,
    OP_POP = 0x50, OP_MLOAD, OP_MSTORE, OP_MSTORE8, OP_SLOAD, OP_SSTORE, OP_JUMP, OP_JUMPI, OP_PC, OP_MSIZE, OP_GAS,
    OP_JUMPDEST, OP_TLOAD, OP_TSTORE, OP_MCOPY, OP_PUSH0,
    OP_PUSH1 = 0x60, OP_PUSH2, OP_PUSH3, OP_PUSH4, OP_PUSH20 = 0x73, OP_PUSH32 = 0x7f,
    OP_DUP1 = 0x80, OP_DUP2, OP_DUP3, OP_DUP4, OP_DUP5, OP_DUP6, OP_DUP16 = 0x8f,
    OP_SWAP1 = 0x90, OP_SWAP2, OP_SWAP3, OP_SWAP4, OP_SWAP16 = 0x9f,
    OP_LOG0 = 0xa0, OP_LOG1, OP_LOG2, OP_LOG3, OP_LOG4,
    OP_CREATE = 0xf0, OP_CALL, OP_CALLCODE, OP_RETURN, OP_DELEGATECALL, OP_CREATE2,
    OP_STATICCALL = 0xfa, OP_REVERT = 0xfd, OP_INVALID, OP_SELFDESTRUCT
};
/* clang-format on */

/* Does what is left to do; `op` is its number, for those that come in families. */
typedef enum vm_status op_fn(struct vm *vm, unsigned op);

struct opcode_info {
    const char *name; /* NULL: there is no such instruction */
    op_fn *run;
    uint16_t gas;    /* that it costs in any case */
    uint8_t in, out; /* that it takes from the stack and leaves there */
};

extern const struct opcode_info opcodes[256];

/* ops_math.c */
op_fn op_add, op_mul, op_sub, op_div, op_sdiv, op_mod, op_smod, op_addmod, op_mulmod, op_exp, op_signextend;
op_fn op_lt, op_gt, op_slt, op_sgt, op_eq, op_iszero, op_and, op_or, op_xor, op_not, op_byte, op_shl, op_shr, op_sar;
/* ops_data.c */
op_fn op_keccak256, op_calldataload, op_calldatacopy, op_codecopy, op_extcodecopy, op_returndatacopy;
op_fn op_mload, op_mstore, op_mstore8, op_mcopy;
/* ops_env.c */
op_fn op_account, op_word, op_number, op_blockhash, op_blobhash;
/* ops_state.c */
op_fn op_balance, op_selfbalance, op_extcodesize, op_extcodehash, op_sload, op_sstore, op_tload, op_tstore, op_log,
    op_selfdestruct;
/* ops_flow.c */
op_fn op_stop, op_pop, op_jump, op_jumpi, op_jumpdest, op_push, op_dup, op_swap, op_return, op_invalid;
/* ops_call.c */
op_fn op_call, op_create;

#endif
