/*
 * stretch.c: see stretch.h: stages, dispatches and collects levels of a batch as one list of commands. stretch_place.c
 * knows where everything lies, stretch_commands.c what is to be done.
 *
 * Where the device uses staging memory in place, nothing is copied. The memory is that of the first part, whom collect knows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/stretch.h"

#include "base/alloc.h"
#include "executor/arena.h"
#include "executor/building.h"
#include "executor/stages.h"
#include "executor/stretch_place.h"
#include <stdio.h>
#include <string.h>

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* Of a view of the stretch. `user` is the alignment that kernels need. */
static bool note_view(void *user, struct svmx__part *part, uint32_t number, uint32_t at, enum svmx__lot place) {
    (void)place;
    const struct svmx_batch *batch = part->batch;
    const struct svmx__task *task = &batch->tasks[number];
    if (!(task->buffers >> at & 1)) return true;
    struct svmx__use *use = svmx__view_use(batch, task, at);
    const uint64_t bytes = svmx__part_row(part, task->row)[at].bytes;
    const bool is_output = part->op->params[at].direction == SVMX_OUT;
    use->resident = use->offsets % *(const uint64_t *)user == 0 && use->buffer->bytes;
    use->written += is_output;
    use->written_bytes += is_output ? bytes : 0;
    use->read += is_output ? 0 : bytes;
    return true;
}

/* What they say is of the stretch before. */
static void forget_uses(struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->use_count; i++) {
        struct svmx__use *use = &batch->uses[i];
        use->resident = use->upload = false;
        use->written = 0;
        use->written_bytes = use->read = 0;
    }
}

/* Which buffers the stretch keeps on the device: none where it uses staging memory in place. */
static void choose_buffers(struct svmx__part *head) {
    struct svmx_batch *batch = head->batch;
    uint64_t alignment = svmx__stretch_alignment(head);
    if (batch->use_count && !svmx__stretch_shares(head)) (void)svmx__stretch_visit(batch, note_view, &alignment);
}

/* All of it went well: what it uploaded and wrote is in the copies. A copy that misses what another part wrote is not good, and of
 * one that it only read others may know better. */
static void settle_buffers(const struct svmx__part *head) {
    const struct svmx_batch *batch = head->batch;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx__use *use = &batch->uses[i];
        if (use->resident && (use->upload || use->written) && use->written == use->writes)
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
    BY_COPIES = SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET,
    BY_GUARDS = SVMX_USAGE_COPY_TARGET /* they are filled */
};

/* Buffers that it computes with to the heap. Without memory for that they are like other memory; any other failure is the
 * device's. */
static enum svmx_status place_in_heap(struct svmx__part *head) {
    struct svmx__stretch *stretch = &head->batch->stretch;
    stretch->base = stretch->upload_bytes = 0;
    if (!svmx__has_residents(head->batch)) return SVMX_OK;
    const enum svmx_status status = svmx__heap_place(head, stretch->arena_bytes, &stretch->base);
    if (status == SVMX_OK) return SVMX_OK;
    stretch->base = 0;
    if (status == SVMX_ERR_MEMORY) return svmx__stretch_measure(head) ? SVMX_OK : SVMX_ERR_OVERFLOW;
    if (status == SVMX_BUSY) {
        (void)snprintf(head->reason, sizeof head->reason, "no room for its buffers beside launches under way");
        return SVMX_ERR_MEMORY;
    }
    (void)snprintf(head->reason, sizeof head->reason, "%s: no memory for buffers: %s", head->device->info.name,
                   svmx_status_name(status));
    return status;
}

/* The first part holds it all: in staging_in what the host writes, in staging_out what it reads, in inputs the memory on the
 * device. Where that is staging memory itself there is staging_in only. */
