/*
 * host_calls.c: memory and pipelines of the plugin that svmx-host runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* Maps the proxy's file, which may have got lost: a process has so many files and no more. */
static enum svmx_status map_shadow(struct hosted *hosted, struct hosted_memory *memory, int file) {
    void *at = mmap(NULL, (size_t)memory->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED)
        return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "shared memory cannot be mapped: %s", strerror(errno));
    memory->shadow = at;
    return SVMX_OK;
}

/* Where kernels compute in the host's memory anyway the plugin may take the proxy's as it is: nothing is copied then.
 * One that does not is not asked again, and what it said to that is nobody's business. */
static bool import(struct hosted *hosted, uint32_t device, struct svmx_memory_desc desc, struct hosted_memory *memory) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    const size_t lines = svmx__host_lines->count;
    void *host = NULL;
    if (!memory->shadow || device >= hosted->device_count) return false;
    if (!(hosted->device_flags[device] & SVMX_DEVICE_SHARES_MEMORY)) return false;
    if (atomic_load_explicit(&hosted->no_import, memory_order_relaxed)) return false;
    desc.kind = SVMX_MEMORY_IMPORT;
    desc.import = memory->shadow;
    const enum svmx_status status = instance->ops->memory_alloc(instance->self, device, &desc, &memory->memory, &host);
    if (status == SVMX_OK && host == memory->shadow) {
        memory->host = memory->shadow;
        return true;
    }
    if (status == SVMX_OK) instance->ops->memory_free(instance->self, memory->memory);
    if (status != SVMX_ERR_MEMORY) atomic_store_explicit(&hosted->no_import, true, memory_order_relaxed);
    memory->memory = NULL;
    svmx__host_lines->count = lines;
    return false;
}

/* Memory of the plugin's own. */
static enum svmx_status alloc(struct hosted *hosted, uint32_t device, const struct svmx_memory_desc *desc,
                              struct hosted_memory *memory) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    void *host = NULL;
    const enum svmx_status status = instance->ops->memory_alloc(instance->self, device, desc, &memory->memory, &host);
    if (status != SVMX_OK) {
        memory->memory = NULL;
        return status;
    }
    memory->host = host;
    if (memory->shadow && !host) return svmx__host_fail(hosted, SVMX_ERR_BACKEND, "memory_alloc gave no address");
    return SVMX_OK;
}

static void memory_free(struct hosted *hosted, struct hosted_memory *memory) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    if (memory->memory) instance->ops->memory_free(instance->self, memory->memory);
    if (memory->shadow) (void)munmap(memory->shadow, (size_t)memory->bytes);
    free(memory);
}

enum svmx_status svmx__host_alloc(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    const uint32_t device = (uint32_t)svmx__wire_get(request);
    struct svmx_memory_desc desc = {.size = sizeof desc};
    desc.kind = (uint32_t)svmx__wire_get(request);
    desc.usage = (uint32_t)svmx__wire_get(request);
    desc.bytes = svmx__wire_get(request);
    if (!instance->ops->memory_alloc) return svmx__host_fail(hosted, SVMX_ERR_UNSUPPORTED, "it has no memory_alloc");
    struct hosted_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "no memory for a description of memory");
    const int file = svmx__wire_take_file(request);
    memory->bytes = desc.bytes;
    const bool shared = desc.usage & (SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE);
    enum svmx_status status = shared ? map_shadow(hosted, memory, file) : SVMX_OK;
    if (file >= 0) (void)close(file);
    if (status == SVMX_OK && !import(hosted, device, desc, memory)) status = alloc(hosted, device, &desc, memory);
    if (status == SVMX_OK)
        svmx__wire_put(answer, (uintptr_t)memory);
    else
        memory_free(hosted, memory);
    return status;
}

enum svmx_status svmx__host_free(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    (void)answer;
    struct hosted_memory *memory = (struct hosted_memory *)(uintptr_t)svmx__wire_get(request);
    if (memory) memory_free(hosted, memory);
    return SVMX_OK;
}

/* ---- pipelines -------------------------------------------------------------------------------------------------- */

/* The operation, its texts and bytes where they lie in the message; params are written to `params`. false: too many. */
static bool get_op(struct svmx__wire *request, struct svmx_op_desc *op, struct svmx_param *params, uint32_t most) {
    *op = (struct svmx_op_desc){.size = sizeof *op, .name = svmx__wire_get_text(request), .params = params};
    op->scratch_bytes_per_unit = (uint32_t)svmx__wire_get(request);
    op->param_count = (uint32_t)svmx__wire_get(request);
    if (op->param_count > most) return false;
    for (uint32_t i = 0; i < op->param_count; i++) {
        const char *name = svmx__wire_get_text(request);
        size_t bytes;
        const void *param = svmx__wire_get_bytes(request, &bytes);
        if (bytes != sizeof params[i]) return false;
        memcpy(&params[i], param, bytes);
        params[i].name = name;
    }
    op->opencl_c = svmx__wire_get_text(request);
    op->spirv = svmx__wire_get_bytes(request, &op->spirv_bytes);
    if (!op->spirv_bytes) op->spirv = NULL;
    op->local = (uint32_t)svmx__wire_get(request);
    op->grain = (uint32_t)svmx__wire_get(request);
    return !request->broken && op->name;
}

enum svmx_status svmx__host_build(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    enum { MOST = 64 };
    const struct svmx_backend *instance = &hosted->backend.instance;
    struct svmx_param params[MOST];
    struct svmx_op_desc op;
    struct svmx_pipeline *pipeline = NULL;
    struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op};
    const uint32_t device = (uint32_t)svmx__wire_get(request);
    desc.bucket = svmx__wire_get(request);
    desc.variant = (uint32_t)svmx__wire_get(request);
    desc.binary = svmx__wire_get_bytes(request, &desc.binary_bytes);
    if (!desc.binary_bytes) desc.binary = NULL;
    if (!get_op(request, &op, params, MOST))
        return svmx__host_fail(hosted, SVMX_ERR_ARGUMENT, "build: an operation that is not described as agreed");
    const enum svmx_status status = instance->ops->pipeline_build(instance->self, device, &desc, &pipeline);
    if (status == SVMX_OK) svmx__wire_put(answer, (uintptr_t)pipeline);
    return status;
}

static struct svmx_pipeline *get_pipeline(struct svmx__wire *request) {
    return (struct svmx_pipeline *)(uintptr_t)svmx__wire_get(request);
}

enum svmx_status svmx__host_drop(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    (void)answer;
    const struct svmx_backend *instance = &hosted->backend.instance;
    instance->ops->pipeline_free(instance->self, get_pipeline(request));
    return SVMX_OK;
}

enum svmx_status svmx__host_binary(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    struct svmx_pipeline *pipeline = get_pipeline(request);
    const bool wanted = svmx__wire_get(request) != 0;
    size_t bytes = (size_t)svmx__wire_get(request);
    void *buffer = wanted ? malloc(bytes ? bytes : 1) : NULL;
    if (wanted && !buffer) return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "no memory for a binary");
    const enum svmx_status status = instance->ops->pipeline_binary(instance->self, pipeline, buffer, &bytes);
    if (status == SVMX_OK) {
        svmx__wire_put(answer, bytes);
        svmx__wire_put_bytes(answer, buffer, buffer ? bytes : 0);
    }
    free(buffer);
    return status;
}
