/*
 * plugin.c: the OpenCL backend: the data symbol, open and close, the table of functions.
 *
 * The core loads it with dlopen; it links libOpenCL, the loader of whatever drivers there are, and opens nothing itself.
 * It includes nothing of the core but svmx/plugin.h. opencl.h says which file does what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../kernels/opening.h"
#include "hash.h"
#include "opencl.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.0.0"
#endif

static enum svmx_status memory_alloc(void *self, uint32_t device, const struct svmx_memory_desc *desc,
                                     struct svmx_memory **memory, void **host) {
    const fenv_t callers = kernels_fp_enter();
    const enum svmx_status status = ocl_memory_alloc(self, device, desc, memory, host);
    (void)fesetenv(&callers);
    return status;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    const fenv_t callers = kernels_fp_enter();
    const enum svmx_status status = ocl_pipeline_build(self, device, desc, pipeline);
    (void)fesetenv(&callers);
    return status;
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    const fenv_t callers = kernels_fp_enter();
    const enum svmx_status status = ocl_submit(self, submission, ticket);
    (void)fesetenv(&callers);
    return status;
}

static void backend_close(void *self) {
    struct ocl_backend *backend = self;
    const struct svmx_host *host = backend->host;
    ocl_devices_free(backend);
    host->release(host, backend);
}

static const struct svmx_backend_ops backend_ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = ocl_device_info,
    .memory_alloc = memory_alloc,
    .memory_free = ocl_memory_free,
    .pipeline_build = pipeline_build,
    .pipeline_free = ocl_pipeline_free,
    .pipeline_binary = ocl_pipeline_binary,
    .list_record = NULL, /* replaying a recorded list brought nothing where it was measured */
    .list_free = NULL,
    .submit = submit,
    .wait = ocl_wait,
    .close = backend_close,
};

/* Variables of the loader and of drivers. The loader of Debian 12 reads some of them even in a set-uid program. */
static const char *const variables[] = {"OCL_ICD_", "OPENCL_", "POCL_", "OCLGRIND_", "RUSTICL_", "LIBGL_DRIVERS_PATH"};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    enum svmx_status status = kernels_may_open(host, variables, sizeof variables / sizeof *variables);
    if (status != SVMX_OK) return status;
    struct ocl_backend *backend = host->alloc(host, sizeof *backend, 64);
    if (!backend) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the instance");
        return SVMX_ERR_MEMORY;
    }
    *backend = (struct ocl_backend){.host = host};
    atomic_init(&backend->next_memory_id, 1);
    const fenv_t callers = kernels_fp_enter();
    status = ocl_devices_find(backend);
    (void)fesetenv(&callers);
    if (status != SVMX_OK) {
        backend_close(backend);
        return status;
    }
    *opened = (struct svmx_backend){.ops = &backend_ops, .self = backend};
    return SVMX_OK;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "opencl",
    .version = PACKAGE_VERSION "+" KERNELS_HASH,
    .licence = "Apache-2.0",
    .open = backend_open,
};