static enum svmx_status acquire_all(struct svmx__part *head, uint64_t scratch_bytes) {
    struct svmx_batch *batch = head->batch;
    struct svmx__stretch *stretch = &batch->stretch;
    enum svmx_status status = place_in_heap(head);
    if (status != SVMX_OK) return status;
    const bool in_heap = svmx__has_residents(batch);
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (batch->uses[i].upload)
            stretch->upload_bytes += svmx__align(batch->uses[i].buffer->bytes, stretch->alignment);
    if (svmx__stretch_shares(head)) {
        status = acquire(head, SVMX_MEMORY_STAGING, BY_KERNELS | BY_HOST | BY_GUARDS, stretch->arena_bytes,
                         &head->staging_in);
    } else {
        status = acquire(head, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE,
                         stretch->passing_at + stretch->upload_bytes, &head->staging_in);
        if (status == SVMX_OK)
            status =
                acquire(head, SVMX_MEMORY_STAGING, BY_HOST | SVMX_USAGE_COPY_TARGET, /* written: guards */
                        svmx__align(svmx__stretch_back_bytes(stretch), stretch->alignment) + stretch->checkpoint_bytes,
                        &head->staging_out);
        if (status == SVMX_OK && !in_heap)
            status = acquire(head, SVMX_MEMORY_DEVICE, BY_KERNELS | BY_COPIES, stretch->arena_bytes, &head->inputs);
    }
    if (status != SVMX_OK) return status;
    return acquire(head, SVMX_MEMORY_DEVICE, head->layout->usage_scratch, scratch_bytes, &head->scratch);
}

/* ---- staging ----------------------------------------------------------------------------------------------------- */

/* Pipeline and layout of one part, in the life of the first. */
static enum svmx_status prepare(struct svmx__part *head, struct svmx__part *part, uint64_t *scratch_bytes) {
    uint64_t scratch;
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    part->block = NULL;
    part->command_count = 0;
    part->dispatch_ns = part->ahead_ns = 0;
    part->windowed = part->overlapped = part->retired = false;
    part->life = head->life;
    const enum svmx_status status = svmx__prepare(part);
    if (status != SVMX_OK) return status;
    if (!svmx__layout(part)) return SVMX_ERR_MEMORY;
    if (!svmx__mul(part->units, part->layout->scratch_bytes_per_unit, &scratch)) {
        (void)snprintf(part->reason, sizeof part->reason, "its scratch memory does not fit in 64 bits");
        return SVMX_ERR_MEMORY;
    }
    if (scratch > *scratch_bytes) *scratch_bytes = scratch;
    return SVMX_OK;
}

static enum svmx_status prepare_all(struct svmx__part *head, uint64_t *scratch_bytes) {
    struct svmx__part *part;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++) {
        part->pinned = part->run_pinned = false;
        part->run = SVMX__NO_PART;
    }
    head->life = svmx__life_of(head->device);
    if (atomic_load_explicit(&head->life->over, memory_order_relaxed)) {
        (void)snprintf(head->reason, sizeof head->reason, "%s was given up", head->device->info.name);
        return SVMX_ERR_DEVICE_LOST;
    }
    *scratch_bytes = 0;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++) {
        const enum svmx_status status = prepare(head, part, scratch_bytes);
        if (status == SVMX_OK) continue;
        if (part != head) memcpy(head->reason, part->reason, sizeof head->reason);
        return status;
    }
    svmx__runs_find(head);
    return SVMX_OK;
}

