/*
 * stretch_runs.c: links of a chain within a stretch as one launch, where the device has a kernel for them.
 *
 *   add -> mul -> gelu -> softmax        add, mul and gelu are one launch of chain_f32, softmax one of its own
 *
 *   the table of a run, of two tasks     [task 0: add][task 0: mul][task 0: gelu][task 1: add][task 1: mul][task 1: gelu]
 *   units                                 all of them             none ..........  all of them ...
 *
 * chain.c found what follows what; here are only those links that a row of chain_f32 can say. Each keeps its part, its
 * receipt and its place in memory; results that only the next link reads are not written. Where the kernel is not built
 * yet it is asked for, and the links are launches of their own meanwhile. Called by stretch.c; docs/adr/0020 has the reasons.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch_place.h"

#include "executor/building.h"

/* ---- finding ------------------------------------------------------------------------------------------------------- */

/* The next link of a run, or NULL. */
static struct svmx__part *next_of(const struct svmx__part *part) {
    struct svmx_batch *batch = part->batch;
    if (part->next == SVMX__NO_PART) return NULL;
    struct svmx__part *next = &batch->parts[part->next];
    return svmx__stretch_has(batch, next) && svmx__chain_code(next->op) ? next : NULL;
}

/* The pipeline of a run, pinned where that is needed; false: there is none yet, or never. */
static bool find_pipeline(struct svmx__part *first) {
    struct svmx__device *device = first->device;
    const struct svmx__op *op = svmx__op_chain_f32();
    const struct svmx__key key = {device->id, op->id, first->bucket, first->life->number};
    const struct svmx__pipeline *found = svmx__pipeline_cache_find(&device->executor->pipelines, &key);
    if (!found) svmx__build_request(device, op, first->bucket, NULL);
    if (!found || found->verdict != SVMX_OK || !svmx__device_serves(device, op->id)) return false;
    first->run_pinned = found->bounded && svmx__pipeline_pin(&device->executor->pipelines, found);
    first->run_pipeline = found;
    return first->run_pinned || !found->bounded;
}

/* From a part that is in no run yet. */
static void find_run(struct svmx__part *first) {
    const uint32_t number = (uint32_t)(first - first->batch->parts);
    uint32_t links = 0;
    if (!svmx__chain_code(first->op) || !next_of(first) || !find_pipeline(first)) return;
    for (struct svmx__part *link = first; link && links < SVMX__CHAIN_MOST; link = next_of(link)) {
        link->run = number;
        link->run_number = links++;
    }
    first->run_links = links;
}

void svmx__runs_find(struct svmx__part *head) {
    struct svmx__part *part;
    if (!(head->device->info.flags & SVMX_DEVICE_LINKS) || head->device->inline_) return;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++)
        if (part->run == SVMX__NO_PART) find_run(part);
}

/* ---- the table ----------------------------------------------------------------------------------------------------- */

struct svmx_slot *svmx__run_slot(unsigned char *table, const struct svmx__part *part, uint32_t row, uint32_t at) {
    const struct svmx__part *first = &part->batch->parts[part->run];
    const size_t number = (size_t)row * first->run_links + part->run_number;
    return (struct svmx_slot *)(void *)table + number * SVMX__CHAIN_PARAMS + svmx__chain_slot(part->op, at);
}

/* Whether nobody reads its results but the next link. */
static bool is_silent(const struct svmx__part *part) {
    const struct svmx__part *first = &part->batch->parts[part->run];
    return part->run_number + 1 < first->run_links && part->passing && part->taker == part->next;
}

static uint32_t what_of(const struct svmx__part *part) {
    const uint32_t code = svmx__chain_code(part->op);
    if (part->run_number == 0) /* what it takes, if anything, is in memory */
        return code | (is_silent(part) ? SVMX__CHAIN_SILENT : 0) | (part->run_links - 1) << SVMX__CHAIN_FOLLOW;
    return code | (is_silent(part) ? SVMX__CHAIN_SILENT : 0) |
           (part->taken >> SVMX__CHAIN_A & 1 ? SVMX__CHAIN_FROM_A : 0) |
           (part->taken >> SVMX__CHAIN_B & 1 ? SVMX__CHAIN_FROM_B : 0);
}

void svmx__run_row_fill(unsigned char *table, const struct svmx__part *part, uint32_t row) {
    struct svmx_slot *slots = svmx__run_slot(table, part, row, SVMX__CHAIN_OUT);
    slots[SVMX__CHAIN_B] = (struct svmx_slot){0, 0}; /* unless it has one, which comes behind the output */
    slots[SVMX__CHAIN_NUMBERS] =
        (struct svmx_slot){svmx__chain_numbers(part->op, svmx__part_row(part, row)), sizeof(uint64_t)};
    slots[SVMX__CHAIN_WHAT] = (struct svmx_slot){what_of(part), sizeof(uint32_t)};
}

/* The units of a task are those of its first row. */
void svmx__run_units_fill(const struct svmx__part *first, uint64_t *first_unit) {
    *first_unit++ = 0;
    for (uint32_t t = 0; t < first->task_count; t++)
        for (uint32_t i = 0; i < first->run_links; i++) *first_unit++ = first->first_unit[t + 1];
}

uint64_t svmx__run_work(const struct svmx__part *first) { return first->work * first->run_links; }
