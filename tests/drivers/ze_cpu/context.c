/*
 * context.c: contexts, and the loss of devices. A device is lost for the contexts that there are when it is lost, and for
 * good; a context that is made later has it again: so a client can show that it recovers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#define LONGEST_WAIT_NS ((uint64_t)60 * 1000000000u)

static uint32_t bits_of(const struct zecpu_device *device) {
    return device ? 1u << device->root->index : (1u << zecpu_settings.devices) - 1;
}

bool zecpu_context_is_lost(const struct zecpu_context *context, const struct zecpu_device *device) {
    const uint32_t bits = bits_of(device);
    return (context->lost & bits) == bits;
}

void zecpu_context_lose(struct zecpu_context *context, const struct zecpu_device *device) {
    context->lost |= bits_of(device);
    zecpu_devices_lost(device, true);
    zecpu_changed();
}

bool zecpu_context_in_use(const struct zecpu_context *context, const uint32_t *users) {
    const uint64_t deadline = zecpu_deadline(LONGEST_WAIT_NS);
    while (*users && context->lost && zecpu_wait(deadline)) continue;
    return *users;
}

static ze_result_t make(const char *function, const ze_context_desc_t *desc, ze_context_handle_t *out) {
    const ze_result_t result = zecpu_stype(function, desc->stype, ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    if (result) return result;
    struct zecpu_context *context = zecpu_object_make(ZECPU_CONTEXT, sizeof *context, NULL, NULL);
    zecpu_lock();
    context->object.context = context;
    zecpu_devices_lost(NULL, false);
    zecpu_unlock();
    *out = (ze_context_handle_t)context;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *out) {
    const ze_result_t result = zecpu_call(__func__, driver, ZECPU_DRIVER);
    return result ? result : make(__func__, desc, out);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t driver, const ze_context_desc_t *desc, uint32_t count,
                              ze_device_handle_t *devices, ze_context_handle_t *out) {
    const ze_result_t result = zecpu_call(__func__, driver, ZECPU_DRIVER);
    for (uint32_t i = 0; !result && i < count; i++)
        if (!zecpu_object_check(devices[i], ZECPU_DEVICE, __func__)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return result ? result : make(__func__, desc, out);
}

ze_result_t zeContextDestroy(ze_context_handle_t handle) {
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_CONTEXT, &result)) return result;
    const unsigned left = zecpu_object_count((struct zecpu_context *)handle);
    if (left) zecpu_misuse("%s: %u objects or allocations of the context are still there", __func__, left);
    zecpu_object_retire(handle);
    return result;
}

ze_result_t zeContextGetStatus(ze_context_handle_t handle) { return zecpu_call(__func__, handle, ZECPU_CONTEXT); }

ze_result_t zeContextSystemBarrier(ze_context_handle_t handle, ze_device_handle_t device) {
    (void)device;
    return zecpu_call(__func__, handle, ZECPU_CONTEXT);
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t handle, ze_device_handle_t device, void *memory,
                                        size_t bytes) {
    (void)device;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_CONTEXT);
    if (result) return result;
    return zecpu_memory_range(__func__, memory, bytes) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeContextEvictMemory(ze_context_handle_t handle, ze_device_handle_t device, void *memory, size_t bytes) {
    (void)device;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_CONTEXT);
    if (result) return result;
    return zecpu_memory_range(__func__, memory, bytes) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}
