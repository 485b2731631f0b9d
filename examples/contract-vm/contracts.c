/*
 * contracts.c: code, a line an idea: where it stands, what it does, and [what is on the stack then, the top last].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contracts.h"
#include "opcodes.h"

/* clang-format off */

/* Balances are a mapping in slot 0, as Solidity lays it out: that of A stands in slot keccak256(A || 0). Memory from 32 on
 * is never written, so that it is the 0. */
static const uint8_t token[] = {
    /* 00 */ OP_CALLER, OP_PUSH0, OP_MSTORE,                  /* memory: from || 0 */
    /* 03 */ OP_PUSH1, 64, OP_PUSH0, OP_KECCAK256,            /* [place] parks */
    /* 07 */ OP_DUP1, OP_SLOAD,                               /* [place, balance] */
    /* 09 */ OP_PUSH1, 32, OP_CALLDATALOAD,                   /* [place, balance, amount] */
    /* 12 */ OP_DUP1, OP_DUP3, OP_LT, OP_PUSH1, 88, OP_JUMPI, /* balance < amount: revert */
    /* 18 */ OP_DUP1, OP_SWAP2, OP_SUB,                       /* [place, amount, balance - amount] */
    /* 21 */ OP_SWAP1, OP_SWAP2, OP_SSTORE,                   /* [amount] */
    /* 24 */ OP_PUSH0, OP_CALLDATALOAD,                       /* [amount, to] */
    /* 26 */ OP_DUP1, OP_PUSH0, OP_MSTORE,                    /* memory: to || 0 */
    /* 29 */ OP_PUSH1, 64, OP_PUSH0, OP_KECCAK256,            /* [amount, to, place] parks */
    /* 33 */ OP_DUP1, OP_SLOAD, OP_DUP4, OP_ADD,              /* [amount, to, place, balance + amount] */
    /* 37 */ OP_SWAP1, OP_SSTORE,                             /* [amount, to] */
    /* 39 */ OP_SWAP1, OP_PUSH0, OP_MSTORE, OP_CALLER,        /* [to, from], memory: amount */
    /* 43 */ OP_PUSH32,                                       /* keccak256("Transfer(address,address,uint256)") */
             0xdd, 0xf2, 0x52, 0xad, 0x1b, 0xe2, 0xc8, 0x9b, 0x69, 0xc2, 0xb0, 0x68, 0xfc, 0x37, 0x8d, 0xaa,
             0x95, 0x2b, 0xa7, 0xf1, 0x63, 0xc4, 0xa1, 0x16, 0x28, 0xf5, 0x5a, 0x4d, 0xf5, 0x23, 0xb3, 0xef,
    /* 76 */ OP_PUSH1, 32, OP_PUSH0, OP_LOG3,                 /* Transfer(from, to, amount) */
    /* 80 */ OP_PUSH1, 1, OP_PUSH0, OP_MSTORE,
    /* 84 */ OP_PUSH1, 32, OP_PUSH0, OP_RETURN,               /* true */
    /* 88 */ OP_JUMPDEST, OP_PUSH0, OP_PUSH0, OP_REVERT,
};

static const uint8_t hasher[] = {
    /* 00 */ OP_PUSH0, OP_CALLDATALOAD, OP_PUSH0, OP_MSTORE,  /* memory: seed */
    /* 04 */ OP_PUSH1, 32, OP_CALLDATALOAD,                   /* [rounds] */
    /* 07 */ OP_JUMPDEST, OP_DUP1, OP_ISZERO, OP_PUSH1, 27, OP_JUMPI, /* none left: on at 27 */
    /* 13 */ OP_PUSH1, 64, OP_CALLDATALOAD, OP_PUSH0, OP_KECCAK256, /* [rounds, hash] parks */
    /* 18 */ OP_PUSH0, OP_MSTORE,                             /* which is the beginning of what is hashed next */
    /* 20 */ OP_PUSH1, 1, OP_SWAP1, OP_SUB,                   /* [rounds - 1] */
    /* 24 */ OP_PUSH1, 7, OP_JUMP,
    /* 27 */ OP_JUMPDEST, OP_PUSH0, OP_MLOAD, OP_CALLER, OP_SSTORE, /* slot of the sender = hash */
    /* 32 */ OP_PUSH1, 32, OP_PUSH0, OP_LOG0,
    /* 36 */ OP_STOP,
};

