/*
 * buffer.c: see buffer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/buffer.h"

#include "base/alloc.h"
#include "executor/batch.h"
#include "executor/executor.h"
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (UINT64_C(1) << 46)
enum { HEAP_ALIGNMENT = 4096 }; /* of buffers; a device that asks for more gets more */

/* ---- the caller's ------------------------------------------------------------------------------------------------ */

enum svmx_status svmx_buffer_create(svmx_executor_t *executor, uint64_t bytes, svmx_buffer_t **buffer) {
    if (!executor || !buffer) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    if (bytes > MAX_BYTES) return SVMX_ERR_OVERFLOW;
    struct svmx_buffer *made = calloc(1, sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    made->host = svmx__aligned_alloc((size_t)bytes, 64);
    if (!made->host) {
        free(made);
        return SVMX_ERR_MEMORY;
    }
    memset(made->host, 0, (size_t)bytes);
    made->bytes = bytes;
    made->executor = executor;
    atomic_init(&made->references, 1);
    atomic_init(&made->version, 1);
    svmx__executor_retain(executor);
    *buffer = made;
    return SVMX_OK;
}

static void release(struct svmx_buffer *buffer) {
    /* acq_rel: the last one sees what all the others did */
    if (atomic_fetch_sub_explicit(&buffer->references, 1, memory_order_acq_rel) != 1) return;
    svmx__executor_release(buffer->executor);
    free(buffer->host);
    free(buffer); /* its place in heaps is found again when they are made anew */
}

void svmx_buffer_destroy(svmx_buffer_t *buffer) {
    if (buffer) release(buffer);
}

uint64_t svmx_buffer_bytes(const svmx_buffer_t *buffer) { return buffer ? buffer->bytes : 0; }

static enum svmx_status check_range(const struct svmx_buffer *buffer, uint64_t offset, const void *data,
                                    uint64_t bytes) {
    if (!buffer || (!data && bytes)) return SVMX_ERR_ARGUMENT;
    return offset <= buffer->bytes && bytes <= buffer->bytes - offset ? SVMX_OK : SVMX_ERR_OVERFLOW;
}

enum svmx_status svmx_buffer_write(svmx_buffer_t *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    const enum svmx_status status = check_range(buffer, offset, data, bytes);
    if (status != SVMX_OK || !bytes) return status;
    memcpy(buffer->host + offset, data, (size_t)bytes);
    /* release: whoever finds a copy of this version good has the bytes behind it; copies have older ones */
    atomic_fetch_add_explicit(&buffer->version, 1, memory_order_release);
    return SVMX_OK;
}

enum svmx_status svmx_buffer_read(const svmx_buffer_t *buffer, uint64_t offset, void *data, uint64_t bytes) {
    const enum svmx_status status = check_range(buffer, offset, data, bytes);
    if (status == SVMX_OK && bytes) memcpy(data, buffer->host + offset, (size_t)bytes);
    return status;
}

/* ---- in batches --------------------------------------------------------------------------------------------------- */

void svmx__buffers_begin(struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->use_count; i++) {
        struct svmx__use *use = &batch->uses[i];
        const uint64_t raised = use->writes > 0;
        use->before = atomic_fetch_add_explicit(&use->buffer->version, raised, memory_order_acq_rel);
        use->after = use->before + raised;
    }
}

void svmx__buffers_release(struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->use_count; i++) release(batch->uses[i].buffer);
    batch->use_count = 0;
}

/* ---- on devices --------------------------------------------------------------------------------------------------- */

bool svmx__use_is_good(const struct svmx__use *use, uint32_t device, uint64_t generation) {
    const struct svmx__copy *copy = &use->buffer->copies[device];
    const uint64_t version = atomic_load_explicit(&copy->version, memory_order_relaxed);
    return generation && atomic_load_explicit(&copy->generation, memory_order_relaxed) == generation &&
           version == use->before;
}

static uint64_t alignment_of(const struct svmx__device *device) {
    return device->info.alignment > HEAP_ALIGNMENT ? device->info.alignment : HEAP_ALIGNMENT;
}

/* That a buffer takes in a heap. */
static uint64_t room_of(const struct svmx_buffer *buffer, const struct svmx__device *device) {
    return svmx__align(buffer->bytes, alignment_of(device));
}

/* Bytes of the buffers that are to be in a heap: all of them, or those that are not there. */
static uint64_t bytes_of(const struct svmx__part *head, uint64_t generation) {
    const struct svmx_batch *batch = head->batch;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < batch->use_count; i++) {
        const struct svmx_buffer *buffer = batch->uses[i].buffer;
        const struct svmx__copy *copy = &buffer->copies[head->device->id];
        if (!batch->uses[i].resident) continue;
        if (generation && atomic_load_explicit(&copy->generation, memory_order_relaxed) == generation) continue;
        sum += room_of(buffer, head->device);
    }
    return sum;
}

void svmx__heap_end(struct svmx__life *life) {
    atomic_store_explicit(&life->heap.generation, 0, memory_order_relaxed);
    svmx__staging_release(&life->pool, life->heap.memory);
    life->heap.memory = NULL;
    life->heap.top = 0;
}

