/*
 * shared.c: memory that host and kernels use in place, without mapping or copying.
 *
 * Two kinds, where the device computes in the host's memory anyway: fine-grain SVM of OpenCL 2.0, or host memory of
 * cl_intel_unified_shared_memory. On a card with memory of its own both exist, but every access would go over the bus:
 * there, copies are used. Whether host writes are really seen is proved with every pipeline: its known answers go
 * through this memory. Called by describe.c, memory.c and queue.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

static bool has_svm(const struct ocl_device *device) {
    cl_device_svm_capabilities svm = 0;
    return clGetDeviceInfo(device->id, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL) == CL_SUCCESS &&
           (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
}

static bool find_usm(struct ocl_device *device, const char *extensions) {
    cl_bitfield can = 0;
    if (!ocl_has_word(extensions, "cl_intel_unified_shared_memory")) return false;
    if (clGetDeviceInfo(device->id, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, sizeof can, &can, NULL) != CL_SUCCESS)
        return false;
    cl_platform_id platform = device->platform;
    /* A pointer to an object for a pointer to a function: POSIX allows it, and the extension can be reached by no other
     * way. */
    device->usm = (struct ocl_usm){
        (clHostMemAllocINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clHostMemAllocINTEL"),
        (clMemFreeINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clMemFreeINTEL"),
        (clSetKernelArgMemPointerINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform,
                                                                                   "clSetKernelArgMemPointerINTEL"),
        (clEnqueueMemcpyINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemcpyINTEL"),
        (clEnqueueMemFillINTEL_fn)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMemFillINTEL")};
    const struct ocl_usm *usm = &device->usm;
    return (can & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL) && usm->alloc && usm->free && usm->argument && usm->copy &&
           usm->fill;
}

void ocl_shared_find(struct ocl_device *device, const char *extensions) {
    device->shared = OCL_SHARED_NONE;
    if (!device->unified) return;
    if (has_svm(device))
        device->shared = OCL_SHARED_SVM;
    else if (find_usm(device, extensions))
        device->shared = OCL_SHARED_USM;
}

void *ocl_shared_alloc(const struct ocl_device *device, size_t bytes) {
    cl_int error;
    if (device->shared == OCL_SHARED_USM) return device->usm.alloc(device->context, NULL, bytes, OCL_ALIGNMENT, &error);
    return clSVMAlloc(device->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, OCL_ALIGNMENT);
}

void ocl_shared_free(const struct ocl_device *device, void *memory) {
    if (device->shared == OCL_SHARED_USM)
        (void)device->usm.free(device->context, memory);
    else
        clSVMFree(device->context, memory);
}

cl_int ocl_shared_argument(const struct ocl_device *device, cl_kernel kernel, cl_uint at, const void *memory) {
    if (device->shared == OCL_SHARED_USM) return device->usm.argument(kernel, at, memory);
    return clSetKernelArgSVMPointer(kernel, at, memory);
}

cl_int ocl_shared_copy(const struct ocl_device *device, void *to, const void *from, size_t bytes, cl_event *event) {
    if (device->shared == OCL_SHARED_USM)
        return device->usm.copy(device->queue, CL_FALSE, to, from, bytes, 0, NULL, event);
    return clEnqueueSVMMemcpy(device->queue, CL_FALSE, to, from, bytes, 0, NULL, event);
}

cl_int ocl_shared_fill(const struct ocl_device *device, void *to, cl_uchar value, size_t bytes, cl_event *event) {
    if (device->shared == OCL_SHARED_USM)
        return device->usm.fill(device->queue, to, &value, sizeof value, bytes, 0, NULL, event);
    return clEnqueueSVMMemFill(device->queue, to, &value, sizeof value, bytes, 0, NULL, event);
}
