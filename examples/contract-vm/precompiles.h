/*
 * precompiles.h: contracts that are part of the machine, at the addresses 1 to 10.
 *
 * 1, 2 and 4 are here. 1 and 2 are heavy: a call of them parks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_PRECOMPILES_H
#define CONTRACT_VM_PRECOMPILES_H

#include "vm.h"

enum { PRECOMPILE_ECRECOVER = 1, PRECOMPILE_SHA256 = 2, PRECOMPILE_IDENTITY = 4, PRECOMPILE_LAST = 10 };

/* The number of a precompile of Cancun, 0 for any other address. */
unsigned precompile_at(const uint8_t address[20]);

/* What a call with so many bytes costs; 0 for one that is not here. */
uint64_t precompile_gas(unsigned number, uint64_t length);

/* Calls it with vm->request, whose at, length, out_at and out_length are set, after it was paid. */
enum vm_status precompile_call(struct vm *vm, unsigned number);

#endif
