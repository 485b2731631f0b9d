/*
 * settle.h: brings the results of transactions into the order of the block.
 *
 * One after another: a transaction whose journal still holds is written into the state as it is; one that has seen what an
 * earlier one changed runs again, now against the state that it should have seen, which nobody changes any more. So every
 * transaction ends as it would have if all had run one after another, always. Running serially is the same loop with no
 * results to begin with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTRACT_VM_SETTLE_H
#define CONTRACT_VM_SETTLE_H

#include "schedule.h"

/* `vms` as schedule_* left them, or all 0. *again counts those that ran a second time. `state` is world->state. */
enum svmx_status settle_block(struct batcher *batcher, const struct vm_world *world, struct vm *vms,
                              struct state *state, uint64_t *again);

#endif
