/*
 * stretch.c: see stretch.h: stages, dispatches and collects levels of a batch as one list of commands.
 *
 * Kernels take offsets into one memory, so all of a stretch lies in one, which is bound as inputs and as outputs:
 *
 *   [table of a part] ... [input from outside] ... [result that is read back] ... [result that passes] ...
 *    <---------------- copied in ---------------->  <------ copied out ------->
 *
 * Where tasks name buffers, that memory lies behind them in the heap of the device (buffer.h), and kernels read and write
 * them where they are; what is written there comes back behind the other results.
 *
 * Tasks are taken in the order in which they were added, so that whoever takes a result comes behind it. Where the device
 * uses staging memory in place, nothing is copied. The memory is that of the first part, whom collect knows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch.h"

#include "base/alloc.h"
#include "executor/arena.h"
#include "executor/executor.h"
#include "executor/stages.h"
#include <stdio.h>
#include <string.h>

static bool shares(const struct svmx__part *part) {
    return (part->device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
}

static bool is_inside(const struct svmx_batch *batch, const struct svmx__part *part) {
    return part->level >= batch->stretch.from && part->level < batch->stretch.to;
}

/* The part of number `position` in the stretch, in order of levels; NULL behind the last. */
static struct svmx__part *part_at(struct svmx_batch *batch, uint32_t position) {
    const uint32_t at = batch->level_start[batch->stretch.from] + position;
    return at < batch->level_start[batch->stretch.to] ? &batch->parts[batch->by_level[at]] : NULL;
}

static struct svmx_slot *row_of(const struct svmx__part *part, uint32_t row) {
    return part->slots + (size_t)row * part->op->param_count;
}

static uint64_t rows_bytes(const struct svmx__part *part) {
    return (uint64_t)part->task_count * part->op->param_count * sizeof(struct svmx_slot);
}

static uint64_t table_bytes(const struct svmx__part *part) {
    return rows_bytes(part) + ((uint64_t)part->task_count + 1) * sizeof(uint64_t);
}

/* ---- who is what ------------------------------------------------------------------------------------------------- */

enum place { VALUE, FROM_OUTSIDE, FROM_INSIDE, FROM_BUFFER, READ_BACK, PASSING, TO_BUFFER };

/* The use behind a view. */
static struct svmx__use *use_at(const struct svmx_batch *batch, const struct svmx__task *task, uint32_t at) {
    return &batch->uses[batch->sources[task->first_slot + at]];
}

static enum place place_of(const struct svmx_batch *batch, const struct svmx__task *task, const struct svmx__op *op,
                           uint32_t at) {
    const uint32_t bit = UINT32_C(1) << at;
    if (op->params[at].shape == SVMX_SCALAR) return VALUE;
    if (task->buffers & bit && use_at(batch, task, at)->resident)
        return op->params[at].direction == SVMX_OUT ? TO_BUFFER : FROM_BUFFER;
    if (op->params[at].direction == SVMX_OUT) return task->passing & ~task->kept & bit ? PASSING : READ_BACK;
    if (!(task->results & bit)) return FROM_OUTSIDE;
    const struct svmx__task *source = &batch->tasks[batch->sources[task->first_slot + at] >> 32];
    return is_inside(batch, &batch->parts[source->part]) ? FROM_INSIDE : FROM_OUTSIDE;
}

/* Called for each argument of each task of the stretch, in order. */
typedef bool (*visit_fn)(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum place place);

