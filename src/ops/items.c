/*
 * items.c: see items.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/items.h"

#include <inttypes.h>
#include <svmx/svmx.h>

uint64_t svmx__item_bytes(const struct svmx_param *param) {
    return svmx_type_bytes((enum svmx_type)param->type) * param->record;
}

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

enum svmx_status svmx__items_equal(const struct svmx_param *params, const struct svmx_slot *slots, uint32_t count,
                                   uint64_t *n, struct svmx__text *why) {
    const uint64_t first = svmx__item_count(&params[0], &slots[0]);
    for (uint32_t i = 1; i < count; i++) {
        if (params[i].shape != SVMX_ARRAY) continue;
        const uint64_t items = svmx__item_count(&params[i], &slots[i]);
        if (items == first) continue;
        return svmx__fail(why, SVMX_ERR_ARGUMENT,
                          "%s has %" PRIu64 " item%s but %s has %" PRIu64 ": give both the same length", params[i].name,
                          items, plural(items), params[0].name, first);
    }
    *n = first;
    return SVMX_OK;
}

enum svmx_status svmx__items_check(const struct svmx_param *params, const struct svmx_slot *slots, uint32_t count,
                                   struct svmx__size *size, struct svmx__text *why) {
    uint64_t n;
    enum svmx_status status = svmx__items_equal(params, slots, count, &n, why);
    if (status == SVMX_OK) *size = (struct svmx__size){.units = n, .work = n};
    return status;
}

enum svmx_status svmx__items_expect(const struct svmx_param *param, const struct svmx_slot *slot, uint64_t n,
                                    struct svmx__text *why) {
    const uint64_t items = svmx__item_count(param, slot);
    if (items == n) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_ARGUMENT, "%s has %" PRIu64 " item%s but must have %" PRIu64, param->name, items,
                      plural(items), n);
}

enum svmx_status svmx__items_shape(const struct svmx_param *params, uint32_t count, uint64_t n, uint64_t *bytes) {
    for (uint32_t i = 0; i < count; i++) {
        if (params[i].shape != SVMX_ARRAY) continue;
        if (__builtin_mul_overflow(n, svmx__item_bytes(&params[i]), &bytes[i])) return SVMX_ERR_OVERFLOW;
    }
    return SVMX_OK;
}