bool svmx__heap_drop(struct svmx__part *part) {
    if (!part->life->heap.memory || svmx__window_is_in_heap(part->device)) return false;
    svmx__heap_end(part->life);
    return true;
}

/* A new memory in which nothing lies; what is used again finds its place again. As large as a window of such stretches needs, and
 * for as many buffers again, if there is memory for that and it is no more than a quarter of the device's. */
static enum svmx_status make_heap(struct svmx__part *head, uint64_t buffer_bytes, uint64_t behind_bytes) {
    struct svmx__heap *heap = &head->life->heap;
    const uint32_t usage =
        SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET;
    const uint64_t wanted = 2 * buffer_bytes + head->device->window.depth * behind_bytes;
    const uint64_t most = head->device->info.memory_bytes / 4;
    svmx__heap_end(head->life);
    enum svmx_status status = SVMX_ERR_MEMORY;
    if (!most || wanted <= most)
        status = svmx__staging_acquire(&head->life->pool, SVMX_MEMORY_DEVICE, usage, wanted, &heap->memory);
    if (status == SVMX_ERR_MEMORY)
        status = svmx__staging_acquire(&head->life->pool, SVMX_MEMORY_DEVICE, usage, buffer_bytes + behind_bytes,
                                       &heap->memory);
    if (status != SVMX_OK) return status;
    atomic_store_explicit(&heap->generation, (uint64_t)head->life->number << 32 | ++heap->made, memory_order_relaxed);
    return SVMX_OK;
}

static void place_one(struct svmx__heap *heap, struct svmx__use *use, const struct svmx__device *on) {
    const uint32_t device = on->id;
    const uint64_t generation = atomic_load_explicit(&heap->generation, memory_order_relaxed);
    struct svmx__copy *copy = &use->buffer->copies[device];
    const bool good = svmx__use_is_good(use, device, generation);
    if (atomic_load_explicit(&copy->generation, memory_order_relaxed) != generation) {
        copy->at = heap->top;
        heap->top += room_of(use->buffer, on);
        atomic_store_explicit(&copy->generation, generation, memory_order_relaxed);
    }
    /* What is written whole need not be there before. */
    use->upload = !good && (use->read || use->written_bytes < use->buffer->bytes);
    if (use->upload || use->written)
        atomic_store_explicit(&copy->version, 0, memory_order_relaxed); /* until the stretch went well */
}

/* Where a stretch lies, not before `from`: at the end of the heap, below those under way, or behind them when the oldest are
 * over and there is more room. UINT64_MAX: nowhere.
 *
 *   [buffer][buffer]  from ->            [youngest][next][oldest]
 */
static uint64_t place_behind(const struct svmx__part *head, uint64_t from, uint64_t bytes) {
    const uint64_t end = head->life->heap.memory->bytes / alignment_of(head->device) * alignment_of(head->device);
    uint64_t low = end, high = from;
    svmx__window_heap_span(head->device, &low, &high);
    if (from > low) return UINT64_MAX;
    if (bytes <= low - from) return low - bytes;
    return high < end && bytes <= end - high ? end - bytes : UINT64_MAX;
}

/* Where the stretch lies beside the buffers that it needs, as the heap is. UINT64_MAX: it has no room for all. */
static uint64_t find_place(const struct svmx__part *head, uint64_t behind_bytes) {
    const struct svmx__heap *heap = &head->life->heap;
    const uint64_t generation = atomic_load_explicit(&heap->generation, memory_order_relaxed);
    return generation ? place_behind(head, heap->top + bytes_of(head, generation), behind_bytes) : UINT64_MAX;
}

enum svmx_status svmx__heap_place(struct svmx__part *head, uint64_t behind_bytes, uint64_t *at) {
    struct svmx_batch *batch = head->batch;
    const uint64_t aligned = svmx__align(behind_bytes, alignment_of(head->device));
    enum svmx_status status = SVMX_OK;
    *at = find_place(head, aligned);
    if (*at == UINT64_MAX) {
        status = svmx__window_is_in_heap(head->device) ? SVMX_BUSY : make_heap(head, bytes_of(head, 0), aligned);
        if (status == SVMX_OK) *at = find_place(head, aligned);
    }
    for (uint32_t i = 0; i < batch->use_count; i++) {
        if (status == SVMX_OK && batch->uses[i].resident) place_one(&head->life->heap, &batch->uses[i], head->device);
        if (status != SVMX_OK) batch->uses[i].resident = batch->uses[i].upload = false;
    }
    return status;
}

bool svmx__has_residents(const struct svmx_batch *batch) {
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (batch->uses[i].resident) return true;
    return false;
}

void svmx__heap_forget(const struct svmx__part *head) {
    const struct svmx_batch *batch = head->batch;
    for (uint32_t i = 0; i < batch->use_count; i++)
        if (batch->uses[i].resident)
            atomic_store_explicit(&batch->uses[i].buffer->copies[head->device->id].version, 0, memory_order_relaxed);
}
