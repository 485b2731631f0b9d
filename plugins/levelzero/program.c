/*
 * program.c: from SPIR-V, or from a binary of an earlier process, to a module.
 *
 * One module for what is compiled, whatever the bucket: compiled once, shared by reference. A binary is taken only if
 * its head (../kernels/binary.h) says that it comes from the same SPIR-V, options and driver, and that every byte of it is
 * there. On any doubt it is refused, and the core asks for it anew.
 *
 * Called by pipeline.c, from any thread. Two threads that want one program build it once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

#include <stdio.h>
#include <string.h>

enum { LOG_LINES = 8 };

static uint64_t key_of(const struct lz_device *device, const struct lz_source *source) {
    uint64_t key = kernels_hash_text(kernels_hash_start(), device->info.driver);
    key = kernels_hash_text(key, device->own_name);
    key = kernels_hash_text(key, device->build_options);
    return kernels_hash_bytes(key, source->spirv, source->bytes);
}

/* ---- building --------------------------------------------------------------------------------------------- */

/* The first lines of the compiler's log, at the level of a warning: the error that follows is one line only. */
static void tell_log(const struct lz_device *device, ze_module_build_log_handle_t handle, const char *op) {
    size_t bytes = 0;
    const struct svmx_host *host = device->backend->host;
    if (zeModuleBuildLogGetString(handle, &bytes, NULL) != ZE_RESULT_SUCCESS || bytes == 0) return;
    char *log = host->alloc(host, bytes + 1, 1);
    if (!log) return;
    if (zeModuleBuildLogGetString(handle, &bytes, log) != ZE_RESULT_SUCCESS) bytes = 0;
    log[bytes] = '\0';
    char *line = log;
    for (unsigned i = 0; i < LOG_LINES && *line; i++) {
        const size_t length = strcspn(line, "\n");
        const bool last = line[length] == '\0';
        line[length] = '\0';
        if (length) lz_log(device->backend, SVMX_LOG_WARN, "%s: %s", op, line);
        line += length + !last;
    }
    host->release(host, log);
}

static ze_result_t make_module(const struct lz_device *device, ze_module_format_t format, const void *input,
                               size_t bytes, const char *op, ze_module_handle_t *module) {
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = format,
                                   .inputSize = bytes,
                                   .pInputModule = input,
                                   .pBuildFlags = device->build_options};
    ze_module_build_log_handle_t log = NULL;
    const ze_result_t result = zeModuleCreate(device->context, device->id, &desc, module, &log);
    if (log && result == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) tell_log(device, log, op);
    if (log) (void)zeModuleBuildLogDestroy(log);
    if (result != ZE_RESULT_SUCCESS) *module = NULL;
    return result;
}

/* BACKEND: it cannot be used, and why is told; the core asks again without it. */
static enum svmx_status build_binary(struct lz_program *program, const void *binary, size_t bytes) {
    const struct lz_backend *backend = program->device->backend;
    const char *doubt = kernels_binary_doubt(binary, bytes, program->shared.key);
    if (doubt) {
        lz_log(backend, SVMX_LOG_INFO, "%s: a stored binary is not used: %s", program->shared.op, doubt);
        return SVMX_ERR_BACKEND;
    }
    const ze_result_t result =
        make_module(program->device, ZE_MODULE_FORMAT_NATIVE, (const char *)binary + sizeof(struct kernels_head),
                    bytes - sizeof(struct kernels_head), program->shared.op, &program->module);
    lz_note(program->device, result);
    if (result == ZE_RESULT_SUCCESS) return SVMX_OK;
    lz_log(backend, SVMX_LOG_INFO, "%s: a stored binary is not used: %s (%#x)", program->shared.op,
           lz_result_name(result), (unsigned)result);
    /* on a device that is lost nothing can be said of the binary */
    const bool lost = atomic_load_explicit(&program->device->lost, memory_order_relaxed);
    return lost ? SVMX_ERR_DEVICE_LOST : SVMX_ERR_BACKEND;
}

/* With the program's lock held. */
static enum svmx_status build(struct lz_program *program, const struct lz_source *source, const void *binary,
                              size_t bytes) {
    if (binary) return build_binary(program, binary, bytes);
    const ze_result_t result = make_module(program->device, ZE_MODULE_FORMAT_IL_SPIRV, source->spirv, source->bytes,
                                           program->shared.op, &program->module);
    if (result == ZE_RESULT_SUCCESS) return SVMX_OK;
    return lz_fail(program->device, result, "%s: its kernel does not build", program->shared.op);
}

/* ---- sharing ---------------------------------------------------------------------------------------------- */

enum svmx_status lz_program_acquire(struct lz_device *device, const struct lz_source *source, const void *binary,
                                    size_t binary_bytes, struct lz_program **acquired) {
    if (!kernels_program_fits(source->op))
        return lz_refuse(device->backend, SVMX_ERR_UNSUPPORTED, "the name %.32s... is too long", source->op);
    const struct lz_program fresh = {.shared.key = key_of(device, source), .device = device};
    struct lz_program *program = (void *)kernels_program_acquire(
        device->backend->host, &device->lock, &device->programs, source->op, &fresh.shared, sizeof fresh);
    if (!program) return lz_refuse(device->backend, SVMX_ERR_MEMORY, "%s: no memory for a program", source->op);
    enum svmx_status status = SVMX_OK;
    pthread_mutex_lock(&program->shared.lock);
    if (!program->module) status = build(program, source, binary, binary_bytes);
    pthread_mutex_unlock(&program->shared.lock);
    if (status != SVMX_OK)
        lz_program_release(program);
    else
        *acquired = program;
    return status;
}

void lz_program_release(struct lz_program *program) {
    struct lz_device *device = program->device;
    if (!kernels_program_release(&device->lock, &device->programs, &program->shared)) return;
    if (program->module && !lz_is_stuck(device)) lz_note(device, zeModuleDestroy(program->module));
    kernels_program_free(device->backend->host, &program->shared);
}

/* ---- binaries --------------------------------------------------------------------------------------------- */

enum svmx_status lz_program_binary(struct lz_program *program, void *buffer, size_t *bytes) {
    struct lz_device *device = program->device;
    size_t payload_bytes = 0;
    ze_result_t result = zeModuleGetNativeBinary(program->module, &payload_bytes, NULL);
    if (result != ZE_RESULT_SUCCESS) return lz_fail(device, result, "%s: no size of its binary", program->shared.op);
    if (payload_bytes == 0)
        return lz_refuse(device->backend, SVMX_ERR_UNSUPPORTED, "%s: the driver gives no binary", program->shared.op);
    if (!buffer) {
        *bytes = sizeof(struct kernels_head) + payload_bytes;
        return SVMX_OK;
    }
    if (*bytes < sizeof(struct kernels_head) + payload_bytes)
        return lz_refuse(device->backend, SVMX_ERR_OVERFLOW, "%s: its binary has grown", program->shared.op);
    result = zeModuleGetNativeBinary(program->module, &payload_bytes, (uint8_t *)buffer + sizeof(struct kernels_head));
    if (result != ZE_RESULT_SUCCESS) return lz_fail(device, result, "%s: no binary", program->shared.op);
    kernels_binary_seal(buffer, payload_bytes, program->shared.key);
    *bytes = sizeof(struct kernels_head) + payload_bytes;
    return SVMX_OK;
}
