/*
 * settle.c: in block order.
 *
 * The nonce is looked at here and nowhere else: no instruction reads it, so that a second transaction of a sender need not
 * wait for the first one to be run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "settle.h"

/* Why it may not come next; NULL: it may. */
static const char *refusal(const struct vm_world *world, size_t number, char *text, size_t bytes) {
    const struct prepared *prepared = &world->prepared[number];
    const uint64_t nonce = world->block->transactions[number].nonce;
    if (prepared->refusal) return prepared->refusal;
    const struct place place = place_of(prepared->sender, PLACE_NONCE, u256_of(0));
    const struct u256 wanted = state_read(world->state, &place);
    if (u256_equal(wanted, u256_of(nonce))) return NULL;
    (void)snprintf(text, bytes, "its nonce is %llu, and the sender's is %llu", (unsigned long long)nonce,
                   (unsigned long long)wanted.w[0]);
    return text;
}

static void commit(struct vm *vm, struct state *state) {
    const struct place nonce = place_of(vm->sender, PLACE_NONCE, u256_of(0));
    journal_commit(&vm->journal, state);
    state_write(state, &nonce, u256_add(state_read(state, &nonce), u256_of(1)));
}

static enum svmx_status settle(struct batcher *batcher, const struct vm_world *world, struct vm *vm, size_t number,
                               struct state *state) {
    char text[VM_ERROR];
    const char *why = refusal(world, number, text, sizeof text);
    enum svmx_status status = SVMX_OK;
    if (why) {
        vm_refuse(vm, world, number, why);
        return SVMX_OK;
    }
    if (vm->runs == 0 || !journal_holds(&vm->journal, state)) status = schedule_alone(batcher, world, vm, number);
    if (status == SVMX_OK && vm->status != VM_INVALID) commit(vm, state);
    return status;
}

enum svmx_status settle_block(struct batcher *batcher, const struct vm_world *world, struct vm *vms,
                              struct state *state, uint64_t *again) {
    *again = 0;
    for (size_t i = 0; i < world->block->transaction_count; i++) {
        const uint32_t before = vms[i].runs;
        const enum svmx_status status = settle(batcher, world, &vms[i], i, state);
        if (status != SVMX_OK) return status;
        *again += before > 0 && vms[i].runs > before && vms[i].status != VM_INVALID;
        vm_trim(&vms[i]);
        table_free(&vms[i].journal.table);
    }
    return SVMX_OK;
}
