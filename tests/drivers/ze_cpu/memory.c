/*
 * memory.c: device, host and shared memory. All of it is memory of the host; with ZE_CPU_STRICT a client that looks into
 * device memory finds that it cannot: it has the address of pages without access, and only we know where the bytes are.
 *
 * New memory is filled with 0xa5 and freed memory with 0xdd: nobody may rely on zeroes, nor on the old contents.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, POISON_BYTES = 1 << 24 }; /* more is not filled: a gigabyte would take its time */

static struct zecpu_memory *all; /* with the lock, as the next */
static uint64_t last_id;

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static void poison(struct zecpu_memory *memory, int byte) {
    memset(memory->cpu, byte, memory->bytes < POISON_BYTES ? memory->bytes : POISON_BYTES);
}

struct zecpu_memory *zecpu_memory_find(const void *pointer) {
    const char *at = pointer;
    struct zecpu_memory *memory = all;
    while (memory && !(at >= memory->client && at < memory->client + memory->bytes)) memory = memory->next;
    return memory;
}

void *zecpu_memory_cpu(const void *pointer) {
    zecpu_lock();
    const struct zecpu_memory *memory = zecpu_memory_find(pointer);
    void *found = memory ? memory->cpu + ((const char *)pointer - memory->client) : (void *)(uintptr_t)pointer;
    zecpu_unlock();
    return found;
}

bool zecpu_memory_range(const char *function, const void *pointer, size_t bytes) {
    zecpu_lock();
    const struct zecpu_memory *memory = zecpu_memory_find(pointer);
    const size_t room = memory ? (size_t)(memory->client + memory->bytes - (const char *)pointer) : SIZE_MAX;
    zecpu_unlock();
    if (bytes > room) zecpu_misuse("%s: %zu bytes where the allocation has %zu", function, bytes, room);
    return bytes <= room;
}

unsigned zecpu_memory_count(const struct zecpu_context *context) {
    unsigned count = 0;
    for (const struct zecpu_memory *memory = all; memory; memory = memory->next)
        if (memory->context == context) count++;
    return count;
}

void zecpu_memory_leaks(void) {
    for (const struct zecpu_memory *memory = all; memory; memory = memory->next)
        zecpu_leak("%zu bytes of %s memory not freed", memory->bytes,
                   memory->type == ZE_MEMORY_TYPE_HOST     ? "host"
                   : memory->type == ZE_MEMORY_TYPE_DEVICE ? "device"
                                                           : "shared");
}

/* Does the chain of extensions lift the limit of one allocation? */
static bool relaxed(const void *chain) {
    for (const ze_relaxed_allocation_limits_exp_desc_t *at = chain; at; at = at->pNext)
        if (at->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC &&
            at->flags & ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE)
            return true;
    return false;
}

