/*
 * prewarm.c: pipelines built before they are needed: for a size that is given, or for those that the model has measured,
 * many of them in earlier processes (profile.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/building.h"

/* Buckets are powers of two: a bit each. */
struct wanted {
    const struct svmx_executor *executor;
    const struct svmx__op *op;
    uint64_t buckets;
};

static bool want_cell(void *user, const struct svmx__cell_summary *summary) {
    struct wanted *wanted = user;
    if (summary->op == wanted->op->id)
        wanted->buckets |= svmx__bucket_of(wanted->executor, wanted->op, svmx__cell_load(summary->cell).units);
    return true;
}

static void build_all(struct svmx__device *device, const struct wanted *wanted) {
    for (uint64_t left = wanted->buckets; left; left &= left - 1)
        if (svmx__device_serves(device, wanted->op->id)) svmx__build_wait(device, wanted->op, left & -left);
}

enum svmx_status svmx_prewarm(svmx_executor_t *executor, uint32_t op_id, uint64_t units) {
    if (!executor) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, op_id);
    if (!op) return SVMX_ERR_UNKNOWN;
    const bool profiled = units == SVMX_PREWARM_PROFILED;
    if (units > UINT64_C(1) << 62 && !profiled) return SVMX_ERR_OVERFLOW;
    struct wanted wanted = {executor, op, profiled ? 0 : svmx__bucket_of(executor, op, units)};
    if (profiled) svmx__model_visit(&executor->model, want_cell, &wanted);
    for (uint32_t i = 0; i < executor->device_count; i++)
        if (!executor->devices[i].inline_) build_all(&executor->devices[i], &wanted);
    return SVMX_OK;
}
