/*
 * check_look.h: how the check plugin looks at the commands of a submission before it takes them.
 *
 * Every span inside its memory, of this device and made for the use; slots aligned and inside their binding; and between
 * two barriers nobody touches what somebody else writes there. Included by check.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CHECK_LOOK_H
#define CHECK_LOOK_H

#include "check_state.h"

/* What one command does to a piece of memory. */
struct touch {
    const struct svmx_memory *memory;
    uint64_t from, to;
    bool writes;
};

struct touches {
    struct touch *all;
    size_t count, capacity;
};

static bool touch_add(struct touches *touches, const struct svmx_memory *memory, uint64_t from, uint64_t bytes,
                      bool writes) {
    if (bytes == 0) return true;
    if (touches->count == touches->capacity) {
        size_t capacity = touches->capacity * 2 + 64;
        struct touch *all = realloc(touches->all, capacity * sizeof *all);
        if (!all) return false;
        touches->all = all;
        touches->capacity = capacity;
    }
    touches->all[touches->count++] = (struct touch){memory, from, from + bytes, writes};
    return true;
}

static int touch_compare(const void *left, const void *right) {
    const struct touch *a = left, *b = right;
    if (a->memory != b->memory) return (uintptr_t)a->memory < (uintptr_t)b->memory ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

/* Within an interval that any order must suit: what is written is touched by nobody else. */
static bool interval_ok(const struct backend *backend, struct touches *touches) {
    if (touches->count) qsort(touches->all, touches->count, sizeof *touches->all, touch_compare);
    uint64_t reads_end = 0, writes_end = 0;
    const struct svmx_memory *memory = NULL;
    for (size_t i = 0; i < touches->count; i++) {
        const struct touch *touch = &touches->all[i];
        if (touch->memory != memory) reads_end = writes_end = 0;
        memory = touch->memory;
        if (touch->from < writes_end || (touch->writes && touch->from < reads_end))
            return complain(backend, "submit: a barrier is missing: bytes from %llu on are %s",
                            (unsigned long long)touch->from,
                            touch->writes ? "written and touched by others" : "read while they are written");
        uint64_t *end = touch->writes ? &writes_end : &reads_end;
        if (touch->to > *end) *end = touch->to;
    }
    touches->count = 0;
    return true;
}

static bool span_ok(const struct backend *backend, uint32_t device, const char *what, const struct svmx_span *span,
                    uint32_t usage) {
    const struct svmx_memory *memory = span->memory;
    if (!memory) return span->bytes == 0 || complain(backend, "submit: %s: bytes without memory", what);
    if (memory->magic != MEMORY_MAGIC) return complain(backend, "submit: %s: not a memory, or freed", what);
    if (memory->device != device) return complain(backend, "submit: %s: memory of another device", what);
    if (span->offset > memory->bytes || span->bytes > memory->bytes - span->offset)
        return complain(backend, "submit: %s: [%llu, +%llu) of %llu bytes", what, (unsigned long long)span->offset,
                        (unsigned long long)span->bytes, (unsigned long long)memory->bytes);
    if ((memory->usage & usage) != usage)
        return complain(backend, "submit: %s: usage %#x lacks %#x", what, (unsigned)memory->usage, (unsigned)usage);
    return true;
}

static bool copy_ok(const struct backend *backend, uint32_t device, const struct svmx_command *command,
                    struct touches *touches) {
    const struct svmx_span *source = &command->as.copy.source, *target = &command->as.copy.target;
    const struct svmx_span *staging = command->kind == SVMX_COMMAND_COPY_IN ? source : target;
    if (!span_ok(backend, device, "copy source", source, SVMX_USAGE_COPY_SOURCE) ||
        !span_ok(backend, device, "copy target", target, SVMX_USAGE_COPY_TARGET))
        return false;
    if (source->bytes != target->bytes) return complain(backend, "submit: a copy of unequal lengths");
    if (staging->memory && staging->memory->kind == SVMX_MEMORY_DEVICE)
        return complain(backend, "submit: a copy whose host side is device memory");
    return touch_add(touches, source->memory, source->offset, source->bytes, false) &&
           touch_add(touches, target->memory, target->offset, target->bytes, true);
}

static bool slot_ok(const struct backend *backend, const struct svmx_dispatch *dispatch, uint32_t task, uint32_t param,
                    struct touches *touches) {
    const struct svmx_slot *slot = &dispatch->slots[(size_t)task * dispatch->slot_count + param];
    bool output = dispatch->pipeline->output[param];
    const struct svmx_span *span = output ? &dispatch->outputs : &dispatch->inputs;
    if (dispatch->pipeline->scalar[param] || slot->bytes == 0) return true;
    if (slot->at % ALIGNMENT) return complain(backend, "submit: slot %u of task %u is not aligned", param, task);
    if (slot->at < span->offset || slot->at - span->offset > span->bytes ||
        slot->bytes > span->bytes - (slot->at - span->offset))
        return complain(backend, "submit: slot %u of task %u lies outside of its binding", param, task);
    return touch_add(touches, span->memory, slot->at, slot->bytes, output);
}

static uint64_t table_bytes(const struct svmx_dispatch *dispatch) {
    return (uint64_t)dispatch->task_count * dispatch->slot_count * sizeof(struct svmx_slot) +
           ((uint64_t)dispatch->task_count + 1) * sizeof(uint64_t);
}

static bool units_ok(const struct backend *backend, const struct svmx_dispatch *dispatch) {
    const uint64_t *first = dispatch->first_unit;
    if (first[0] != 0) return complain(backend, "submit: first_unit does not begin at 0");
    for (uint32_t t = 0; t < dispatch->task_count; t++)
        if (first[t + 1] < first[t]) return complain(backend, "submit: first_unit falls at task %u", (unsigned)t);
    if (dispatch->scratch.bytes < first[dispatch->task_count] * dispatch->pipeline->scratch_bytes_per_unit)
        return complain(backend, "submit: too little scratch");
    return true;
}

static bool dispatch_ok(const struct backend *backend, uint32_t device, const struct svmx_dispatch *dispatch,
                        struct touches *touches) {
    const struct svmx_pipeline *pipeline = dispatch->pipeline;
    if (!pipeline || pipeline->magic != PIPELINE_MAGIC || pipeline->device != device)
        return complain(backend, "submit: a dispatch without a pipeline of this device");
    if (dispatch->slot_count != pipeline->param_count)
        return complain(backend, "submit: %u slots for %s", (unsigned)dispatch->slot_count, pipeline->op);
    if (!span_ok(backend, device, "inputs", &dispatch->inputs, SVMX_USAGE_KERNEL_READ) ||
        !span_ok(backend, device, "outputs", &dispatch->outputs, SVMX_USAGE_KERNEL_WRITE) ||
        !span_ok(backend, device, "table", &dispatch->table, SVMX_USAGE_KERNEL_READ) ||
        !span_ok(backend, device, "scratch", &dispatch->scratch, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE))
        return false;
    if (dispatch->table.bytes < table_bytes(dispatch)) return complain(backend, "submit: the table is too short");
    if (!units_ok(backend, dispatch)) return false;
    for (uint32_t t = 0; t < dispatch->task_count; t++)
        for (uint32_t p = 0; p < dispatch->slot_count; p++)
            if (!slot_ok(backend, dispatch, t, p, touches)) return false;
    return touch_add(touches, dispatch->table.memory, dispatch->table.offset, dispatch->table.bytes, false) &&
           touch_add(touches, dispatch->scratch.memory, dispatch->scratch.offset, dispatch->scratch.bytes, true);
}

static bool command_ok(const struct backend *backend, uint32_t device, const struct svmx_command *command,
                       struct touches *touches) {
    const struct svmx_span *target = &command->as.fill.target;
    switch (command->kind) {
    case SVMX_COMMAND_COPY_IN:
    case SVMX_COMMAND_COPY_OUT: return copy_ok(backend, device, command, touches);
    case SVMX_COMMAND_DISPATCH: return dispatch_ok(backend, device, &command->as.dispatch, touches);
    case SVMX_COMMAND_BARRIER: return interval_ok(backend, touches);
    case SVMX_COMMAND_FILL:
        return span_ok(backend, device, "fill", target, SVMX_USAGE_COPY_TARGET) &&
               touch_add(touches, target->memory, target->offset, target->bytes, true);
    default: return complain(backend, "submit: a command of kind %u", (unsigned)command->kind);
    }
}

static bool commands_ok(const struct backend *backend, uint32_t device, const struct svmx_command *commands,
                        size_t count) {
    struct touches touches = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) ok = command_ok(backend, device, &commands[i], &touches);
    ok = ok && interval_ok(backend, &touches);
    free(touches.all);
    return ok;
}

#endif
