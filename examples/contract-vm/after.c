/*
 * after.c: leaves and trees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "after.h"
#include "messages.h"
#include "rlp.h"

#include <svmx/ops.h>

struct entry *after_changes(const struct state *state, size_t *count) {
    struct entry *changes = memory_resize(NULL, state->table.count, sizeof *changes);
    *count = 0;
    for (size_t i = 0; i < state->table.count; i++)
        if (!u256_equal(state->table.entries[i].before, state->table.entries[i].value))
            changes[(*count)++] = state->table.entries[i];
    qsort(changes, *count, sizeof *changes, entry_compare);
    return changes;
}

/* ---- leaves --------------------------------------------------------------------------------------------------- */

static void put_log(struct bytes *out, const struct vm *vm, const struct vm_log *log) {
    struct bytes topics = {0}, list = {0};
    for (uint32_t t = 0; t < log->topic_count; t++) {
        uint8_t topic[32];
        u256_to(log->topics[t], topic);
        rlp_bytes(&topics, topic, sizeof topic);
    }
    rlp_bytes(&list, vm->tx->to, 20);
    rlp_list(&list, &topics);
    rlp_bytes(&list, log->data_length ? vm->log_data.data + log->data_at : NULL, log->data_length);
    rlp_list(out, &list);
    bytes_free(&topics);
    bytes_free(&list);
}

static void add_result(struct messages *leaves, const struct vm *vm, const uint8_t hash[32]) {
    struct bytes logs = {0}, list = {0};
    for (size_t i = 0; i < vm->log_count; i++) put_log(&logs, vm, &vm->logs[i]);
    rlp_bytes(&list, hash, 32);
    rlp_number(&list, u256_of((uint64_t)vm->status));
    rlp_number(&list, u256_of(vm->gas_used));
    rlp_bytes(&list, vm->output.data, vm->output.length);
    rlp_list(&list, &logs);
    rlp_list(&leaves->data, &list);
    messages_close(leaves);
    bytes_free(&logs);
    bytes_free(&list);
}

static void add_change(struct messages *leaves, const struct entry *entry) {
    uint8_t leaf[20 + 1 + 32 + 32];
    memcpy(leaf, entry->place.address, 20);
    leaf[20] = (uint8_t)entry->place.kind;
    u256_to(entry->place.slot, leaf + 21);
    u256_to(entry->value, leaf + 53);
    messages_add(leaves, leaf, sizeof leaf);
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

/* The tree over the hashes of leaves; the hashes stay in memory of the library, nobody needs them here. */
static enum svmx_status add_tree(svmx_batch_t *batch, const struct messages *leaves, uint8_t root[32]) {
    memset(root, 0, 32);
    if (leaves->count == 0) return SVMX_OK;
    const uint32_t hashing = svmx_batch_task_count(batch);
    const struct svmx_arg hash[] = {svmx_out_library(SVMX_U8, 32 * leaves->count),
                                    svmx_in(SVMX_U8, leaves->data.data, leaves->data.length),
                                    svmx_in(SVMX_U64, leaves->offsets, leaves->count + 1)};
    const struct svmx_arg tree[] = {svmx_out(SVMX_U8, root, 32), svmx_result_of(SVMX_U8, hashing, 0),
                                    svmx_u32(SVMX_MERKLE_PROMOTE)};
    const enum svmx_status status = svmx_batch_add(batch, SVMX_OP_KECCAK256, hash, 3);
    return status == SVMX_OK ? svmx_batch_add(batch, SVMX_OP_MERKLE_ROOT_KECCAK256, tree, 3) : status;
}

enum svmx_status after_roots(svmx_batch_t *batch, const struct vm *vms, size_t vm_count,
                             const struct prepared *prepared, const struct entry *changes, size_t change_count,
                             struct roots *roots) {
    struct messages results = {0}, places = {0};
    for (size_t i = 0; i < vm_count; i++) add_result(&results, &vms[i], prepared[i].hash);
    for (size_t i = 0; i < change_count; i++) add_change(&places, &changes[i]);
    enum svmx_status status = svmx_batch_reset(batch);
    if (status == SVMX_OK) status = add_tree(batch, &results, roots->results);
    if (status == SVMX_OK) status = add_tree(batch, &places, roots->changes);
    if (status == SVMX_OK) status = svmx_run(batch);
    messages_free(&results);
    messages_free(&places);
    return status;
}
