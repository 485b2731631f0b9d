/*
 * operations.h: the operations of one executor: the built-in ones, and those that the program registered.
 *
 *   by_id    [ . ][vec_add_f32][vec_mul_f32] ... [128: the first registered][129] ... [255]
 *   by_name  the same pointers, by a hash of the name, open addressing
 *
 * Entries are added and never change or go, so that readers need no lock: svmx_batch_add finds an operation by one load,
 * and a backend runs its reference code by name for every task. Shared by the executor and the hosts of its backends: an
 * instance that was abandoned may ask after the executor has gone. Knows neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_OPERATIONS_H
#define SVMX_OPS_OPERATIONS_H

#include "ops/op.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SVMX__NAME_SLOTS = 2 * SVMX__OP_LIMIT }; /* a power of two, never full */

typedef _Atomic(const struct svmx__op *) svmx__op_entry; /* release when added, acquire when looked up */

struct svmx__operations {
    svmx__op_entry by_id[SVMX__OP_LIMIT];
    svmx__op_entry by_name[SVMX__NAME_SLOTS];
    pthread_mutex_t adding; /* writers only; guards registered. Nothing is called under it */
    uint32_t registered;
    atomic_uint references;
};

/* With the built-in operations in it, and one reference. NULL: no memory. */
struct svmx__operations *svmx__operations_create(void);
void svmx__operations_retain(struct svmx__operations *operations);
void svmx__operations_release(struct svmx__operations *operations); /* the last one frees it; NULL is fine */

/* Gives an operation of svmx__custom_create its number, takes it over and lets everybody see it. STATE: the name is in
 * use; OVERFLOW: no number is left; the operation is still the caller's then. Any thread. */
enum svmx_status svmx__operations_add(struct svmx__operations *operations, struct svmx__op *op, struct svmx__text *why);

/* By number; NULL for one that none has. */
static inline const struct svmx__op *svmx__operations_by_id(const struct svmx__operations *operations, uint32_t id) {
    return id < SVMX__OP_LIMIT ? atomic_load_explicit(&operations->by_id[id], memory_order_acquire) : NULL;
}

/* By name; NULL if unknown. */
const struct svmx__op *svmx__operations_by_name(const struct svmx__operations *operations, const char *name);
/* By position: built-in ones, then the others as they were registered; NULL past the end. */
const struct svmx__op *svmx__operations_at(const struct svmx__operations *operations, uint32_t index);
uint32_t svmx__operations_count(const struct svmx__operations *operations);

#endif
