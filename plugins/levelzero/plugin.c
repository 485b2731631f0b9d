/*
 * plugin.c: the Level Zero backend: the data symbol, open and close, the table of functions.
 *
 * The core loads it with dlopen; it links libze_loader, the loader of whatever drivers there are, and opens nothing itself.
 * It includes nothing of the core but svmx/plugin.h. levelzero.h says which file does what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../kernels/opening.h"
#include "hash.h"
#include "levelzero.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.0.0"
#endif

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    const fenv_t callers = kernels_fp_enter();
    const enum svmx_status status = lz_pipeline_build(self, device, desc, pipeline);
    (void)fesetenv(&callers);
    return status;
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    const fenv_t callers = kernels_fp_enter();
    const enum svmx_status status = lz_submit(self, submission, ticket);
    (void)fesetenv(&callers);
    return status;
}

static void backend_close(void *self) {
    struct lz_backend *backend = self;
    const struct svmx_host *host = backend->host;
    lz_devices_free(backend);
    host->release(host, backend);
}

static const struct svmx_backend_ops backend_ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = lz_device_info,
    .memory_alloc = lz_memory_alloc,
    .memory_free = lz_memory_free,
    .pipeline_build = pipeline_build,
    .pipeline_free = lz_pipeline_free,
    .pipeline_binary = lz_pipeline_binary,
    .list_record = NULL, /* immediate lists: what is appended runs */
    .list_free = NULL,
    .submit = submit,
    .wait = lz_wait,
    .close = backend_close,
};

/* Variables of the loader and of drivers (ZE_ENABLE_ALT_DRIVERS names one). */
static const char *const variables[] = {"ZE_", "ZEL_", "ZET_", "ZES_", "NEO", "IGC_"};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    enum svmx_status status = kernels_may_open(host, variables, sizeof variables / sizeof *variables);
    if (status != SVMX_OK) return status;
    struct lz_backend *backend = host->alloc(host, sizeof *backend, 64);
    if (!backend) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the instance");
        return SVMX_ERR_MEMORY;
    }
    *backend = (struct lz_backend){.host = host, .newer = lz_newer_find()};
    const fenv_t callers = kernels_fp_enter();
    status = lz_devices_find(backend);
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
    .name = "levelzero",
    .version = PACKAGE_VERSION "+" KERNELS_HASH,
    .licence = "Apache-2.0",
    .open = backend_open,
};
