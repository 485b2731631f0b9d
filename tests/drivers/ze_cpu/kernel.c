/*
 * kernel.c: kernels, their arguments and group sizes. Arguments are kept here and given to OpenCL when the kernel runs: what
 * counts is what was set when it was appended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <string.h>

static const struct zecpu_kernel_info *info_of(const struct zecpu_module *module, const char *name) {
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) return &module->kernels[i];
    return NULL;
}

ze_result_t zeKernelCreate(ze_module_handle_t handle, const ze_kernel_desc_t *desc, ze_kernel_handle_t *out) {
    struct zecpu_module *module = (struct zecpu_module *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_MODULE);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_KERNEL_DESC);
    if (result) return result;
    const struct zecpu_kernel_info *info = info_of(module, desc->pKernelName);
    if (!info) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    cl_kernel of_engine = zecpu_engine_kernel(module->program, info->name);
    if (!of_engine) return ZE_RESULT_ERROR_UNKNOWN;
    struct zecpu_kernel *kernel =
        zecpu_object_make(ZECPU_KERNEL, sizeof *kernel, module->object.context, module->object.device);
    kernel->module = module;
    kernel->info = info;
    kernel->kernel = of_engine;
    for (int i = 0; i < 3; i++) kernel->group_size[i] = info->group_size[i] ? info->group_size[i] : 1;
    zecpu_lock();
    module->users++;
    zecpu_unlock();
    *out = (ze_kernel_handle_t)kernel;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t handle) {
    struct zecpu_kernel *kernel = (struct zecpu_kernel *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_KERNEL, &result)) return result;
    zecpu_lock();
    const bool used = zecpu_context_in_use(kernel->object.context, &kernel->users);
    if (!used) kernel->module->users--;
    zecpu_unlock();
    if (used) {
        zecpu_misuse("%s: kernel %s is under way", __func__, kernel->info->name);
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    zecpu_object_retire(kernel);
    zecpu_engine_kernel_free(kernel->kernel);
    return result;
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
    struct zecpu_kernel *kernel = (struct zecpu_kernel *)handle;
    const uint32_t sizes[3] = {x, y, z};
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (result) return result;
    bool good = x && y && z && x <= ZECPU_GROUP_SIZE && y <= ZECPU_GROUP_SIZE && z <= ZECPU_GROUP_SIZE &&
                (uint64_t)x * y * z <= ZECPU_GROUP_SIZE;
    for (int i = 0; i < 3; i++) good &= !kernel->info->group_size[i] || kernel->info->group_size[i] == sizes[i];
    if (!good) {
        zecpu_misuse("%s: kernel %s cannot have groups of %u x %u x %u", __func__, kernel->info->name, (unsigned)x,
                     (unsigned)y, (unsigned)z);
        return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    }
    memcpy(kernel->group_size, sizes, sizeof sizes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t handle, uint32_t global_x, uint32_t global_y, uint32_t global_z,
                                     uint32_t *x, uint32_t *y, uint32_t *z) {
    const struct zecpu_kernel *kernel = (const struct zecpu_kernel *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    const uint32_t *fixed = result ? NULL : kernel->info->group_size;
    (void)global_y, (void)global_z;
    if (result) return result;
    for (*x = 256; *x > 1 && global_x % *x; *x /= 2) continue;
    *y = *z = 1;
    if (fixed[0]) *x = fixed[0], *y = fixed[1], *z = fixed[2];
    return ZE_RESULT_SUCCESS;
}

/* Misuse, or not: may the argument be set so? */
static ze_result_t check(const char *function, const struct zecpu_kernel *kernel, uint32_t at, size_t bytes,
                         const void *value) {
    const struct zecpu_argument *argument = &kernel->info->arguments[at];
    const char *name = kernel->info->name;
    const void *pointer = NULL;
    if (argument->kind == ZECPU_UNSUPPORTED) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (argument->kind == ZECPU_LOCAL && (value || !bytes)) {
        zecpu_misuse("%s: argument %u of %s is local memory: a size, and no value", function, (unsigned)at, name);
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    }
    if (argument->kind == ZECPU_LOCAL) return ZE_RESULT_SUCCESS;
    if (bytes != argument->bytes || bytes > ZECPU_VALUE_BYTES) {
        zecpu_misuse("%s: argument %u of %s has %u bytes, not %zu", function, (unsigned)at, name,
                     (unsigned)argument->bytes, bytes);
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    }
    if (argument->kind == ZECPU_VALUE && !value) {
        zecpu_misuse("%s: argument %u of %s is a value, which is NULL", function, (unsigned)at, name);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (argument->kind == ZECPU_VALUE) return ZE_RESULT_SUCCESS;
    if (value) memcpy(&pointer, value, sizeof pointer);
    zecpu_lock();
    const bool known = !pointer || zecpu_memory_find(pointer);
    zecpu_unlock();
    if (!known) zecpu_misuse("%s: argument %u of %s points to no allocation", function, (unsigned)at, name);
    return known ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t at, size_t bytes, const void *value) {
    struct zecpu_kernel *kernel = (struct zecpu_kernel *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (result) return result;
    if (at >= kernel->info->argument_count) {
        zecpu_misuse("%s: %s has no argument %u", __func__, kernel->info->name, (unsigned)at);
        return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    }
    result = check(__func__, kernel, at, bytes, value);
    if (result) return result;
    kernel->values[at] = (struct zecpu_value){.set = true, .bytes = bytes};
    if (value) memcpy(kernel->values[at].data, value, bytes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t handle, ze_kernel_indirect_access_flags_t flags) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (!result) ((struct zecpu_kernel *)handle)->indirect = flags;
    return result;
}

ze_result_t zeKernelGetIndirectAccess(ze_kernel_handle_t handle, ze_kernel_indirect_access_flags_t *flags) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (!result) *flags = ((const struct zecpu_kernel *)handle)->indirect;
    return result;
}

ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t handle, ze_cache_config_flags_t flags) {
    (void)flags;
    return zecpu_call(__func__, handle, ZECPU_KERNEL);
}

ze_result_t zeKernelSetGlobalOffsetExp(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z) {
    const uint32_t offset[3] = {x, y, z};
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (!result) memcpy(((struct zecpu_kernel *)handle)->offset, offset, sizeof offset);
    return result;
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t handle, ze_kernel_properties_t *out) {
    const struct zecpu_kernel *kernel = (const struct zecpu_kernel *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (!result) result = zecpu_stype(__func__, out->stype, ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
    if (result) return result;
    *out = (ze_kernel_properties_t){.stype = out->stype,
                                    .pNext = out->pNext,
                                    .numKernelArgs = kernel->info->argument_count,
                                    .requiredGroupSizeX = kernel->info->group_size[0],
                                    .requiredGroupSizeY = kernel->info->group_size[1],
                                    .requiredGroupSizeZ = kernel->info->group_size[2],
                                    .requiredSubgroupSize = kernel->info->subgroup_size,
                                    .maxSubgroupSize = 32,
                                    .maxNumSubgroups = 64,
                                    .localMemSize = zecpu_engine_local_bytes(kernel->kernel)};
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetName(ze_kernel_handle_t handle, size_t *bytes, char *out) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_KERNEL);
    if (result) return result;
    const char *name = ((const struct zecpu_kernel *)handle)->info->name;
    const size_t all = strlen(name) + 1;
    if (out) memcpy(out, name, *bytes < all ? *bytes : all);
    *bytes = all;
    return ZE_RESULT_SUCCESS;
}
