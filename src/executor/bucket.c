/*
 * bucket.c: stage 2: group by operation, and give every part its power-of-two bucket.
 *
 * Tasks were told their part when they were added; here their rows are brought together, so that a part is one launch
 * with one table. A batch with a single part has its rows together already: nothing moves. Called by pipeline.c.
 *
 *   slots as added:   k0 v1 k2 v3          (k: keccak256, v: vec_add)
 *   sorted by part:   k0 k2 | v1 v3        first_unit starts at 0 in every part
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stages.h"

#include "base/alloc.h"
#include "executor/executor.h"
#include <string.h>

/* Gives every part its place in the sorted arrays; part->slots and first_unit are their starts. */
static void lay_out_parts(struct svmx_batch *batch) {
    struct svmx_slot *slots = batch->sorted_slots;
    uint64_t *units = batch->sorted_units;
    for (uint32_t i = 0; i < batch->part_count; i++) {
        struct svmx__part *part = &batch->parts[i];
        part->slots = slots;
        part->first_unit = units;
        slots += (size_t)part->task_count * part->op->param_count;
        units += part->task_count + 1;
        part->task_count = 0; /* counted again while rows come in */
    }
}

static void gather_rows(struct svmx_batch *batch) {
    for (uint32_t t = 0; t < batch->task_count; t++) {
        struct svmx__part *part = &batch->parts[batch->tasks[t].part];
        uint32_t params = part->op->param_count, row = part->task_count++;
        uint64_t *units = batch->sorted_units + (part->first_unit - batch->sorted_units);
        memcpy(part->slots + (size_t)row * params, svmx__task_slots(batch, t), params * sizeof *part->slots);
        if (row == 0) units[0] = 0;
        units[row + 1] = units[row] + batch->tasks[t].units;
    }
}

static enum svmx_status sort_rows(struct svmx_batch *batch) {
    size_t unit_entries = (size_t)batch->task_count + batch->part_count;
    if (!svmx__grow((void **)&batch->sorted_slots, &batch->sorted_slot_capacity, batch->slot_count,
                    sizeof *batch->sorted_slots) ||
        !svmx__grow((void **)&batch->sorted_units, &batch->sorted_unit_capacity, unit_entries,
                    sizeof *batch->sorted_units))
        return svmx__fail(&batch->error, SVMX_ERR_MEMORY, "no memory to sort the tasks of a batch");
    lay_out_parts(batch);
    gather_rows(batch);
    return SVMX_OK;
}

/* Of rows that were sorted for an earlier run: what the library places has no place again. */
static void clear_results(struct svmx_batch *batch) {
    for (uint32_t t = 0; batch->has_library && t < batch->task_count; t++) {
        const struct svmx__task *task = &batch->tasks[t];
        const struct svmx__part *part = &batch->parts[task->part];
        struct svmx_slot *slots = part->slots + (size_t)task->row * part->op->param_count;
        for (uint32_t i = 0; task->library >> i; i++)
            if (task->library >> i & 1) slots[i].at = 0;
    }
}

uint64_t svmx__bucket_of(const struct svmx_executor *executor, const struct svmx__op *op, uint64_t units) {
    uint64_t least = op->min_bucket ? op->min_bucket : UINT64_C(1) << executor->min_bucket_log2[op->id];
    return units <= least ? least : svmx__pow2(units);
}

static void count_size(struct svmx_executor *executor, uint32_t op, uint64_t units) {
    uint32_t line = units <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(units - 1);
    if (line >= SVMX_SIZE_LINES) line = SVMX_SIZE_LINES - 1;
    /* relaxed: a number on its own */
    atomic_fetch_add_explicit(&executor->sizes[op][line], 1, memory_order_relaxed);
}

enum svmx_status svmx__bucket(struct svmx_batch *batch) {
    if (batch->laid_out) {
        clear_results(batch);
    } else if (batch->part_count == 1) {
        batch->parts[0].slots = batch->slots;
        batch->parts[0].first_unit = batch->first_unit;
    } else if (batch->part_count > 1) {
        enum svmx_status status = sort_rows(batch);
        if (status != SVMX_OK) return status;
    }
    for (uint32_t i = 0; i < batch->part_count; i++) {
        struct svmx__part *part = &batch->parts[i];
        count_size(batch->executor, part->op->id, part->units);
        part->bucket = svmx__bucket_of(batch->executor, part->op, part->units);
        part->redone = 0;
        part->chunk = false;
        part->built = SVMX_OK;
        part->timeout_ns = 0;
        part->reason[0] = '\0';
        part->pipeline = NULL;
        part->library = NULL;
        part->copied_bytes = 0;
        part->cuts = part->launches = part->readbacks = part->gathered = 0;
        part->gather = NULL;
    }
    return SVMX_OK;
}
