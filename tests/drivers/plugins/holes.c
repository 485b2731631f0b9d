/*
 * holes.c: check-only plugin whose table lacks `wait`, which is not optional. Its close is there and must be called:
 * it logs "holes: closed".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <svmx/plugin.h>

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    (void)index;
    (void)info;
    return SVMX_ERR_UNKNOWN;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    (void)self;
    (void)device;
    (void)desc;
    (void)pipeline;
    return SVMX_ERR_UNSUPPORTED;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    (void)pipeline;
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self;
    (void)submission;
    (void)ticket;
    return SVMX_ERR_UNSUPPORTED;
}

static void backend_close(void *self) {
    const struct svmx_host *host = self;
    host->log(host, SVMX_LOG_INFO, "holes: closed");
}

static const struct svmx_backend_ops ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .submit = submit,
    .close = backend_close,
};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *backend) {
    *backend = (struct svmx_backend){.ops = &ops, .self = (void *)(uintptr_t)host};
    return SVMX_OK;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "holes",
    .version = "1",
    .licence = "Apache-2.0",
    .open = backend_open,
};
