/*
 * module.c: modules, of SPIR-V or of a native binary, and their build logs. A native binary is the OpenCL driver's, behind
 * what was read from the SPIR-V:
 *
 *     magic  name of the engine  count of kernels  kernels  bytes of OpenCL
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct native_header {
    char magic[8];
    char engine[160];
    uint32_t kernel_count, pad;
};

static const char native_magic[8] = "ze_cpu 1";

/* A module before it has a handle. */
struct draft {
    struct zecpu_kernel_info *kernels;
    uint32_t kernel_count;
    cl_program program;
    char *log;
};

static ze_result_t from_spirv(const struct zecpu_device *device, const ze_module_desc_t *desc, struct draft *draft) {
    struct zecpu_spirv info;
    void *bitcode;
    size_t bytes;
    /* the client's bytes may begin anywhere */
    uint32_t *words = malloc(desc->inputSize + 1);
    if (!words) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(words, desc->pInputModule, desc->inputSize);
    const bool good = desc->inputSize % 4 == 0 && zecpu_spirv_read(words, desc->inputSize / 4, &info);
    free(words);
    if (!good) {
        draft->log = strdup("this is no SPIR-V for kernels");
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    draft->kernels = info.kernels;
    draft->kernel_count = info.kernel_count;
    if (info.fp64 && !device->fp64) {
        draft->log = strdup("the module uses doubles, which this device does not have");
        return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    }
    zecpu_translate(desc->pInputModule, desc->inputSize, desc->pConstants, &info, &bitcode, &bytes, &draft->log);
    if (bitcode) draft->program = zecpu_engine_build(bitcode, bytes, &draft->log);
    free(bitcode);
    return draft->program ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
}

static ze_result_t from_native(const ze_module_desc_t *desc, struct draft *draft) {
    struct native_header header;
    if (desc->inputSize < sizeof header) return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    memcpy(&header, desc->pInputModule, sizeof header);
    const size_t rest = desc->inputSize - sizeof header, table = header.kernel_count * sizeof *draft->kernels;
    if (memcmp(header.magic, native_magic, sizeof native_magic) != 0 ||
        strncmp(header.engine, zecpu_engine_name(), sizeof header.engine) != 0 || header.kernel_count > 4096 ||
        table > rest)
        return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
    draft->kernels = malloc(table + 1);
    if (!draft->kernels) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(draft->kernels, desc->pInputModule + sizeof header, table);
    draft->kernel_count = header.kernel_count;
    draft->program = zecpu_engine_build(desc->pInputModule + sizeof header + table, rest - table, &draft->log);
    return draft->program ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
}

/* ---- build logs ----------------------------------------------------------------------------------------------- */

struct build_log {
    struct zecpu_object object;
    char *text;
};

static void make_log(struct zecpu_context *context, struct zecpu_device *device, const char *text,
                     ze_module_build_log_handle_t *out) {
    struct build_log *log = zecpu_object_make(ZECPU_LOG, sizeof *log, context, device);
    log->text = strdup(text ? text : "");
    *out = (ze_module_build_log_handle_t)log;
}

ze_result_t zeModuleBuildLogDestroy(ze_module_build_log_handle_t handle) {
    struct build_log *log = (struct build_log *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_LOG, &result)) return result;
    zecpu_object_retire(log);
    free(log->text);
    log->text = NULL;
    return result;
}

ze_result_t zeModuleBuildLogGetString(ze_module_build_log_handle_t handle, size_t *bytes, char *out) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_LOG);
    if (result) return result;
    const char *text = ((const struct build_log *)handle)->text;
    const size_t all = strlen(text) + 1;
    if (out) memcpy(out, text, *bytes < all ? *bytes : all);
    *bytes = all;
    return ZE_RESULT_SUCCESS;
}

/* ---- modules -------------------------------------------------------------------------------------------------- */

ze_result_t zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_module_desc_t *desc,
                           ze_module_handle_t *out, ze_module_build_log_handle_t *log) {
    struct zecpu_context *in = (struct zecpu_context *)context;
    struct zecpu_device *on = (struct zecpu_device *)device;
    struct draft draft = {0};
    ze_result_t result = zecpu_call_device(__func__, context, device);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_MODULE_DESC);
    if (result) return result;
    result = desc->format == ZE_MODULE_FORMAT_IL_SPIRV ? from_spirv(on, desc, &draft) : from_native(desc, &draft);
    if (log) make_log(in, on, draft.log, log);
    free(draft.log);
    if (result) {
        free(draft.kernels);
        return result;
    }
    struct zecpu_module *module = zecpu_object_make(ZECPU_MODULE, sizeof *module, in, on);
    module->kernels = draft.kernels;
    module->kernel_count = draft.kernel_count;
    module->program = draft.program;
    *out = (ze_module_handle_t)module;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleDestroy(ze_module_handle_t handle) {
    struct zecpu_module *module = (struct zecpu_module *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_MODULE, &result)) return result;
    zecpu_lock();
    const unsigned users = module->users;
    zecpu_unlock();
    if (users) {
        zecpu_misuse("%s: %u kernels of the module are still there", __func__, users);
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    zecpu_object_retire(module);
    zecpu_engine_program_free(module->program);
    free(module->kernels);
    module->kernels = NULL;
    return result;
}

ze_result_t zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *bytes, uint8_t *out) {
    const struct zecpu_module *module = (const struct zecpu_module *)handle;
    struct native_header header = {.kernel_count = 0};
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_MODULE);
    if (result) return result;
    const size_t table = module->kernel_count * sizeof *module->kernels;
    const size_t all = sizeof header + table + zecpu_engine_binary(module->program, NULL, 0);
    if (out && *bytes < all) return ZE_RESULT_ERROR_INVALID_SIZE;
    *bytes = all;
    if (!out) return ZE_RESULT_SUCCESS;
    memcpy(header.magic, native_magic, sizeof native_magic);
    (void)snprintf(header.engine, sizeof header.engine, "%s", zecpu_engine_name());
    header.kernel_count = module->kernel_count;
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, module->kernels, table);
    (void)zecpu_engine_binary(module->program, out + sizeof header + table, all - sizeof header - table);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count, const char **names) {
    const struct zecpu_module *module = (const struct zecpu_module *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_MODULE);
    if (result) return result;
    for (uint32_t i = 0; names && i < *count && i < module->kernel_count; i++) names[i] = module->kernels[i].name;
    if (!*count || *count > module->kernel_count) *count = module->kernel_count;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleGetProperties(ze_module_handle_t handle, ze_module_properties_t *out) {
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_MODULE);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_MODULE_PROPERTIES);
    if (!result) out->flags = 0;
    return result;
}
