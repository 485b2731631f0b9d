/*
 * opencl_fixture.h: what the suites of the OpenCL backend share: a host that counts and remembers, an instance on a real
 * driver (PoCL, where it is installed), and the smallest work that goes all the way: vec_add_f32 of one task.
 *
 * Every test has its own process, so that it may choose its driver and layer by the environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include "../../plugins/opencl/opencl.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POCL_ICD     "/etc/OpenCL/vendors/pocl.icd"
#define RUSTICL_ICD  "/etc/OpenCL/vendors/rusticl.icd"
#define OCLGRIND_ICD "/usr/lib/oclgrind/liboclgrind-rt-icd.so"

extern const struct svmx_plugin svmx_plugin;

/* ---- a host ---- */

static atomic_int live_allocations;
static atomic_int allocations_left = 1000000; /* the next ones after these fail */
static const char *variant_option;
static char last_error[256];  /* logged */
static char all_lines[16384]; /* logged at INFO or graver, each with its end of line */

static inline void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    if (level == SVMX_LOG_ERROR) (void)snprintf(last_error, sizeof last_error, "%s", text);
    const size_t used = strlen(all_lines);
    if (level <= SVMX_LOG_INFO) (void)snprintf(all_lines + used, sizeof all_lines - used, "%s\n", text);
}

static inline void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    (void)host;
    void *memory = NULL;
    if (atomic_fetch_sub(&allocations_left, 1) <= 0) return NULL;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes)) return NULL;
    atomic_fetch_add(&live_allocations, 1);
    return memory;
}

static inline void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    if (memory) atomic_fetch_sub(&live_allocations, 1);
    free(memory);
}

static inline const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    return strcmp(key, "variant") == 0 ? variant_option : NULL;
}

static inline uint64_t host_now(const struct svmx_host *host) {
    (void)host;
    return 0; /* a clock that stands still: waiting must not depend on it */
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .abi_minor = SVMX_ABI_MINOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .now = host_now};

/* ---- an instance ---- */

static struct svmx_backend backend;

/* This driver and no other. */
static inline void use_driver(const char *file, const char *package) {
    if (access(file, R_OK) != 0) cr_skip_test("there is no %s (package %s)", file, package);
    setenv("OCL_ICD_VENDORS", file, 1);
    setenv("RUSTICL_ENABLE", "llvmpipe", 1);
}

static inline void use_pocl(void) { use_driver(POCL_ICD, "pocl-opencl-icd"); }
static inline void use_rusticl(void) { use_driver(RUSTICL_ICD, "mesa-opencl-icd"); }
static inline void use_oclgrind(void) { use_driver(OCLGRIND_ICD, "oclgrind"); }

/* What the layer offers; see there. */
static void (*layer_fail)(const char *name, unsigned n, int error);
static unsigned (*layer_hits)(void);

/* The layer of tests/drivers/cl_fault between the loader and PoCL. */
static inline void use_layer(void) {
    const char *build = getenv("SVMX_TEST_BUILDDIR"), *objdir = getenv("SVMX_TEST_OBJDIR");
    char path[4096];
    use_pocl();
    cr_assert(build && objdir, "run by make check, which says where the layer is");
    (void)snprintf(path, sizeof path, "%s/tests/drivers/cl_fault/%s/layer.so", build, objdir);
    cr_assert_eq(access(path, R_OK), 0, "no layer %s", path);
    setenv("OPENCL_LAYERS", path, 1);
    void *layer = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* the loader of OpenCL will find it loaded */
    cr_assert_not_null(layer, "%s", dlerror());
    *(void **)&layer_fail = dlsym(layer, "svmx_layer_fail");
    *(void **)&layer_hits = dlsym(layer, "svmx_layer_hits");
    cr_assert(layer_fail && layer_hits, "%s is no layer of ours", path);
}

static inline void open_backend(void) { cr_assert_eq(svmx_plugin.open(&host, &backend), SVMX_OK, "%s", last_error); }

static inline void close_backend(void) {
    backend.ops->close(backend.self);
    cr_assert_eq(atomic_load(&live_allocations), 0, "close leaves %d allocations", atomic_load(&live_allocations));
}

static inline struct svmx_device_info info_of(uint32_t index) {
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(backend.ops->device_info(backend.self, index, &info), SVMX_OK);
    return info;
}

static inline enum svmx_status build(const char *op, uint64_t bucket, uint32_t variant,
                                     struct svmx_pipeline **pipeline) {
    const struct svmx_op_desc desc = {.size = sizeof desc, .name = op};
    const struct svmx_pipeline_desc wish = {.size = sizeof wish, .op = &desc, .bucket = bucket, .variant = variant};
    return backend.ops->pipeline_build(backend.self, 0, &wish, pipeline);
}

static inline enum svmx_status alloc(uint32_t device, uint32_t kind, uint32_t usage, uint64_t bytes,
                                     struct svmx_memory **memory, void **at) {
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = bytes};
    return backend.ops->memory_alloc(backend.self, device, &desc, memory, at);
}

/* ---- vec_add_f32 of one task ---- */

enum { ADD_COUNT = 3000, ADD_TABLE = 4096, ADD_BYTES = ADD_COUNT * 4, ADD_ALIGNED = (ADD_BYTES + 63) / 64 * 64 };
enum { ADD_IN = ADD_TABLE + 2 * ADD_ALIGNED };

/* On a device that shares memory staging is all; elsewhere the copies go with it. */
struct add {
    uint32_t device;
    bool shares;
    struct svmx_pipeline *pipeline;
    struct svmx_memory *staging_in, *staging_out, *in, *out;
    void *host_in, *host_out;
    uint64_t first_unit[2];
    struct svmx_command commands[5];
    size_t command_count;
};

