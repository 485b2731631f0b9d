/*
 * client.c: client FOLDER SCENARIO: plays one scenario of client_work.c or client_wrong.c. Ends with 0 when it went as it
 * says, 1 when not, 2 when a call failed that must not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *client_folder;
ze_driver_handle_t client_driver;
ze_device_handle_t client_device;
ze_context_handle_t client_context;
ze_module_handle_t client_module;

void client_must(ze_result_t result, const char *call) {
    if (!result) return;
    printf("%s answers %#x\n", call, (unsigned)result);
    exit(2);
}

void client_expect(bool condition, const char *text, const char *file, int line) {
    if (condition) return;
    printf("%s:%d: not so: %s\n", file, line, text);
    exit(1);
}

void *client_read(const char *name, size_t *bytes) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", client_folder, name);
    FILE *file = fopen(path, "rb");
    EXPECT(file && fseek(file, 0, SEEK_END) == 0);
    *bytes = (size_t)ftell(file);
    void *data = malloc(*bytes);
    rewind(file);
    EXPECT(data && fread(data, 1, *bytes, file) == *bytes);
    fclose(file);
    return data;
}

ze_result_t client_build(const char *name, const ze_module_constants_t *constants, ze_module_handle_t *module,
                         char *log, size_t log_room) {
    size_t bytes, length = 0;
    uint8_t *data = client_read(name, &bytes);
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = bytes,
                                   .pInputModule = data,
                                   .pConstants = constants};
    ze_module_build_log_handle_t build_log = NULL;
    const ze_result_t result = zeModuleCreate(client_context, client_device, &desc, module, &build_log);
    free(data);
    if (!build_log) return result;
    MUST(zeModuleBuildLogGetString(build_log, &length, NULL));
    if (log && length <= log_room) MUST(zeModuleBuildLogGetString(build_log, &length, log));
    MUST(zeModuleBuildLogDestroy(build_log));
    return result;
}

void client_open_context(void) {
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    char log[4096] = "";
    MUST(zeContextCreate(client_driver, &desc, &client_context));
    const ze_result_t result = client_build("client.spv", NULL, &client_module, log, sizeof log);
    if (result) printf("%s\n", log);
    MUST(result);
}

void client_open_driver(void) {
    uint32_t count = 1;
    MUST(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    MUST(zeDriverGet(&count, &client_driver));
    count = 1;
    MUST(zeDeviceGet(client_driver, &count, &client_device));
}

void client_open(void) {
    client_open_driver();
    client_open_context();
}

void client_close(void) {
    MUST(zeModuleDestroy(client_module));
    MUST(zeContextDestroy(client_context));
}

/* ---- small things --------------------------------------------------------------------------------------------- */

void *client_device_memory(size_t bytes) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory;
    MUST(zeMemAllocDevice(client_context, &desc, bytes, 64, client_device, &memory));
    return memory;
}

void *client_host_memory(size_t bytes) {
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    MUST(zeMemAllocHost(client_context, &desc, bytes, 64, &memory));
    return memory;
}

void *client_shared_memory(size_t bytes) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    void *memory;
    MUST(zeMemAllocShared(client_context, &desc, &host_desc, bytes, 64, client_device, &memory));
    return memory;
}

void client_free(void *memory) { MUST(zeMemFree(client_context, memory)); }

ze_kernel_handle_t client_kernel(ze_module_handle_t module, const char *name) {
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel;
    MUST(zeKernelCreate(module, &desc, &kernel));
    MUST(zeKernelSetGroupSize(kernel, GROUP, 1, 1));
    return kernel;
}

ze_command_list_handle_t client_list(void) {
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreate(client_context, client_device, &desc, &list));
    return list;
}

ze_command_list_handle_t client_immediate(ze_command_queue_mode_t mode, ze_command_queue_flags_t flags) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = mode, .flags = flags};
    ze_command_list_handle_t list;
    MUST(zeCommandListCreateImmediate(client_context, client_device, &desc, &list));
    return list;
}

