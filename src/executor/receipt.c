/*
 * receipt.c: what is told about parts that have run: device, sizes, times, why it went there, and why something was redone.
 *
 * Written once, when a part is over, into the part (svmx_receipt_get) and among the last ones of the executor (record.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/versioned.h"
#include "cache/key.h"
#include "executor/batch.h"
#include "executor/executor.h"

#include <stdio.h>
#include <string.h>

/* acquire: pairs with the release in svmx__complete */
static bool is_answered(const svmx_batch_t *batch) {
    return atomic_load_explicit(&batch->answered, memory_order_acquire);
}

uint32_t svmx_receipt_count(const svmx_batch_t *batch) { return batch && is_answered(batch) ? batch->part_count : 0; }

enum svmx_status svmx_receipt_get(const svmx_batch_t *batch, uint32_t at, struct svmx_receipt *receipt) {
    if (!batch || !svmx__is_served(receipt, SVMX__FIRST_RECEIPT)) return SVMX_ERR_ARGUMENT;
    if (!is_answered(batch)) return SVMX_ERR_STATE;
    if (atomic_load_explicit(&batch->executor->closed, memory_order_acquire)) return SVMX_ERR_CLOSED;
    if (at >= batch->part_count) return SVMX_ERR_UNKNOWN;
    svmx__give(receipt, &batch->parts[at].receipt, sizeof batch->parts[at].receipt);
    return SVMX_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* a - b, or 0 where one of them was not taken */
static uint64_t since(uint64_t a, uint64_t b) { return b && a > b ? a - b : 0; }

/* Of the outputs of all tasks, in order, where the caller finds them. */
static uint64_t hash_of(const struct svmx__part *part) {
    uint64_t hash = 0;
    for (size_t i = 0; i < (size_t)part->task_count * part->op->param_count; i++)
        if (part->op->params[i % part->op->param_count].direction == SVMX_OUT)
            hash = svmx__hash64((const void *)(uintptr_t)part->slots[i].at, part->slots[i].bytes, hash);
    return hash;
}

/* What is said of a device that was not chosen. */
static uint32_t verdict_of(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                           float cost_ns) {
    const uint32_t bit = UINT32_C(1) << device;
    if (device == part->answer.device) return SVMX_CHOSEN;
    if (!(part->question.allowed & bit)) return SVMX_NO_DEVICE;
    if (!(part->fitting & bit)) return SVMX_NOT_ALLOWED;
    if (!svmx__route_is_ready(executor, part->op->id, part->bucket, device)) return SVMX_NOT_READY;
    return cost_ns > 0 ? SVMX_SLOWER : SVMX_UNMEASURED;
}

/* The devices that it was chosen from. The costs are those of the table before this part is learned from. */
static void write_candidates(const struct svmx_executor *executor, struct svmx__part *part,
                             struct svmx_receipt *receipt) {
    enum { MOST = sizeof receipt->candidates / sizeof *receipt->candidates };
    float cost_ns[SVMX__ROUTED];
    (void)svmx__choices_look(&executor->choices, part->op->id, &part->question.load, cost_ns);
    receipt->candidate_count = executor->routed < MOST ? executor->routed : MOST;
    for (uint32_t d = 0; d < receipt->candidate_count; d++) {
        const uint64_t backlog = atomic_load_explicit(&executor->choices.backlog_ns[d], memory_order_relaxed);
        const uint64_t own = part->chosen && d == part->answer.device ? (uint64_t)part->answer.expected_ns : 0;
        receipt->candidates[d].device = d;
        receipt->candidates[d].verdict = verdict_of(executor, part, d, cost_ns[d]);
        receipt->candidates[d].expected_ns = (uint64_t)cost_ns[d];
        receipt->candidates[d].backlog_ns = backlog > own ? backlog - own : 0;
    }
}

/* Field by field: what is not set is left from the last use of the part, so everything is. */
void svmx__receipt_write(struct svmx__part *part, bool learned, const struct svmx__sample *sample) {
    struct svmx_executor *executor = part->device->executor;
    struct svmx_receipt *receipt = &part->receipt;
    receipt->tag = part->batch->tag;
    receipt->op = part->op->id;
    receipt->device = part->device->id;
    receipt->tasks = part->task_count;
    receipt->redone = part->redone;
    receipt->units = part->units;
    receipt->work = part->work;
    receipt->bucket = part->bucket;
    receipt->bytes_in = part->bytes_in;
    receipt->bytes_out = part->bytes_out;
    receipt->copied_bytes = part->copied_bytes;
    receipt->launches = part->launches;
    receipt->wait_ns = since(part->start_ns, part->queued_ns);
    receipt->stage_ns = since(part->dispatch_ns, part->start_ns);
    receipt->run_ns = since(part->done_ns, part->dispatch_ns);
    receipt->collect_ns = since(part->end_ns, part->done_ns);
    receipt->why = part->answer.why;
    receipt->policy = part->policy;
    receipt->learned = learned;
    receipt->expected_ns = (uint64_t)part->answer.expected_ns;
    receipt->setup_ns = sample->setup_ns;
    receipt->transfer_ns = sample->transfer_ns;
    receipt->compute_ns = sample->compute_ns;
    receipt->time_ns = part->end_ns + executor->records.epoch_ns;
    receipt->result_hash = part->batch->hash && part->status == SVMX_OK ? hash_of(part) : 0;
    receipt->reason[0] = '\0';
    if (part->redone || part->status != SVMX_OK)
        (void)snprintf(receipt->reason, sizeof receipt->reason, "%s", part->reason);
    write_candidates(executor, part, receipt);
    svmx__records_add(&executor->records, receipt);
}