static bool visit(struct svmx_batch *batch, visit_fn function, void *user) {
    for (uint32_t t = 0; t < batch->task_count; t++) {
        struct svmx__part *part = &batch->parts[batch->tasks[t].part];
        if (!is_inside(batch, part)) continue;
        for (uint32_t i = 0; i < part->op->param_count; i++)
            if (!function(user, part, t, i, place_of(batch, &batch->tasks[t], part->op, i))) return false;
    }
    return true;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

struct sizes {
    uint64_t in, read_back, passing, to_buffers; /* tables are in `in` */
    uint64_t alignment;
};

static bool measure_slot(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum place place) {
    struct sizes *sizes = user;
    uint64_t *const sums[] = {[FROM_OUTSIDE] = &sizes->in,
                              [READ_BACK] = &sizes->read_back,
                              [PASSING] = &sizes->passing,
                              [TO_BUFFER] = &sizes->to_buffers};
    if (place == VALUE || place == FROM_INSIDE || place == FROM_BUFFER) return true;
    const uint64_t bytes = row_of(part, part->batch->tasks[task].row)[at].bytes;
    return svmx__add(*sums[place], svmx__align(bytes, sizes->alignment), sums[place]);
}

/* Where everything goes. false: sizes do not fit in 64 bits. */
static bool measure(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    struct svmx__stretch *stretch = &batch->stretch;
    struct sizes sizes = {.alignment = head->layout->alignment > SVMX__RESULT_ALIGNMENT ? head->layout->alignment
                                                                                        : SVMX__RESULT_ALIGNMENT};
    struct svmx__part *part;
    for (uint32_t i = 0; (part = part_at(batch, i)); i++) {
        part->table_at = sizes.in;
        sizes.in += svmx__align(table_bytes(part), sizes.alignment);
    }
    stretch->alignment = (uint32_t)sizes.alignment;
    stretch->inputs_at = sizes.in;
    if (!visit(batch, measure_slot, &sizes)) return false;
    stretch->results_at = sizes.in;
    stretch->checkpoint_bytes = sizes.to_buffers;
    return svmx__add(sizes.in, sizes.read_back, &stretch->passing_at) &&
           svmx__add(stretch->passing_at, sizes.passing, &stretch->arena_bytes);
}

/* ---- filling ----------------------------------------------------------------------------------------------------- */

/* Tables and inputs are written to memory of the host's, at the offsets that they will have. */
struct fill {
    unsigned char *to;
    uint64_t base, in_at, results_at, passing_at, copied_bytes;
    uint32_t alignment;
};

static struct svmx_slot *table_row(const struct fill *fill, const struct svmx__part *part, uint32_t row) {
    return (struct svmx_slot *)(void *)(fill->to + part->table_at) + (size_t)row * part->op->param_count;
}

/* Gives out the place at *at. */
static uint64_t give(const struct fill *fill, uint64_t *at, uint64_t bytes) {
    const uint64_t given = *at;
    *at += svmx__align(bytes, fill->alignment);
    return given;
}

/* Where an input from outside is: known by now, also if it is a result of a level before. */
static const void *outside(const struct svmx_batch *batch, const struct svmx__task *task, const struct svmx_slot *slot,
                           uint32_t at) {
    if (!(task->results >> at & 1)) return (const void *)(uintptr_t)slot->at;
    const uint64_t source = batch->sources[task->first_slot + at];
    const struct svmx__task *from = &batch->tasks[source >> 32];
    return (const void *)(uintptr_t)row_of(&batch->parts[from->part], from->row)[(uint32_t)source].at;
}

static bool fill_slot(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum place place) {
    struct fill *fill = user;
    const struct svmx_batch *batch = part->batch;
    const struct svmx__task *task = &batch->tasks[number];
    struct svmx_slot slot = row_of(part, task->row)[at];
    if (place == FROM_OUTSIDE) {
        const void *from = outside(batch, task, &slot, at);
        const uint64_t to = give(fill, &fill->in_at, slot.bytes);
        if (slot.bytes) memcpy(fill->to + to, from, (size_t)slot.bytes);
        slot.at = fill->base + to;
        fill->copied_bytes += slot.bytes;
    } else if (place == FROM_BUFFER || place == TO_BUFFER) {
        const struct svmx_buffer *buffer = use_at(batch, task, at)->buffer;
        slot.at = buffer->copies[part->device->id].at + (slot.at - (uintptr_t)buffer->host);
    } else if (place == FROM_INSIDE) {
        const uint64_t source = batch->sources[task->first_slot + at];
        const struct svmx__task *from = &batch->tasks[source >> 32];
        slot.at = table_row(fill, &batch->parts[from->part], from->row)[(uint32_t)source].at;
    } else if (place != VALUE) {
        slot.at = fill->base + give(fill, place == READ_BACK ? &fill->results_at : &fill->passing_at, slot.bytes);
    }
    table_row(fill, part, task->row)[at] = slot;
    return true;
}

static void fill_all(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    struct fill fill = {.to = head->staging_in->host,
                        .base = stretch->base,
                        .in_at = stretch->inputs_at,
                        .results_at = stretch->results_at,
                        .passing_at = stretch->passing_at,
                        .alignment = stretch->alignment};
    struct svmx__part *part;
    (void)visit(batch, fill_slot, &fill);
    for (uint32_t i = 0; (part = part_at(batch, i)); i++)
        memcpy(fill.to + part->table_at + rows_bytes(part), part->first_unit,
               ((size_t)part->task_count + 1) * sizeof *part->first_unit);
    uint64_t at = stretch->results_at;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        if (!use->upload) continue;
        memcpy(fill.to + at, use->buffer->host, (size_t)use->buffer->bytes);
        at += svmx__align(use->buffer->bytes, fill.alignment);
        fill.copied_bytes += use->buffer->bytes;
    }
    head->copied_bytes += fill.copied_bytes;
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Of a view of the stretch. */
static bool note_view(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum place place) {
    (void)user, (void)place;
    const struct svmx_batch *batch = part->batch;
    const struct svmx__task *task = &batch->tasks[number];
    if (!(task->buffers >> at & 1)) return true;
    struct svmx__use *use = use_at(batch, task, at);
    const uint64_t bytes = row_of(part, task->row)[at].bytes;
    const bool is_output = part->op->params[at].direction == SVMX_OUT;
    use->resident = use->aligned && use->buffer->bytes;
    use->written += is_output;
    use->written_bytes += is_output ? bytes : 0;
    use->read += is_output ? 0 : bytes;
    return true;
}

/* Which buffers the stretch keeps on the device: none where it uses staging memory in place. */
static void choose_buffers(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        struct svmx__use *use = &batch->uses[i];
        use->resident = use->upload = false;
        use->written = 0;
        use->written_bytes = use->read = 0;
    }
    if (batch->use_count && !shares(head)) (void)visit(batch, note_view, NULL);
}

