/*
 * stretch_place.c: where everything of a stretch lies.
 *
 * Kernels take offsets into one memory, so all of a stretch lies in one, which is bound as inputs and as outputs:
 *
 *   [table of a part] ... [input from outside] ... [result that passes] ... [guard][result that is read back] ... [guard]
 *    <---------------- copied in ---------------->                           <---------------- copied out -------------->
 *
 * So a kernel that writes behind what passes, or before or behind what is read back, is found out (guard.c), and in
 * one copy. One that writes before the first result that passes is not.
 *
 * Where tasks name buffers, that memory lies behind them in the heap of the device (buffer.h), and kernels read and write
 * them where they are; what is written there comes back behind the other results. Tasks are taken in the order in which they
 * were added, so that whoever takes a result comes behind it. Called by stretch.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch_place.h"

#include "base/alloc.h"
#include <string.h>

static enum svmx__lot place_of(const struct svmx_batch *batch, const struct svmx__task *task, const struct svmx__op *op,
                               uint32_t at) {
    const uint32_t bit = UINT32_C(1) << at;
    if (op->params[at].shape == SVMX_SCALAR) return SVMX__LOT_VALUE;
    if (task->buffers & bit && svmx__view_use(batch, task, at)->resident)
        return op->params[at].direction == SVMX_OUT ? SVMX__LOT_TO_BUFFER : SVMX__LOT_FROM_BUFFER;
    if (op->params[at].direction == SVMX_OUT)
        return task->passing & ~task->kept & bit ? SVMX__LOT_PASSING : SVMX__LOT_READ_BACK;
    if (!(task->results & bit)) return SVMX__LOT_OUTSIDE;
    const struct svmx__task *source = &batch->tasks[batch->sources[task->first_slot + at] >> 32];
    return svmx__stretch_has(batch, &batch->parts[source->part]) ? SVMX__LOT_INSIDE : SVMX__LOT_OUTSIDE;
}

bool svmx__stretch_visit(struct svmx_batch *batch, svmx__visit_fn function, void *user) {
    for (uint32_t t = 0; t < batch->task_count; t++) {
        struct svmx__part *part = &batch->parts[batch->tasks[t].part];
        if (!svmx__stretch_has(batch, part)) continue;
        for (uint32_t i = 0; i < part->op->param_count; i++)
            if (!function(user, part, t, i, place_of(batch, &batch->tasks[t], part->op, i))) return false;
    }
    return true;
}

/* ---- inputs from outside ------------------------------------------------------------------------------------------ */

/* Where an input from outside is: known by now, also if it is a result of a level before. */
static const void *outside(const struct svmx_batch *batch, const struct svmx__task *task, const struct svmx_slot *slot,
                           uint32_t at) {
    if (!(task->results >> at & 1)) return (const void *)(uintptr_t)slot->at;
    const uint64_t source = batch->sources[task->first_slot + at];
    const struct svmx__task *from = &batch->tasks[source >> 32];
    return (const void *)(uintptr_t)svmx__part_row(&batch->parts[from->part], from->row)[(uint32_t)source].at;
}

/* The last ones: links of a chain often take the same memory, which then goes over once. */
enum { LAST = 8 };
struct seen {
    uintptr_t at;
    uint64_t bytes, to;
};
struct last {
    struct seen seen[LAST];
    uint32_t count;
};

static const struct seen *seen_before(const struct last *last, uintptr_t at, uint64_t bytes) {
    for (uint32_t i = 0; i < LAST && i < last->count; i++)
        if (last->seen[i].at == at && last->seen[i].bytes == bytes) return &last->seen[i];
    return NULL;
}

