/*
 * liar.h: a second backend, beside that of fake.h: a device that computes in the calling thread, as SIMD does, and gives
 * wrong bytes when it is told to, or answers a ticket, which it must not, and keeps it. After fake.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LIAR_H
#define LIAR_H

#include "fake.h"

#include <time.h>

/* What it adds to the first byte of each launch. */
static _Atomic unsigned char liar_lies;
static _Atomic unsigned liar_delay_ms; /* that each launch takes */
static const struct svmx_host *liar_host;
/* Its next launch is not done at once, nor in time. */
static atomic_bool liar_keeps;
static struct svmx_slot liar_kept; /* the first output of that launch */

static enum svmx_status liar_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index) return SVMX_ERR_UNKNOWN;
    *info = (struct svmx_device_info){.size = info->size,
                                      .name = "liar",
                                      .driver = "liar 1",
                                      .kind = SVMX_DEVICE_CPU,
                                      .flags = SVMX_DEVICE_TEST | SVMX_DEVICE_INLINE | SVMX_DEVICE_HOST_MEMORY,
                                      .compute_engines = 1,
                                      .threads = 1,
                                      .alignment = 64};
    return SVMX_OK;
}

static enum svmx_status liar_pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                            struct svmx_pipeline **pipeline) {
    (void)self, (void)device;
    struct svmx_pipeline *made = calloc(1, sizeof *made);
    if (!made) return SVMX_ERR_MEMORY;
    fake_pipeline_teach(made, desc->op);
    *pipeline = made;
    return SVMX_OK;
}

static void liar_pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    (void)self;
    free(pipeline);
}

static enum svmx_status liar_submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self;
    const struct svmx_dispatch *dispatch = &submission->list->commands[0].as.dispatch;
    const unsigned delay_ms = liar_delay_ms;
    if (delay_ms) (void)nanosleep(&(struct timespec){.tv_nsec = (long)delay_ms * 1000000}, NULL);
    if (atomic_exchange(&liar_keeps, false)) {
        liar_kept = dispatch->slots[0];
        *ticket = 1;
        return SVMX_OK;
    }
    for (uint32_t t = 0; t < dispatch->task_count; t++) {
        const struct svmx_slot *slots = dispatch->slots + (size_t)t * dispatch->slot_count;
        (void)liar_host->reference(liar_host, dispatch->pipeline->op, slots, dispatch->slot_count);
        if (t == 0 && slots[0].bytes)
            *(unsigned char *)(uintptr_t)slots[0].at =
                (unsigned char)(*(unsigned char *)(uintptr_t)slots[0].at + liar_lies);
    }
    *ticket = 0;
    return SVMX_OK;
}

static enum svmx_status liar_wait(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                  struct svmx_timing *timing) {
    (void)self, (void)device, (void)ticket, (void)timing;
    const struct timespec time = {(time_t)(timeout_ns / 1000000000), (long)(timeout_ns % 1000000000)};
    (void)nanosleep(&time, NULL);
    return SVMX_TIMEOUT;
}

/* It wakes up, and writes where it was told to. */
static inline void liar_finish_late(void) { memset((void *)(uintptr_t)liar_kept.at, 0xee, (size_t)liar_kept.bytes); }

static void liar_close(void *self) { (void)self; }

static const struct svmx_backend_ops liar_ops = {.size = sizeof(struct svmx_backend_ops),
                                                 .device_info = liar_device_info,
                                                 .pipeline_build = liar_pipeline_build,
                                                 .pipeline_free = liar_pipeline_free,
                                                 .submit = liar_submit,
                                                 .wait = liar_wait,
                                                 .close = liar_close};

static enum svmx_status liar_open(const struct svmx_host *host, struct svmx_backend *backend) {
    liar_host = host;
    *backend = (struct svmx_backend){.ops = &liar_ops, .self = &liar_lies};
    return SVMX_OK;
}

static const struct svmx_plugin liar_plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                               .size = sizeof(struct svmx_plugin),
                                               .abi_major = SVMX_ABI_MAJOR,
                                               .abi_minor = SVMX_ABI_MINOR,
                                               .name = "liar",
                                               .version = "1",
                                               .licence = "Apache-2.0",
                                               .open = liar_open};

#endif
