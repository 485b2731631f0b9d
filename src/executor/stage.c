/*
 * stage.c: stage 4: place the inputs of a part where its device can read them, and write its commands.
 *
 * On a device that works on host memory nothing moves: the slots are the caller's addresses. Elsewhere one staging
 * buffer takes the table of tasks and all inputs behind it, so that a part is one upload, one launch, one readback:
 *
 *   staging in  [slots of all tasks][first_unit][input][input] ...   -> copy in ->   inputs on the device; where that uses
 *                                                                      staging memory in place, [guard] behind them
 *   outputs on the device  [guard][output][output] ... [guard]       -> copy out ->  staging out       guard.c
 *
 * Inputs that all lie in one block of svmx_batch_alloc are staging memory already: they stay where they are, and only the
 * table is written.
 *
 * Called by pipeline.c. What it acquires is given back by collect.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stages.h"

#include "base/alloc.h"
#include "executor/arena.h"
#include "executor/building.h"
#include <stdio.h>
#include <string.h>

/* Bytes of the two arenas of a part. The table is the head of `in`; inputs that stay in a block are not in it. */
struct arena_sizes {
    uint64_t table, in;
    uint64_t in_end;  /* to the end of the last input; `in` has a guard behind it, where the device computes there */
    uint64_t outputs; /* to the end of the last one */
    uint64_t out;     /* with guards; 0 if there are no outputs */
};

