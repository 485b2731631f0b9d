/*
 * append.c: what is appended to a list becomes a command, which is kept (regular list) or goes to the worker at once
 * (immediate list). Misuse that can be seen from the arguments is found here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>
#include <string.h>

/* ---- every command -------------------------------------------------------------------------------------------- */

static ze_result_t check_counting(const char *function, const struct zecpu_list *list,
                                  const struct zecpu_event *event) {
    const uint32_t wanted = list->worker ? NEWER_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE
                                         : NEWER_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE;
    const char *wrong = NULL;
    if (!event->pool->counts) return ZE_RESULT_SUCCESS;
    if (!list->in_order)
        wrong = "can be signalled by an in-order list only";
    else if (!(event->pool->counts & wanted))
        wrong = "is of a pool that was not made for this kind of list";
    if (wrong) zecpu_misuse("%s: a counter-based event %s", function, wrong);
    return wrong ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t check_events(const char *function, const struct zecpu_list *list, ze_event_handle_t signal,
                                uint32_t count, ze_event_handle_t *waits) {
    if (signal && !zecpu_object_check(signal, ZECPU_EVENT, function)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (count && !waits) return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < count; i++)
        if (!zecpu_object_check(waits[i], ZECPU_EVENT, function)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return signal ? check_counting(function, list, (const struct zecpu_event *)signal) : ZE_RESULT_SUCCESS;
}

/* The list may be appended to. */
static ze_result_t begin(const char *function, ze_command_list_handle_t handle) {
    const ze_result_t result = zecpu_call(function, handle, ZECPU_LIST);
    if (result || !((const struct zecpu_list *)handle)->closed) return result;
    zecpu_misuse("%s: the list is closed", function);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

/* Takes over what `draft` points to, whether it succeeds or not. */
static ze_result_t append(const char *function, ze_command_list_handle_t handle, const struct zecpu_command *draft,
                          ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    struct zecpu_list *list = (struct zecpu_list *)handle;
    struct zecpu_command *command = malloc(sizeof *command);
    if (!command) abort();
    *command = *draft;
    const ze_result_t result = check_events(function, list, signal, count, waits);
    if (result) {
        zecpu_command_free(command);
        return result;
    }
    command->in_order = list->in_order;
    command->signal = (struct zecpu_event *)signal;
    command->wait_count = count;
    command->waits = malloc((count + 1) * sizeof *command->waits);
    if (!command->waits) abort();
    for (uint32_t i = 0; i < count; i++)
        command->waits[i] = (struct zecpu_awaited){.event = (struct zecpu_event *)waits[i]};
    zecpu_lock();
    if (list->worker)
        zecpu_worker_submit(list->worker, command);
    else
        zecpu_command_push(&list->commands, &list->count, &list->room, command);
    zecpu_unlock();
    return list->synchronous ? zecpu_worker_finish(list->worker, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

static ze_result_t check_launch(const char *function, const struct zecpu_list *list,
                                const struct zecpu_kernel *kernel) {
    if (!zecpu_object_check(kernel, ZECPU_KERNEL, function)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (list->ordinal == ZECPU_COPY) {
        zecpu_misuse("%s: the list is of a group of queues that only copies", function);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (kernel->object.context != list->object.context || kernel->object.device->root != list->object.device->root) {
        zecpu_misuse("%s: kernel %s and the list are of different devices or contexts", function, kernel->info->name);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < kernel->info->argument_count; i++) {
        if (kernel->values[i].set) continue;
        zecpu_misuse("%s: argument %u of %s was never set", function, (unsigned)i, kernel->info->name);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return ZE_RESULT_SUCCESS;
}

/* The command, with the arguments as they are now. */
static struct zecpu_command launch_of(struct zecpu_kernel *kernel, const ze_group_count_t *count, bool indirect) {
    struct zecpu_command command = {.op = ZECPU_OP_KERNEL, .launch.kernel = kernel};
    struct zecpu_launch *launch = &command.launch;
    launch->values = malloc((kernel->info->argument_count + 1) * sizeof *launch->values);
    if (!launch->values) abort();
    memcpy(launch->values, kernel->values, kernel->info->argument_count * sizeof *launch->values);
    memcpy(launch->group_size, kernel->group_size, sizeof launch->group_size);
    memcpy(launch->offset, kernel->offset, sizeof launch->offset);
    if (indirect)
        launch->indirect_count = count;
    else
        memcpy(launch->group_count, count, sizeof launch->group_count);
    return command;
}

static ze_result_t append_kernel(const char *function, ze_command_list_handle_t handle, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *count, bool indirect, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits) {
    ze_result_t result = begin(function, handle);
    if (!result)
        result = check_launch(function, (const struct zecpu_list *)handle, (const struct zecpu_kernel *)kernel);
    if (result) return result;
    const struct zecpu_command command = launch_of((struct zecpu_kernel *)kernel, count, indirect);
    return append(function, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t handle, ze_kernel_handle_t kernel,
                                            const ze_group_count_t *count, ze_event_handle_t signal,
                                            uint32_t wait_count, ze_event_handle_t *waits) {
    return append_kernel(__func__, handle, kernel, count, false, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t handle, ze_kernel_handle_t kernel,
                                                       const ze_group_count_t *count, ze_event_handle_t signal,
                                                       uint32_t wait_count, ze_event_handle_t *waits) {
    return append_kernel(__func__, handle, kernel, count, false, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t handle, ze_kernel_handle_t kernel,
                                                    const ze_group_count_t *count, ze_event_handle_t signal,
                                                    uint32_t wait_count, ze_event_handle_t *waits) {
    return append_kernel(__func__, handle, kernel, count, true, signal, wait_count, waits);
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

/* Does the range lie in its allocation? Memory that is none of ours is the client's affair. */
static ze_result_t check_range(const char *function, const void *pointer, size_t bytes) {
    return zecpu_memory_range(function, pointer, bytes) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t handle, void *to, const void *from, size_t bytes,
                                          ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits) {
    const struct zecpu_command command = {.op = ZECPU_OP_COPY, .to = to, .from = from, .bytes = bytes};
    ze_result_t result = begin(__func__, handle);
    if (!result) result = check_range(__func__, to, bytes);
    if (!result) result = check_range(__func__, from, bytes);
    return result ? result : append(__func__, handle, &command, signal, wait_count, waits);
}

static size_t end_of_region(const ze_copy_region_t *region, uint32_t pitch, uint32_t slice) {
    const uint32_t depth = region->depth ? region->depth : 1;
    return (size_t)(region->originZ + depth - 1) * slice + (size_t)(region->originY + region->height - 1) * pitch +
           region->originX + region->width;
}

ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t handle, void *to,
                                                const ze_copy_region_t *to_region, uint32_t to_pitch, uint32_t to_slice,
                                                const void *from, const ze_copy_region_t *from_region,
                                                uint32_t from_pitch, uint32_t from_slice, ze_event_handle_t signal,
                                                uint32_t wait_count, ze_event_handle_t *waits) {
    const struct zecpu_command command = {.op = ZECPU_OP_REGION,
                                          .to = to,
                                          .from = from,
                                          .to_region = *to_region,
                                          .from_region = *from_region,
                                          .to_pitch = to_pitch,
                                          .to_slice = to_slice,
                                          .from_pitch = from_pitch,
                                          .from_slice = from_slice};
    ze_result_t result = begin(__func__, handle);
    if (!result && (!to_region->height || !to_region->width)) result = ZE_RESULT_ERROR_INVALID_SIZE;
    if (!result) result = check_range(__func__, to, end_of_region(to_region, to_pitch, to_slice));
    if (!result) result = check_range(__func__, from, end_of_region(from_region, from_pitch, from_slice));
    return result ? result : append(__func__, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t handle, void *to, const void *pattern,
                                          size_t pattern_bytes, size_t bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits) {
    struct zecpu_command command = {.op = ZECPU_OP_FILL, .to = to, .bytes = bytes, .pattern_bytes = pattern_bytes};
    ze_result_t result = begin(__func__, handle);
    if (!result) result = check_range(__func__, to, bytes);
    if (result) return result;
    const size_t most = ((const struct zecpu_list *)handle)->ordinal == ZECPU_COPY ? 1 : ZECPU_VALUE_BYTES;
    if (!pattern_bytes || pattern_bytes & (pattern_bytes - 1) || pattern_bytes > most || bytes % pattern_bytes) {
        zecpu_misuse("%s: a pattern of %zu bytes; here: a power of two up to %zu, whole in the range", __func__,
                     pattern_bytes, most);
        return ZE_RESULT_ERROR_INVALID_SIZE;
    }
    memcpy(command.pattern, pattern, pattern_bytes);
    return append(__func__, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t handle, const void *pointer, size_t bytes) {
    const ze_result_t result = begin(__func__, handle);
    return result ? result : check_range(__func__, pointer, bytes);
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t handle, ze_device_handle_t device,
                                         const void *pointer, size_t bytes, ze_memory_advice_t advice) {
    (void)device, (void)advice;
    const ze_result_t result = begin(__func__, handle);
    return result ? result : check_range(__func__, pointer, bytes);
}

/* ---- order ---------------------------------------------------------------------------------------------------- */

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t handle, ze_event_handle_t signal, uint32_t wait_count,
                                       ze_event_handle_t *waits) {
    const struct zecpu_command command = {.op = ZECPU_OP_BARRIER};
    const ze_result_t result = begin(__func__, handle);
    return result ? result : append(__func__, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t handle, uint32_t count, const size_t *sizes,
                                                   const void **ranges, ze_event_handle_t signal, uint32_t wait_count,
                                                   ze_event_handle_t *waits) {
    const struct zecpu_command command = {.op = ZECPU_OP_BARRIER};
    ze_result_t result = begin(__func__, handle);
    for (uint32_t i = 0; !result && i < count; i++) result = check_range(__func__, ranges[i], sizes[i]);
    return result ? result : append(__func__, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t handle, ze_event_handle_t event) {
    const struct zecpu_command command = {.op = ZECPU_OP_SIGNAL};
    const ze_result_t result = begin(__func__, handle);
    return result ? result : append(__func__, handle, &command, event, 0, NULL);
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t handle, uint32_t count,
                                            ze_event_handle_t *events) {
    const struct zecpu_command command = {.op = ZECPU_OP_WAIT};
    const ze_result_t result = begin(__func__, handle);
    return result ? result : append(__func__, handle, &command, NULL, count, events);
}

/* A list of the client's events, for a command that reads or resets them; NULL: misuse. */
static struct zecpu_event **events_of(const char *function, uint32_t count, ze_event_handle_t *handles) {
    struct zecpu_event **events = malloc((count + 1) * sizeof *events);
    if (!events) abort();
    for (uint32_t i = 0; i < count; i++) {
        events[i] = (struct zecpu_event *)handles[i];
        if (zecpu_object_check(events[i], ZECPU_EVENT, function)) continue;
        free(events);
        return NULL;
    }
    return events;
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t handle, ze_event_handle_t event) {
    struct zecpu_command command = {.op = ZECPU_OP_RESET, .event_count = 1};
    const ze_result_t result = begin(__func__, handle);
    if (result) return result;
    command.events = events_of(__func__, 1, &event);
    if (!command.events) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return append(__func__, handle, &command, NULL, 0, NULL);
}

/* ---- time ----------------------------------------------------------------------------------------------------- */

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t handle, uint64_t *to,
                                                    ze_event_handle_t signal, uint32_t wait_count,
                                                    ze_event_handle_t *waits) {
    const struct zecpu_command command = {.op = ZECPU_OP_STAMP, .to = to};
    ze_result_t result = begin(__func__, handle);
    if (!result) result = check_range(__func__, to, sizeof *to);
    return result ? result : append(__func__, handle, &command, signal, wait_count, waits);
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t handle, uint32_t count,
                                                     ze_event_handle_t *events, void *to, const size_t *offsets,
                                                     ze_event_handle_t signal, uint32_t wait_count,
                                                     ze_event_handle_t *waits) {
    struct zecpu_command command = {.op = ZECPU_OP_STAMPS, .to = to, .event_count = count, .offsets = offsets};
    ze_result_t result = begin(__func__, handle);
    if (!result && !offsets) result = check_range(__func__, to, count * sizeof(ze_kernel_timestamp_result_t));
    if (result) return result;
    command.events = events_of(__func__, count, events);
    if (!command.events) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return append(__func__, handle, &command, signal, wait_count, waits);
}