static void see(struct last *last, uintptr_t at, uint64_t bytes, uint64_t to) {
    last->seen[last->count++ % LAST] = (struct seen){at, bytes, to};
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

struct sizes {
    uint64_t in, read_back, passing, to_buffers; /* tables are in `in` */
    uint64_t read_back_end, passing_end;         /* where the last of them ends */
    uint64_t alignment;
    struct last last;
};

static bool measure_slot(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum svmx__lot place) {
    struct sizes *sizes = user;
    uint64_t *const sums[] = {[SVMX__LOT_OUTSIDE] = &sizes->in,
                              [SVMX__LOT_READ_BACK] = &sizes->read_back,
                              [SVMX__LOT_PASSING] = &sizes->passing,
                              [SVMX__LOT_TO_BUFFER] = &sizes->to_buffers};
    if (place == SVMX__LOT_VALUE || place == SVMX__LOT_INSIDE || place == SVMX__LOT_FROM_BUFFER) return true;
    const struct svmx__task *of = &part->batch->tasks[task];
    const struct svmx_slot *slot = &svmx__part_row(part, of->row)[at];
    const uint64_t bytes = slot->bytes;
    if (place == SVMX__LOT_OUTSIDE) {
        const uintptr_t from = (uintptr_t)outside(part->batch, of, slot, at);
        if (seen_before(&sizes->last, from, bytes)) return true;
        see(&sizes->last, from, bytes, 0);
    }
    if (place == SVMX__LOT_READ_BACK && bytes) sizes->read_back_end = sizes->read_back + bytes;
    if (place == SVMX__LOT_PASSING && bytes) sizes->passing_end = sizes->passing + bytes;
    return svmx__add(*sums[place], svmx__align(bytes, sizes->alignment), sums[place]);
}

uint64_t svmx__stretch_alignment(const struct svmx__part *head) {
    const uint64_t devices = head->layout->alignment;
    return devices > SVMX__RESULT_ALIGNMENT ? devices : SVMX__RESULT_ALIGNMENT;
}

/* What is read back, between its guards, behind what passes. */
static bool place_results(struct svmx__stretch *stretch, const struct sizes *sizes, uint64_t guard_bytes) {
    const uint64_t guards = 2 * (guard_bytes + sizes->alignment);
    uint64_t most;
    if (!svmx__add(sizes->in, sizes->passing, &most) || !svmx__add(most, sizes->read_back, &most) ||
        !svmx__add(most, guards, &most))
        return false;
    stretch->guard_at = sizes->in + sizes->passing_end;
    stretch->results_bytes = sizes->read_back_end;
    stretch->results_at = svmx__align(stretch->guard_at + (stretch->results_bytes ? guard_bytes : 0), sizes->alignment);
    stretch->arena_bytes = stretch->results_at;
    if (stretch->results_bytes) stretch->arena_bytes += stretch->results_bytes + guard_bytes;
    return true;
}

bool svmx__stretch_measure(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    struct svmx__stretch *stretch = &batch->stretch;
    struct sizes sizes = {.alignment = svmx__stretch_alignment(head)};
    struct svmx__part *part;
    for (uint32_t i = 0; (part = svmx__stretch_part(batch, i)); i++) {
        if (svmx__is_behind_in_run(part)) continue;
        part->table_at = sizes.in;
        sizes.in += svmx__align(svmx__table_bytes(part), sizes.alignment);
    }
    stretch->alignment = (uint32_t)sizes.alignment;
    stretch->inputs_at = sizes.in;
    if (!svmx__stretch_visit(batch, measure_slot, &sizes)) return false;
    stretch->passing_at = sizes.in;
    stretch->checkpoint_bytes = sizes.to_buffers;
    return place_results(stretch, &sizes, head->layout->guard_bytes);
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

/* Tables and inputs are written to memory of the host's, at the offsets that they will have. */
struct fill {
    unsigned char *to;
    uint64_t base, in_at, results_at, passing_at, copied_bytes;
    uint32_t alignment;
    struct last last;
};

static struct svmx_slot *table_slot(const struct fill *fill, const struct svmx__part *part, uint32_t row, uint32_t at) {
    if (part->run != SVMX__NO_PART)
        return svmx__run_slot(fill->to + part->batch->parts[part->run].table_at, part, row, at);
    return (struct svmx_slot *)(void *)(fill->to + part->table_at) + (size_t)row * part->op->param_count + at;
}

/* Gives out the place at *at. */
static uint64_t give(const struct fill *fill, uint64_t *at, uint64_t bytes) {
    const uint64_t given = *at;
    *at += svmx__align(bytes, fill->alignment);
    return given;
}

/* Copies an input, unless that was done just before. Where it is now. */
static uint64_t copy_in(struct fill *fill, struct svmx_executor *executor, const void *from, uint64_t bytes) {
    const struct seen *seen = seen_before(&fill->last, (uintptr_t)from, bytes);
    if (seen) return seen->to;
    const uint64_t to = give(fill, &fill->in_at, bytes);
    see(&fill->last, (uintptr_t)from, bytes, to);
    svmx__copy_run(executor, fill->to + to, from, bytes);
    fill->copied_bytes += bytes;
    return to;
}

static bool fill_slot(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum svmx__lot place) {
    struct fill *fill = user;
    const struct svmx_batch *batch = part->batch;
    const struct svmx__task *task = &batch->tasks[number];
    struct svmx_slot slot = svmx__part_row(part, task->row)[at];
    if (place == SVMX__LOT_OUTSIDE) {
        slot.at = fill->base + copy_in(fill, batch->executor, outside(batch, task, &slot, at), slot.bytes);
    } else if (place == SVMX__LOT_FROM_BUFFER || place == SVMX__LOT_TO_BUFFER) {
        const struct svmx_buffer *buffer = svmx__view_use(batch, task, at)->buffer;
        slot.at = buffer->copies[part->device->id].at + (slot.at - (uintptr_t)buffer->host);
    } else if (place == SVMX__LOT_INSIDE) {
        const uint64_t source = batch->sources[task->first_slot + at];
        const struct svmx__task *from = &batch->tasks[source >> 32];
        slot.at = table_slot(fill, &batch->parts[from->part], from->row, (uint32_t)source)->at;
    } else if (place != SVMX__LOT_VALUE) {
        slot.at =
            fill->base + give(fill, place == SVMX__LOT_READ_BACK ? &fill->results_at : &fill->passing_at, slot.bytes);
    }
    if (part->run == SVMX__NO_PART || place != SVMX__LOT_VALUE) *table_slot(fill, part, task->row, at) = slot;
    if (part->run != SVMX__NO_PART && at == 0)
        svmx__run_row_fill(fill->to + batch->parts[part->run].table_at, part, task->row);
    return true;
}

static void fill_units(unsigned char *to, const struct svmx__part *part) {
    uint64_t *units = (uint64_t *)(void *)(to + part->table_at + svmx__rows_bytes(part));
    if (part->run != SVMX__NO_PART)
        svmx__run_units_fill(part, units);
    else
        memcpy(units, part->first_unit, ((size_t)part->task_count + 1) * sizeof *units);
}

void svmx__stretch_fill(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    struct fill fill = {.to = head->staging_in->host,
                        .base = stretch->base,
                        .in_at = stretch->inputs_at,
                        .results_at = stretch->results_at,
                        .passing_at = stretch->passing_at,
                        .alignment = stretch->alignment};
    struct svmx__part *part;
    (void)svmx__stretch_visit(batch, fill_slot, &fill);
    for (uint32_t i = 0; (part = svmx__stretch_part(batch, i)); i++)
        if (!svmx__is_behind_in_run(part)) fill_units(fill.to, part);
    uint64_t at = stretch->passing_at;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        if (!use->upload) continue;
        svmx__copy_run(batch->executor, fill.to + at, use->buffer->host, use->buffer->bytes);
        at += svmx__align(use->buffer->bytes, fill.alignment);
        fill.copied_bytes += use->buffer->bytes;
    }
    head->copied_bytes += fill.copied_bytes;
}
