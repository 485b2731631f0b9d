/*
 * client_work.c: scenarios of the test driver's suite in which nothing is done wrong: results must be right and the report
 * empty. What the driver is set up for (faults, loss, hangs) is for ze_cpu.sh to say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "client.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ze_device_properties_t properties_of(ze_device_handle_t device) {
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    MUST(zeDeviceGetProperties(device, &properties));
    return properties;
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

/* A closed list, executed three times, with a fence. */
static void run_regular(void) {
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    ze_fence_handle_t fence;
    struct add add;
    client_add_open(&add);
    client_add_append(&add, list, true, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeFenceCreate(queue, &desc, &fence));
    for (int i = 0; i < 3; i++) {
        client_add_reset(&add);
        MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
        MUST(zeFenceHostSynchronize(fence, UINT64_MAX));
        EXPECT(client_add_wrong(&add) == 0);
        MUST(zeFenceReset(fence));
    }
    MUST(zeCommandListReset(list));
    client_add_append(&add, list, true, NULL);
    MUST(zeCommandListClose(list));
    client_add_reset(&add);
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(client_add_wrong(&add) == 0);
    MUST(zeFenceDestroy(fence));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_add_close(&add);
}

static void regular(void) {
    client_open();
    run_regular();
    client_close();
}

/* An immediate list, ordered by events alone. */
static void immediate(void) {
    struct add add;
    struct events events;
    client_open();
    client_add_open(&add);
    client_events_open(&events, 0, NULL);
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, 0);
    ze_event_handle_t *event = events.all;
    for (int i = 0; i < 3; i++) {
        client_add_reset(&add);
        MUST(zeCommandListAppendMemoryCopy(list, add.a, add.host_a, BYTES, event[0], 0, NULL));
        MUST(zeCommandListAppendMemoryCopy(list, add.b, add.host_b, BYTES, event[1], 1, &event[0]));
        client_add_launch(&add, list, event[2], event[1]);
        MUST(zeCommandListAppendMemoryCopy(list, add.host_c, add.c, BYTES, event[3], 1, &event[2]));
        MUST(zeEventHostSynchronize(event[3], UINT64_MAX));
        EXPECT(client_add_wrong(&add) == 0);
        for (int j = 0; j < 4; j++) MUST(zeEventHostReset(event[j]));
        EXPECT(zeEventQueryStatus(event[3]) == ZE_RESULT_NOT_READY);
    }
    MUST(zeCommandListDestroy(list));
    client_events_close(&events);
    client_add_close(&add);
    client_close();
}

/* Every kind of argument, set anew between two launches, and a pointer into the middle of an allocation. */
static void arguments(void) {
    const struct {
        int slope;
        float start;
    } up = {2, 1.0f}, down = {-1, 0.0f};
    const ze_group_count_t one = {1, 1, 1};
    client_open();
    float *out = client_shared_memory(2 * GROUP * sizeof *out), *second = out + GROUP;
    ze_kernel_handle_t kernel = client_kernel(client_module, "draw");
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    MUST(zeKernelSetArgumentValue(kernel, 2, GROUP * sizeof *out, NULL));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof up, &up));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof second, &second));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof down, &down));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    for (int i = 0; i < GROUP; i++) {
        EXPECT(out[i] == 1.0f + 2.0f * (float)(GROUP - 1 - i));
        EXPECT(second[i] == (float)(i - (GROUP - 1)));
    }
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    client_free(out);
    client_close();
}

static void *newer_function(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function) printf("the loader has no %s\n", name);
    EXPECT(function);
    return function;
}

/* No barriers, no events: the list is in order. And events that count: used three times without a reset. */
static void in_order(void) {
    const struct newer_event_pool_counter_based_exp_desc counting = {
        .stype = (ze_structure_type_t)NEWER_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC};
    struct add add;
    struct events events;
    newer_command_list_host_synchronize_fn synchronize;
    *(void **)&synchronize = newer_function("zeCommandListHostSynchronize");
    client_open();
    client_add_open(&add);
    client_events_open(&events, 0, &counting);
    ze_command_list_handle_t list =
        client_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS, NEWER_COMMAND_QUEUE_FLAG_IN_ORDER);
    for (int i = 0; i < 3; i++) {
        client_add_reset(&add);
        client_add_append(&add, list, false, events.all[0]);
        MUST(synchronize(list, UINT64_MAX));
        EXPECT(client_add_wrong(&add) == 0);
        MUST(zeEventQueryStatus(events.all[0]));
        client_add_reset(&add);
        client_add_append(&add, list, false, NULL);
        MUST(zeCommandListAppendSignalEvent(list, events.all[1]));
        MUST(zeEventHostSynchronize(events.all[1], UINT64_MAX));
        EXPECT(client_add_wrong(&add) == 0);
    }
    MUST(zeCommandListDestroy(list));
    client_events_close(&events);
    client_add_close(&add);
    client_close();
}

