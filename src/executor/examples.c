/*
 * examples.c: made-up arguments for one task of any operation.
 *
 * One block of memory an example, every parameter in it aligned to a cache line. Used by callers (svmx_example_create)
 * and by the self-test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/building.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

enum svmx_status svmx__example_make(const struct svmx__op *op, uint64_t size, uint64_t seed, struct svmx_slot *slots,
                                    void **block) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0}, total = 0;
    enum svmx_status status = svmx__op_shape(op, size, bytes);
    if (status != SVMX_OK) return status;
    for (uint32_t i = 0; i < op->param_count; i++) {
        slots[i] = (struct svmx_slot){bytes[i], svmx_type_bytes((enum svmx_type)op->params[i].type)};
        if (op->params[i].shape == SVMX_SCALAR) continue;
        slots[i] = (struct svmx_slot){total, bytes[i]};
        if (bytes[i] > UINT64_MAX - LINE || !svmx__add(total, svmx__align(bytes[i], LINE), &total))
            return SVMX_ERR_OVERFLOW;
    }
    if (total > SIZE_MAX / 2) return SVMX_ERR_OVERFLOW;
    *block = svmx__aligned_alloc((size_t)total, LINE);
    if (!*block) return SVMX_ERR_MEMORY;
    memset(*block, 0, (size_t)total);
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape != SVMX_SCALAR) slots[i].at += (uintptr_t)*block;
    svmx__example_fill(op, slots, seed);
    return SVMX_OK;
}

/* What svmx_example.owned points at. */
struct owned {
    void *block;
    struct svmx_arg args[SVMX__MAX_PARAMS];
};

static struct svmx_arg arg_of(const struct svmx_param *param, const struct svmx_slot *slot) {
    struct svmx_arg arg = {.kind = SVMX_ARG_HOST, .type = param->type, .bytes = slot->bytes};
    if (param->shape == SVMX_SCALAR) {
        arg.kind = SVMX_ARG_SCALAR;
        arg.from.bits = slot->at;
    } else {
        arg.from.out = (void *)(uintptr_t)slot->at;
    }
    return arg;
}

enum svmx_status svmx_example_create(const svmx_executor_t *executor, uint32_t op_id, uint64_t size, uint64_t seed,
                                     struct svmx_example *example) {
    if (!executor || !example) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, op_id);
    if (!op) return SVMX_ERR_UNKNOWN;
    struct owned *owned = calloc(1, sizeof *owned);
    if (!owned) return SVMX_ERR_MEMORY;
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    enum svmx_status status = svmx__example_make(op, size, seed, slots, &owned->block);
    if (status != SVMX_OK) {
        free(owned);
        return status;
    }
    for (uint32_t i = 0; i < op->param_count; i++) owned->args[i] = arg_of(&op->params[i], &slots[i]);
    *example = (struct svmx_example){owned->args, op->param_count, owned};
    return SVMX_OK;
}

void svmx_example_destroy(struct svmx_example *example) {
    if (!example || !example->owned) return;
    struct owned *owned = example->owned;
    free(owned->block);
    free(owned);
    *example = (struct svmx_example){0};
}
