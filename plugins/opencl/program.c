/*
 * program.c: from source text, or from a binary of an earlier process, to a compiled program.
 *
 * One program for what is compiled, whatever the bucket: compiled once, shared by reference. A binary is taken only if
 * its head (../kernels/binary.h) says that it comes from the same source, options and driver, and that every byte of it is there.
 * On any doubt it is refused, and the core asks for it anew.
 *
 * Called by pipeline.c, from any thread. Two threads that want one program build it once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STRINGS = 2 * (1 + CATALOG_SOURCES) + 2, MAX_OPTIONS = 1024, LOG_LINES = 8, ERROR_BYTES = 96 };

/* ---- text ------------------------------------------------------------------------------------------------- */

/* Source as the driver takes it. */
struct text {
    const char *strings[MAX_STRINGS];
    char lines[1 + CATALOG_SOURCES][64]; /* #line "file": so that the log of the compiler names files */
    cl_uint count;
    char options[MAX_OPTIONS];
    uint64_t key; /* of all that the result depends on */
};

static uint64_t key_of(const struct ocl_device *device, const struct text *text) {
    char name[256] = ""; /* the driver's own: ours may be a number longer */
    (void)clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    uint64_t key = kernels_hash_text(kernels_hash_start(), device->info.driver);
    key = kernels_hash_text(key, name);
    key = kernels_hash_text(key, text->options);
    for (cl_uint i = 0; i < text->count; i++) key = kernels_hash_text(key, text->strings[i]);
    return key;
}