ze_command_queue_handle_t client_queue(void) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    ze_command_queue_handle_t queue;
    MUST(zeCommandQueueCreate(client_context, client_device, &desc, &queue));
    return queue;
}

void client_events_open(struct events *events, ze_event_pool_flags_t flags, const void *extension) {
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .pNext = extension,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
                                       .count = 4};
    MUST(zeEventPoolCreate(client_context, &desc, 1, &client_device, &events->pool));
    for (uint32_t i = 0; i < 4; i++) {
        const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                       .index = i,
                                       .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                       .wait = ZE_EVENT_SCOPE_FLAG_HOST};
        MUST(zeEventCreate(events->pool, &event, &events->all[i]));
    }
}

void client_events_close(struct events *events) {
    for (int i = 0; i < 4; i++) MUST(zeEventDestroy(events->all[i]));
    MUST(zeEventPoolDestroy(events->pool));
}

/* ---- c = a + b ------------------------------------------------------------------------------------------------ */

void client_add_reset(struct add *add) {
    for (int i = 0; i < COUNT; i++) add->host_a[i] = (float)i, add->host_b[i] = 0.5f * (float)i, add->host_c[i] = -1;
}

void client_add_open(struct add *add) {
    const uint32_t count = COUNT;
    add->host_a = client_host_memory(BYTES);
    add->host_b = client_host_memory(BYTES);
    add->host_c = client_host_memory(BYTES);
    add->a = client_device_memory(BYTES);
    add->b = client_device_memory(BYTES);
    add->c = client_device_memory(BYTES);
    add->kernel = client_kernel(client_module, "vec_add");
    MUST(zeKernelSetArgumentValue(add->kernel, 0, sizeof add->a, &add->a));
    MUST(zeKernelSetArgumentValue(add->kernel, 1, sizeof add->b, &add->b));
    MUST(zeKernelSetArgumentValue(add->kernel, 2, sizeof add->c, &add->c));
    MUST(zeKernelSetArgumentValue(add->kernel, 3, sizeof count, &count));
    client_add_reset(add);
}

void client_add_close(struct add *add) {
    MUST(zeKernelDestroy(add->kernel));
    client_free(add->host_a);
    client_free(add->host_b);
    client_free(add->host_c);
    client_free(add->a);
    client_free(add->b);
    client_free(add->c);
}

unsigned client_add_wrong(const struct add *add) {
    unsigned wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += add->host_c[i] != (float)i + 0.5f * (float)i;
    return wrong;
}

void client_add_launch(const struct add *add, ze_command_list_handle_t list, ze_event_handle_t signal,
                       ze_event_handle_t wait) {
    const ze_group_count_t groups = {(COUNT + GROUP - 1) / GROUP, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, add->kernel, &groups, signal, wait ? 1 : 0, wait ? &wait : NULL));
}

void client_add_append(const struct add *add, ze_command_list_handle_t list, bool barriers, ze_event_handle_t signal) {
    MUST(zeCommandListAppendMemoryCopy(list, add->a, add->host_a, BYTES, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, add->b, add->host_b, BYTES, NULL, 0, NULL));
    if (barriers) MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    client_add_launch(add, list, signal, NULL);
    if (barriers) MUST(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, add->host_c, add->c, BYTES, NULL, 0, NULL));
}

static void play(const struct scenario *scenarios, const char *name) {
    for (const struct scenario *at = scenarios; at->name; at++) {
        if (strcmp(at->name, name) != 0) continue;
        at->play();
        exit(0);
    }
}

int main(int count, char **words) {
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (count == 3) {
        client_folder = words[1];
        play(client_work, words[2]);
        play(client_wrong, words[2]);
    }
    fprintf(stderr, "usage: client FOLDER SCENARIO; see client_work.c and client_wrong.c\n");
    return 2;
}
