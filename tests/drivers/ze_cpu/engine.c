/*
 * engine.c: the one file that calls OpenCL. It takes the driver that ZE_CPU_ENGINE names, and no other, from the file in
 * which it is installed, past the loader of OpenCL and its variables: those belong to the client, who may use OpenCL too.
 *
 * PoCL has shared virtual memory: pointers go to kernels as they are. oclgrind has none: an allocation is a buffer, an
 * address in its middle a part of the buffer; nor is it made for threads: kernels run one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POCL_FILE     "/etc/OpenCL/vendors/pocl.icd" /* names the library */
#define OCLGRIND_FILE "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

typedef cl_int(CL_API_CALL *platforms_fn)(cl_uint count, cl_platform_id *platforms, cl_uint *found);
typedef void *(CL_API_CALL *address_fn)(const char *name);

static const cl_icd_dispatch *cl; /* the functions of the driver */
static cl_device_id device;
static cl_context context;
static bool shares; /* has shared virtual memory */
static char name[160];
static pthread_mutex_t one =
    PTHREAD_MUTEX_INITIALIZER; /* programs and the arguments of kernels, one thread at a time */

static bool complain(const char *what, const char *why) {
    fprintf(stderr, "ze_cpu: no OpenCL driver for the CPU: %s: %s\n", what, why ? why : "it does not answer");
    return false;
}

/* ---- the driver ----------------------------------------------------------------------------------------------- */

static bool library_name(char *file, size_t room) {
    if (zecpu_settings.oclgrind) return snprintf(file, room, "%s", OCLGRIND_FILE) > 0;
    FILE *icd = fopen(POCL_FILE, "r");
    if (!icd) return complain(POCL_FILE, "it cannot be read; on Debian and Ubuntu: apt install pocl-opencl-icd");
    const bool read = fgets(file, (int)room, icd);
    fclose(icd);
    file[strcspn(file, "\n")] = 0;
    return read || complain(POCL_FILE, "it is empty");
}

static bool load(cl_platform_id *platform) {
    char file[256];
    address_fn address;
    platforms_fn platforms;
    cl_uint found = 0;
    if (!library_name(file, sizeof file)) return false;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) return complain(file, dlerror());
    *(void **)&address = dlsym(library, "clGetExtensionFunctionAddress");
    if (!address) return complain(file, dlerror());
    *(void **)&platforms = address("clIcdGetPlatformIDsKHR");
    if (!platforms || platforms(1, platform, &found) || !found) return complain(file, NULL);
    cl = *(const cl_icd_dispatch *const *)*platform; /* every object of OpenCL begins with that */
    return true;
}

bool zecpu_engine_open(void) {
    char device_name[128] = "";
    cl_device_svm_capabilities svm = 0;
    cl_platform_id platform;
    cl_int error;
    if (!load(&platform)) return false;
    if (cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) return complain("no device", NULL);
    (void)cl->clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, NULL);
    (void)cl->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL);
    shares = svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    (void)snprintf(name, sizeof name, "%s %s", zecpu_settings.oclgrind ? "oclgrind" : "PoCL", device_name);
    context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    return context || complain(name, "no context");
}

const char *zecpu_engine_name(void) { return name; }

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* The driver aligns to 128 at most: so there is more of it. */
static bool alloc_shared(struct zecpu_memory *memory, size_t alignment) {
    memory->base =
        cl->clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, memory->bytes + alignment, 0);
    const uintptr_t at = (uintptr_t)memory->base;
    memory->cpu = (char *)((at + alignment - 1) / alignment * alignment);
    return memory->base;
}

static bool alloc_buffer(struct zecpu_memory *memory, size_t alignment) {
    cl_int error;
    if (posix_memalign(&memory->base, alignment, memory->bytes)) return false;
    memory->cpu = memory->base;
    memory->buffer =
        cl->clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, memory->bytes, memory->base, &error);
    if (!memory->buffer) free(memory->base);
    return memory->buffer;
}

bool zecpu_engine_alloc(struct zecpu_memory *memory, size_t alignment) {
    return shares ? alloc_shared(memory, alignment) : alloc_buffer(memory, alignment);
}

void zecpu_engine_free(struct zecpu_memory *memory) {
    if (shares) {
        cl->clSVMFree(context, memory->base);
        return;
    }
    cl->clReleaseMemObject(memory->buffer);
    free(memory->base);
}

/* ---- programs ------------------------------------------------------------------------------------------------- */

static char *build_log(cl_program program) {
    size_t bytes = 0;
    (void)cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = calloc(bytes + 1, 1);
    if (log) (void)cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
    return log;
}

cl_program zecpu_engine_build(const void *binary, size_t bytes, char **log) {
    const unsigned char *data = binary;
    cl_int error, status;
    pthread_mutex_lock(&one);
    cl_program program = cl->clCreateProgramWithBinary(context, 1, &device, &bytes, &data, &status, &error);
    if (!program) *log = strdup("the OpenCL driver does not take the binary");
    if (program && cl->clBuildProgram(program, 1, &device, "", NULL, NULL)) {
        *log = build_log(program);
        cl->clReleaseProgram(program);
        program = NULL;
    }
    pthread_mutex_unlock(&one);
    return program;
}

