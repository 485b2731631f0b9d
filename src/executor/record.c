/*
 * record.c: see record.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/record.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/versioned.h"
#include "executor/executor.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum svmx_status svmx__records_init(struct svmx__records *records, uint64_t count) {
    const uint64_t slots = svmx__pow2(count);
    records->slots = calloc(slots, sizeof *records->slots); /* clear flags are flags that nobody holds */
    if (!records->slots) return SVMX_ERR_MEMORY;
    records->mask = slots - 1;
    records->epoch_ns = svmx__clock_epoch_ns();
    atomic_init(&records->next, 0);
    return SVMX_OK;
}

void svmx__records_fini(struct svmx__records *records) {
    free(records->slots);
    records->slots = NULL;
}

/* acquire and release: who holds a slot sees what the last one wrote. Held for a copy of some hundred bytes. */
static void hold(struct svmx__record *slot) {
    while (atomic_flag_test_and_set_explicit(&slot->held, memory_order_acquire)) sched_yield();
}

static void let_go(struct svmx__record *slot) { atomic_flag_clear_explicit(&slot->held, memory_order_release); }

void svmx__records_add(struct svmx__records *records, struct svmx__trail *trail, const char *reason) {
    trail->number = atomic_fetch_add_explicit(&records->next, 1, memory_order_relaxed);
    struct svmx__record *slot = &records->slots[trail->number & records->mask];
    hold(slot);
    if (!slot->filled || slot->trail.number < trail->number) { /* else a later one was faster */
        slot->trail = *trail;
        if (trail->has_reason) (void)snprintf(slot->reason, sizeof slot->reason, "%s", reason);
    }
    slot->filled = true;
    let_go(slot);
}

enum svmx_status svmx__records_get(struct svmx__records *records, uint64_t number, struct svmx_receipt *receipt) {
    struct svmx__record *slot = &records->slots[number & records->mask];
    enum svmx_status status = SVMX_BUSY;
    hold(slot);
    if (slot->filled && slot->trail.number >= number)
        status = slot->trail.number == number ? SVMX_OK : SVMX_ERR_UNKNOWN;
    if (status == SVMX_OK) svmx__trail_tell(&slot->trail, slot->reason, receipt);
    let_go(slot);
    return status;
}

/* What was predicted, in its parts: whole ns, and together what the whole is. */
static void tell_expected(const struct svmx__trail *trail, struct svmx_receipt *receipt) {
    const double whole = (double)trail->expected_ns / UINT16_MAX;
    receipt->expected_ns = (uint64_t)trail->expected_ns;
    receipt->expected_setup_ns = (uint64_t)(whole * trail->expected_setup);
    receipt->expected_transfer_ns = (uint64_t)(whole * trail->expected_transfer);
    receipt->expected_compute_ns = receipt->expected_ns - receipt->expected_setup_ns - receipt->expected_transfer_ns;
    receipt->expected_wait_ns = (uint64_t)trail->expected_wait_ns;
}

void svmx__trail_tell(const struct svmx__trail *trail, const char *reason, struct svmx_receipt *receipt) {
    *receipt = (struct svmx_receipt){.size = sizeof *receipt,
                                     .tag = trail->tag,
                                     .op = trail->op,
                                     .device = trail->device,
                                     .tasks = trail->tasks,
                                     .redone = trail->redone,
                                     .units = trail->units,
                                     .bucket = trail->bucket,
                                     .bytes_in = trail->bytes_in,
                                     .bytes_out = trail->bytes_out,
                                     .wait_ns = trail->wait_ns,
                                     .stage_ns = trail->stage_ns,
                                     .run_ns = trail->run_ns,
                                     .collect_ns = trail->collect_ns,
                                     .copied_bytes = trail->copied_bytes,
                                     .launches = trail->launches,
                                     .why = trail->why,
                                     .number = trail->number,
                                     .time_ns = trail->time_ns,
                                     .work = trail->work,
                                     .policy = trail->policy,
                                     .learned = trail->learned,
                                     .setup_ns = trail->setup_ns,
                                     .transfer_ns = trail->transfer_ns,
                                     .compute_ns = trail->compute_ns,
                                     .result_hash = trail->result_hash,
                                     .candidate_count = trail->candidate_count,
                                     .flags = trail->flags,
                                     .upload_ns = trail->upload_ns,
                                     .device_ns = trail->device_ns,
                                     .readbacks = trail->readbacks,
                                     .gathered = trail->gathered,
                                     .shadow_device = trail->shadow,
                                     .shadow_ns = trail->shadow_ns};
    tell_expected(trail, receipt);
    for (uint32_t i = 0; i < trail->candidate_count; i++)
        receipt->candidates[i] =
            (struct svmx_receipt_candidate){.device = i + 1u < trail->candidate_count ? i : trail->last_candidate,
                                            .verdict = trail->verdict[i],
                                            .expected_ns = (uint64_t)trail->cost_ns[i],
                                            .backlog_ns = (uint64_t)trail->backlog_ns[i]};
    if (trail->has_reason) (void)snprintf(receipt->reason, sizeof receipt->reason, "%s", reason);
}

static void read_from(struct svmx__records *records, uint64_t *from, struct svmx_receipt *receipts, size_t capacity,
                      size_t *count) {
    const uint64_t end = atomic_load_explicit(&records->next, memory_order_relaxed), kept = records->mask + 1;
    uint64_t number = end > kept && *from < end - kept ? end - kept : *from;
    size_t read = 0;
    for (; number < end && read < capacity; number++) {
        struct svmx_receipt now;
        enum svmx_status status = svmx__records_get(records, number, &now);
        if (status == SVMX_BUSY) break; /* it is there for the next reading */
        if (status != SVMX_OK) continue;
        svmx__give_element(receipts, read++, &now, sizeof now);
    }
    *from = number;
    *count = read;
}

static enum svmx_status check_reader(const svmx_executor_t *executor, const uint64_t *from,
                                     const struct svmx_receipt *receipts, size_t capacity, const size_t *count) {
    if (!executor || !from || !count || (capacity && !svmx__is_served(receipts, SVMX__FIRST_RECEIPT)))
        return SVMX_ERR_ARGUMENT;
    return svmx__is_closed(executor) ? SVMX_ERR_CLOSED : SVMX_OK;
}

enum svmx_status svmx_receipts_read(svmx_executor_t *executor, uint64_t *from, struct svmx_receipt *receipts,
                                    size_t capacity, size_t *count) {
    enum svmx_status status = check_reader(executor, from, receipts, capacity, count);
    if (status == SVMX_OK) read_from(&executor->records, from, receipts, capacity, count);
    return status;
}

enum svmx_status svmx_fallbacks_read(svmx_executor_t *executor, uint64_t *from, struct svmx_receipt *receipts,
                                     size_t capacity, size_t *count) {
    enum svmx_status status = check_reader(executor, from, receipts, capacity, count);
    if (status == SVMX_OK) read_from(&executor->troubles, from, receipts, capacity, count);
    return status;
}
