/*
 * client_wrong.c: scenarios of the test driver's suite in which one thing is done wrong, which the driver must find. Those of
 * leaks leave one object behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order ---------------------------------------------------------------------------------------------------- */

/* No barriers: prints "wrong" when that shows. */
static void race(void) {
    struct add add;
    client_open();
    client_add_open(&add);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    client_add_append(&add, list, false, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    printf("%s\n", client_add_wrong(&add) ? "wrong" : "right");
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_add_close(&add);
    client_close();
}

/* A wait for an event is no barrier: the kernel waits for the copy of b, and not for that of a. */
static void wait_is_no_barrier(void) {
    struct add add;
    struct events events;
    client_open();
    client_add_open(&add);
    client_events_open(&events, 0, NULL);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    MUST(zeCommandListAppendMemoryCopy(list, add.a, add.host_a, BYTES, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, add.b, add.host_b, BYTES, events.all[0], 0, NULL));
    MUST(zeCommandListAppendWaitOnEvents(list, 1, events.all));
    client_add_launch(&add, list, NULL, NULL);
    MUST(zeCommandListClose(list));
    MUST(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    MUST(zeCommandQueueSynchronize(queue, UINT64_MAX));
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_events_close(&events);
    client_add_close(&add);
    client_close();
}

/* Looks into device memory: prints "seen" if it can. */
static void peek(void) {
    client_open();
    volatile char *memory = client_device_memory(64);
    printf("seen %d\n", *memory);
    client_free((void *)(uintptr_t)memory);
    client_close();
}

/* The kernel writes beyond its allocation; for oclgrind only, which finds it. */
static void beyond(void) {
    const ze_group_count_t groups = {(COUNT + GROUP - 1) / GROUP, 1, 1};
    struct add add;
    client_open();
    client_add_open(&add);
    void *small = client_device_memory(BYTES - 4);
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    MUST(zeKernelSetArgumentValue(add.kernel, 2, sizeof small, &small));
    MUST(zeCommandListAppendLaunchKernel(list, add.kernel, &groups, NULL, 0, NULL));
    MUST(zeCommandListDestroy(list));
    client_free(small);
    client_add_close(&add);
    client_close();
}

/* ---- arguments ------------------------------------------------------------------------------------------------ */

static void unset_argument(void) {
    const ze_group_count_t one = {1, 1, 1};
    client_open();
    ze_kernel_handle_t kernel = client_kernel(client_module, "vec_add");
    ze_command_list_handle_t list = client_list();
    EXPECT(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    client_close();
}

static void argument_size(void) {
    const uint64_t count = COUNT;
    client_open();
    ze_kernel_handle_t kernel = client_kernel(client_module, "vec_add");
    EXPECT(zeKernelSetArgumentValue(kernel, 3, sizeof count, &count) == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    MUST(zeKernelDestroy(kernel));
    client_close();
}

static void argument_pointer(void) {
    const void *not_ours = &not_ours;
    client_open();
    ze_kernel_handle_t kernel = client_kernel(client_module, "vec_add");
    EXPECT(zeKernelSetArgumentValue(kernel, 0, sizeof not_ours, &not_ours) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeKernelDestroy(kernel));
    client_close();
}

static void structure_type(void) {
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_command_list_handle_t list;
    client_open();
    EXPECT(zeCommandListCreate(client_context, client_device, &desc, &list) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    client_close();
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

static void not_closed(void) {
    client_open();
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    EXPECT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_close();
}

static void append_to_closed(void) {
    client_open();
    ze_command_list_handle_t list = client_list();
    MUST(zeCommandListClose(list));
    EXPECT(zeCommandListAppendBarrier(list, NULL, 0, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    client_close();
}

static void destroyed_twice(void) {
    client_open();
    ze_command_list_handle_t list = client_list();
    MUST(zeCommandListDestroy(list));
    EXPECT(zeCommandListDestroy(list) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    client_close();
}

static void wrong_kind(void) {
    client_open();
    ze_command_list_handle_t list = client_list();
    EXPECT(zeKernelDestroy((ze_kernel_handle_t)list) == ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    MUST(zeCommandListDestroy(list));
    client_close();
}

static void kernel_on_copy_queue(void) {
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .commandQueueGroupOrdinal = 1};
    const ze_group_count_t one = {1, 1, 1};
    struct add add;
    ze_command_list_handle_t list;
    client_open();
    client_add_open(&add);
    MUST(zeCommandListCreate(client_context, client_device, &desc, &list));
    EXPECT(zeCommandListAppendLaunchKernel(list, add.kernel, &one, NULL, 0, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    client_add_close(&add);
    client_close();
}

/* A command waits for an event that the host signals later: until then the list is under way. */
struct held {
    struct events events;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    void *memory;
};

static void hold(struct held *held) {
    client_open();
    client_events_open(&held->events, 0, NULL);
    held->queue = client_queue();
    held->list = client_list();
    held->memory = client_device_memory(64);
    MUST(zeCommandListAppendMemoryFill(held->list, held->memory, "x", 1, 64, NULL, 1, held->events.all));
    MUST(zeCommandListClose(held->list));
    MUST(zeCommandQueueExecuteCommandLists(held->queue, 1, &held->list, NULL));
}

static void let_go(struct held *held) {
    MUST(zeEventHostSignal(held->events.all[0]));
    MUST(zeCommandQueueSynchronize(held->queue, UINT64_MAX));
    MUST(zeCommandListDestroy(held->list));
    MUST(zeCommandQueueDestroy(held->queue));
    client_free(held->memory);
    client_events_close(&held->events);
    client_close();
}

static void reset_list_under_way(void) {
    struct held held;
    hold(&held);
    EXPECT(zeCommandListReset(held.list) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    let_go(&held);
}

static void reset_event_in_use(void) {
    struct held held;
    hold(&held);
    EXPECT(zeEventHostReset(held.events.all[0]) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    let_go(&held);
}

static void free_in_use(void) {
    struct held held;
    hold(&held);
    EXPECT(zeMemFree(client_context, held.memory) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    let_go(&held);
}

/* ---- events, memory ------------------------------------------------------------------------------------------- */

static void signalled_twice(void) {
    struct events events;
    client_open();
    client_events_open(&events, 0, NULL);
    ze_command_list_handle_t list = client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    for (int i = 0; i < 2; i++) MUST(zeCommandListAppendSignalEvent(list, events.all[0]));
    MUST(zeCommandListDestroy(list));
    client_events_close(&events);
    client_close();
}

static void no_timestamps(void) {
    ze_kernel_timestamp_result_t stamps;
    struct events events;
    client_open();
    client_events_open(&events, 0, NULL);
    EXPECT(zeEventQueryKernelTimestamp(events.all[0], &stamps) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    client_events_close(&events);
    client_close();
}

static void copy_too_long(void) {
    client_open();
    void *host = client_host_memory(64), *device = client_device_memory(32);
    ze_command_list_handle_t list = client_list();
    EXPECT(zeCommandListAppendMemoryCopy(list, device, host, 64, NULL, 0, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    client_free(host);
    client_free(device);
    client_close();
}

static void free_middle(void) {
    client_open();
    char *memory = client_device_memory(64);
    EXPECT(zeMemFree(client_context, memory + 1) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    client_free(memory);
    client_close();
}

/* A closed list keeps a kernel that is destroyed before it is executed. */
static void kernel_gone(void) {
    struct add add;
    client_open();
    client_add_open(&add);
    ze_command_queue_handle_t queue = client_queue();
    ze_command_list_handle_t list = client_list();
    client_add_launch(&add, list, NULL, NULL);
    MUST(zeCommandListClose(list));
    client_add_close(&add);
    EXPECT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    MUST(zeCommandQueueDestroy(queue));
    client_close();
}

static void counter_out_of_order(void) {
    const struct newer_event_pool_counter_based_exp_desc counting = {
        .stype = (ze_structure_type_t)NEWER_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC};
    struct events events;
    client_open();
    client_events_open(&events, 0, &counting);
    ze_command_list_handle_t list = client_list();
    EXPECT(zeCommandListAppendSignalEvent(list, events.all[0]) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    MUST(zeCommandListDestroy(list));
    client_events_close(&events);
    client_close();
}

/* ---- leaks ---------------------------------------------------------------------------------------------------- */

static void leak_context(void) {
    client_open();
    MUST(zeModuleDestroy(client_module));
}

static void leak_module(void) {
    client_open();
    MUST(zeContextDestroy(client_context));
}

static void leak_kernel(void) {
    client_open();
    (void)client_kernel(client_module, "vec_add");
}

static void leak_memory(void) {
    client_open();
    (void)client_host_memory(100);
    (void)client_device_memory(200);
    (void)client_shared_memory(300);
    client_close();
}

static void leak_lists(void) {
    client_open();
    (void)client_list();
    (void)client_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, 0);
    (void)client_queue();
    client_close();
}

static void leak_events(void) {
    struct events events;
    client_open();
    client_events_open(&events, 0, NULL);
    client_close();
}

static void leak_fence(void) {
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ze_fence_handle_t fence;
    client_open();
    ze_command_queue_handle_t queue = client_queue();
    MUST(zeFenceCreate(queue, &desc, &fence));
    MUST(zeCommandQueueDestroy(queue));
    client_close();
}

static void leak_log(void) {
    size_t bytes;
    client_open();
    uint8_t *data = client_read("client.spv", &bytes);
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = bytes,
                                   .pInputModule = data};
    ze_module_build_log_handle_t log;
    ze_module_handle_t module;
    MUST(zeModuleCreate(client_context, client_device, &desc, &module, &log));
    MUST(zeModuleDestroy(module));
    free(data);
    client_close();
}

const struct scenario client_wrong[] = {{"race", race},
                                        {"wait-is-no-barrier", wait_is_no_barrier},
                                        {"peek", peek},
                                        {"beyond", beyond},
                                        {"unset-argument", unset_argument},
                                        {"argument-size", argument_size},
                                        {"argument-pointer", argument_pointer},
                                        {"structure-type", structure_type},
                                        {"not-closed", not_closed},
                                        {"append-to-closed", append_to_closed},
                                        {"destroyed-twice", destroyed_twice},
                                        {"wrong-kind", wrong_kind},
                                        {"kernel-on-copy-queue", kernel_on_copy_queue},
                                        {"reset-list-under-way", reset_list_under_way},
                                        {"reset-event-in-use", reset_event_in_use},
                                        {"free-in-use", free_in_use},
                                        {"signalled-twice", signalled_twice},
                                        {"no-timestamps", no_timestamps},
                                        {"copy-too-long", copy_too_long},
                                        {"free-middle", free_middle},
                                        {"kernel-gone", kernel_gone},
                                        {"counter-out-of-order", counter_out_of_order},
                                        {"leak-context", leak_context},
                                        {"leak-module", leak_module},
                                        {"leak-kernel", leak_kernel},
                                        {"leak-memory", leak_memory},
                                        {"leak-lists", leak_lists},
                                        {"leak-events", leak_events},
                                        {"leak-fence", leak_fence},
                                        {"leak-log", leak_log},
                                        {NULL, NULL}};
