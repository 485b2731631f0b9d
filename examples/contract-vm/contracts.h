/*
 * contracts.h: the contracts of generated blocks, assembled by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_CONTRACTS_H
#define CONTRACT_VM_CONTRACTS_H

#include <stddef.h>
#include <stdint.h>

enum contract_name {
    CONTRACT_TOKEN,   /* call data: to, amount. Moves tokens of the sender; reverts if there are too few */
    CONTRACT_HASHER,  /* call data: seed, rounds, length. Hashes `length` bytes of memory, `rounds` times */
    CONTRACT_SIGNER,  /* call data: any number of hash, v, r, s. Adds up who signed */
    CONTRACT_COUNTER, /* call data: amount. All senders add to one slot: every transaction depends on those before */
    CONTRACT_DIGEST,  /* call data: anything. SHA-256 of it, by way of precompiles 2 and 4 */
    CONTRACT_NAMES
};

struct contract_code {
    uint8_t address[20];
    const uint8_t *code;
    size_t length;
};

extern const struct contract_code contract_codes[CONTRACT_NAMES];

#endif
