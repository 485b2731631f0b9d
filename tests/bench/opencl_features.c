/*
 * opencl_features.c: suite opencl: what newer features of OpenCL would bring where a device has them: the figures behind what
 * docs/OPENCL.md says of each. The plain API only.
 *
 *   command buffers   a recorded list of launches, enqueued as one, beside the same launches enqueued one by one
 *   SPIR-V            what it could save at most: to build from source, of the time to a first result
 *   timestamps        how long a driver keeps a launch before it starts
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "../../plugins/kernels/catalog.h"
#include "bench.h"

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, ITEMS = 4096, LIST = 8, SAMPLES = 101 };

struct scene {
    struct bench bench;
    cl_platform_id platform;
    cl_device_id device;
    char name[128], extensions[4096];
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem memory;
    struct _cl_command_buffer_khr *recorded;
    clEnqueueCommandBufferKHR_fn replay;
};

static void demand(cl_int status, const char *what) {
    if (status == CL_SUCCESS) return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)status);
    exit(1);
}

/* ---- a small kernel -------------------------------------------------------------------------------------------------- */

static void scene_open(struct scene *scene) {
    const char *text = "__kernel void one(__global float *a) { a[get_global_id(0)] += 1.0f; }";
    cl_int status;
    (void)clGetDeviceInfo(scene->device, CL_DEVICE_NAME, sizeof scene->name, scene->name, NULL);
    (void)clGetDeviceInfo(scene->device, CL_DEVICE_EXTENSIONS, sizeof scene->extensions, scene->extensions, NULL);
    printf("%-10s on %s\n", "opencl", scene->name);
    scene->context = clCreateContext(NULL, 1, &scene->device, NULL, NULL, &status);
    demand(status, "clCreateContext");
    scene->queue = clCreateCommandQueue(scene->context, scene->device, CL_QUEUE_PROFILING_ENABLE, &status);
    demand(status, "clCreateCommandQueue");
    scene->program = clCreateProgramWithSource(scene->context, 1, &text, NULL, &status);
    demand(status, "clCreateProgramWithSource");
    demand(clBuildProgram(scene->program, 1, &scene->device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    scene->kernel = clCreateKernel(scene->program, "one", &status);
    demand(status, "clCreateKernel");
    scene->memory = clCreateBuffer(scene->context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &status);
    demand(status, "clCreateBuffer");
    demand(clSetKernelArg(scene->kernel, 0, sizeof scene->memory, &scene->memory), "clSetKernelArg");
}

static void scene_close(struct scene *scene) {
    clReleaseMemObject(scene->memory);
    clReleaseKernel(scene->kernel);
    clReleaseProgram(scene->program);
    clReleaseCommandQueue(scene->queue);
    clReleaseContext(scene->context);
}

static void launch(struct scene *scene, cl_event *event) {
    const size_t items = ITEMS, local = 64;
    demand(clEnqueueNDRangeKernel(scene->queue, scene->kernel, 1, NULL, &items, &local, 0, NULL, event), "launch");
}

/* ---- command buffers ------------------------------------------------------------------------------------------------- */

static void *function_of(const struct scene *scene, const char *name) {
    return clGetExtensionFunctionAddressForPlatform(scene->platform, name);
}

static void record(struct scene *scene, size_t launches) {
    const size_t items = ITEMS, local = 64;
    cl_int status;
    clCreateCommandBufferKHR_fn create = (clCreateCommandBufferKHR_fn)function_of(scene, "clCreateCommandBufferKHR");
    clCommandNDRangeKernelKHR_fn add = (clCommandNDRangeKernelKHR_fn)function_of(scene, "clCommandNDRangeKernelKHR");
    clFinalizeCommandBufferKHR_fn finalize =
        (clFinalizeCommandBufferKHR_fn)function_of(scene, "clFinalizeCommandBufferKHR");
    scene->replay = (clEnqueueCommandBufferKHR_fn)function_of(scene, "clEnqueueCommandBufferKHR");
    scene->recorded = create(1, &scene->queue, NULL, &status);
    demand(status, "clCreateCommandBufferKHR");
    for (size_t i = 0; i < launches; i++)
        demand(add(scene->recorded, NULL, NULL, scene->kernel, 1, NULL, &items, &local, 0, NULL, NULL, NULL),
               "clCommandNDRangeKernelKHR");
    demand(finalize(scene->recorded), "clFinalizeCommandBufferKHR");
}

static void run_replayed(void *user, uint64_t repeats) {
    struct scene *scene = user;
    while (repeats-- > 0) {
        demand(scene->replay(0, NULL, scene->recorded, 0, NULL, NULL), "clEnqueueCommandBufferKHR");
        demand(clFinish(scene->queue), "clFinish");
    }
}

static void run_launches(struct scene *scene, uint64_t repeats, size_t launches) {
    while (repeats-- > 0) {
        for (size_t i = 0; i < launches; i++) launch(scene, NULL);
        demand(clFinish(scene->queue), "clFinish");
    }
}

static void run_one(void *user, uint64_t repeats) { run_launches(user, repeats, 1); }
static void run_list(void *user, uint64_t repeats) { run_launches(user, repeats, LIST); }

static void compare_recorded(struct scene *scene, const char *name, size_t launches) {
    static struct bench_lane replayed, enqueued; /* too large for a stack */
    struct bench_row row = {.name = name, .ours = NAN, .peer = NAN, .peer_name = "enqueued", .unit = "us"};
    if (strstr(scene->extensions, "cl_khr_command_buffer")) {
        clReleaseCommandBufferKHR_fn release =
            (clReleaseCommandBufferKHR_fn)function_of(scene, "clReleaseCommandBufferKHR");
        record(scene, launches);
        replayed = (struct bench_lane){.run = run_replayed, .user = scene};
        enqueued = (struct bench_lane){.run = launches == 1 ? run_one : run_list, .user = scene};
        bench_measure(&scene->bench, (struct bench_lane *const[]){&replayed, &enqueued}, 2);
        row.ours = bench_median(&scene->bench, &replayed) / 1e3;
        row.peer = bench_median(&scene->bench, &enqueued) / 1e3;
        demand(release(scene->recorded), "clReleaseCommandBufferKHR");
    } else {
        row.note = "skipped: no cl_khr_command_buffer";
    }
    bench_row(&scene->bench, &row);
}

/* ---- building -------------------------------------------------------------------------------------------------------- */

/* The kernel of an operation, as the plugin builds it; the program that was built, and when that was done. */
static cl_program build(struct scene *scene, const struct catalog_entry *entry, const struct catalog_variant *variant,
                        uint64_t *built_ns) {
    const char *texts[1 + CATALOG_SOURCES] = {catalog_source("common.cl")};
    cl_uint count = 1;
    cl_int status;
    for (size_t i = 0; i < CATALOG_SOURCES && entry->sources[i]; i++)
        texts[count++] = catalog_source(entry->sources[i]);
    cl_program program = clCreateProgramWithSource(scene->context, count, texts, NULL, &status);
    demand(status, "clCreateProgramWithSource");
    demand(clBuildProgram(program, 1, &scene->device, variant->options, NULL, NULL), "clBuildProgram");
    *built_ns = bench_now_ns();
    return program;
}

/* A launch with nothing to do: what it takes is compiling what clBuildProgram left. */
static void launch_first(struct scene *scene, cl_program program, const struct catalog_pass *pass) {
    const cl_ulong zero = 0;
    const cl_uint task = 1, grain = pass->grain_min;
    const size_t local = pass->local;
    cl_int status;
    cl_kernel kernel = clCreateKernel(program, pass->kernel, &status);
    demand(status, "clCreateKernel");
    for (cl_uint i = 0; i < 4; i++)
        demand(clSetKernelArg(kernel, i, sizeof scene->memory, &scene->memory), "clSetKernelArg");
    demand(clSetKernelArg(kernel, 4, sizeof zero, &zero), "clSetKernelArg");
    demand(clSetKernelArg(kernel, 5, sizeof zero, &zero), "clSetKernelArg");
    demand(clSetKernelArg(kernel, 6, sizeof task, &task), "clSetKernelArg");
    demand(clSetKernelArg(kernel, 7, sizeof grain, &grain), "clSetKernelArg");
    demand(clEnqueueNDRangeKernel(scene->queue, kernel, 1, NULL, &local, &local, 0, NULL, NULL), "launch");
    demand(clFinish(scene->queue), "clFinish");
    clReleaseKernel(kernel);
}

static void time_build(struct scene *scene, const char *op) {
    const struct catalog_entry *entry = catalog_find(op);
    const struct catalog_variant *variant = entry ? catalog_variant(entry, CATALOG_GPU, 0) : NULL;
    char name[96];
    uint64_t built_ns;
    if (!variant) return;
    const uint64_t start = bench_now_ns();
    cl_program program = build(scene, entry, variant, &built_ns);
    launch_first(scene, program, &variant->passes[0]);
    const uint64_t end = bench_now_ns();
    clReleaseProgram(program);
    (void)snprintf(name, sizeof name, "%s, built from source", op);
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = (double)(built_ns - start) / 1e6,
                                                 .peer = (double)(end - start) / 1e6,
                                                 .peer_name = "to the first launch",
                                                 .unit = "ms"});
}