static void init_drivers(void) {
    struct newer_init_driver_type_desc desc = {.stype = (ze_structure_type_t)NEWER_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC,
                                               .flags = NEWER_INIT_DRIVER_TYPE_FLAG_GPU};
    newer_init_drivers_fn init;
    ze_driver_handle_t driver = NULL;
    uint32_t count = 0;
    ze_api_version_t version;
    *(void **)&init = newer_function("zeInitDrivers");
    MUST(init(&count, NULL, &desc));
    EXPECT(count == 1);
    MUST(init(&count, &driver, &desc));
    MUST(zeDriverGetApiVersion(driver, &version));
    EXPECT(version >= (ze_api_version_t)ZE_MAKE_VERSION(1, 10));
}

/* ---- modules -------------------------------------------------------------------------------------------------- */

static void native(void) {
    size_t bytes = 0;
    ze_module_handle_t from_spirv;
    client_open();
    from_spirv = client_module;
    MUST(zeModuleGetNativeBinary(from_spirv, &bytes, NULL));
    uint8_t *binary = malloc(bytes);
    EXPECT(binary);
    MUST(zeModuleGetNativeBinary(from_spirv, &bytes, binary));
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = bytes,
                                   .pInputModule = binary};
    MUST(zeModuleCreate(client_context, client_device, &desc, &client_module, NULL));
    run_regular();
    MUST(zeModuleDestroy(from_spirv));
    binary[0] ^= 1;
    EXPECT(zeModuleCreate(client_context, client_device, &desc, &from_spirv, NULL) ==
           ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    free(binary);
    client_close();
}

static void constants(void) {
    const uint32_t id = 7, five = 5;
    const void *value = &five;
    const ze_module_constants_t constant = {1, (uint32_t *)(uintptr_t)&id, &value};
    const ze_group_count_t one = {1, 1, 1};
    ze_module_handle_t module;
    client_open();
    MUST(client_build("client_constant.spv", &constant, &module, NULL, 0));
    uint32_t *out = client_shared_memory(GROUP * sizeof *out);
    ze_kernel_handle_t kernel = client_kernel(module, "constant");
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    for (int i = 0; i < GROUP; i++) EXPECT(out[i] == 5);
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    client_free(out);
    client_close();
}

/* SPIR-V that ends too early, or has a bit that is not right: refused, or given to the translator, and never a crash. */
static void damaged(void) {
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    size_t bytes;
    client_open_driver();
    MUST(zeContextCreate(client_driver, &context_desc, &client_context));
    uint8_t *data = client_read("client.spv", &bytes);
    for (size_t at = 0; at < bytes; at += 4) {
        ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                 .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                 .inputSize = at + 4,
                                 .pInputModule = data};
        ze_module_handle_t module;
        EXPECT(zeModuleCreate(client_context, client_device, &desc, &module, NULL));
        desc.inputSize = bytes;
        data[at + at / 4 % 4] ^= (uint8_t)(1 << at / 4 % 8);
        EXPECT(zeModuleCreate(client_context, client_device, &desc, &module, NULL));
        data[at + at / 4 % 4] ^= (uint8_t)(1 << at / 4 % 8);
    }
    free(data);
    MUST(zeContextDestroy(client_context));
}

