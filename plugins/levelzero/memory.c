/*
 * memory.c: memory of a device.
 *
 *   device    the device's own; what its last owner left may be in it, until the core or a kernel writes it
 *   staging   memory of the host that the device copies from and to; on integrated devices, shared memory, which kernels
 *             use in place
 *   import    the library's own memory, on devices that can use any memory of the process
 *
 * Called by the core's pools, from any thread; it touches no list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

static const uint32_t host_use = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE;

static const char *impossible(const struct lz_device *device, const struct svmx_memory_desc *desc) {
    switch (desc->kind) {
    case SVMX_MEMORY_DEVICE: return desc->usage & host_use ? "device memory is not visible to the host" : NULL;
    case SVMX_MEMORY_STAGING: return NULL;
    case SVMX_MEMORY_IMPORT:
        return device->system_memory ? NULL : "memory cannot be imported: the device does not see it";
    default: return "no such kind of memory";
    }
}

static ze_result_t make(struct svmx_memory *memory, const struct svmx_memory_desc *desc) {
    const struct lz_device *device = memory->device;
    const size_t bytes = (size_t)memory->bytes;
    ze_relaxed_allocation_limits_exp_desc_t relaxed = {.stype = ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                                       .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    void *more = memory->bytes > device->plain_bytes ? &relaxed : NULL;
    const ze_device_mem_alloc_desc_t of_device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = more};
    const ze_host_mem_alloc_desc_t of_host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC,
                                              .pNext = device->integrated ? NULL : more};
    void *at = NULL;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (memory->imported)
        at = desc->import;
    else if (desc->kind == SVMX_MEMORY_DEVICE)
        result = zeMemAllocDevice(device->context, &of_device, bytes, LZ_ALIGNMENT, device->id, &at);
    else if (device->integrated)
        result = zeMemAllocShared(device->context, &of_device, &of_host, bytes, LZ_ALIGNMENT, device->id, &at);
    else
        result = zeMemAllocHost(device->context, &of_host, bytes, LZ_ALIGNMENT, &at);
    if (result == ZE_RESULT_SUCCESS) memory->at = at;
    return result;
}

enum svmx_status lz_memory_alloc(void *self, uint32_t index, const struct svmx_memory_desc *desc,
                                 struct svmx_memory **memory, void **host) {
    struct lz_backend *backend = self;
    enum svmx_status status;
    struct lz_device *device = lz_device_ready(backend, index, &status);
    if (!device) return status;
    const char *reason = impossible(device, desc);
    if (reason) return lz_refuse(backend, SVMX_ERR_UNSUPPORTED, "%s: %s", device->info.name, reason);
    if (desc->bytes == 0) return lz_refuse(backend, SVMX_ERR_ARGUMENT, "%s: memory of no bytes", device->info.name);
    if (desc->bytes > device->info.max_alloc_bytes)
        return lz_refuse(backend, SVMX_ERR_MEMORY, "%s: no memory of %llu bytes: the driver's limit is %llu",
                         device->info.name, (unsigned long long)desc->bytes,
                         (unsigned long long)device->info.max_alloc_bytes);
    struct svmx_memory *made = backend->host->alloc(backend->host, sizeof *made, _Alignof(struct svmx_memory));
    if (!made) return lz_refuse(backend, SVMX_ERR_MEMORY, "no memory for a description of memory");
    *made = (struct svmx_memory){.device = device, .bytes = desc->bytes, .imported = desc->kind == SVMX_MEMORY_IMPORT};
    const ze_result_t result = make(made, desc);
    if (result != ZE_RESULT_SUCCESS) {
        backend->host->release(backend->host, made);
        return lz_fail(device, result, "no memory of %llu bytes", (unsigned long long)desc->bytes);
    }
    *memory = made;
    *host = desc->usage & host_use ? made->at : NULL;
    return SVMX_OK;
}

void lz_memory_free(void *self, struct svmx_memory *memory) {
    const struct lz_backend *backend = self;
    if (!memory) return;
    if (!memory->imported && !lz_is_stuck(memory->device))
        lz_note(memory->device, zeMemFree(memory->device->context, memory->at));
    backend->host->release(backend->host, memory);
}