static bool shares(const struct svmx__part *part) {
    return (part->device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
}

/* Sums up; false if a sum does not fit. */
static bool measure(const struct svmx__part *part, struct arena_sizes *sizes) {
    const struct svmx__layout *layout = part->layout;
    uint64_t rows = (uint64_t)part->task_count * layout->slot_count;
    sizes->table = rows * sizeof(struct svmx_slot) + ((uint64_t)part->task_count + 1) * sizeof(uint64_t);
    sizes->in = svmx__align(sizes->table, layout->alignment);
    sizes->in_end = sizes->in;
    sizes->out = sizes->outputs = 0;
    uint32_t column = 0;
    for (uint64_t i = 0; i < rows; i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        uint8_t place = layout->place[column];
        if (place == SVMX__PLACE_VALUE || (place == SVMX__PLACE_INPUT && part->block)) continue;
        uint64_t *sum = place == SVMX__PLACE_INPUT ? &sizes->in : &sizes->out;
        if (place == SVMX__PLACE_OUTPUT && part->slots[i].bytes) sizes->outputs = sizes->out + part->slots[i].bytes;
        if (place == SVMX__PLACE_INPUT && part->slots[i].bytes) sizes->in_end = sizes->in + part->slots[i].bytes;
        if (!svmx__add(*sum, svmx__align(part->slots[i].bytes, layout->alignment), sum)) return false;
    }
    if (shares(part) && !svmx__add(sizes->in_end, layout->guard_bytes, &sizes->in)) return false;
    sizes->out = 0;
    return !sizes->outputs || svmx__add(sizes->outputs, 2 * (uint64_t)layout->guard_bytes, &sizes->out);
}

/* Writes the table: where every slot lies in the inputs or the outputs. */
static void write_table(const struct svmx__part *part, uint64_t first_input) {
    const struct svmx__layout *layout = part->layout;
    uint64_t rows = (uint64_t)part->task_count * layout->slot_count;
    struct svmx_slot *table = part->staging_in->host;
    uint64_t base = part->block ? (uintptr_t)part->block->staging->host : 0;
    uint64_t in = first_input, out = layout->guard_bytes;
    uint32_t column = 0;
    for (uint64_t i = 0; i < rows; i++, column = column + 1 == layout->slot_count ? 0 : column + 1) {
        const struct svmx_slot *slot = &part->slots[i];
        table[i] = *slot;
        if (layout->place[column] == SVMX__PLACE_OUTPUT) {
            table[i].at = out;
            out += svmx__align(slot->bytes, layout->alignment);
        } else if (layout->place[column] == SVMX__PLACE_INPUT && part->block) {
            table[i].at = slot->bytes ? slot->at - base : 0;
        } else if (layout->place[column] == SVMX__PLACE_INPUT) {
            table[i].at = in;
            in += svmx__align(slot->bytes, layout->alignment);
        }
    }
    memcpy(table + rows, part->first_unit, ((size_t)part->task_count + 1) * sizeof *part->first_unit);
}

/* ---- commands -------------------------------------------------------------------------------------------------- */

static struct svmx_span span(const struct svmx__staging *staging, uint64_t offset, uint64_t bytes) {
    return (struct svmx_span){staging ? staging->memory : NULL, offset, bytes};
}

static void push(struct svmx__part *part, struct svmx_command command) {
    part->commands[part->command_count++] = command;
}

static void push_copy(struct svmx__part *part, uint32_t kind, struct svmx_span source, struct svmx_span target) {
    push(part, (struct svmx_command){.kind = kind, .as.copy = {source, target}});
}

/* Field by field, where it is to lie: copying it takes 25 ns, since loads of a copy wait for the narrower stores before, and
 * clearing it as a whole is a loop of the processor's that takes as long as all of these. */
static void write_dispatch(const struct svmx__part *part, struct svmx_dispatch *dispatch) {
    const struct svmx_span none = {NULL, 0, 0};
    dispatch->inputs = dispatch->outputs = dispatch->table = dispatch->scratch = none;
    dispatch->host_scratch = NULL;
    dispatch->arrays = dispatch->passing = 0;
    dispatch->pipeline = part->pipeline->compiled;
    dispatch->slots = part->slots;
    dispatch->first_unit = part->first_unit;
    dispatch->task_count = part->task_count;
    dispatch->slot_count = part->layout->slot_count;
    dispatch->work = part->work;
}

/* How far the inputs of a block reach on a device that copies them: the table comes behind. */
static uint64_t block_bytes(const struct svmx__part *part) {
    return svmx__align(part->block->used, part->layout->alignment);
}

/* Where kernels find inputs and table, and the copies that bring them there. */
static void write_inputs(struct svmx__part *part, const struct arena_sizes *sizes, struct svmx_dispatch *dispatch) {
    const struct svmx__staging *block = part->block ? part->block->staging : NULL;
    if (shares(part)) {
        dispatch->inputs = block ? span(block, 0, part->block->used) : span(part->staging_in, 0, sizes->in_end);
        dispatch->table = span(part->staging_in, 0, sizes->table);
        return;
    }
    uint64_t table_at = block ? block_bytes(part) : 0;
    dispatch->inputs = span(part->inputs, 0, table_at + sizes->in);
    dispatch->table = span(part->inputs, table_at, sizes->table);
    if (block)
        push_copy(part, SVMX_COMMAND_COPY_IN, span(block, 0, part->block->used),
                  span(part->inputs, 0, part->block->used));
    push_copy(part, SVMX_COMMAND_COPY_IN, span(part->staging_in, 0, sizes->in),
              span(part->inputs, table_at, sizes->in));
    push(part, (struct svmx_command){.kind = SVMX_COMMAND_BARRIER});
}

/* Copy in, barrier, dispatch, barrier, copy out; where the device binds staging memory itself, the dispatch alone. */
static void write_commands(struct svmx__part *part, const struct arena_sizes *sizes, uint64_t scratch_bytes) {
    struct svmx_dispatch dispatch;
    write_dispatch(part, &dispatch);
    /* The table in staging memory, not the batch's arrays: a device that is late may still read it. */
    dispatch.slots = part->staging_in->host;
    dispatch.first_unit =
        (const uint64_t *)(const void *)(dispatch.slots + (size_t)part->task_count * part->layout->slot_count);
    part->command_count += (uint32_t)svmx__guard_lay(part, part->commands + part->command_count);
    write_inputs(part, sizes, &dispatch);
    dispatch.outputs = span(shares(part) ? part->staging_out : part->outputs, 0, sizes->out);
    dispatch.scratch = span(part->scratch, 0, scratch_bytes);
    push(part, (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH, .as.dispatch = dispatch});
    if (shares(part) || !sizes->out) return;
    push(part, (struct svmx_command){.kind = SVMX_COMMAND_BARRIER});
    push_copy(part, SVMX_COMMAND_COPY_OUT, span(part->outputs, 0, sizes->out), span(part->staging_out, 0, sizes->out));
}

/* ---- placing --------------------------------------------------------------------------------------------------- */

static enum svmx_status acquire(struct svmx__part *part, enum svmx_memory_kind kind, uint32_t usage, uint64_t bytes,
                                struct svmx__staging **staging) {
    if (!bytes) return SVMX_OK;
    struct svmx__staging_pool *pool = &part->life->pool;
    enum svmx_status status = svmx__staging_acquire_for(pool, svmx__tenant_of(part), kind, usage, bytes, staging);
    if (status == SVMX_ERR_MEMORY && svmx__heap_drop(part)) /* buffers that nobody computes with give way to work */
        status = svmx__staging_acquire_for(pool, svmx__tenant_of(part), kind, usage, bytes, staging);
    if (status != SVMX_OK)
        (void)snprintf(part->reason, sizeof part->reason, "%s: no memory of %llu bytes: %s", part->device->info.name,
                       (unsigned long long)bytes, svmx_status_name(status));
    return status;
}

static enum svmx_status sizes_do_not_fit(struct svmx__part *part) {
    (void)snprintf(part->reason, sizeof part->reason, "the sizes of its tasks do not fit in 64 bits");
    return SVMX_ERR_OVERFLOW;
}

static enum svmx_status place_on_device(struct svmx__part *part, uint64_t scratch_bytes) {
    const struct svmx__layout *layout = part->layout;
    struct arena_sizes sizes;
    part->block = svmx__arena_block_of(part);
    if (!measure(part, &sizes)) return sizes_do_not_fit(part);
    uint64_t device_in = shares(part) ? 0 : sizes.in + (part->block ? block_bytes(part) : 0);
    uint64_t device_out = shares(part) ? 0 : sizes.out;
    part->outputs_bytes = sizes.outputs;
    part->inputs_end = sizes.in_end;
    const struct {
        enum svmx_memory_kind kind;
        uint32_t usage;
        uint64_t bytes;
        struct svmx__staging **staging;
    } wanted[] = {{SVMX_MEMORY_STAGING, layout->usage_staging_in, sizes.in, &part->staging_in},
                  {SVMX_MEMORY_STAGING, layout->usage_staging_out, sizes.out, &part->staging_out},
                  {SVMX_MEMORY_DEVICE, layout->usage_inputs, device_in, &part->inputs},
                  {SVMX_MEMORY_DEVICE, layout->usage_outputs, device_out, &part->outputs},
                  {SVMX_MEMORY_DEVICE, layout->usage_scratch, scratch_bytes, &part->scratch}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        enum svmx_status status = acquire(part, wanted[i].kind, wanted[i].usage, wanted[i].bytes, wanted[i].staging);
        if (status != SVMX_OK) return status;
    }
    uint64_t first_input = svmx__align(sizes.table, layout->alignment);
    write_table(part, first_input);
    if (!part->block) {
        svmx__copy_in(part, part->staging_in->host, first_input, sizes.in_end - first_input);
        part->copied_bytes += part->bytes_in;
    }
    write_commands(part, &sizes, scratch_bytes);
    return SVMX_OK;
}

static enum svmx_status place_in_host_memory(struct svmx__part *part, uint64_t scratch_bytes) {
    enum svmx_status placed = svmx__results_in_host_memory(part, part->life);
    if (placed != SVMX_OK) return placed;
    struct svmx_command *command = &part->commands[part->command_count++];
    command->kind = SVMX_COMMAND_DISPATCH;
    command->reserved = 0;
    write_dispatch(part, &command->as.dispatch);
    if (scratch_bytes) {
        enum svmx_status status =
            acquire(part, SVMX_MEMORY_STAGING, part->layout->usage_scratch, scratch_bytes, &part->scratch);
        if (status != SVMX_OK) return status;
        command->as.dispatch.host_scratch = part->scratch->host;
    }
    return SVMX_OK;
}

bool svmx__layout(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    struct svmx__layout_cache *layouts = &device->executor->layouts;
    struct svmx__tally *tally = &device->tallies[part->op->id];
    part->layout = svmx__layout_cache_find(layouts, device->id, part->op->id);
    svmx__tally_look(&tally->layout_hits, &tally->layout_misses, part->layout != NULL);
    if (part->layout) return true;
    const struct svmx_op_desc desc = svmx__op_desc(part->op);
    part->layout = svmx__layout_cache_get(layouts, device->id, part->op->id, &desc, &device->info);
    if (!part->layout) (void)snprintf(part->reason, sizeof part->reason, "no memory for a layout");
    return part->layout != NULL;
}

enum svmx_status svmx__stage(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    part->command_count = 0;
    part->dispatch_ns = 0;
    part->pinned = part->windowed = part->overlapped = part->retired = false;
    part->ahead_ns = 0;
    part->block = NULL;
    if (part->batch) part->life = svmx__life_of(device);
    if (atomic_load_explicit(&part->life->over, memory_order_relaxed)) { /* given up while the part was in its queue */
        if (part->built != SVMX_OK) return part->built;                  /* by the build that it waited for */
        (void)snprintf(part->reason, sizeof part->reason, "%s was given up", device->info.name);
        return SVMX_ERR_DEVICE_LOST;
    }
    if (!part->pipeline) {
        enum svmx_status status = svmx__prepare(part);
        if (status != SVMX_OK) return status;
    }
    if (!svmx__layout(part)) return SVMX_ERR_MEMORY;
    uint64_t scratch_bytes;
    if (!svmx__mul(part->units, part->layout->scratch_bytes_per_unit, &scratch_bytes)) return sizes_do_not_fit(part);
    return device->host_memory ? place_in_host_memory(part, scratch_bytes) : place_on_device(part, scratch_bytes);
}