static inline void add_fill_in(struct add *add) {
    const uint64_t table[8] = {0, ADD_BYTES, ADD_TABLE, ADD_BYTES, ADD_TABLE + ADD_ALIGNED, ADD_BYTES, 0, ADD_COUNT};
    memcpy(add->host_in, table, sizeof table);
    float *a = (float *)(void *)((char *)add->host_in + ADD_TABLE), *b = a + ADD_ALIGNED / 4;
    for (int i = 0; i < ADD_COUNT; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
    memset(add->host_out, 0xee, ADD_BYTES);
}

static inline void add_write_commands(struct add *add) {
    const struct svmx_span in = {add->shares ? add->staging_in : add->in, 0, ADD_IN};
    const struct svmx_span out = {add->shares ? add->staging_out : add->out, 0, ADD_BYTES};
    const struct svmx_span staged_in = {add->staging_in, 0, ADD_IN}, staged_out = {add->staging_out, 0, ADD_BYTES};
    const struct svmx_span table = {in.memory, 0, 64};
    struct svmx_command *at = add->commands;
    if (!add->shares) {
        *at++ = (struct svmx_command){.kind = SVMX_COMMAND_COPY_IN, .as.copy = {staged_in, in}};
        *at++ = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
    }
    *at++ = (struct svmx_command){.kind = SVMX_COMMAND_DISPATCH,
                                  .as.dispatch = {.pipeline = add->pipeline,
                                                  .slots = add->host_in,
                                                  .first_unit = add->first_unit,
                                                  .task_count = 1,
                                                  .slot_count = 3,
                                                  .inputs = in,
                                                  .outputs = out,
                                                  .table = table}};
    if (!add->shares) {
        *at++ = (struct svmx_command){.kind = SVMX_COMMAND_BARRIER};
        *at++ = (struct svmx_command){.kind = SVMX_COMMAND_COPY_OUT, .as.copy = {out, staged_out}};
    }
    add->command_count = (size_t)(at - add->commands);
}

static inline void add_free(struct add *add) {
    backend.ops->pipeline_free(backend.self, add->pipeline);
    backend.ops->memory_free(backend.self, add->staging_in);
    backend.ops->memory_free(backend.self, add->staging_out);
    backend.ops->memory_free(backend.self, add->in);
    backend.ops->memory_free(backend.self, add->out);
}

static inline enum svmx_status add_make(struct add *add, uint32_t device) {
    const struct svmx_op_desc op = {.size = sizeof op, .name = "vec_add_f32"};
    const struct svmx_pipeline_desc wish = {.size = sizeof wish, .op = &op, .bucket = 16384};
    *add = (struct add){.device = device, .shares = info_of(device).flags & SVMX_DEVICE_SHARES_MEMORY};
    add->first_unit[1] = ADD_COUNT;
    const uint32_t read = add->shares ? SVMX_USAGE_KERNEL_READ : SVMX_USAGE_COPY_SOURCE;
    const uint32_t write = add->shares ? SVMX_USAGE_KERNEL_WRITE : SVMX_USAGE_COPY_TARGET;
    void *none;
    enum svmx_status status = backend.ops->pipeline_build(backend.self, device, &wish, &add->pipeline);
    if (status == SVMX_OK)
        status =
            alloc(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_WRITE | read, ADD_IN, &add->staging_in, &add->host_in);
    if (status == SVMX_OK)
        status = alloc(device, SVMX_MEMORY_STAGING, SVMX_USAGE_HOST_READ | write, ADD_BYTES, &add->staging_out,
                       &add->host_out);
    if (status == SVMX_OK && !add->shares)
        status =
            alloc(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET, ADD_IN, &add->in, &none);
    if (status == SVMX_OK && !add->shares)
        status = alloc(device, SVMX_MEMORY_DEVICE, SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE, ADD_BYTES,
                       &add->out, &none);
    if (status != SVMX_OK) {
        add_free(add);
        return status;
    }
    add_fill_in(add);
    add_write_commands(add);
    return SVMX_OK;
}

static inline enum svmx_status add_submit(const struct add *add, uint64_t *ticket) {
    const struct svmx_command_list list = {sizeof list, sizeof *add->commands, add->commands, add->command_count};
    const struct svmx_submission submission = {.size = sizeof submission, .device = add->device, .list = &list};
    return backend.ops->submit(backend.self, &submission, ticket);
}

static const uint64_t ten_seconds_ns = UINT64_C(10000000000);

static inline enum svmx_status wait_for(uint32_t device, uint64_t ticket, struct svmx_timing *timing) {
    struct svmx_timing unused = {.size = sizeof unused};
    return backend.ops->wait(backend.self, device, ticket, ten_seconds_ns, timing ? timing : &unused);
}

static inline bool add_is_right(const struct add *add) {
    const float *out = add->host_out;
    for (int i = 0; i < ADD_COUNT; i++)
        if (out[i] != 1.5f * (float)i) return false;
    return true;
}

/* All of it. The first thing that fails is the answer. */
static inline enum svmx_status add_run(uint32_t device, bool *right) {
    struct add add;
    uint64_t ticket;
    enum svmx_status status = add_make(&add, device);
    *right = false;
    if (status != SVMX_OK) return status;
    status = add_submit(&add, &ticket);
    if (status == SVMX_OK) status = wait_for(device, ticket, NULL);
    if (status == SVMX_OK) *right = add_is_right(&add);
    add_free(&add);
    return status;
}

#endif
