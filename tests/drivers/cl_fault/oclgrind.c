/*
 * oclgrind.c: part of the OpenCL layer for tests: what oclgrind 21.10 needs to look for values that were never written
 * (SVMX_LAYER_OCLGRIND=1):
 *
 *   a context in each thread   it crashes in threads that never made one
 *   whole buffers              after a write to a part of a buffer, and after any fill, it takes what kernels write there later for
 *                              never written
 *
 * What a kernel left unwritten in global memory may be forgotten by that; local memory is not touched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "layer.h"

#include <stdlib.h>
#include <string.h>

bool layer_is_for_oclgrind(void) {
    const char *text = getenv("SVMX_LAYER_OCLGRIND");
    return text && strcmp(text, "1") == 0;
}

void layer_be_at_home(cl_command_queue queue) {
    static _Thread_local bool is_at_home;
    cl_device_id device = NULL;
    cl_int error;
    if (is_at_home || !layer_is_for_oclgrind()) return;
    is_at_home = true;
    (void)layer_next->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    (void)layer_next->clCreateContext(NULL, 1, &device, NULL, NULL, &error); /* stays: it has what the thread needs */
}

cl_int layer_write_whole(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, const void *pattern,
                         size_t pattern_bytes, cl_event *event) {
    size_t all_bytes = 0;
    layer_be_at_home(queue);
    cl_int error = layer_next->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof all_bytes, &all_bytes, NULL);
    unsigned char *all = error || offset + bytes > all_bytes ? NULL : malloc(all_bytes);
    if (!all) return error ? error : CL_INVALID_VALUE;
    error = layer_next->clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, all_bytes, all, 0, NULL, NULL);
    for (size_t i = 0; i < bytes; i++) all[offset + i] = ((const unsigned char *)pattern)[i % pattern_bytes];
    if (!error) error = layer_next->clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, all_bytes, all, 0, NULL, event);
    free(all);
    return error;
}
