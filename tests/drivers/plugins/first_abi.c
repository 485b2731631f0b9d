/*
 * first_abi.c: check-only plugin as somebody built it against plugin ABI 1.0. It sees the headers of that version only,
 * kept in abi_1_0/, and must load and compute in every later version of the same major.
 *
 * Do not modernise it: its age is its purpose. One device that computes vec_add_f32 in the caller's memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abi_1_0/plugin.h"

#include <assert.h>
#include <string.h>

static_assert(SVMX_ABI_MAJOR == 1 && SVMX_ABI_MINOR == 0, "these must be the headers of 1.0");

struct first_abi {
    const struct svmx_host *host;
};

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index != 0) return SVMX_ERR_UNKNOWN;
    strcpy(info->name, "first ABI");
    strcpy(info->driver, "first_abi 1.0");
    info->kind = SVMX_DEVICE_CPU;
    info->flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_INLINE | SVMX_DEVICE_TEST;
    info->compute_engines = 1;
    info->threads = 1;
    info->alignment = 1;
    return SVMX_OK;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    (void)device;
    if (strcmp(desc->op->name, "vec_add_f32") != 0) return SVMX_ERR_UNSUPPORTED;
    *pipeline = self; /* there is only one kernel: any pointer will do */
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    (void)pipeline;
}

/* out, a, b: of any alignment. */
static void vec_add(const struct svmx_slot *slots) {
    unsigned char *out = (unsigned char *)(uintptr_t)slots[0].at;
    const unsigned char *a = (const unsigned char *)(uintptr_t)slots[1].at;
    const unsigned char *b = (const unsigned char *)(uintptr_t)slots[2].at;
    for (uint64_t i = 0; i < slots[0].bytes; i += sizeof(float)) {
        float x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        float sum = x + y;
        if (sum != sum) { /* one NaN pattern everywhere */
            const uint32_t nan = UINT32_C(0x7fc00000);
            memcpy(&sum, &nan, sizeof sum);
        }
        memcpy(out + i, &sum, sizeof sum);
    }
}

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    const struct first_abi *backend = self;
    const struct svmx_command_list *list = submission->list;
    if (!list) {
        backend->host->log(backend->host, SVMX_LOG_ERROR, "first_abi: recorded lists are not offered");
        return SVMX_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct svmx_command *command =
            (const void *)((const unsigned char *)list->commands + i * list->command_size);
        if (command->kind != SVMX_COMMAND_DISPATCH) continue;
        const struct svmx_dispatch *dispatch = &command->as.dispatch;
        for (uint32_t t = 0; t < dispatch->task_count; t++) vec_add(dispatch->slots + (size_t)t * dispatch->slot_count);
    }
    *ticket = 0;
    return SVMX_OK;
}

static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    (void)self;
    (void)device;
    (void)ticket;
    (void)timeout_ns;
    (void)timing;
    return SVMX_ERR_UNKNOWN; /* every ticket was 0 */
}

static void backend_close(void *self) {
    struct first_abi *backend = self;
    backend->host->release(backend->host, backend);
}

static const struct svmx_backend_ops ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .submit = submit,
    .wait = wait_ticket,
    .close = backend_close,
};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    struct first_abi *backend = host->alloc(host, sizeof *backend, 16);
    if (!backend) return SVMX_ERR_MEMORY;
    backend->host = host;
    *opened = (struct svmx_backend){.ops = &ops, .self = backend};
    return SVMX_OK;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "first_abi",
    .version = "1.0",
    .licence = "Apache-2.0",
    .open = backend_open,
};
