/*
 * stretch_commands.c: the commands of a stretch: uploads, launches level by level, readbacks. Called by stretch.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch_place.h"

#include "base/alloc.h"
#include <stdio.h>

static void push(struct svmx__commands *list, struct svmx_command command) { list->commands[list->count++] = command; }

static void push_barrier(struct svmx__commands *list) {
    push(list, (struct svmx_command){.kind = SVMX_COMMAND_BARRIER});
}

static void push_copy(struct svmx__commands *list, uint32_t kind, struct svmx_span source, struct svmx_span target) {
    if (source.bytes) push(list, (struct svmx_command){.kind = kind, .as.copy = {source, target}});
}

static uint64_t scratch_bytes_of(const struct svmx__part *part) {
    return part->units * part->layout->scratch_bytes_per_unit; /* checked when it was prepared */
}

static void push_dispatch(struct svmx__commands *list, const struct svmx__part *head, const struct svmx__part *part) {
    const unsigned char *table = (const unsigned char *)head->staging_in->host + part->table_at;
    const struct svmx__stretch *stretch = &head->batch->stretch;
    const struct svmx_span all = {svmx__stretch_work(head)->memory, 0, stretch->base + stretch->arena_bytes};
    const bool is_run = part->run != SVMX__NO_PART;
    const uint64_t scratch_bytes = scratch_bytes_of(part);
    push(list, (struct svmx_command){
                   .kind = SVMX_COMMAND_DISPATCH,
                   .as.dispatch = {.pipeline = (is_run ? part->run_pipeline : part->pipeline)->compiled,
                                   .slots = (const struct svmx_slot *)(const void *)table,
                                   .first_unit = (const uint64_t *)(const void *)(table + svmx__rows_bytes(part)),
                                   .task_count = (uint32_t)svmx__row_count(part),
                                   .slot_count = is_run ? svmx__row_slots(part) : part->layout->slot_count,
                                   .work = is_run ? svmx__run_work(part) : part->work,
                                   .inputs = all,
                                   .outputs = all,
                                   .table = {all.memory, stretch->base + part->table_at, svmx__table_bytes(part)},
                                   .scratch = {scratch_bytes ? head->scratch->memory : NULL, 0, scratch_bytes}}});
}

/* Launches in order of levels; the scratch memory is one for all, so that two that use it do not run side by side. */
static void push_launches(struct svmx__commands *list, const struct svmx__part *head) {
    const struct svmx__part *part, *before = NULL;
    bool scratch_in_use = false;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++) {
        if (svmx__is_behind_in_run(part))
            continue; /* what it takes beside comes from outside: it may run before its level */
        const bool wants_scratch = scratch_bytes_of(part) > 0;
        if (before && (before->level != part->level || (scratch_in_use && wants_scratch))) {
            push_barrier(list);
            scratch_in_use = false;
        }
        scratch_in_use = scratch_in_use || wants_scratch;
        push_dispatch(list, head, part);
        before = part;
    }
}

/* Tables and inputs, and buffers that are not there yet. */
static void push_uploads(struct svmx__commands *list, struct svmx__part *head) {
    const struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    struct svmx_memory *from = head->staging_in->memory, *to = svmx__stretch_work(head)->memory;
    uint64_t at = stretch->passing_at;
    push_copy(list, SVMX_COMMAND_COPY_IN, (struct svmx_span){from, 0, at}, (struct svmx_span){to, stretch->base, at});
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        const uint64_t bytes = use->buffer->bytes;
        if (!use->upload) continue;
        push_copy(list, SVMX_COMMAND_COPY_IN, (struct svmx_span){from, at, bytes},
                  (struct svmx_span){to, use->buffer->copies[head->device->id].at, bytes});
        at += svmx__align(bytes, stretch->alignment);
    }
    list->count += svmx__guard_lay(head, list->commands + list->count);
    push_barrier(list);
}

/* Readbacks of views that were written, those that follow one another on both sides as one. */
struct checkpoint {
    struct svmx__commands *list;
    const struct svmx__part *head;
    uint64_t at; /* in staging_out */
};

static bool push_checkpoint(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum svmx__lot place) {
    struct checkpoint *checkpoint = user;
    const struct svmx__part *head = checkpoint->head;
    const struct svmx__task *task = &part->batch->tasks[number];
    if (place != SVMX__LOT_TO_BUFFER) return true;
    const struct svmx_slot *slot = &svmx__part_row(part, task->row)[at];
    const struct svmx_buffer *buffer = svmx__view_use(part->batch, task, at)->buffer;
    const uint64_t from = buffer->copies[head->device->id].at + (slot->at - (uintptr_t)buffer->host);
    struct svmx__commands *list = checkpoint->list;
    struct svmx_command *before = &list->commands[list->count - 1];
    struct svmx_copy *last = &before->as.copy;
    if (before->kind == SVMX_COMMAND_COPY_OUT && last->source.offset + last->source.bytes == from &&
        last->target.offset + last->target.bytes == checkpoint->at) {
        last->source.bytes += slot->bytes;
        last->target.bytes += slot->bytes;
    } else {
        push_copy(list, SVMX_COMMAND_COPY_OUT, (struct svmx_span){svmx__stretch_work(head)->memory, from, slot->bytes},
                  (struct svmx_span){head->staging_out->memory, checkpoint->at, slot->bytes});
    }
    checkpoint->at += svmx__align(slot->bytes, head->batch->stretch.alignment);
    return true;
}

static void push_readbacks(struct svmx__commands *list, struct svmx__part *head) {
    const struct svmx__stretch *stretch = &head->batch->stretch;
    const uint64_t back_at = svmx__stretch_back_at(stretch), back = svmx__stretch_back_bytes(stretch);
    struct checkpoint checkpoint = {list, head, svmx__align(back, stretch->alignment)};
    push_barrier(list);
    const size_t before = list->count;
    push_copy(list, SVMX_COMMAND_COPY_OUT,
              (struct svmx_span){svmx__stretch_work(head)->memory, stretch->base + back_at, back},
              (struct svmx_span){head->staging_out->memory, 0, back});
    if (stretch->checkpoint_bytes) (void)svmx__stretch_visit(head->batch, push_checkpoint, &checkpoint);
    head->readbacks = (uint32_t)(list->count - before);
}

enum svmx_status svmx__stretch_commands(struct svmx__part *head, struct svmx__commands *list) {
    struct svmx_batch *batch = head->batch;
    const struct svmx__stretch *stretch = &batch->stretch;
    const uint32_t parts = batch->level_start[stretch->to] - batch->level_start[stretch->from];
    size_t views = 0;
    for (uint32_t i = 0; i < batch->use_count; i++) views += 1 + batch->uses[i].written;
    if (!svmx__grow((void **)&batch->chain_commands, &batch->chain_command_capacity,
                    2 * (size_t)parts + 4 + SVMX__GUARD_COMMANDS + views, sizeof *batch->chain_commands)) {
        (void)snprintf(head->reason, sizeof head->reason, "no memory for commands");
        return SVMX_ERR_MEMORY;
    }
    *list = (struct svmx__commands){.commands = batch->chain_commands};
    if (svmx__stretch_shares(head))
        list->count += svmx__guard_lay(head, list->commands);
    else
        push_uploads(list, head);
    push_launches(list, head);
    if (!svmx__stretch_shares(head) && head->staging_out) push_readbacks(list, head);
    return SVMX_OK;
}
