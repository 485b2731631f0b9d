/*
 * results.c: outputs that the library keeps for the caller: svmx_out_library, svmx_result, and tasks that take them.
 *
 * Such an output has no address until its part ran: in the rows of the batch its slot is at 0. A device with memory of its
 * own leaves the results where it wrote them (called by collect.c); one that works on host memory gets memory for them
 * (called by stage.c), and so does work that goes in several submissions (called by pipeline.c). Either way it is the part's until the batch is reset, armed again or destroyed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "executor/arena.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>

static bool is_output(const struct svmx__op *op, uint32_t at) { return op->params[at].direction == SVMX_OUT; }

/* ---- placing -------------------------------------------------------------------------------------------------- */

enum svmx_status svmx__results_in_host_memory(struct svmx__part *part, struct svmx__life *life) {
    /* none, or a device before this one failed, or they are in no memory */
    if (!part->library_bytes || part->library || part->passes) return SVMX_OK;
    enum svmx_status status = svmx__staging_acquire_for(&life->pool, svmx__tenant_of(part), SVMX_MEMORY_STAGING,
                                                        SVMX_USAGE_HOST_READ, part->library_bytes, &part->library);
    if (status != SVMX_OK) {
        (void)snprintf(part->reason, sizeof part->reason, "no memory of %llu bytes for results",
                       (unsigned long long)part->library_bytes);
        return status;
    }
    part->library_life = life;
    uint64_t at = (uintptr_t)part->library->host;
    for (uint32_t row = 0; row < part->task_count; row++) {
        struct svmx_slot *slots = part->slots + (size_t)row * part->op->param_count;
        for (uint32_t i = 0; i < part->op->param_count; i++) {
            if (!is_output(part->op, i) || slots[i].at || !slots[i].bytes) continue;
            slots[i].at = at;
            at += svmx__align(slots[i].bytes, SVMX__RESULT_ALIGNMENT);
        }
    }
    return SVMX_OK;
}

void svmx__results_stay(struct svmx__part *part) {
    uint64_t at = (uintptr_t)svmx__staged_outputs(part);
    for (uint32_t row = 0; row < part->task_count; row++) {
        struct svmx_slot *slots = part->slots + (size_t)row * part->op->param_count;
        for (uint32_t i = 0; i < part->op->param_count; i++) {
            if (!is_output(part->op, i)) continue;
            if (!slots[i].at && slots[i].bytes) slots[i].at = at;
            at += svmx__align(slots[i].bytes, part->layout->alignment);
        }
    }
    part->library = part->staging_out;
    part->library_life = part->life;
    part->staging_out = NULL;
}

/* ---- tasks that take them -------------------------------------------------------------------------------------- */

static struct svmx_slot *row_of(const struct svmx_batch *batch, uint32_t task) {
    const struct svmx__part *part = &batch->parts[batch->tasks[task].part];
    return part->slots + (size_t)batch->tasks[task].row * part->op->param_count;
}

/* Of one task, which takes results that had no address when it was added. */
static void resolve(struct svmx_batch *batch, uint32_t t) {
    const struct svmx__task *task = &batch->tasks[t];
    struct svmx_slot *slots = row_of(batch, t);
    for (uint32_t i = 0; task->deferred >> i; i++) {
        const uint64_t source = svmx__task_slots(batch, t)[i].at; /* as it was added: slots may have an address */
        if (task->deferred >> i & 1) slots[i].at = row_of(batch, (uint32_t)(source >> 32))[(uint32_t)source].at;
    }
}

void svmx__results_resolve(struct svmx_batch *batch) {
    for (uint32_t p = 0; batch->has_deferred && p < batch->part_count; p++) {
        const struct svmx__part *part = &batch->parts[p];
        if (part->level != batch->level || part->joined) continue;
        for (uint32_t t = part->first_task; t <= part->last_task; t++)
            if (batch->tasks[t].part == p && batch->tasks[t].deferred) resolve(batch, t);
    }
}

/* ---- asking and giving back ------------------------------------------------------------------------------------ */

void svmx__results_reset(struct svmx_batch *batch) {
    if (!batch->has_library) return;
    for (uint32_t i = 0; i < batch->part_count; i++) {
        struct svmx__part *part = &batch->parts[i];
        svmx__staging_return(part->library_life, part->library);
        part->library = NULL;
    }
    for (uint32_t t = 0; t < batch->task_count; t++)
        for (uint32_t i = 0; batch->tasks[t].library >> i; i++)
            if (batch->tasks[t].library >> i & 1) svmx__task_slots(batch, t)[i].at = 0;
}

/* One that failed keeps the text of its failure, which is why there are no results. */
static enum svmx_status must_have_results(struct svmx_batch *batch) {
    const enum svmx_status status = svmx_poll(batch);
    if (status == SVMX_OK) return SVMX_OK;
    if (status == SVMX_CANCELLED) svmx__say(&batch->error, "this batch was cancelled: it has no results");
    return SVMX_ERR_STATE;
}

enum svmx_status svmx_result(svmx_batch_t *batch, uint32_t task, uint32_t output, void **data, uint64_t *bytes) {
    if (!batch || !data) return SVMX_ERR_ARGUMENT;
    if (must_have_results(batch) != SVMX_OK) return SVMX_ERR_STATE;
    if (task >= batch->task_count)
        return svmx__fail(&batch->error, SVMX_ERR_UNKNOWN, "there is no task %u: the batch has %u", task,
                          batch->task_count);
    const struct svmx__op *op = batch->parts[batch->tasks[task].part].op;
    if (output >= op->param_count || !is_output(op, output))
        return svmx__fail(&batch->error, SVMX_ERR_UNKNOWN, "task %u (%s) has no output %u", task, op->name, output);
    if (batch->tasks[task].passing >> output & 1)
        return svmx__fail(&batch->error, SVMX_ERR_UNKNOWN,
                          "output %u of task %u (%s) passed: give svmx_out_library to keep it", output, task, op->name);
    const struct svmx_slot *slot = &row_of(batch, task)[output];
    *data = (void *)(uintptr_t)slot->at;
    if (bytes) *bytes = slot->bytes;
    return SVMX_OK;
}