void zecpu_engine_program_free(cl_program program) { cl->clReleaseProgram(program); }

size_t zecpu_engine_binary(cl_program program, void *to, size_t room) {
    unsigned char *data = to;
    size_t bytes = 0;
    pthread_mutex_lock(&one);
    (void)cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL);
    if (to && room >= bytes) (void)cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, NULL);
    pthread_mutex_unlock(&one);
    return bytes;
}

cl_kernel zecpu_engine_kernel(cl_program program, const char *kernel_name) {
    cl_int error;
    pthread_mutex_lock(&one);
    cl_kernel kernel = cl->clCreateKernel(program, kernel_name, &error);
    pthread_mutex_unlock(&one);
    return error ? NULL : kernel;
}

void zecpu_engine_kernel_free(cl_kernel kernel) {
    pthread_mutex_lock(&one);
    cl->clReleaseKernel(kernel);
    pthread_mutex_unlock(&one);
}

uint32_t zecpu_engine_local_bytes(cl_kernel kernel) {
    cl_ulong bytes = 0;
    (void)cl->clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return (uint32_t)bytes;
}

/* ---- running a kernel ----------------------------------------------------------------------------------------- */

cl_command_queue zecpu_engine_queue(void) {
    cl_int error;
    return cl->clCreateCommandQueue(context, device, 0, &error);
}

void zecpu_engine_queue_free(cl_command_queue queue) { cl->clReleaseCommandQueue(queue); }

/* A part of the buffer from `offset` on, in *part, to be released. */
static cl_int set_buffer(cl_kernel kernel, cl_uint at, const struct zecpu_memory *memory, size_t offset, cl_mem *part) {
    const cl_buffer_region region = {offset, memory->bytes - offset};
    cl_int error = CL_SUCCESS;
    cl_mem buffer = memory->buffer;
    if (offset)
        buffer = *part =
            cl->clCreateSubBuffer(memory->buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    return error ? error : cl->clSetKernelArg(kernel, at, sizeof buffer, &buffer);
}

static cl_int set_pointer(const struct zecpu_launch *launch, cl_uint at, cl_mem *part) {
    cl_kernel kernel = launch->kernel->kernel;
    const char *pointer;
    memcpy(&pointer, launch->values[at].data, sizeof pointer);
    if (!pointer) return cl->clSetKernelArg(kernel, at, sizeof(cl_mem), NULL);
    zecpu_lock();
    const struct zecpu_memory *memory = zecpu_memory_find(pointer);
    zecpu_unlock();
    if (!memory) {
        zecpu_misuse("kernel %s: argument %u points to memory that was freed", launch->kernel->info->name,
                     (unsigned)at);
        return CL_INVALID_ARG_VALUE;
    }
    const size_t offset = (size_t)(pointer - memory->client);
    return shares ? cl->clSetKernelArgSVMPointer(kernel, at, memory->cpu + offset)
                  : set_buffer(kernel, at, memory, offset, part);
}

static cl_int set_argument(const struct zecpu_launch *launch, cl_uint at, cl_mem *part) {
    const struct zecpu_value *value = &launch->values[at];
    cl_kernel kernel = launch->kernel->kernel;
    switch (launch->kernel->info->arguments[at].kind) {
    case ZECPU_LOCAL: return cl->clSetKernelArg(kernel, at, value->bytes, NULL);
    case ZECPU_GLOBAL: return set_pointer(launch, at, part);
    default: return cl->clSetKernelArg(kernel, at, value->bytes, value->data);
    }
}

static cl_int enqueue(cl_command_queue queue, const struct zecpu_launch *launch, cl_mem *parts, cl_event *event) {
    size_t offset[3], global[3], local[3];
    for (cl_uint i = 0; i < launch->kernel->info->argument_count; i++) {
        const cl_int error = set_argument(launch, i, &parts[i]);
        if (error) return error;
    }
    for (int i = 0; i < 3; i++) {
        offset[i] = launch->offset[i];
        local[i] = launch->group_size[i];
        global[i] = local[i] * launch->group_count[i];
    }
    return cl->clEnqueueNDRangeKernel(queue, launch->kernel->kernel, 3,
                                      offset[0] | offset[1] | offset[2] ? offset : NULL, global, local, 0, NULL, event);
}

static cl_int finish(cl_event event) {
    cl_int status = CL_COMPLETE, error = cl->clWaitForEvents(1, &event);
    (void)cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    cl->clReleaseEvent(event);
    return error ? error : status;
}

bool zecpu_engine_launch(cl_command_queue queue, const struct zecpu_launch *launch) {
    cl_mem parts[ZECPU_MAX_ARGUMENTS] = {0};
    cl_event event;
    pthread_mutex_lock(&one);
    cl_int error = enqueue(queue, launch, parts, &event);
    if (shares) pthread_mutex_unlock(&one);
    if (!error) error = finish(event);
    for (int i = 0; i < ZECPU_MAX_ARGUMENTS; i++)
        if (parts[i]) cl->clReleaseMemObject(parts[i]);
    if (!shares) pthread_mutex_unlock(&one);
    if (error) fprintf(stderr, "ze_cpu: kernel %s: OpenCL error %d\n", launch->kernel->info->name, (int)error);
    return error >= 0;
}
