/*
 * peer_cl.c: see peer_cl.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "peer_cl.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHARED = 16, MAX_DEVICES = 32, GRAIN = 16384 };

struct buffers {
    cl_mem a, b, out;
};

struct peer_cl {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel add, product;
    bool shares;
    void *shared[MAX_SHARED];
    size_t shared_count;
    struct buffers *buffers; /* of the enqueued way */
    size_t buffer_count;
    cl_mem matrices[3];
    size_t order;
};

static const char source[] =
    "__kernel void add(__global const float *a, __global const float *b, __global float *out, ulong n, ulong grain) {\n"
    "    ulong i = get_global_id(0) * grain, end = min(i + grain, n);\n"
    "    for (; i + 16 <= end; i += 16) vstore16(vload16(0, a + i) + vload16(0, b + i), 0, out + i);\n"
    "    for (; i < end; i++) out[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void product(__global const float *a, __global const float *b, __global float *out, ulong n) {\n"
    "    ulong j = get_global_id(0), i = get_global_id(1);\n"
    "    if (i >= n || j >= n) return;\n"
    "    float sum = 0;\n"
    "    for (ulong p = 0; p < n; p++) sum = fma(a[i * n + p], b[p * n + j], sum);\n"
    "    out[i * n + j] = sum;\n"
    "}\n";

static void demand(cl_int status, const char *what) {
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)status);
    exit(1);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static cl_device_id find_device(const char *name) {
    cl_platform_id platforms[MAX_DEVICES];
    cl_uint platform_count = 0;
    if (clGetPlatformIDs(MAX_DEVICES, platforms, &platform_count) != CL_SUCCESS) return NULL;
    for (cl_uint p = 0; p < platform_count && p < MAX_DEVICES; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES, devices, &count) != CL_SUCCESS) continue;
        for (cl_uint d = 0; d < count && d < MAX_DEVICES; d++) {
            char text[256] = "";
            (void)clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof text - 1, text, NULL);
            if (strncmp(text, name, strlen(name)) == 0) return devices[d];
        }
    }
    return NULL;
}

