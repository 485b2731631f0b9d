/*
 * receipt.c: what is told about parts that have run: device, sizes, times, why it went there, and why something was redone.
 *
 * A trail is written once, when a part is over, into the part (svmx_receipt_get) and among the last ones of the executor
 * (record.c); a receipt is made of it when somebody asks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/versioned.h"
#include "cache/key.h"
#include "executor/batch.h"
#include "executor/executor.h"

#include <inttypes.h>

/* acquire: pairs with the release in svmx__complete */
static bool is_answered(const svmx_batch_t *batch) {
    return atomic_load_explicit(&batch->answered, memory_order_acquire);
}

uint32_t svmx_receipt_count(const svmx_batch_t *batch) { return batch && is_answered(batch) ? batch->part_count : 0; }

enum svmx_status svmx_receipt_get(const svmx_batch_t *batch, uint32_t at, struct svmx_receipt *receipt) {
    if (!batch || !svmx__is_served(receipt, SVMX__FIRST_RECEIPT)) return SVMX_ERR_ARGUMENT;
    if (!is_answered(batch)) return SVMX_ERR_STATE;
    if (svmx__is_closed(batch->executor)) return SVMX_ERR_CLOSED;
    if (at >= batch->part_count) return SVMX_ERR_UNKNOWN;
    struct svmx_receipt now;
    svmx__trail_tell(&batch->parts[at].trail, batch->parts[at].reason, &now);
    svmx__give(receipt, &now, sizeof now);
    return SVMX_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static uint64_t hash_row(const struct svmx__part *part, uint32_t row, uint32_t without, uint64_t hash) {
    const struct svmx_slot *slots = part->slots + (size_t)row * part->op->param_count;
    for (uint32_t i = 0; i < part->op->param_count; i++)
        if (part->op->params[i].direction == SVMX_OUT && !(without >> i & 1))
            hash = svmx__hash64((const void *)(uintptr_t)slots[i].at, slots[i].bytes, hash);
    return hash;
}

/* Of the outputs of all tasks, in order, where the caller finds them. Those that pass are in no memory on some ways: they
 * count on none. */
static uint64_t hash_of(const struct svmx__part *part) {
    const struct svmx_batch *batch = part->batch;
    uint64_t hash = 0;
    for (uint32_t row = 0; !part->passing_bytes && row < part->task_count; row++) hash = hash_row(part, row, 0, hash);
    for (uint32_t t = 0; part->passing_bytes && t < batch->task_count; t++)
        if (&batch->parts[batch->tasks[t].part] == part)
            hash = hash_row(part, batch->tasks[t].row, batch->tasks[t].passing, hash);
    return hash;
}

/* What is said of a device that was not chosen. */
static uint32_t verdict_of(const struct svmx_executor *executor, const struct svmx__part *part, uint32_t device,
                           float cost_ns) {
    const uint32_t bit = UINT32_C(1) << device;
    if (device == part->answer.device && !part->refused) return SVMX_CHOSEN;
    if (part->yielded & bit) return SVMX_OVERLOADED;
    if (!(part->question.allowed & bit)) return SVMX_NO_DEVICE;
    if (!(part->fitting & bit)) return SVMX_NOT_ALLOWED;
    if (!svmx__route_is_ready(executor, part->op->id, part->bucket, device)) return SVMX_NOT_READY;
    return cost_ns > 0 ? SVMX_SLOWER : SVMX_UNMEASURED;
}

/* Beyond the devices that a receipt has room for: the last place is for who was chosen. */
static __attribute__((noinline)) void write_far_choice(const struct svmx_executor *executor,
                                                       const struct svmx__part *part, struct svmx__trail *trail) {
    const uint32_t at = SVMX__CANDIDATES - 1, device = part->answer.device;
    float costs[SVMX__ROUTED];
    (void)svmx__choices_look(&executor->choices, part->op->id, &part->question.load, device + 1, costs);
    trail->last_candidate = (uint8_t)device;
    trail->cost_ns[at] = costs[device];
    trail->verdict[at] = (uint8_t)verdict_of(executor, part, device, costs[device]);
    trail->backlog_ns[at] = svmx__is_in(part->answer.waiting, device) ? part->answer.wait_ns[device] : 0;
}

/* The devices that it was chosen from, the chosen one always among them, and what each had to do then. The costs are those of
 * the table before this part is learned from. */
static void write_candidates(const struct svmx_executor *executor, struct svmx__part *part, struct svmx__trail *trail) {
    const uint32_t count = executor->routed < SVMX__CANDIDATES ? executor->routed : SVMX__CANDIDATES;
    trail->candidate_count = (uint8_t)count;
    for (uint32_t d = 0; d < count; d++) trail->cost_ns[d] = trail->backlog_ns[d] = 0;
    if (executor->routed > 1)
        (void)svmx__choices_look(&executor->choices, part->op->id, &part->question.load, count, trail->cost_ns);
    for (uint32_t d = 0; d < count; d++) {
        trail->verdict[d] = (uint8_t)verdict_of(executor, part, d, trail->cost_ns[d]);
        if (svmx__is_in(part->answer.waiting, d)) trail->backlog_ns[d] = part->answer.wait_ns[d];
    }
    trail->last_candidate = (uint8_t)(count - 1);
    if (part->answer.device >= count && part->answer.device < executor->routed) write_far_choice(executor, part, trail);
}

static const char *why_of(uint32_t why) {
    static const char *const words[] = {
        [SVMX_WHY_ONLY] = "no other may",        [SVMX_WHY_BEST] = "measured to be best",
        [SVMX_WHY_BACKLOG] = "the best is busy", [SVMX_WHY_PROBE] = "to learn",
        [SVMX_WHY_ORDER] = "first in order",     [SVMX_WHY_SPLIT] = "its share"};
    return why && why < sizeof words / sizeof *words ? words[why] : "?";
}

void svmx__receipt_say(const struct svmx__part *part) {
    const struct svmx__trail *trail = &part->trail;
    const struct svmx__device *device = part->device;
    struct svmx__log log = device->executor->log;
    log.level = SVMX_LOG_DEBUG; /* it was asked for */
    svmx__log(&log, SVMX_LOG_DEBUG,
              "way of %s: batch tag %" PRIu64 ", %u tasks, %" PRIu64 " units -> %s: %s (%s); ns: wait %" PRIu64
              ", stage %" PRIu64 ", run %" PRIu64 ", collect %" PRIu64 "%s%s%s",
              part->op->name, trail->tag, trail->tasks, trail->units, device->backend->name, device->info.name,
              why_of(trail->why), trail->wait_ns, trail->stage_ns, trail->run_ns, trail->collect_ns,
              part->status != SVMX_OK ? "; it failed: "
              : trail->redone         ? "; redone: "
                                      : "",
              trail->has_reason ? part->reason : "", part->compared ? "; compared" : "");
}

/* In the launch of another: of a chain, or of a run of links in a stretch. */
static bool is_fused(const struct svmx__part *part) {
    return part->stretched ? part->run != SVMX__NO_PART && part->run_number > 0 : part->joined;
}

/* Field by field: what is not set is left from the last use of the part, so everything is. */
void svmx__receipt_write(struct svmx__part *part, bool learned, const struct svmx__sample *sample) {
    struct svmx_executor *executor = part->device->executor;
    struct svmx__trail *trail = &part->trail;
    trail->tag = part->batch->tag;
    trail->time_ns = part->end_ns + executor->records.epoch_ns;
    trail->units = part->units;
    trail->work = part->work;
    trail->bucket = part->bucket;
    trail->bytes_in = part->bytes_in;
    trail->bytes_out = part->bytes_out;
    trail->copied_bytes = part->copied_bytes;
    trail->wait_ns = svmx__clock_since(part->start_ns, part->queued_ns);
    trail->stage_ns = svmx__clock_since(part->dispatch_ns, part->start_ns);
    trail->run_ns = svmx__clock_since(part->done_ns, part->dispatch_ns);
    trail->collect_ns = svmx__clock_since(part->end_ns, part->done_ns);
    trail->setup_ns = sample->setup_ns;
    trail->transfer_ns = sample->transfer_ns;
    trail->compute_ns = sample->compute_ns;
    trail->upload_ns = trail->stage_ns + (part->device_ns ? part->timing.copy_in_ns : 0);
    trail->device_ns = part->device_ns;
    trail->result_hash = part->batch->hash && part->status == SVMX_OK ? hash_of(part) : 0;
    trail->op = part->op->id;
    trail->device = part->device->id;
    trail->tasks = part->task_count;
    trail->redone = part->redone;
    trail->launches = part->launches;
    trail->readbacks = part->readbacks;
    trail->gathered = part->gathered;
    trail->expected_ns = part->answer.expected_ns;
    trail->expected_setup = part->answer.setup;
    trail->expected_transfer = part->answer.transfer;
    trail->expected_wait_ns =
        svmx__is_in(part->answer.waiting, part->answer.device) ? part->answer.wait_ns[part->answer.device] : 0;
    trail->shadow_ns = part->compared ? part->shadow_ns : 0;
    trail->shadow = (uint8_t)part->shadow;
    trail->why = (uint8_t)part->answer.why;
    trail->policy = (uint8_t)part->policy;
    trail->learned = learned;
    trail->flags =
        (uint8_t)((sample->first_use ? SVMX_RECEIPT_FIRST_USE : 0) | (sample->contended ? SVMX_RECEIPT_CONTENDED : 0) |
                  (part->status != SVMX_OK ? SVMX_RECEIPT_FAILED : 0) | (is_fused(part) ? SVMX_RECEIPT_FUSED : 0) |
                  (part->stretched ? SVMX_RECEIPT_STRETCH : 0) | (part->compared ? SVMX_RECEIPT_COMPARED : 0));
    trail->has_reason = part->redone || part->status != SVMX_OK;
    write_candidates(executor, part, trail);
    svmx__records_add(&executor->records, trail, part->reason);
    if (!trail->has_reason) return;
    struct svmx__trail copy = *trail; /* it gets a number of its own there */
    svmx__records_add(&executor->troubles, &copy, part->reason);
}