static const uint8_t signer[] = {
    /* 00 */ OP_PUSH0, OP_PUSH0,                              /* [sum, at] */
    /* 02 */ OP_JUMPDEST, OP_DUP1, OP_CALLDATASIZE, OP_GT, OP_ISZERO, OP_PUSH1, 39, OP_JUMPI, /* at the end: on at 39 */
    /* 10 */ OP_PUSH1, 128, OP_DUP2, OP_PUSH0, OP_CALLDATACOPY, /* memory: hash, v, r, s */
    /* 15 */ OP_PUSH1, 32, OP_PUSH1, 128, OP_PUSH1, 128, OP_PUSH0, OP_PUSH1, 1, OP_GAS, OP_STATICCALL, /* parks */
    /* 26 */ OP_POP,                                          /* it never fails; who signed is at 128 */
    /* 27 */ OP_SWAP1, OP_PUSH1, 128, OP_MLOAD, OP_ADD, OP_SWAP1, /* [sum + address, at] */
    /* 33 */ OP_PUSH1, 128, OP_ADD, OP_PUSH1, 2, OP_JUMP,     /* [sum, at + 128] */
    /* 39 */ OP_JUMPDEST, OP_POP, OP_CALLER, OP_SSTORE,       /* slot of the sender = sum */
    /* 43 */ OP_STOP,
};

static const uint8_t counter[] = {
    /* 00 */ OP_PUSH0, OP_SLOAD, OP_PUSH0, OP_CALLDATALOAD, OP_ADD, /* [total] */
    /* 05 */ OP_DUP1, OP_PUSH0, OP_SSTORE,                    /* slot 0 = total */
    /* 08 */ OP_CALLER, OP_PUSH0, OP_MSTORE,
    /* 11 */ OP_PUSH1, 32, OP_PUSH0, OP_KECCAK256,            /* [total, place] parks; the same when it runs again */
    /* 15 */ OP_DUP2, OP_SWAP1, OP_SSTORE,                    /* [total], what the sender saw */
    /* 18 */ OP_PUSH0, OP_MSTORE,
    /* 20 */ OP_PUSH1, 32, OP_PUSH0, OP_KECCAK256,            /* [hash of total] parks; another when it runs again */
    /* 24 */ OP_PUSH1, 1, OP_SSTORE,                          /* slot 1 */
    /* 27 */ OP_STOP,
};

static const uint8_t digest[] = {
    /* 00 */ OP_CALLDATASIZE, OP_PUSH0, OP_PUSH0, OP_CALLDATACOPY,
    /* 04 */ OP_PUSH1, 32, OP_PUSH0, OP_CALLDATASIZE, OP_PUSH0, OP_PUSH1, 2, OP_GAS, OP_STATICCALL, OP_POP, /* parks */
    /* 14 */ OP_PUSH1, 32, OP_PUSH1, 32, OP_PUSH1, 32, OP_PUSH0, OP_PUSH1, 4, OP_GAS, OP_STATICCALL, OP_POP, /* a copy */
    /* 26 */ OP_PUSH1, 32, OP_MLOAD, OP_CALLER, OP_SSTORE,    /* slot of the sender = digest */
    /* 31 */ OP_STOP,
};
/* clang-format on */

#define AT(number)                                                                                                     \
    { [17] = 0xc0, [18] = 0xde, [19] = (number) }

const struct contract_code contract_codes[CONTRACT_NAMES] = {[CONTRACT_TOKEN] = {AT(1), token, sizeof token},
                                                             [CONTRACT_HASHER] = {AT(2), hasher, sizeof hasher},
                                                             [CONTRACT_SIGNER] = {AT(3), signer, sizeof signer},
                                                             [CONTRACT_COUNTER] = {AT(4), counter, sizeof counter},
                                                             [CONTRACT_DIGEST] = {AT(5), digest, sizeof digest}};
