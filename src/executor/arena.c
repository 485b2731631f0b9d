/*
 * arena.c: see arena.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/arena.h"

#include "base/alloc.h"
#include "executor/ask.h"
#include "executor/batch.h"
#include "executor/executor.h"
#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_BYTES = 64 << 10, ALIGNMENT = 64 };
#define MAX_BYTES (UINT64_C(1) << 47)

/* The first device with memory of its own; else the reference device, whose memory is the host's. */
static struct svmx__device *likely_device(struct svmx_executor *executor) {
    for (uint32_t i = 0; i < executor->device_count; i++) {
        struct svmx__device *device = &executor->devices[i];
        if (!device->host_memory && svmx__health_serves(&device->health)) return device;
    }
    return svmx__reference_of(executor);
}

static enum svmx_status acquire(struct svmx__device *device, uint64_t tenant, uint64_t bytes,
                                struct svmx__block *block) {
    bool shares = (device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
    uint32_t usage = SVMX_USAGE_HOST_WRITE | (shares ? SVMX_USAGE_KERNEL_READ : SVMX_USAGE_COPY_SOURCE);
    return svmx__ask_memory(device, tenant, usage, bytes, &block->life, &block->staging);
}

/* Plain memory it is. */
static void count_plain(struct svmx_executor *executor, enum svmx_status status) {
    atomic_uint_fast64_t *counter = status == SVMX_TIMEOUT ? &executor->allocs_late : &executor->allocs_refused;
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* A block of at least so many bytes in front of the others; host memory where the device has none left, or does not answer. */
static struct svmx__block *add_block(struct svmx_batch *batch, uint64_t bytes) {
    struct svmx_executor *executor = batch->executor;
    struct svmx__block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    struct svmx__device *device = likely_device(executor);
    enum svmx_status status = acquire(device, batch->tenant, bytes, block);
    if (status != SVMX_OK && !device->host_memory) {
        count_plain(executor, status);
        status = acquire(svmx__reference_of(executor), batch->tenant, bytes, block);
    }
    if (status != SVMX_OK) {
        free(block);
        return NULL;
    }
    block->next = batch->blocks;
    batch->blocks = block;
    svmx__pressure_look(block->life->device);
    return block;
}

/* What a batch is likely to ask for: what it had before it was reset, so that it is in one piece from the second time on. */
static uint64_t first_bytes(const struct svmx_batch *batch) {
    return batch->alloc_bytes > FIRST_BYTES ? batch->alloc_bytes : FIRST_BYTES;
}

enum svmx_status svmx_batch_alloc(svmx_batch_t *batch, uint64_t bytes, void **memory) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = svmx__batch_must_be_building(batch);
    if (status != SVMX_OK) return status;
    if (!memory) return svmx__fail(&batch->error, SVMX_ERR_ARGUMENT, "memory is NULL");
    if (bytes > MAX_BYTES)
        return svmx__fail(&batch->error, SVMX_ERR_OVERFLOW, "%" PRIu64 " bytes are more than there can be", bytes);
    uint64_t room = svmx__align(bytes ? bytes : 1, ALIGNMENT);
    struct svmx__block *block = batch->blocks;
    if (!block || block->staging->bytes - block->used < room) {
        uint64_t twice = block ? 2 * block->staging->bytes : first_bytes(batch);
        block = add_block(batch, room > twice ? room : twice);
        if (!block && room < twice) block = add_block(batch, room);
    }
    if (!block) return svmx__fail(&batch->error, SVMX_ERR_MEMORY, "no memory of %" PRIu64 " bytes", bytes);
    *memory = (unsigned char *)block->staging->host + block->used;
    block->used += room;
    return SVMX_OK;
}

void svmx__staging_return(struct svmx__life *life, struct svmx__staging *staging) {
    if (!staging) return;
    if (staging->orphaned) /* its life is no more */
        svmx__staging_free(staging);
    else
        svmx__memory_return(life, staging);
}

void svmx__arena_reset(struct svmx_batch *batch) {
    batch->alloc_bytes = 0;
    while (batch->blocks) {
        struct svmx__block *block = batch->blocks;
        batch->blocks = block->next;
        batch->alloc_bytes += block->used;
        if (!block->aside) svmx__staging_return(block->life, block->staging);
        free(block);
    }
}

static bool holds(const struct svmx__block *block, const struct svmx_slot *slot) {
    uint64_t base = (uintptr_t)block->staging->host;
    return slot->at >= base && slot->bytes <= block->used && slot->at - base <= block->used - slot->bytes;
}

struct svmx__block *svmx__arena_block_of(const struct svmx__part *part) {
    const struct svmx__layout *layout = part->layout;
    struct svmx__block *block = part->batch ? part->batch->blocks : NULL, *found = NULL;
    if (!block) return NULL;
    uint64_t rows = part->task_count;
    for (uint64_t row = 0; row < rows; row++) {
        const struct svmx_slot *slots = part->slots + row * layout->slot_count;
        for (uint32_t i = 0; i < layout->slot_count; i++) {
            if (layout->place[i] != SVMX__PLACE_INPUT || !slots[i].bytes) continue;
            for (; !found && block; block = block->next)
                if (block->life == part->life && holds(block, &slots[i])) found = block;
            if (!found || !holds(found, &slots[i])) return NULL;
        }
    }
    return found;
}