static bool has_buffers(const struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (batch->uses[i].resident) return true;
    return false;
}

/* All of it went well: what was written is in the copies too. A copy that misses what another part wrote is not good. */
static void settle_buffers(const struct svmx__part *head) {
    const struct svmx_batch *batch = head->batch;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        if (use->resident && use->written == use->writes)
            atomic_store_explicit(&use->buffer->copies[head->device->id].version, use->after, memory_order_relaxed);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static enum svmx_status acquire(struct svmx__part *head, enum svmx_memory_kind kind, uint32_t usage, uint64_t bytes,
                                struct svmx__staging **staging) {
    if (!bytes) return SVMX_OK;
    const enum svmx_status status =
        svmx__staging_acquire_for(&head->life->pool, head->batch->tenant, kind, usage, bytes, staging);
    if (status != SVMX_OK)
        (void)snprintf(head->reason, sizeof head->reason, "%s: no memory of %llu bytes for %u levels at once",
                       head->device->info.name, (unsigned long long)bytes,
                       head->batch->stretch.to - head->batch->stretch.from);
    return status;
}

enum {
    BY_KERNELS = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE,
    BY_HOST = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE,
    BY_COPIES = SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET
};

/* The first part holds it all: in staging_in what the host writes, in staging_out what it reads, in inputs the memory on the
 * device. Where that is staging memory itself there is staging_in only. */
static enum svmx_status acquire_all(struct svmx__part *head, uint64_t scratch_bytes) {
    struct svmx_batch *batch = head->batch;
    struct svmx__stretch *stretch = &batch->stretch;
    enum svmx_status status;
    stretch->base = stretch->upload_bytes = 0;
    if (has_buffers(batch) && svmx__heap_place(head, stretch->arena_bytes, &stretch->base) != SVMX_OK) {
        stretch->base = 0;
        if (!measure(head)) return SVMX_ERR_OVERFLOW; /* they are like other memory now */
    }
    const bool in_heap = has_buffers(batch);
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (batch->uses[i].upload)
            stretch->upload_bytes += svmx__align(batch->uses[i].buffer->bytes, stretch->alignment);
    if (shares(head)) {
        status = acquire(head, SVMX_MEMORY_STAGING, BY_KERNELS | BY_HOST, stretch->arena_bytes, &head->staging_in);
    } else {
        status = acquire(head, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE,
                         stretch->results_at + stretch->upload_bytes, &head->staging_in);
        if (status == SVMX_OK)
            status = acquire(head, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | SVMX_USAGE_COPY_TARGET,
                             stretch->passing_at - stretch->results_at + stretch->checkpoint_bytes, &head->staging_out);
        if (status == SVMX_OK && !in_heap)
            status = acquire(head, SVMX_MEMORY_DEVICE, BY_KERNELS | BY_COPIES, stretch->arena_bytes, &head->inputs);
    }
    if (status != SVMX_OK) return status;
    return acquire(head, SVMX_MEMORY_DEVICE, head->layout->usage_scratch, scratch_bytes, &head->scratch);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

struct list {
    struct svmx_command *commands;
    size_t count;
};

static void push(struct list *list, struct svmx_command command) { list->commands[list->count++] = command; }

static void push_barrier(struct list *list) { push(list, (struct svmx_command){.kind = SVMX_COMMAND_BARRIER}); }

static void push_copy(struct list *list, uint32_t kind, struct svmx_span source, struct svmx_span target) {
    if (source.bytes) push(list, (struct svmx_command){.kind = kind, .as.copy = {source, target}});
}

/* That kernels work in. */
static const struct svmx__staging *work_of(const struct svmx__part *head) {
    return shares(head) ? head->staging_in : head->inputs ? head->inputs : head->life->heap.memory;
}

static uint64_t scratch_bytes_of(const struct svmx__part *part) {
    return part->units * part->layout->scratch_bytes_per_unit; /* checked when it was prepared */
}

static void push_dispatch(struct list *list, const struct svmx__part *head, const struct svmx__part *part) {
    const unsigned char *table = (const unsigned char *)head->staging_in->host + part->table_at;
    const struct svmx__stretch *stretch = &head->batch->stretch;
    const struct svmx_span all = {work_of(head)->memory, 0, stretch->base + stretch->arena_bytes};
    const uint64_t scratch_bytes = scratch_bytes_of(part);
    push(list, (struct svmx_command){
                   .kind = SVMX_COMMAND_DISPATCH,
                   .as.dispatch = {.pipeline = part->pipeline->compiled,
                                   .slots = (const struct svmx_slot *)(const void *)table,
                                   .first_unit = (const uint64_t *)(const void *)(table + rows_bytes(part)),
                                   .task_count = part->task_count,
                                   .slot_count = part->layout->slot_count,
                                   .work = part->work,
                                   .inputs = all,
                                   .outputs = all,
                                   .table = {all.memory, stretch->base + part->table_at, table_bytes(part)},
                                   .scratch = {scratch_bytes ? head->scratch->memory : NULL, 0, scratch_bytes}}});
}

/* Launches in order of levels; the scratch memory is one for all, so that two that use it do not run side by side. */
static void push_launches(struct list *list, const struct svmx__part *head) {
    const struct svmx__part *part, *before = NULL;
    bool scratch_in_use = false;
    for (uint32_t i = 0; (part = part_at(head->batch, i)); i++, before = part) {
        const bool wants_scratch = scratch_bytes_of(part) > 0;
        if (before && (before->level != part->level || (scratch_in_use && wants_scratch))) {
            push_barrier(list);
            scratch_in_use = false;
        }
        scratch_in_use = scratch_in_use || wants_scratch;
        push_dispatch(list, head, part);
    }
}

/* Tables and inputs, and buffers that are not there yet. */
static void push_uploads(struct list *list, const struct svmx__part *head) {
    const struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    struct svmx_memory *from = head->staging_in->memory, *to = work_of(head)->memory;
    uint64_t at = stretch->results_at;
    push_copy(list, SVMX_COMMAND_COPY_IN, (struct svmx_span){from, 0, at}, (struct svmx_span){to, stretch->base, at});
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        const uint64_t bytes = use->buffer->bytes;
        if (!use->upload) continue;
        push_copy(list, SVMX_COMMAND_COPY_IN, (struct svmx_span){from, at, bytes},
                  (struct svmx_span){to, use->buffer->copies[head->device->id].at, bytes});
        at += svmx__align(bytes, stretch->alignment);
    }
    push_barrier(list);
}

/* Readbacks of views that were written, those that follow one another on both sides as one. */
struct checkpoint {
    struct list *list;
    const struct svmx__part *head;
    uint64_t at; /* in staging_out */
};

static bool push_checkpoint(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum place place) {
    struct checkpoint *checkpoint = user;
    const struct svmx__part *head = checkpoint->head;
    const struct svmx__task *task = &part->batch->tasks[number];
    if (place != TO_BUFFER) return true;
    const struct svmx_slot *slot = &row_of(part, task->row)[at];
    const struct svmx_buffer *buffer = use_at(part->batch, task, at)->buffer;
    const uint64_t from = buffer->copies[head->device->id].at + (slot->at - (uintptr_t)buffer->host);
    struct list *list = checkpoint->list;
    struct svmx_command *before = &list->commands[list->count - 1];
    struct svmx_copy *last = &before->as.copy;
    if (before->kind == SVMX_COMMAND_COPY_OUT && last->source.offset + last->source.bytes == from &&
        last->target.offset + last->target.bytes == checkpoint->at) {
        last->source.bytes += slot->bytes;
        last->target.bytes += slot->bytes;
    } else {
        push_copy(list, SVMX_COMMAND_COPY_OUT, (struct svmx_span){work_of(head)->memory, from, slot->bytes},
                  (struct svmx_span){head->staging_out->memory, checkpoint->at, slot->bytes});
    }
    checkpoint->at += svmx__align(slot->bytes, head->batch->stretch.alignment);
    return true;
}

static void push_readbacks(struct list *list, struct svmx__part *head) {
    const struct svmx__stretch *stretch = &head->batch->stretch;
    const uint64_t back = stretch->passing_at - stretch->results_at;
    struct checkpoint checkpoint = {list, head, back};
    push_barrier(list);
    const size_t before = list->count;
    push_copy(list, SVMX_COMMAND_COPY_OUT,
              (struct svmx_span){work_of(head)->memory, stretch->base + stretch->results_at, back},
              (struct svmx_span){head->staging_out->memory, 0, back});
    if (stretch->checkpoint_bytes) (void)visit(head->batch, push_checkpoint, &checkpoint);
    head->readbacks = (uint32_t)(list->count - before);
}

static enum svmx_status write_commands(struct svmx__part *head, struct list *list) {
    struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    const uint32_t parts = batch->level_start[stretch->to] - batch->level_start[stretch->from];
    size_t views = 0;
    for (uint32_t i = 0; i < batch->use_count; i++) views += 1 + batch->uses[i].written;
    if (!svmx__grow((void **)&batch->chain_commands, &batch->chain_command_capacity, 2 * (size_t)parts + 4 + views,
                    sizeof *batch->chain_commands)) {
        (void)snprintf(head->reason, sizeof head->reason, "no memory for commands");
        return SVMX_ERR_MEMORY;
    }
    *list = (struct list){.commands = batch->chain_commands};
    if (!shares(head)) push_uploads(list, head);
    push_launches(list, head);
    if (!shares(head) && head->staging_out) push_readbacks(list, head);
    return SVMX_OK;
}

/* ---- staging ----------------------------------------------------------------------------------------------------- */

/* Pipeline and layout of one part, in the life of the first. */
static enum svmx_status prepare(struct svmx__part *head, struct svmx__part *part, uint64_t *scratch_bytes) {
    struct svmx__device *device = head->device;
    const struct svmx_op_desc desc = svmx__op_desc(part->op);
    uint64_t scratch;
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    part->block = NULL;
    part->command_count = 0;
    part->dispatch_ns = 0;
    part->life = head->life;
    const enum svmx_status status = svmx__prepare(part);
    if (status != SVMX_OK) return status;
    part->layout = svmx__layout_cache_get(&device->executor->layouts, device->id, part->op->id, &desc, &device->info);
    if (!part->layout || !svmx__mul(part->units, part->layout->scratch_bytes_per_unit, &scratch)) {
        (void)snprintf(part->reason, sizeof part->reason, "no memory for a layout");
        return SVMX_ERR_MEMORY;
    }
    if (scratch > *scratch_bytes) *scratch_bytes = scratch;
    return SVMX_OK;
}

static enum svmx_status prepare_all(struct svmx__part *head, uint64_t *scratch_bytes) {
    struct svmx__part *part;
    for (uint32_t i = 0; (part = part_at(head->batch, i)); i++) part->pinned = false;
    head->life = svmx__life_of(head->device);
    if (atomic_load_explicit(&head->life->over, memory_order_relaxed)) {
        (void)snprintf(head->reason, sizeof head->reason, "%s was given up", head->device->info.name);
        return SVMX_ERR_DEVICE_LOST;
    }
    *scratch_bytes = 0;
    for (uint32_t i = 0; (part = part_at(head->batch, i)); i++) {
        const enum svmx_status status = prepare(head, part, scratch_bytes);
        if (status == SVMX_OK) continue;
        if (part != head) memcpy(head->reason, part->reason, sizeof head->reason);
        return status;
    }
    return SVMX_OK;
}

static enum svmx_status stage_all(struct svmx__part *head, struct list *list) {
    uint64_t scratch_bytes;
    head->staging_in = head->staging_out = head->inputs = head->outputs = head->scratch = NULL;
    head->block = NULL;
    head->dispatch_ns = 0;
    enum svmx_status status = prepare_all(head, &scratch_bytes);
    if (status != SVMX_OK) return status;
    choose_buffers(head);
    if (!measure(head)) {
        (void)snprintf(head->reason, sizeof head->reason, "the sizes of its tasks do not fit in 64 bits");
        return SVMX_ERR_OVERFLOW;
    }
    status = acquire_all(head, scratch_bytes);
    if (status == SVMX_OK) status = write_commands(head, list);
    if (status == SVMX_OK) fill_all(head);
    return status;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Results are found as they were placed, not by the table: that is a device's to spoil. */
struct take {
    unsigned char *from; /* the first result */
    uint64_t at, checkpoint_at, copied_bytes;
    uint32_t alignment;
    bool stays; /* some are left where they are */
};

static bool take_slot(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum place place) {
    struct take *take = user;
    struct svmx_slot *slot = &row_of(part, part->batch->tasks[task].row)[at];
    if (place != READ_BACK && place != TO_BUFFER) return true;
    uint64_t *next = place == READ_BACK ? &take->at : &take->checkpoint_at;
    unsigned char *from = take->from + *next;
    *next += svmx__align(slot->bytes, take->alignment);
    if (!slot->bytes) return true;
    if (slot->at) {
        memcpy((void *)(uintptr_t)slot->at, from, (size_t)slot->bytes);
        take->copied_bytes += slot->bytes;
    } else {
        slot->at = (uintptr_t)from;
        take->stays = true;
    }
    return true;
}

void svmx__stretch_take(struct svmx__part *head) {
    const struct svmx__stretch *stretch = &head->batch->stretch;
    struct svmx__staging **held = shares(head) ? &head->staging_in : &head->staging_out;
    settle_buffers(head);
    if (!*held) return;
    struct take take = {.from = (unsigned char *)(*held)->host + (shares(head) ? stretch->results_at : 0),
                        .checkpoint_at = stretch->passing_at - stretch->results_at,
                        .alignment = stretch->alignment};
    (void)visit(head->batch, take_slot, &take);
    head->copied_bytes += take.copied_bytes;
    if (!take.stays) return;
    head->library = *held;
    head->library_life = head->life;
    *held = NULL;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Each part on its own again, from the first level on. Want of memory is nobody's failure. */
static void fall_apart(struct svmx__part *head, enum svmx_status status) {
    struct svmx_batch *batch = head->batch;
    struct svmx__part *part;
    if (head->chosen) svmx__uncharge(&batch->executor->choices, &head->answer, 0);
    head->chosen = false;
    if (status != SVMX_ERR_MEMORY) {
        head->status = status;
        (void)svmx__route_again(head);
    }
    for (uint32_t i = 0; (part = part_at(batch, i)); i++) {
        part->joined = part->stretched = false;
        part->pipeline = NULL;
        part->copied_bytes = part->readbacks = 0;
    }
    batch->stretch.barred = batch->stretch.apart = true;
}

/* The parts behind the first took no time of their own. */
static void answer(struct svmx__part *part, const struct svmx__part *head) {
    part->status = SVMX_OK;
    part->launches = 1;
    part->ticket = 0;
    part->compared = false;
    part->compare_ns = 0;
    part->timing = (struct svmx_timing){.size = sizeof part->timing};
    part->queued_ns = head->queued_ns;
    part->start_ns = part->dispatch_ns = part->done_ns = part->end_ns = head->done_ns;
    svmx__learn(part);
}

enum svmx_status svmx__stretch_run(struct svmx__part *head) {
    struct list list;
    struct svmx__part *part;
    enum svmx_status status = stage_all(head, &list);
    if (status == SVMX_OK) status = svmx__dispatch_list(head, list.commands, list.count);
    status = svmx__collect(head, status);
    for (uint32_t i = 0; (part = part_at(head->batch, i)); i++) {
        if (part->pinned && status != SVMX_TIMEOUT) svmx__pipeline_unpin(part->pipeline); /* else it may be running */
        part->pinned = false;
    }
    if (status != SVMX_OK) {
        fall_apart(head, status);
        return status;
    }
    head->launches = 1;
    for (uint32_t i = 0; (part = part_at(head->batch, i)); i++)
        if (part != head) answer(part, head);
    return SVMX_OK;
}
