/*
 * alive.c: part of the OpenCL layer for tests: how many objects of the driver were made and not given back: contexts, queues,
 * memory, programs, kernels, events.
 *
 *   svmx_layer_alive()    as many, now
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "layer.h"

#include <stdatomic.h>

static atomic_int alive;

LAYER_EXPORT int svmx_layer_alive(void);
LAYER_EXPORT int svmx_layer_alive(void) { return atomic_load(&alive); }

void layer_count(int more) { atomic_fetch_add(&alive, more); }

void *layer_made(void *object) {
    if (object) layer_count(1);
    return object;
}

cl_int layer_made_event(cl_int error, const cl_event *event) {
    if (!error && event) layer_count(1);
    return error;
}

static cl_int gone(cl_int error) {
    if (!error) layer_count(-1);
    return error;
}

static cl_int CL_API_CALL release_context(cl_context it) { return gone(layer_next->clReleaseContext(it)); }
static cl_int CL_API_CALL release_queue(cl_command_queue it) { return gone(layer_next->clReleaseCommandQueue(it)); }
static cl_int CL_API_CALL release_memory(cl_mem it) { return gone(layer_next->clReleaseMemObject(it)); }
static cl_int CL_API_CALL release_program(cl_program it) { return gone(layer_next->clReleaseProgram(it)); }
static cl_int CL_API_CALL release_kernel(cl_kernel it) { return gone(layer_next->clReleaseKernel(it)); }
static cl_int CL_API_CALL release_event(cl_event it) { return gone(layer_next->clReleaseEvent(it)); }

static cl_int CL_API_CALL retain_event(cl_event it) { return layer_made_event(layer_next->clRetainEvent(it), &it); }

static void CL_API_CALL svm_free(cl_context context, void *memory) {
    layer_next->clSVMFree(context, memory);
    if (memory) layer_count(-1);
}

/* ---- calls that make an event and are none of layer.c's ------------------------------------------------------ */

static cl_int CL_API_CALL barrier(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *event) {
    return layer_made_event(layer_next->clEnqueueBarrierWithWaitList(queue, count, events, event), event);
}

static cl_int CL_API_CALL copy(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_at, size_t to_at,
                               size_t bytes, cl_uint count, const cl_event *events, cl_event *event) {
    return layer_made_event(
        layer_next->clEnqueueCopyBuffer(queue, from, to, from_at, to_at, bytes, count, events, event), event);
}

cl_int CL_API_CALL layer_svm_copy(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes,
                                  cl_uint count, const cl_event *events, cl_event *event) {
    return layer_made_event(layer_next->clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, count, events, event),
                            event);
}

cl_int CL_API_CALL layer_svm_fill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes,
                                  size_t bytes, cl_uint count, const cl_event *events, cl_event *event) {
    return layer_made_event(
        layer_next->clEnqueueSVMMemFill(queue, to, pattern, pattern_bytes, bytes, count, events, event), event);
}

void layer_count_in(cl_icd_dispatch *table) {
    table->clReleaseContext = release_context;
    table->clReleaseCommandQueue = release_queue;
    table->clReleaseMemObject = release_memory;
    table->clReleaseProgram = release_program;
    table->clReleaseKernel = release_kernel;
    table->clReleaseEvent = release_event;
    table->clRetainEvent = retain_event;
    table->clSVMFree = svm_free;
    table->clEnqueueBarrierWithWaitList = barrier;
    table->clEnqueueCopyBuffer = copy;
    table->clEnqueueSVMMemcpy = layer_svm_copy;
    table->clEnqueueSVMMemFill = layer_svm_fill;
}