static enum svmx_status stage_all(struct svmx__part *head, struct svmx__commands *list) {
    uint64_t scratch_bytes;
    head->staging_in = head->staging_out = head->inputs = head->outputs = head->scratch = NULL;
    head->block = NULL;
    head->dispatch_ns = 0;
    forget_uses(head->batch);
    enum svmx_status status = prepare_all(head, &scratch_bytes);
    if (status != SVMX_OK) return status;
    choose_buffers(head);
    if (!svmx__stretch_measure(head)) {
        (void)snprintf(head->reason, sizeof head->reason, "the sizes of its tasks do not fit in 64 bits");
        return SVMX_ERR_OVERFLOW;
    }
    status = acquire_all(head, scratch_bytes);
    if (status == SVMX_OK) status = svmx__stretch_commands(head, list);
    if (status == SVMX_OK) svmx__stretch_fill(head);
    return status;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

/* Results are found as they were placed, not by the table: that is a device's to spoil. */
struct take {
    unsigned char *from; /* the memory that they are in */
    uint64_t at, checkpoint_at, copied_bytes;
    uint32_t alignment;
    bool stays; /* some are left where they are */
};

static bool take_slot(void *user, struct svmx__part *part, uint32_t task, uint32_t at, enum svmx__lot place) {
    struct take *take = user;
    struct svmx_slot *slot = &svmx__part_row(part, part->batch->tasks[task].row)[at];
    if (place != SVMX__LOT_READ_BACK && place != SVMX__LOT_TO_BUFFER) return true;
    uint64_t *next = place == SVMX__LOT_READ_BACK ? &take->at : &take->checkpoint_at;
    unsigned char *from = take->from + *next;
    *next += svmx__align(slot->bytes, take->alignment);
    if (!slot->bytes) return true;
    if (slot->at) {
        svmx__copy_run(part->batch->executor, (void *)(uintptr_t)slot->at, from, slot->bytes);
        take->copied_bytes += slot->bytes;
    } else {
        slot->at = (uintptr_t)from;
        take->stays = true;
    }
    return true;
}

void svmx__stretch_take(struct svmx__part *head) {
    const struct svmx__stretch *stretch = &head->batch->stretch;
    struct svmx__staging **held = svmx__stretch_shares(head) ? &head->staging_in : &head->staging_out;
    settle_buffers(head);
    if (!*held) return;
    const uint64_t back = svmx__stretch_back_bytes(stretch);
    const uint64_t skipped = svmx__stretch_shares(head) || !back ? 0 : svmx__stretch_back_at(stretch);
    struct take take = {.from = (*held)->host,
                        .at = svmx__stretch_shares(head) || back ? stretch->results_at - skipped : 0,
                        .checkpoint_at = svmx__align(back, stretch->alignment),
                        .alignment = stretch->alignment};
    (void)svmx__stretch_visit(head->batch, take_slot, &take);
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
    for (uint32_t i = 0; (part = svmx__stretch_part(batch, i)); i++) {
        part->joined = part->stretched = false;
        part->run = SVMX__NO_PART;
        part->pipeline = NULL;
        part->copied_bytes = part->readbacks = 0;
    }
    batch->stretch.barred = batch->stretch.apart = true;
}

/* The parts behind the first took no time of their own. */
static void answer(struct svmx__part *part, const struct svmx__part *head) {
    part->status = SVMX_OK;
    part->launches = svmx__is_behind_in_run(part) ? 0 : 1;
    part->ticket = 0;
    part->compared = false;
    part->compare_ns = 0;
    part->timing = (struct svmx_timing){.size = sizeof part->timing};
    part->queued_ns = head->queued_ns;
    part->start_ns = part->dispatch_ns = part->done_ns = part->end_ns = head->done_ns;
    svmx__learn(part);
}

void svmx__stretch_forsake(struct svmx__part *head) {
    struct svmx__part *part;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++) part->pinned = part->run_pinned = false;
    fall_apart(head, head->status);
}

enum svmx_status svmx__stretch_begin(struct svmx__part *head) {
    struct svmx__commands list;
    const enum svmx_status status = stage_all(head, &list);
    return status == SVMX_OK ? svmx__dispatch_list(head, list.commands, list.count) : status;
}

enum svmx_status svmx__stretch_collect(struct svmx__part *head, enum svmx_status so_far) {
    struct svmx__part *part;
    const enum svmx_status status = svmx__collect(head, so_far);
    if (status != SVMX_OK) svmx__heap_forget(head);
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++) {
        const bool unpins = status != SVMX_TIMEOUT; /* else it may be running */
        if (part->pinned && unpins) svmx__pipeline_unpin(part->pipeline);
        if (part->run_pinned && unpins) svmx__pipeline_unpin(part->run_pipeline);
        part->pinned = part->run_pinned = false;
    }
    return status;
}

enum svmx_status svmx__stretch_end(struct svmx__part *head, enum svmx_status so_far) {
    struct svmx__part *part;
    const enum svmx_status status = svmx__stretch_collect(head, so_far);
    if (status != SVMX_OK) {
        fall_apart(head, status);
        return status;
    }
    head->launches = 1;
    for (uint32_t i = 0; (part = svmx__stretch_part(head->batch, i)); i++)
        if (part != head) answer(part, head);
    return SVMX_OK;
}