struct peer_cl *peer_cl_open(const char *device_name) {
    cl_device_id device = find_device(device_name);
    struct peer_cl *peer = device ? calloc(1, sizeof *peer) : NULL;
    if (!peer) return NULL;
    cl_int status;
    const char *text = source;
    cl_device_svm_capabilities svm = 0;
    peer->device = device;
    peer->context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    demand(status, "clCreateContext");
    peer->queue = clCreateCommandQueue(peer->context, device, 0, &status);
    demand(status, "clCreateCommandQueue");
    peer->program = clCreateProgramWithSource(peer->context, 1, &text, NULL, &status);
    demand(status, "clCreateProgramWithSource");
    demand(clBuildProgram(peer->program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    peer->add = clCreateKernel(peer->program, "add", &status);
    demand(status, "clCreateKernel");
    peer->product = clCreateKernel(peer->program, "product", &status);
    demand(status, "clCreateKernel");
    (void)clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
    peer->shares = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    return peer;
}

static void drop_buffers(struct peer_cl *peer) {
    for (size_t i = 0; i < peer->buffer_count; i++) {
        clReleaseMemObject(peer->buffers[i].a);
        clReleaseMemObject(peer->buffers[i].b);
        clReleaseMemObject(peer->buffers[i].out);
    }
    free(peer->buffers);
    peer->buffers = NULL;
    peer->buffer_count = 0;
}

void peer_cl_close(struct peer_cl *peer) {
    if (!peer) return;
    drop_buffers(peer);
    for (size_t i = 0; i < 3 && peer->order; i++) clReleaseMemObject(peer->matrices[i]);
    for (size_t i = 0; i < peer->shared_count; i++) clSVMFree(peer->context, peer->shared[i]);
    clReleaseKernel(peer->product);
    clReleaseKernel(peer->add);
    clReleaseProgram(peer->program);
    clReleaseCommandQueue(peer->queue);
    clReleaseContext(peer->context);
    free(peer);
}

bool peer_cl_shares(const struct peer_cl *peer) { return peer->shares; }

void *peer_cl_shared(struct peer_cl *peer, size_t bytes) {
    if (!peer->shares || peer->shared_count == MAX_SHARED) return NULL;
    void *memory = clSVMAlloc(peer->context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, 64);
    if (memory) peer->shared[peer->shared_count++] = memory;
    return memory;
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

static void launch(struct peer_cl *peer, size_t n) {
    const cl_ulong count = n, grain = n < 2 * GRAIN ? (n + 7) / 8 : GRAIN; /* some pieces for every core */
    const size_t global = (size_t)((count + grain - 1) / grain), local = 1;
    demand(clSetKernelArg(peer->add, 3, sizeof count, &count), "clSetKernelArg");
    demand(clSetKernelArg(peer->add, 4, sizeof grain, &grain), "clSetKernelArg");
    demand(clEnqueueNDRangeKernel(peer->queue, peer->add, 1, NULL, &global, &local, 0, NULL, NULL), "launch");
}

static void launch_on(struct peer_cl *peer, const struct buffers *buffers, size_t n) {
    demand(clSetKernelArg(peer->add, 0, sizeof(cl_mem), &buffers->a), "clSetKernelArg");
    demand(clSetKernelArg(peer->add, 1, sizeof(cl_mem), &buffers->b), "clSetKernelArg");
    demand(clSetKernelArg(peer->add, 2, sizeof(cl_mem), &buffers->out), "clSetKernelArg");
    launch(peer, n);
}

static struct buffers make_buffers(struct peer_cl *peer, size_t bytes) {
    cl_int status[3];
    struct buffers made = {clCreateBuffer(peer->context, CL_MEM_READ_ONLY, bytes, NULL, &status[0]),
                           clCreateBuffer(peer->context, CL_MEM_READ_ONLY, bytes, NULL, &status[1]),
                           clCreateBuffer(peer->context, CL_MEM_WRITE_ONLY, bytes, NULL, &status[2])};
    for (int i = 0; i < 3; i++) demand(status[i], "clCreateBuffer");
    return made;
}

static void transfer(struct peer_cl *peer, const struct buffers *buffers, const struct peer_cl_task *task,
                     cl_bool blocking) {
    size_t bytes = task->n * sizeof(float);
    demand(clEnqueueWriteBuffer(peer->queue, buffers->a, CL_FALSE, 0, bytes, task->a, 0, NULL, NULL), "write");
    demand(clEnqueueWriteBuffer(peer->queue, buffers->b, CL_FALSE, 0, bytes, task->b, 0, NULL, NULL), "write");
    launch_on(peer, buffers, task->n);
    demand(clEnqueueReadBuffer(peer->queue, buffers->out, blocking, 0, bytes, task->out, 0, NULL, NULL), "read");
}

void peer_cl_naive(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct buffers buffers = make_buffers(peer, tasks[i].n * sizeof(float));
        transfer(peer, &buffers, &tasks[i], CL_TRUE);
        clReleaseMemObject(buffers.a);
        clReleaseMemObject(buffers.b);
        clReleaseMemObject(buffers.out);
    }
}

void peer_cl_prepare(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count) {
    drop_buffers(peer);
    peer->buffers = calloc(count, sizeof *peer->buffers);
    if (!peer->buffers) exit(1);
    for (size_t i = 0; i < count; i++) peer->buffers[i] = make_buffers(peer, tasks[i].n * sizeof(float));
    peer->buffer_count = count;
}

void peer_cl_enqueued(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) transfer(peer, &peer->buffers[i], &tasks[i], CL_FALSE);
    demand(clFinish(peer->queue), "clFinish");
}

void peer_cl_in_place(struct peer_cl *peer, const struct peer_cl_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        demand(clSetKernelArgSVMPointer(peer->add, 0, tasks[i].a), "clSetKernelArgSVMPointer");
        demand(clSetKernelArgSVMPointer(peer->add, 1, tasks[i].b), "clSetKernelArgSVMPointer");
        demand(clSetKernelArgSVMPointer(peer->add, 2, tasks[i].out), "clSetKernelArgSVMPointer");
        launch(peer, tasks[i].n);
    }
    demand(clFinish(peer->queue), "clFinish");
}

void peer_cl_matmul(struct peer_cl *peer, float *out, const float *a, const float *b, size_t n) {
    cl_int status = CL_SUCCESS;
    const size_t bytes = n * n * sizeof(float), rounded = (n + 7) / 8 * 8, global[2] = {rounded, rounded},
                 local[2] = {8, 8};
    const cl_ulong order = n;
    for (int i = 0; i < 3 && peer->order != n; i++) {
        if (peer->order) clReleaseMemObject(peer->matrices[i]);
        peer->matrices[i] = clCreateBuffer(peer->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
        demand(status, "clCreateBuffer");
    }
    peer->order = n;
    for (cl_uint i = 0; i < 3; i++)
        demand(clSetKernelArg(peer->product, i, sizeof(cl_mem), &peer->matrices[i]), "clSetKernelArg");
    demand(clSetKernelArg(peer->product, 3, sizeof order, &order), "clSetKernelArg");
    demand(clEnqueueWriteBuffer(peer->queue, peer->matrices[0], CL_FALSE, 0, bytes, a, 0, NULL, NULL), "write");
    demand(clEnqueueWriteBuffer(peer->queue, peer->matrices[1], CL_FALSE, 0, bytes, b, 0, NULL, NULL), "write");
    demand(clEnqueueNDRangeKernel(peer->queue, peer->product, 2, NULL, global, local, 0, NULL, NULL), "launch");
    demand(clEnqueueReadBuffer(peer->queue, peer->matrices[2], CL_TRUE, 0, bytes, out, 0, NULL, NULL), "read");
}
