/*
 * device.c: which devices there are, and their context and queues.
 *
 * Found once, at open, by questions only (describe.c): a machine without a driver answers in milliseconds. What costs
 * memory or time is made when a device is first used; one that is gone by then says so at that moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include <string.h>

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

/* ---- finding ---------------------------------------------------------------------------------------------- */

/* Two files of one driver in the loader's folder make its devices appear twice. */
static bool is_known(const struct ocl_backend *backend, cl_device_id id) {
    for (uint32_t i = 0; i < backend->device_count; i++)
        if (backend->devices[i].id == id) return true;
    return false;
}

/* Devices of one model and driver get numbers, in the order in which the driver lists them. */
static void tell_apart(struct ocl_backend *backend, struct ocl_device *device) {
    char name[sizeof device->info.name];
    unsigned same = 1;
    memcpy(name, device->info.name, sizeof name);
    for (struct ocl_device *other = backend->devices; other < device; other++)
        if (strcmp(other->info.name, device->info.name) == 0) {
            memcpy(device->info.name, name, sizeof name);
            kernels_name_number(device->info.name, sizeof device->info.name, ++same);
            other = backend->devices - 1; /* the new name may be taken as well */
        }
}

static void add(struct ocl_backend *backend, cl_platform_id platform, cl_device_id id) {
    if (backend->device_count == MAX_DEVICES || is_known(backend, id)) return;
    struct ocl_device *device = &backend->devices[backend->device_count];
    *device = (struct ocl_device){.backend = backend, .platform = platform, .id = id};
    const char *reason = ocl_describe(device);
    if (reason) {
        ocl_log(backend, SVMX_LOG_WARN, "device %s (%s) is not used: %s",
                device->info.name[0] ? device->info.name : "without a name", device->info.driver, reason);
        return;
    }
    tell_apart(backend, device);
    pthread_mutex_init(&device->lock, NULL);
    backend->device_count++;
}

static void add_platform(struct ocl_backend *backend, cl_platform_id platform) {
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    const cl_int error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &count);
    if (error != CL_SUCCESS && error != CL_DEVICE_NOT_FOUND) {
        char name[128] = "";
        (void)clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
        ocl_log(backend, SVMX_LOG_WARN, "platform %.100s is not used: it cannot list its devices (%d)", name,
                (int)error);
    }
    if (error != CL_SUCCESS) return;
    for (cl_uint i = 0; i < count && i < MAX_DEVICES; i++) add(backend, platform, ids[i]);
}

enum svmx_status ocl_devices_find(struct ocl_backend *backend) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &count) != CL_SUCCESS || count == 0)
        return ocl_refuse(backend, SVMX_ERR_UNSUPPORTED, "no OpenCL platform: install a driver, e.g. pocl-opencl-icd");
    backend->devices = backend->host->alloc(backend->host, MAX_DEVICES * sizeof *backend->devices, 64);
    if (!backend->devices) return ocl_refuse(backend, SVMX_ERR_MEMORY, "no memory for devices");
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++) add_platform(backend, platforms[i]);
    if (backend->device_count) return SVMX_OK;
    return ocl_refuse(backend, SVMX_ERR_UNSUPPORTED, "no OpenCL platform of this machine (%u) has a usable device",
                      (unsigned)count);
}

enum svmx_status ocl_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct ocl_backend *backend = self;
    if (index >= backend->device_count) return SVMX_ERR_UNKNOWN;
    struct svmx_device_info mine = backend->devices[index].info;
    mine.size = info->size;
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

/* ---- context and queues ----------------------------------------------------------------------------------- */

static void device_close(struct ocl_device *device) {
    if (device->memory_queue) clReleaseCommandQueue(device->memory_queue);
    if (device->readback && device->readback != device->queue) clReleaseCommandQueue(device->readback);
    if (device->upload && device->upload != device->queue) clReleaseCommandQueue(device->upload);
    if (device->queue) clReleaseCommandQueue(device->queue);
    if (device->context) clReleaseContext(device->context);
    device->memory_queue = device->readback = device->upload = device->queue = NULL;
    device->context = NULL;
}

/* Another queue for copies, which drivers give to a copy engine, where there is one. Without memory of its own a device has
 * nothing to copy, or its cores do that too. */
static cl_command_queue copy_queue(const struct ocl_device *device, cl_int *error) {
    if (device->unified) return device->queue;
    return clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, error);
}

/* With the lock held. */
static enum svmx_status device_open(struct ocl_device *device) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
    cl_int error;
    device->context = clCreateContext(properties, 1, &device->id, NULL, NULL, &error);
    if (device->context)
        device->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (device->queue) device->upload = copy_queue(device, &error);
    if (device->upload) device->readback = copy_queue(device, &error);
    if (device->readback) device->memory_queue = clCreateCommandQueue(device->context, device->id, 0, &error);
    if (device->memory_queue) return SVMX_OK;
    device_close(device);
    return ocl_fail(device->backend, error, "%s: no context or queue", device->info.name);
}

struct ocl_device *ocl_device_ready(struct ocl_backend *backend, uint32_t index, enum svmx_status *status) {
    if (index >= backend->device_count) {
        *status = ocl_refuse(backend, SVMX_ERR_UNKNOWN, "there is no device %u", (unsigned)index);
        return NULL;
    }
    struct ocl_device *device = &backend->devices[index];
    pthread_mutex_lock(&device->lock);
    *status = device->context ? SVMX_OK : device_open(device);
    pthread_mutex_unlock(&device->lock);
    return *status == SVMX_OK ? device : NULL;
}

void ocl_devices_free(struct ocl_backend *backend) {
    bool quiet = true;
    for (uint32_t i = 0; i < backend->device_count; i++) {
        struct ocl_device *device = &backend->devices[i];
        quiet &= ocl_slots_free(device);
        device_close(device);
        pthread_mutex_destroy(&device->lock);
    }
    if (quiet) backend->host->release(backend->host, backend->devices); /* else a driver may still ring a bell in it */
}