/* Does not build: prints why. */
static void no_doubles(void) {
    char log[4096] = "";
    ze_module_handle_t module;
    client_open();
    EXPECT(client_build("client_fp64.spv", NULL, &module, log, sizeof log) == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    printf("%s\n", log);
    client_close();
}

static void doubles(void) {
    ze_module_handle_t module;
    client_open();
    MUST(client_build("client_fp64.spv", NULL, &module, NULL, 0));
    MUST(zeModuleDestroy(module));
    client_close();
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

static void limits(void) {
    const ze_relaxed_allocation_limits_exp_desc_t relaxed = {.stype =
                                                                 ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                                             .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_device_memory_properties_t whole = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    uint32_t count = 1;
    void *memory;
    client_open();
    const size_t most = properties_of(client_device).maxMemAllocSize;
    MUST(zeDeviceGetMemoryProperties(client_device, &count, &whole));
    EXPECT(zeMemAllocDevice(client_context, &desc, most + 1, 1, client_device, &memory) ==
           ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc.pNext = &relaxed;
    MUST(zeMemAllocDevice(client_context, &desc, most + 1, 1, client_device, &memory));
    client_free(memory);
    EXPECT(zeMemAllocDevice(client_context, &desc, whole.totalSize + 1, 1, client_device, &memory) ==
           ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    client_close();
}

/* Fills and copies of regions; and what the driver knows of an allocation. */
static void fills(void) {
    const uint32_t pattern = 0x12345678;
    const ze_copy_region_t middle = {.originX = 4, .originY = 1, .width = 4, .height = 2},
                           corner = {.width = 4, .height = 2};
    ze_memory_allocation_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner;
    client_open();
    unsigned char *host = client_host_memory(64), *device = client_device_memory(64);
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    memset(host, 0, 64);
    MUST(zeCommandListAppendMemoryFill(list, device, &pattern, sizeof pattern, 64, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopyRegion(list, host, &middle, 16, 0, device, &corner, 16, 0, NULL, 0, NULL));
    for (int i = 0; i < 64; i++) {
        const bool inside = i % 16 >= 4 && i % 16 < 8 && (i / 16 == 1 || i / 16 == 2);
        EXPECT(host[i] == (inside ? (pattern >> (i % 4 * 8) & 0xff) : 0));
    }
    MUST(zeMemGetAllocProperties(client_context, device + 5, &properties, &owner));
    EXPECT(properties.type == ZE_MEMORY_TYPE_DEVICE && owner == client_device);
    MUST(zeMemGetAllocProperties(client_context, &owner, &properties, NULL));
    EXPECT(properties.type == ZE_MEMORY_TYPE_UNKNOWN);
    MUST(zeCommandListDestroy(list));
    client_free(host);
    client_free(device);
    client_close();
}

/* ---- devices and time ----------------------------------------------------------------------------------------- */

/* Prints one line a device, tiles behind it. */
static void devices(void) {
    ze_device_handle_t all[8], tiles[4];
    uint32_t count = 8;
    client_open();
    MUST(zeDeviceGet(client_driver, &count, all));
    for (uint32_t i = 0; i < count; i++) {
        const ze_device_properties_t one = properties_of(all[i]);
        uint32_t tile_count = 4;
        printf("%s, %s, largest %llu, clock %u\n", one.name,
               one.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED ? "integrated" : "discrete",
               (unsigned long long)one.maxMemAllocSize, (unsigned)one.coreClockRate);
        MUST(zeDeviceGetSubDevices(all[i], &tile_count, tiles));
        for (uint32_t j = 0; j < tile_count; j++) {
            EXPECT(properties_of(tiles[j]).flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE);
            printf("%s\n", properties_of(tiles[j]).name);
        }
    }
    client_close();
}

/* The same work on every device and tile, at the same time. */
static void every_device(void) {
    ze_device_handle_t all[8 + 8 * 4];
    uint32_t count = 8, roots;
    client_open();
    MUST(zeModuleDestroy(client_module));
    MUST(zeDeviceGet(client_driver, &count, all));
    roots = count;
    for (uint32_t i = 0; i < roots; i++) {
        uint32_t tiles = 4;
        MUST(zeDeviceGetSubDevices(all[i], &tiles, all + count));
        count += tiles;
    }
    for (uint32_t i = 0; i < count; i++) {
        client_device = all[i];
        MUST(client_build("client.spv", NULL, &client_module, NULL, 0));
        run_regular();
        if (i + 1 < count) MUST(zeModuleDestroy(client_module));
    }
    client_close();
}

/* Prints "wrapped" if the end of the kernel is before its start. */
static void times(void) {
    ze_kernel_timestamp_result_t stamps;
    struct add add;
    struct events events;
    client_open();
    client_add_open(&add);
    client_events_open(&events, ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, NULL);
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    EXPECT(zeEventQueryKernelTimestamp(events.all[0], &stamps) == ZE_RESULT_NOT_READY);
    client_add_append(&add, list, true, events.all[0]);
    MUST(zeEventQueryKernelTimestamp(events.all[0], &stamps));
    const uint32_t bits = properties_of(client_device).kernelTimestampValidBits;
    const uint64_t mask = ((uint64_t)1 << bits) - 1, start = stamps.context.kernelStart, end = stamps.context.kernelEnd;
    EXPECT(start <= mask && end <= mask && ((end - start) & mask) > 0 && ((end - start) & mask) < mask / 2);
    printf("%s\n", end < start ? "wrapped" : "in order");
    MUST(zeCommandListDestroy(list));
    client_events_close(&events);
    client_add_close(&add);
    client_close();
}

/* ---- faults --------------------------------------------------------------------------------------------------- */

/* The driver loses the device in zeCommandQueueSynchronize: for good, until there is a new context. */
static void lost(void) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    struct add add;
    void *memory;
    client_open();
    client_add_open(&add);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    client_add_append(&add, list, true, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    for (int i = 0; i < 2; i++) EXPECT(zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) == ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT(zeMemAllocDevice(client_context, &desc, 64, 1, client_device, &memory) == ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT(zeDeviceGetStatus(client_device) == ZE_RESULT_ERROR_DEVICE_LOST);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_add_close(&add);
    client_close();
    client_open_context();
    MUST(zeDeviceGetStatus(client_device));
    run_regular();
    client_close();
}

static void make_hang_file(void) {
    FILE *file = fopen(getenv("ZE_CPU_HANG_FILE"), "w");
    EXPECT(file);
    fclose(file);
}

/* The first command hangs until there is a file: whoever waits with a timeout gets NOT_READY, whoever waits on is served. */
static void late(void) {
    struct add add;
    client_open();
    client_add_open(&add);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    client_add_append(&add, list, true, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT(zeCommandQueueSynchronize(queue, 1000) == ZE_RESULT_NOT_READY);
    make_hang_file();
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(client_add_wrong(&add) == 0);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_add_close(&add);
    client_close();
}

static void *end_hang(void *nothing) {
    usleep(100000);
    make_hang_file();
    return nothing;
}

/* zeCommandListClose hangs until the other thread makes the file: it cannot have returned before that. */
static void hang(void) {
    pthread_t thread;
    client_open();
    ze_command_list_handle_t list = client_list();
    EXPECT(access(getenv("ZE_CPU_HANG_FILE"), F_OK) != 0);
    EXPECT(pthread_create(&thread, NULL, end_hang, NULL) == 0);
    MUST(zeCommandListClose(list));
    EXPECT(access(getenv("ZE_CPU_HANG_FILE"), F_OK) == 0);
    EXPECT(pthread_join(thread, NULL) == 0);
    MUST(zeCommandListDestroy(list));
    client_close();
}

/* The device is lost while a command hangs: everything can be destroyed at once, though nothing can be waited for. */
static void lost_under_way(void) {
    struct add add;
    pthread_t thread;
    client_open();
    client_add_open(&add);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    client_add_append(&add, list, true, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    EXPECT(zeCommandQueueSynchronize(queue, UINT64_MAX) == ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT(pthread_create(&thread, NULL, end_hang, NULL) == 0);
    client_add_close(&add);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    EXPECT(pthread_join(thread, NULL) == 0);
    client_close();
}

/* The second allocation of device memory fails, and only that. */
static void second_fails(void) {
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *memory;
    client_open();
    void *first = client_device_memory(64);
    EXPECT(zeMemAllocDevice(client_context, &desc, 64, 1, client_device, &memory) ==
           ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    void *third = client_device_memory(64);
    client_free(first);
    client_free(third);
    client_close();
}

/* A destroy that fails has destroyed all the same. */
static void destroy_fails(void) {
    client_open();
    ze_command_list_handle_t list = client_list();
    EXPECT(zeCommandListDestroy(list) == ZE_RESULT_ERROR_UNKNOWN);
    client_close();
}

const struct scenario client_work[] = {{"regular", regular},
                                       {"immediate", immediate},
                                       {"arguments", arguments},
                                       {"in-order", in_order},
                                       {"init-drivers", init_drivers},
                                       {"native", native},
                                       {"constants", constants},
                                       {"damaged", damaged},
                                       {"doubles", doubles},
                                       {"no-doubles", no_doubles},
                                       {"limits", limits},
                                       {"fills", fills},
                                       {"devices", devices},
                                       {"every-device", every_device},
                                       {"times", times},
                                       {"lost", lost},
                                       {"lost-under-way", lost_under_way},
                                       {"late", late},
                                       {"hang", hang},
                                       {"second-fails", second_fails},
                                       {"destroy-fails", destroy_fails},
                                       {NULL, NULL}};