/* Takes `bytes` of the device's memory, or of that of device 0's like, without limit, for the host. */
static ze_result_t reserve(struct zecpu_device *device, size_t bytes, const void *chain) {
    if (!device) return ZE_RESULT_SUCCESS;
    if (bytes > device->largest_bytes && !relaxed(chain)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    zecpu_lock();
    const bool fits = bytes <= device->memory_bytes - device->root->used_bytes;
    if (fits) device->root->used_bytes += bytes;
    zecpu_unlock();
    return fits ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

static void give_back(struct zecpu_device *device, size_t bytes) {
    if (!device) return;
    zecpu_lock();
    device->root->used_bytes -= bytes;
    zecpu_unlock();
}

/* Unreadable pages in front of the bytes; false: there are none left. */
static bool hide(struct zecpu_memory *memory) {
    memory->client = memory->cpu;
    if (memory->type != ZE_MEMORY_TYPE_DEVICE || !zecpu_settings.strict) return true;
    void *pages = mmap(NULL, whole_pages(memory->bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory->client = pages;
    return pages != MAP_FAILED;
}

static ze_result_t take(struct zecpu_memory *memory, size_t alignment) {
    if (!zecpu_engine_alloc(memory, alignment < PAGE ? PAGE : alignment)) return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    if (!hide(memory)) {
        zecpu_engine_free(memory);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    poison(memory, 0xa5);
    zecpu_lock();
    memory->id = ++last_id;
    memory->next = all;
    all = memory;
    zecpu_unlock();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(const struct zecpu_memory *wish, const void *chain, size_t alignment, void **out) {
    if (!wish->bytes) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if (alignment & (alignment - 1)) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    ze_result_t result = reserve(wish->device, wish->bytes, chain);
    if (result) return result;
    struct zecpu_memory *memory = malloc(sizeof *memory);
    result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (memory) {
        *memory = *wish;
        result = take(memory, alignment);
    }
    if (!result) {
        *out = memory->client;
        return ZE_RESULT_SUCCESS;
    }
    give_back(wish->device, wish->bytes);
    free(memory);
    return result;
}

ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc, size_t bytes,
                             size_t alignment, ze_device_handle_t device, void **out) {
    const struct zecpu_memory wish = {.bytes = bytes,
                                      .type = ZE_MEMORY_TYPE_DEVICE,
                                      .context = (struct zecpu_context *)context,
                                      .device = (struct zecpu_device *)device};
    ze_result_t result = zecpu_call_device(__func__, context, device);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    return result ? result : allocate(&wish, desc->pNext, alignment, out);
}

ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t bytes,
                           size_t alignment, void **out) {
    const struct zecpu_memory wish = {
        .bytes = bytes, .type = ZE_MEMORY_TYPE_HOST, .context = (struct zecpu_context *)context};
    ze_result_t result = zecpu_call(__func__, context, ZECPU_CONTEXT);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    return result ? result : allocate(&wish, desc->pNext, alignment, out);
}

/* Without a device: of the first one's like, but of its own context only. */
ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                             const ze_host_mem_alloc_desc_t *host_desc, size_t bytes, size_t alignment,
                             ze_device_handle_t device, void **out) {
    const struct zecpu_memory wish = {.bytes = bytes,
                                      .type = ZE_MEMORY_TYPE_SHARED,
                                      .context = (struct zecpu_context *)context,
                                      .device = (struct zecpu_device *)device};
    ze_result_t result =
        device ? zecpu_call_device(__func__, context, device) : zecpu_call(__func__, context, ZECPU_CONTEXT);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    if (!result) result = zecpu_stype(__func__, host_desc->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    return result ? result : allocate(&wish, desc->pNext, alignment, out);
}

static void remove_memory(const struct zecpu_memory *memory) {
    struct zecpu_memory **at = &all;
    while (*at != memory) at = &(*at)->next;
    *at = memory->next;
}

/* Out of the list; NULL, which is misuse: it is not there, of another context, or in use. */
static struct zecpu_memory *unlink_memory(const char *function, struct zecpu_context *context, const void *pointer) {
    zecpu_lock();
    struct zecpu_memory *memory = all;
    while (memory && memory->client != pointer) memory = memory->next;
    const bool foreign = memory && memory->context != context;
    const bool used = memory && zecpu_context_in_use(memory->context, &memory->users);
    if (memory && !foreign && !used) remove_memory(memory);
    zecpu_unlock();
    if (!memory) zecpu_misuse("%s: no allocation begins at %p", function, pointer);
    if (foreign) zecpu_misuse("%s: %p was allocated in another context", function, pointer);
    if (used) zecpu_misuse("%s: %p is used by commands under way", function, pointer);
    return foreign || used ? NULL : memory;
}

ze_result_t zeMemFree(ze_context_handle_t context, void *pointer) {
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, context, ZECPU_CONTEXT, &result)) return result;
    struct zecpu_memory *memory = unlink_memory(__func__, (struct zecpu_context *)context, pointer);
    if (!memory) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    poison(memory, 0xdd);
    if (memory->client != memory->cpu) munmap(memory->client, whole_pages(memory->bytes));
    give_back(memory->device, memory->bytes);
    zecpu_engine_free(memory);
    free(memory);
    return result;
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t context, const void *pointer,
                                    ze_memory_allocation_properties_t *out, ze_device_handle_t *device) {
    ze_result_t result = zecpu_call(__func__, context, ZECPU_CONTEXT);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    if (result) return result;
    zecpu_lock();
    const struct zecpu_memory *memory = zecpu_memory_find(pointer);
    out->type = memory ? memory->type : ZE_MEMORY_TYPE_UNKNOWN;
    out->id = memory ? memory->id : 0;
    out->pageSize = memory ? PAGE : 0;
    if (device) *device = memory ? (ze_device_handle_t)memory->device : NULL;
    zecpu_unlock();
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t context, const void *pointer, void **base, size_t *bytes) {
    const ze_result_t result = zecpu_call(__func__, context, ZECPU_CONTEXT);
    if (result) return result;
    zecpu_lock();
    const struct zecpu_memory *memory = zecpu_memory_find(pointer);
    if (memory && base) *base = memory->client;
    if (memory && bytes) *bytes = memory->bytes;
    zecpu_unlock();
    return memory ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
