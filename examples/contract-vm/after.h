/*
 * after.h: two roots over what a block did, so that two runs can be compared by 64 bytes.
 *
 *   results   a leaf a transaction: name, status, gas, output, logs
 *   changes   a leaf a place of the state that holds something else than before the block, in the order of places
 *
 * One batch: leaves are hashed with keccak256, and the trees take the hashes as the results of the tasks before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_AFTER_H
#define CONTRACT_VM_AFTER_H

#include "vm.h"

#include <svmx/svmx.h>

struct roots {
    uint8_t results[32], changes[32]; /* zeros where there is nothing */
};

/* Places that changed, in order; *count of them, for free(). */
struct entry *after_changes(const struct state *state, size_t *count);

/* SVMX_OK, or svmx_batch_error(batch) has the reason. */
enum svmx_status after_roots(svmx_batch_t *batch, const struct vm *vms, size_t vm_count,
                             const struct prepared *prepared, const struct entry *changes, size_t change_count,
                             struct roots *roots);

#endif