static enum svmx_status assemble(const struct ocl_device *device, const struct ocl_source *source, struct text *text) {
    text->count = 0;
    for (size_t i = 0; i < 1 + CATALOG_SOURCES && source->files[i]; i++) {
        const char *file = catalog_source(source->files[i]);
        if (!file)
            return ocl_refuse(device->backend, SVMX_ERR_BACKEND, "%s: there is no source %s", source->op,
                              source->files[i]);
        (void)snprintf(text->lines[i], sizeof text->lines[i], "#line 1 \"%.40s\"\n", source->files[i]);
        text->strings[text->count++] = text->lines[i];
        text->strings[text->count++] = file;
    }
    if (source->text) {
        text->strings[text->count++] = "\n#line 1 \"registered\"\n";
        text->strings[text->count++] = source->text;
    }
    const int length = snprintf(text->options, sizeof text->options, "-cl-std=CL1.2 %s%s%s", source->options,
                                source->f64 ? " -DSVMX_F64" : "",
                                device->exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    if (length < 0 || (size_t)length >= sizeof text->options)
        return ocl_refuse(device->backend, SVMX_ERR_BACKEND, "%s: its options are too long", source->op);
    text->key = key_of(device, text);
    return SVMX_OK;
}

/* ---- building --------------------------------------------------------------------------------------------- */

/* From its first "error:" to the end of that line, or "". */
static void find_error(const char *log, char *error, size_t bytes) {
    const char *found = strstr(log, "error:");
    (void)snprintf(error, bytes, "%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
}

/* The first lines of the compiler's log, at the level of a warning. The error that follows is one line only, and is what is
 * kept as the reason: the log's first error goes into it. */
static void tell_log(const struct ocl_device *device, cl_program program, const char *op, char *error,
                     size_t error_bytes) {
    size_t bytes = 0;
    const struct svmx_host *host = device->backend->host;
    if (clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS) return;
    char *log = host->alloc(host, bytes + 1, 1);
    if (!log) return;
    if (clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes, log, NULL) != CL_SUCCESS) bytes = 0;
    log[bytes] = '\0';
    find_error(log, error, error_bytes);
    char *line = log;
    for (unsigned i = 0; i < LOG_LINES && *line; i++) {
        const size_t length = strcspn(line, "\n");
        const bool last = line[length] == '\0';
        line[length] = '\0';
        if (length) ocl_log(device->backend, SVMX_LOG_WARN, "%s: %s", op, line);
        line += length + !last;
    }
    host->release(host, log);
}

static enum svmx_status build_source(const struct ocl_device *device, const struct text *text, const char *op,
                                     cl_program *built) {
    cl_int error;
    const char **strings = (const char **)(uintptr_t)text->strings; /* the header's pointer is not const enough */
    cl_program program = clCreateProgramWithSource(device->context, text->count, strings, NULL, &error);
    if (!program) return ocl_fail(device->backend, error, "%s: no program", op);
    error = clBuildProgram(program, 1, &device->id, text->options, NULL, NULL);
    if (error == CL_SUCCESS) {
        *built = program;
        return SVMX_OK;
    }
    char first[ERROR_BYTES] = "";
    tell_log(device, program, op, first, sizeof first);
    clReleaseProgram(program);
    return ocl_fail(device->backend, error, "%s: its kernel does not build%s%s", op, first[0] ? ": " : "", first);
}

/* BACKEND: it cannot be used, and why is told; the core asks again without it. */
static enum svmx_status build_binary(const struct ocl_device *device, const struct text *text, const char *op,
                                     const void *binary, size_t bytes, cl_program *built) {
    const char *doubt = kernels_binary_doubt(binary, bytes, text->key);
    if (doubt) {
        ocl_log(device->backend, SVMX_LOG_INFO, "%s: a stored binary is not used: %s", op, doubt);
        return SVMX_ERR_BACKEND;
    }
    const unsigned char *payload = (const unsigned char *)binary + sizeof(struct kernels_head);
    const size_t payload_bytes = bytes - sizeof(struct kernels_head);
    cl_int error, of_device = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithBinary(device->context, 1, &device->id, &payload_bytes, &payload, &of_device, &error);
    if (error == CL_SUCCESS) error = of_device;
    if (error == CL_SUCCESS) error = clBuildProgram(program, 1, &device->id, text->options, NULL, NULL);
    *built = error == CL_SUCCESS ? program : NULL;
    if (*built) return SVMX_OK;
    if (program) clReleaseProgram(program);
    ocl_log(device->backend, SVMX_LOG_INFO, "%s: a stored binary is not used: the driver does not take it (%d)", op,
            (int)error);
    /* on a device that is lost nothing can be said of the binary */
    return ocl_status(error) == SVMX_ERR_DEVICE_LOST ? SVMX_ERR_DEVICE_LOST : SVMX_ERR_BACKEND;
}

/* With the program's lock held. */
static enum svmx_status build(struct ocl_program *program, const struct text *text, const void *binary, size_t bytes) {
    if (binary) return build_binary(program->device, text, program->shared.op, binary, bytes, &program->program);
    return build_source(program->device, text, program->shared.op, &program->program);
}

/* ---- sharing ---------------------------------------------------------------------------------------------- */

enum svmx_status ocl_program_acquire(struct ocl_device *device, const struct ocl_source *source, const void *binary,
                                     size_t binary_bytes, struct ocl_program **acquired) {
    if (!kernels_program_fits(source->op))
        return ocl_refuse(device->backend, SVMX_ERR_UNSUPPORTED, "the name %.32s... is too long", source->op);
    struct text text;
    enum svmx_status status = assemble(device, source, &text);
    if (status != SVMX_OK) return status;
    const struct ocl_program fresh = {.shared.key = text.key, .device = device};
    struct ocl_program *program = (void *)kernels_program_acquire(
        device->backend->host, &device->lock, &device->programs, source->op, &fresh.shared, sizeof fresh);
    if (!program) return ocl_refuse(device->backend, SVMX_ERR_MEMORY, "%s: no memory for a program", source->op);
    pthread_mutex_lock(&program->shared.lock);
    if (!program->program) status = build(program, &text, binary, binary_bytes);
    pthread_mutex_unlock(&program->shared.lock);
    if (status != SVMX_OK)
        ocl_program_release(program);
    else
        *acquired = program;
    return status;
}

void ocl_program_release(struct ocl_program *program) {
    struct ocl_device *device = program->device;
    if (!kernels_program_release(&device->lock, &device->programs, &program->shared)) return;
    if (program->program) clReleaseProgram(program->program);
    kernels_program_free(device->backend->host, &program->shared);
}

/* ---- binaries --------------------------------------------------------------------------------------------- */

enum svmx_status ocl_program_binary(struct ocl_program *program, void *buffer, size_t *bytes) {
    const struct ocl_backend *backend = program->device->backend;
    size_t payload_bytes = 0;
    cl_int error =
        clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof payload_bytes, &payload_bytes, NULL);
    if (error != CL_SUCCESS) return ocl_fail(backend, error, "%s: no size of its binary", program->shared.op);
    if (payload_bytes == 0)
        return ocl_refuse(backend, SVMX_ERR_UNSUPPORTED, "%s: the driver gives no binary", program->shared.op);
    if (!buffer) {
        *bytes = sizeof(struct kernels_head) + payload_bytes;
        return SVMX_OK;
    }
    if (*bytes < sizeof(struct kernels_head) + payload_bytes)
        return ocl_refuse(backend, SVMX_ERR_OVERFLOW, "%s: its binary has grown", program->shared.op);
    unsigned char *payload = (unsigned char *)buffer + sizeof(struct kernels_head);
    error = clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, sizeof payload, &payload, NULL);
    if (error != CL_SUCCESS) return ocl_fail(backend, error, "%s: no binary", program->shared.op);
    kernels_binary_seal(buffer, payload_bytes, program->shared.key);
    *bytes = sizeof(struct kernels_head) + payload_bytes;
    return SVMX_OK;
}
