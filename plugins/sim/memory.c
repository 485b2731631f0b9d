/*
 * memory.c: memory of a modelled device: the host's, but each its own, so that whoever forgets a copy gets wrong bytes.
 * Only where the model shares memory may kernels use what the host writes.
 *
 * Called by the core's pools, from any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

static const uint32_t kernel_use = SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE;
static const uint32_t host_use = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE;

/* Why a wish cannot be met, whatever the memory that there is; NULL: it can. */
static const char *impossible(const struct sim_gpu *gpu, const struct svmx_memory_desc *desc) {
    const bool shared = gpu->model.shares_memory;
    switch (desc->kind) {
    case SVMX_MEMORY_DEVICE:
        return desc->usage & host_use && !shared ? "device memory is not visible to the host" : NULL;
    case SVMX_MEMORY_STAGING:
        return desc->usage & kernel_use && !shared ? "kernels cannot use staging memory here" : NULL;
    case SVMX_MEMORY_IMPORT: return shared ? NULL : "memory cannot be imported: the device has its own";
    default: return "no such kind of memory";
    }
}

/* Whether so much more fits on the device; then it counts. What is staged is in the host's memory. */
static bool claim(struct sim_gpu *gpu, const struct svmx_memory *memory) {
    pthread_mutex_lock(&gpu->instance->lock);
    const uint64_t limit = gpu->model.memory_bytes;
    const bool claimed =
        !memory->on_device || !limit || (memory->bytes <= limit && gpu->memory_used <= limit - memory->bytes);
    if (claimed && memory->on_device) gpu->memory_used += memory->bytes;
    pthread_mutex_unlock(&gpu->instance->lock);
    return claimed;
}

static void unclaim(const struct svmx_memory *memory) {
    if (!memory->on_device) return;
    pthread_mutex_lock(&memory->gpu->instance->lock);
    memory->gpu->memory_used -= memory->bytes;
    pthread_mutex_unlock(&memory->gpu->instance->lock);
}

enum svmx_status sim_memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                  struct svmx_memory **memory, void **host) {
    const struct sim_instance *instance = self;
    const struct svmx_host *upcalls = instance->host;
    struct sim_gpu *gpu = sim_device_at(instance, device);
    if (!gpu) return SVMX_ERR_UNKNOWN;
    const char *reason = impossible(gpu, desc);
    if (reason) return sim_fail(instance, SVMX_ERR_UNSUPPORTED, "%s: %s", gpu->model.name, reason);
    if (desc->bytes == 0) return sim_fail(instance, SVMX_ERR_ARGUMENT, "%s: memory of no bytes", gpu->model.name);
    struct svmx_memory *made = upcalls->alloc(upcalls, sizeof *made, 64);
    if (!made) return sim_fail(instance, SVMX_ERR_MEMORY, "no memory for a description of memory");
    *made = (struct svmx_memory){.gpu = gpu,
                                 .bytes = desc->bytes,
                                 .imported = desc->kind == SVMX_MEMORY_IMPORT,
                                 .on_device = desc->kind == SVMX_MEMORY_DEVICE};
    const bool claimed = claim(gpu, made);
    if (made->imported)
        made->data = desc->import;
    else if (claimed && desc->bytes <= SIM_MAX_ALLOC_BYTES)
        made->data = upcalls->alloc(upcalls, (size_t)desc->bytes, 4096);
    if (!made->data) {
        if (claimed) unclaim(made);
        upcalls->release(upcalls, made);
        return sim_fail(instance, SVMX_ERR_MEMORY, "%s: no memory of %llu bytes", gpu->model.name,
                        (unsigned long long)desc->bytes);
    }
    if (!made->imported) memset(made->data, 0, (size_t)desc->bytes); /* nobody sees what its last owner left */
    *memory = made;
    *host = desc->usage & host_use ? made->data : NULL;
    return SVMX_OK;
}

void sim_memory_free(void *self, struct svmx_memory *memory) {
    const struct sim_instance *instance = self;
    if (!memory) return;
    unclaim(memory);
    if (!memory->imported) instance->host->release(instance->host, memory->data);
    instance->host->release(instance->host, memory);
}
