/*
 * memory.c: memory of a device.
 *
 *   device    a buffer, cleared when it is made: a fresh one may show what its last owner left in it. Clearing also makes
 *             drivers that allocate late say now that there is no memory.
 *   staging   shared memory where the device has it (shared.c): kernels use it in place. Elsewhere a host buffer of the
 *             driver's, mapped for as long as it lives, which copies go through; kernels cannot use it.
 *   import    the library's own memory, page-aligned, on devices that compute in the host's memory.
 *
 * Called by the core's pools, from any thread; it never touches the submitter's queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include <string.h>

enum { PAGE = 4096 }; /* drivers shadow memory that is aligned to less, and later writes of the host go unseen */

static const uint64_t clear_limit_ns = UINT64_C(10000000000);
static const uint32_t kernel_use = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE;
static const uint32_t host_use = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE;

/* ---- making ----------------------------------------------------------------------------------------------- */

/* A kernel may read back what it wrote. The host never touches device memory but by copies. */
static cl_mem_flags flags_of(uint32_t usage) {
    const cl_mem_flags kernels = (usage & kernel_use) == SVMX_USAGE_KERNEL_READ ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
    return usage & (SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET) ? kernels : kernels | CL_MEM_HOST_NO_ACCESS;
}

static cl_int clear(struct svmx_memory *memory) {
    struct ocl_device *device = memory->device;
    const cl_uchar zero = 0;
    cl_event event;
    cl_int error = clEnqueueFillBuffer(device->memory_queue, memory->buffer, &zero, sizeof zero, 0,
                                       (size_t)memory->bytes, 0, NULL, &event);
    if (error != CL_SUCCESS) return error;
    ocl_bell_ask(device, event);
    error = clFlush(device->memory_queue);
    cl_int state = CL_COMPLETE;
    if (error == CL_SUCCESS && !ocl_event_wait(device, event, clear_limit_ns)) error = CL_DEVICE_NOT_AVAILABLE;
    if (error == CL_SUCCESS)
        error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    clReleaseEvent(event);
    return error == CL_SUCCESS ? state : error; /* a state below CL_COMPLETE is an error code */
}

static cl_int make_device(struct svmx_memory *memory, uint32_t usage) {
    cl_int error;
    memory->buffer = clCreateBuffer(memory->device->context, flags_of(usage), (size_t)memory->bytes, NULL, &error);
    return memory->buffer ? clear(memory) : error;
}

static cl_int make_shared(struct svmx_memory *memory) {
    memory->host = ocl_shared_alloc(memory->device, (size_t)memory->bytes);
    if (!memory->host) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    memory->shared = true;
    memset(memory->host, 0, (size_t)memory->bytes);
    return CL_SUCCESS;
}

static cl_int make_mapped(struct svmx_memory *memory) {
    const struct ocl_device *device = memory->device;
    const size_t bytes = (size_t)memory->bytes;
    cl_int error;
    memory->buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (!memory->buffer) return error;
    memory->host = clEnqueueMapBuffer(device->memory_queue, memory->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                      bytes, 0, NULL, NULL, &error);
    if (!memory->host) return error;
    memory->mapped = true;
    memset(memory->host, 0, bytes);
    return CL_SUCCESS;
}

static cl_int make_import(struct svmx_memory *memory, void *import) {
    cl_int error;
    memory->host = import;
    memory->buffer = clCreateBuffer(memory->device->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                    (size_t)memory->bytes, import, &error);
    return memory->buffer ? CL_SUCCESS : error;
}

static cl_int make(struct svmx_memory *memory, const struct svmx_memory_desc *desc) {
    if (desc->kind == SVMX_MEMORY_DEVICE) return make_device(memory, desc->usage);
    if (desc->kind == SVMX_MEMORY_IMPORT) return make_import(memory, desc->import);
    return memory->device->shared != OCL_SHARED_NONE ? make_shared(memory) : make_mapped(memory);
}

/* Why a wish cannot be met, whatever the memory that there is; NULL: it can. */
static const char *impossible(const struct ocl_device *device, const struct svmx_memory_desc *desc) {
    switch (desc->kind) {
    case SVMX_MEMORY_DEVICE: return desc->usage & host_use ? "device memory is not visible to the host" : NULL;
    case SVMX_MEMORY_STAGING:
        return device->shared == OCL_SHARED_NONE && (desc->usage & kernel_use)
                   ? "kernels cannot use staging memory here"
                   : NULL;
    case SVMX_MEMORY_IMPORT:
        if (!device->unified) return "memory cannot be imported: the device has its own";
        return (uintptr_t)desc->import % PAGE ? "memory to import must begin a page" : NULL;
    default: return "no such kind of memory";
    }
}

/* ---- the ABI's -------------------------------------------------------------------------------------------- */

enum svmx_status ocl_memory_alloc(void *self, uint32_t index, const struct svmx_memory_desc *desc,
                                  struct svmx_memory **memory, void **host) {
    struct ocl_backend *backend = self;
    enum svmx_status status;
    struct ocl_device *device = ocl_device_ready(backend, index, &status);
    if (!device) return status;
    const char *reason = impossible(device, desc);
    if (reason) return ocl_refuse(backend, SVMX_ERR_UNSUPPORTED, "%s: %s", device->info.name, reason);
    if (desc->bytes == 0) return ocl_refuse(backend, SVMX_ERR_ARGUMENT, "%s: memory of no bytes", device->info.name);
    if (desc->bytes > device->info.max_alloc_bytes)
        return ocl_refuse(backend, SVMX_ERR_MEMORY, "%s: no memory of %llu bytes: the driver's limit is %llu",
                          device->info.name, (unsigned long long)desc->bytes,
                          (unsigned long long)device->info.max_alloc_bytes);
    struct svmx_memory *made = backend->host->alloc(backend->host, sizeof *made, _Alignof(struct svmx_memory));
    if (!made) return ocl_refuse(backend, SVMX_ERR_MEMORY, "no memory for a description of memory");
    *made = (struct svmx_memory){.device = device, .bytes = desc->bytes};
    made->id = atomic_fetch_add_explicit(&backend->next_memory_id, 1, memory_order_relaxed);
    const cl_int error = make(made, desc);
    if (error != CL_SUCCESS) {
        ocl_memory_free(backend, made);
        return ocl_fail(backend, error, "%s: no memory of %llu bytes", device->info.name,
                        (unsigned long long)desc->bytes);
    }
    *memory = made;
    *host = desc->usage & host_use ? made->host : NULL;
    return SVMX_OK;
}

void ocl_memory_free(void *self, struct svmx_memory *memory) {
    const struct ocl_backend *backend = self;
    if (!memory) return;
    const struct ocl_device *device = memory->device;
    if (memory->mapped &&
        clEnqueueUnmapMemObject(device->memory_queue, memory->buffer, memory->host, 0, NULL, NULL) == CL_SUCCESS)
        (void)clFlush(device->memory_queue); /* the driver keeps the buffer until it is unmapped */
    if (memory->buffer) clReleaseMemObject(memory->buffer);
    if (memory->shared) ocl_shared_free(device, memory->host);
    backend->host->release(backend->host, memory);
}
