/*
 * peer_ze.c: see peer_ze.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_ze.h"

#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct peer_ze {
    struct fused work;
    ze_context_handle_t context;
    ze_device_handle_t device;
    ze_module_handle_t module;
    ze_kernel_handle_t kernel;
    ze_command_list_handle_t list;
    ze_event_pool_handle_t pool;
    ze_event_handle_t done;
    void *host_in, *host_out, *in, *out;
};

static void demand(ze_result_t result, const char *what) {
    if (result == ZE_RESULT_SUCCESS) return;
    fprintf(stderr, "%s: Level Zero error %#x\n", what, (unsigned)result);
    exit(1);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static void open_device(struct peer_ze *peer) {
    const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_command_queue_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_event_pool_desc_t pool = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE, .count = 1};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .signal = ZE_EVENT_SCOPE_FLAG_HOST};
    ze_driver_handle_t driver = NULL;
    uint32_t count = 1;
    demand(zeInit(ZE_INIT_FLAG_GPU_ONLY), "zeInit");
    demand(zeDriverGet(&count, &driver), "zeDriverGet");
    count = 1;
    demand(zeDeviceGet(driver, &count, &peer->device), "zeDeviceGet");
    demand(zeContextCreate(driver, &context, &peer->context), "zeContextCreate");
    demand(zeCommandListCreateImmediate(peer->context, peer->device, &list, &peer->list),
           "zeCommandListCreateImmediate");
    demand(zeEventPoolCreate(peer->context, &pool, 1, &peer->device, &peer->pool), "zeEventPoolCreate");
    demand(zeEventCreate(peer->pool, &event, &peer->done), "zeEventCreate");
}

static void open_memory(struct peer_ze *peer) {
    const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const size_t in = peer->work.in_bytes, out = peer->work.out_bytes;
    demand(zeMemAllocHost(peer->context, &host, in, ALIGNMENT, &peer->host_in), "zeMemAllocHost");
    demand(zeMemAllocHost(peer->context, &host, out, ALIGNMENT, &peer->host_out), "zeMemAllocHost");
    demand(zeMemAllocDevice(peer->context, &device, in, ALIGNMENT, peer->device, &peer->in), "zeMemAllocDevice");
    demand(zeMemAllocDevice(peer->context, &device, out, ALIGNMENT, peer->device, &peer->out), "zeMemAllocDevice");
    memcpy(peer->host_in, peer->work.in, in);
}

static void open_kernel(struct peer_ze *peer) {
    const struct fused *work = &peer->work;
    const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                     .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                     .inputSize = work->spirv_bytes,
                                     .pInputModule = work->spirv};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = work->kernel};
    demand(zeModuleCreate(peer->context, peer->device, &module, &peer->module, NULL), "zeModuleCreate");
    demand(zeKernelCreate(peer->module, &kernel, &peer->kernel), "zeKernelCreate");
    demand(zeKernelSetGroupSize(peer->kernel, work->local, 1, 1), "zeKernelSetGroupSize");
}

struct peer_ze *peer_ze_open(const struct fused *work) {
    struct peer_ze *peer = calloc(1, sizeof *peer);
    if (!peer) exit(1);
    peer->work = *work;
    open_device(peer);
    open_memory(peer);
    open_kernel(peer);
    return peer;
}

void peer_ze_close(struct peer_ze *peer) {
    (void)zeKernelDestroy(peer->kernel);
    (void)zeModuleDestroy(peer->module);
    (void)zeCommandListDestroy(peer->list);
    (void)zeEventDestroy(peer->done);
    (void)zeEventPoolDestroy(peer->pool);
    void *const memory[] = {peer->host_in, peer->host_out, peer->in, peer->out};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) (void)zeMemFree(peer->context, memory[i]);
    (void)zeContextDestroy(peer->context);
    free(peer);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void set(struct peer_ze *peer, uint32_t at, size_t bytes, const void *value) {
    demand(zeKernelSetArgumentValue(peer->kernel, at, bytes, value), "zeKernelSetArgumentValue");
}

static void set_arguments(struct peer_ze *peer) {
    const struct fused *work = &peer->work;
    const void *none = NULL;
    const uint64_t table_at = 0;
    set(peer, 0, sizeof(void *), &peer->in);
    set(peer, 1, sizeof(void *), &peer->out);
    set(peer, 2, sizeof(void *), &none);
    set(peer, 3, sizeof(void *), &peer->in);
    set(peer, 4, sizeof table_at, &table_at);
    set(peer, 5, sizeof work->units, &work->units);
    set(peer, 6, sizeof work->tasks, &work->tasks);
    set(peer, 7, sizeof work->grain, &work->grain);
}

void peer_ze_run(void *user, uint64_t repeats) {
    struct peer_ze *peer = user;
    const struct fused *work = &peer->work;
    const ze_group_count_t groups = {work->groups, 1, 1};
    while (repeats-- > 0) {
        demand(zeCommandListAppendMemoryCopy(peer->list, peer->in, peer->host_in, work->in_bytes, NULL, 0, NULL),
               "copy in");
        demand(zeCommandListAppendBarrier(peer->list, NULL, 0, NULL), "barrier");
        set_arguments(peer);
        demand(zeCommandListAppendLaunchKernel(peer->list, peer->kernel, &groups, NULL, 0, NULL), "launch");
        demand(zeCommandListAppendBarrier(peer->list, NULL, 0, NULL), "barrier");
        demand(
            zeCommandListAppendMemoryCopy(peer->list, peer->host_out, peer->out, work->out_bytes, peer->done, 0, NULL),
            "copy out");
        demand(zeEventHostSynchronize(peer->done, UINT64_MAX), "wait");
        demand(zeEventHostReset(peer->done), "reset");
    }
}

const void *peer_ze_out(const struct peer_ze *peer) { return peer->host_out; }
