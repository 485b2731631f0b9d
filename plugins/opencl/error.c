/*
 * error.c: what a driver answered, in the words of the plugin ABI and in a line for people.
 *
 * Called by every file of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include "../kernels/say.h"

enum { NVIDIA_ILLEGAL_ACCESS = -9999 /* the context is dead after it */ };

static const struct {
    cl_int error;
    const char *name;
    enum svmx_status status;
} known[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", SVMX_ERR_DEVICE_LOST},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", SVMX_ERR_DEVICE_LOST},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", SVMX_ERR_UNSUPPORTED},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", SVMX_ERR_MEMORY},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", SVMX_ERR_MEMORY},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", SVMX_ERR_MEMORY},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", SVMX_ERR_BACKEND},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE", SVMX_ERR_MEMORY},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", SVMX_ERR_BACKEND},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE", SVMX_ERR_BACKEND},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE", SVMX_ERR_DEVICE_LOST},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", SVMX_ERR_BACKEND},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", SVMX_ERR_BACKEND},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT", SVMX_ERR_BACKEND},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY", SVMX_ERR_BACKEND},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", SVMX_ERR_BACKEND},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME", SVMX_ERR_BACKEND},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS", SVMX_ERR_BACKEND},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", SVMX_ERR_BACKEND},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE", SVMX_ERR_BACKEND},
    {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE", SVMX_ERR_BACKEND},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", SVMX_ERR_MEMORY},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION", SVMX_ERR_BACKEND},
    {CL_PLATFORM_NOT_FOUND_KHR, "CL_PLATFORM_NOT_FOUND_KHR", SVMX_ERR_UNSUPPORTED},
    {NVIDIA_ILLEGAL_ACCESS, "illegal access by a kernel", SVMX_ERR_DEVICE_LOST},
};

void ocl_log(const struct ocl_backend *backend, enum svmx_log_level level, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    kernels_say(backend->host, level, format, arguments);
    va_end(arguments);
}

enum svmx_status ocl_refuse(const struct ocl_backend *backend, enum svmx_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    kernels_say(backend->host, SVMX_LOG_ERROR, format, arguments);
    va_end(arguments);
    return status;
}

enum svmx_status ocl_status(cl_int error) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) return known[i].status;
    return SVMX_ERR_BACKEND;
}

enum svmx_status ocl_fail(const struct ocl_backend *backend, cl_int error, const char *format, ...) {
    char what[KERNELS_LINE - 64];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    const char *name = "error of the driver's own";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error) name = known[i].name;
    return ocl_refuse(backend, ocl_status(error), "%s: %s (%d)", what, name, (int)error);
}
