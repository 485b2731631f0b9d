/*
 * receipt.c: what is told about parts that have run: device, sizes, times, and why something was redone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "executor/batch.h"
#include "executor/executor.h"

#include <stdio.h>
#include <string.h>

/* What version 0.1.0 had. */
enum { FIRST_RECEIPT = SVMX__THROUGH(struct svmx_receipt, reason) };

/* acquire: pairs with the release in svmx__complete */
static bool is_answered(const svmx_batch_t *batch) {
    return atomic_load_explicit(&batch->answered, memory_order_acquire);
}

uint32_t svmx_receipt_count(const svmx_batch_t *batch) { return batch && is_answered(batch) ? batch->part_count : 0; }

/* a - b, or 0 where one of them was not taken */
static uint64_t since(uint64_t a, uint64_t b) { return b && a > b ? a - b : 0; }

enum svmx_status svmx_receipt_get(const svmx_batch_t *batch, uint32_t at, struct svmx_receipt *receipt) {
    if (!batch || !svmx__is_served(receipt, FIRST_RECEIPT)) return SVMX_ERR_ARGUMENT;
    if (!is_answered(batch)) return SVMX_ERR_STATE;
    if (atomic_load_explicit(&batch->executor->closed, memory_order_acquire)) return SVMX_ERR_CLOSED;
    if (at >= batch->part_count) return SVMX_ERR_UNKNOWN;
    const struct svmx__part *part = &batch->parts[at];
    struct svmx_receipt now = {.tag = batch->tag,
                               .op = part->op->id,
                               .device = part->device->id,
                               .tasks = part->task_count,
                               .redone = part->redone,
                               .units = part->units,
                               .bucket = part->bucket,
                               .bytes_in = part->bytes_in,
                               .bytes_out = part->bytes_out,
                               .copied_bytes = part->copied_bytes,
                               .launches = part->launches,
                               .wait_ns = since(part->start_ns, part->queued_ns),
                               .stage_ns = since(part->dispatch_ns, part->start_ns),
                               .run_ns = since(part->done_ns, part->dispatch_ns),
                               .collect_ns = since(part->end_ns, part->done_ns)};
    if (part->redone) (void)snprintf(now.reason, sizeof now.reason, "%s", part->reason);
    svmx__give(receipt, &now, sizeof now);
    return SVMX_OK;
}