/* ---- timestamps ------------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell_delay(struct scene *scene, const char *name, cl_profiling_info from, cl_profiling_info to) {
    double us[SAMPLES];
    const uint32_t samples = bench_rounds(&scene->bench, SAMPLES);
    for (uint32_t i = 0; i < samples; i++) {
        cl_event event;
        cl_ulong begin = 0, end = 0;
        launch(scene, &event);
        demand(clFinish(scene->queue), "clFinish");
        (void)clGetEventProfilingInfo(event, from, sizeof begin, &begin, NULL);
        (void)clGetEventProfilingInfo(event, to, sizeof end, &end, NULL);
        clReleaseEvent(event);
        us[i] = ((double)end - (double)begin) / 1e3;
    }
    qsort(us, samples, sizeof *us, compare);
    bench_row(&scene->bench, &(struct bench_row){.name = name, .ours = us[samples / 2], .peer = NAN, .unit = "us"});
}

static void measure(struct scene *scene) {
    scene_open(scene);
    compare_recorded(scene, "a launch, replayed from a command buffer", 1);
    compare_recorded(scene, "eight launches, replayed from a command buffer", LIST);
    time_build(scene, "vec_add_f32");
    time_build(scene, "keccak256");
    tell_delay(scene, "a launch, from queued to submitted", CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT);
    tell_delay(scene, "a launch, from submitted to started", CL_PROFILING_COMMAND_SUBMIT, CL_PROFILING_COMMAND_START);
    scene_close(scene);
}

/* With an empty cache of the driver's own (PoCL has one): what it has not is what is timed. */
int main(void) {
    struct scene scene = {.platform = NULL};
    char folder[] = "/tmp/svmx-bench-XXXXXX", command[64];
    cl_platform_id platforms[MOST];
    cl_uint count = 0, measured = 0;
    if (!mkdtemp(folder)) return 1;
    setenv("POCL_CACHE_DIR", folder, 1);
    bench_open(&scene.bench, "opencl");
    if (clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS) count = 0;
    for (cl_uint p = 0; p < count && p < MOST; p++) {
        scene.platform = platforms[p];
        if (clGetDeviceIDs(scene.platform, CL_DEVICE_TYPE_ALL, 1, &scene.device, NULL) != CL_SUCCESS) continue;
        measure(&scene);
        measured++;
    }
    if (!measured)
        bench_row(&scene.bench,
                  &(struct bench_row){
                      .name = "features", .ours = NAN, .peer = NAN, .unit = "us", .note = "skipped: no OpenCL device"});
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left behind\n", folder);
    return bench_close(&scene.bench);
}
