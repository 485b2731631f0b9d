/*
 * items.h: lengths of arrays: against one another, and of examples.
 *
 * What most operations' check and shape consist of. An item is `record` elements of a parameter. Called by the
 * operations of this folder; knows none of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_OPS_ITEMS_H
#define SVMX_OPS_ITEMS_H

#include "ops/op.h"

/* Bytes of one item. */
uint64_t svmx__item_bytes(const struct svmx_param *param);

/* How many whole items a slot has. Nearly all items are powers of two, and a division is the slowest part of a check. */
static inline uint64_t svmx__item_count(const struct svmx_param *param, const struct svmx_slot *slot) {
    const uint64_t item = svmx__item_bytes(param);
    return item & (item - 1) ? slot->bytes / item : slot->bytes >> __builtin_ctzll(item);
}

/* All arrays among `count` parameters must have as many items as the first parameter, an array, has. Sets *n to it. */
enum svmx_status svmx__items_equal(const struct svmx_param *params, const struct svmx_slot *slots, uint32_t count,
                                   uint64_t *n, struct svmx__text *why);

/* The same for an operation whose units are these items, one of work each. */
enum svmx_status svmx__items_check(const struct svmx_param *params, const struct svmx_slot *slots, uint32_t count,
                                   struct svmx__size *size, struct svmx__text *why);

/* One array must have exactly `n` items. */
enum svmx_status svmx__items_expect(const struct svmx_param *param, const struct svmx_slot *slot, uint64_t n,
                                    struct svmx__text *why);

/* Gives each array among `count` parameters the bytes of `n` items, leaves scalars alone. OVERFLOW: it does not fit. */
enum svmx_status svmx__items_shape(const struct svmx_param *params, uint32_t count, uint64_t n, uint64_t *bytes);

#endif
