/*
 * prewarm.c: pipelines built before they are needed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/executor.h"

enum svmx_status svmx_prewarm(svmx_executor_t *executor, uint32_t op_id, uint64_t units) {
    if (!executor) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *op = svmx__operations_by_id(executor->operations, op_id);
    if (!op) return SVMX_ERR_UNKNOWN;
    if (units > UINT64_C(1) << 62) return SVMX_ERR_OVERFLOW;
    uint64_t bucket = svmx__bucket_of(executor, op_id, units);
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (!device->inline_ && svmx__device_serves(device, op_id)) svmx__build_wait(device, op, bucket);
    }
    return SVMX_OK;
}
