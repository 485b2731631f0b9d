/*
 * operations.c: see operations.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/operations.h"

#include "ops/chain_f32.h"
#include "ops/custom.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REGISTERED_LIMIT = SVMX__OP_LIMIT - SVMX_OP_FIRST_REGISTERED };

/* FNV-1a: names are short. */
static uint32_t hash_of(const char *name) {
    uint32_t hash = UINT32_C(2166136261);
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * UINT32_C(16777619);
    return hash;
}

const struct svmx__op *svmx__operations_by_name(const struct svmx__operations *operations, const char *name) {
    for (uint32_t at = hash_of(name);; at++) {
        const struct svmx__op *op =
            atomic_load_explicit(&operations->by_name[at % SVMX__NAME_SLOTS], memory_order_acquire);
        if (!op || strcmp(op->name, name) == 0) return op;
    }
}

/* One writer at a time. The number comes last: who finds an operation by it finds it by name as well. */
static void publish(struct svmx__operations *operations, const struct svmx__op *op) {
    uint32_t at = hash_of(op->name);
    while (atomic_load_explicit(&operations->by_name[at % SVMX__NAME_SLOTS], memory_order_relaxed)) at++;
    atomic_store_explicit(&operations->by_name[at % SVMX__NAME_SLOTS], op, memory_order_release);
    atomic_store_explicit(&operations->by_id[op->id], op, memory_order_release);
}

struct svmx__operations *svmx__operations_create(void) {
    struct svmx__operations *operations = calloc(1, sizeof *operations);
    if (!operations) return NULL;
    atomic_init(&operations->references, 1);
    pthread_mutex_init(&operations->adding, NULL); /* cannot fail with default attributes */
    for (uint32_t i = 0; i < svmx__op_count(); i++) publish(operations, svmx__op_at(i));
    return operations;
}

void svmx__operations_retain(struct svmx__operations *operations) {
    atomic_fetch_add_explicit(&operations->references, 1, memory_order_relaxed);
}

void svmx__operations_release(struct svmx__operations *operations) {
    /* acq_rel: the last one sees what all the others did */
    if (!operations || atomic_fetch_sub_explicit(&operations->references, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; i < operations->registered; i++)
        svmx__custom_destroy(
            (struct svmx__op *)(uintptr_t)svmx__operations_by_id(operations, SVMX_OP_FIRST_REGISTERED + i));
    pthread_mutex_destroy(&operations->adding);
    free(operations);
}

static enum svmx_status add(struct svmx__operations *operations, struct svmx__op *op, struct svmx__text *why) {
    const struct svmx__op *other = svmx__operations_by_name(operations, op->name);
    if (other || strcmp(op->name, SVMX__CHAIN_NAME) == 0)
        return svmx__fail(why, SVMX_ERR_STATE, "name is '%s', which is in use: operation %" PRIu32, op->name,
                          other ? other->id : (uint32_t)SVMX__CHAIN_ID);
    if (operations->registered == REGISTERED_LIMIT)
        return svmx__fail(why, SVMX_ERR_OVERFLOW, "%d operations are registered, and no more fit in one executor",
                          REGISTERED_LIMIT);
    op->id = SVMX_OP_FIRST_REGISTERED + operations->registered++;
    publish(operations, op);
    return SVMX_OK;
}

enum svmx_status svmx__operations_add(struct svmx__operations *operations, struct svmx__op *op,
                                      struct svmx__text *why) {
    pthread_mutex_lock(&operations->adding);
    enum svmx_status status = add(operations, op, why);
    pthread_mutex_unlock(&operations->adding);
    return status;
}

const struct svmx__op *svmx__operations_at(const struct svmx__operations *operations, uint32_t index) {
    for (uint32_t id = 0; id < SVMX__OP_LIMIT; id++) {
        const struct svmx__op *op = svmx__operations_by_id(operations, id);
        if (op && index-- == 0) return op;
    }
    return NULL;
}

uint32_t svmx__operations_count(const struct svmx__operations *operations) {
    uint32_t count = 0;
    for (uint32_t id = 0; id < SVMX__OP_LIMIT; id++) count += svmx__operations_by_id(operations, id) != NULL;
    return count;
}
