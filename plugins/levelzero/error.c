/*
 * error.c: what a driver answered, in the words of the plugin ABI and in a line for people.
 *
 * Called by every file of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

#include "../kernels/say.h"

#define RESULT(name, status)                                                                                           \
    { ZE_RESULT_##name, #name, SVMX_##status }

/* What is not here is ERR_BACKEND. */
static const struct {
    ze_result_t result;
    const char *name;
    enum svmx_status status;
} known[] = {
    RESULT(NOT_READY, ERR_BACKEND),
    RESULT(ERROR_DEVICE_LOST, ERR_DEVICE_LOST),
    RESULT(ERROR_OUT_OF_HOST_MEMORY, ERR_MEMORY),
    RESULT(ERROR_OUT_OF_DEVICE_MEMORY, ERR_MEMORY),
    RESULT(ERROR_MODULE_BUILD_FAILURE, ERR_BACKEND),
    RESULT(ERROR_MODULE_LINK_FAILURE, ERR_BACKEND),
    RESULT(ERROR_DEVICE_REQUIRES_RESET, ERR_DEVICE_LOST),
    RESULT(ERROR_DEVICE_IN_LOW_POWER_STATE, ERR_DEVICE_LOST),
    RESULT(ERROR_INSUFFICIENT_PERMISSIONS, ERR_UNSUPPORTED),
    RESULT(ERROR_NOT_AVAILABLE, ERR_BACKEND),
    RESULT(ERROR_DEPENDENCY_UNAVAILABLE, ERR_UNSUPPORTED),
    RESULT(ERROR_UNINITIALIZED, ERR_UNSUPPORTED),
    RESULT(ERROR_UNSUPPORTED_VERSION, ERR_BACKEND),
    RESULT(ERROR_UNSUPPORTED_FEATURE, ERR_BACKEND),
    RESULT(ERROR_INVALID_ARGUMENT, ERR_BACKEND),
    RESULT(ERROR_INVALID_NULL_HANDLE, ERR_BACKEND),
    RESULT(ERROR_HANDLE_OBJECT_IN_USE, ERR_BACKEND),
    RESULT(ERROR_INVALID_NULL_POINTER, ERR_BACKEND),
    RESULT(ERROR_INVALID_SIZE, ERR_BACKEND),
    RESULT(ERROR_UNSUPPORTED_SIZE, ERR_MEMORY),
    RESULT(ERROR_UNSUPPORTED_ALIGNMENT, ERR_BACKEND),
    RESULT(ERROR_INVALID_ENUMERATION, ERR_BACKEND),
    RESULT(ERROR_INVALID_NATIVE_BINARY, ERR_BACKEND),
    RESULT(ERROR_INVALID_KERNEL_NAME, ERR_BACKEND),
    RESULT(ERROR_INVALID_GROUP_SIZE_DIMENSION, ERR_BACKEND),
    RESULT(ERROR_INVALID_KERNEL_ARGUMENT_INDEX, ERR_BACKEND),
    RESULT(ERROR_INVALID_KERNEL_ARGUMENT_SIZE, ERR_BACKEND),
    RESULT(ERROR_UNKNOWN, ERR_BACKEND),
};

const char *lz_result_name(ze_result_t result) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result) return known[i].name;
    return "error of the driver's own";
}

static enum svmx_status status_of(ze_result_t result) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].result == result) return known[i].status;
    return SVMX_ERR_BACKEND;
}

void lz_note(struct lz_device *device, ze_result_t result) {
    if (status_of(result) == SVMX_ERR_DEVICE_LOST) atomic_store_explicit(&device->lost, true, memory_order_relaxed);
}

void lz_note_stuck(struct lz_device *device) {
    if (!lz_is_stuck(device))
        lz_log(device->backend, SVMX_LOG_WARN, "%s: commands that failed do not end: what they use stays with it",
               device->info.name);
    atomic_store_explicit(&device->stuck, true, memory_order_relaxed);
    lz_note(device, ZE_RESULT_ERROR_DEVICE_LOST);
}

bool lz_is_stuck(const struct lz_device *device) { return atomic_load_explicit(&device->stuck, memory_order_relaxed); }

void lz_log(const struct lz_backend *backend, enum svmx_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    kernels_say(backend->host, level, format, arguments);
    va_end(arguments);
}

enum svmx_status lz_refuse(const struct lz_backend *backend, enum svmx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    kernels_say(backend->host, SVMX_LOG_ERROR, format, arguments);
    va_end(arguments);
    return status;
}

enum svmx_status lz_fail(struct lz_device *device, ze_result_t result, const char *format, ...) {
    char what[KERNELS_LINE - 64];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    lz_note(device, result);
    return lz_refuse(device->backend, status_of(result), "%s: %s: %s (%#x)", device->info.name, what,
                     lz_result_name(result), (unsigned)result);
}
