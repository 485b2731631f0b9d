/*
 * list.c: command lists, regular and immediate, from their making to their end. What is appended to them: append.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>

static ze_result_t check_ordinal(const char *function, uint32_t ordinal) {
    if (ordinal < ZECPU_GROUPS) return ZE_RESULT_SUCCESS;
    zecpu_misuse("%s: there is no group of queues %u", function, (unsigned)ordinal);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeCommandListCreate(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t *desc, ze_command_list_handle_t *out) {
    ze_result_t result = zecpu_call_device(__func__, context, device);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
    if (!result) result = check_ordinal(__func__, desc->commandQueueGroupOrdinal);
    if (result) return result;
    struct zecpu_list *list =
        zecpu_object_make(ZECPU_LIST, sizeof *list, (struct zecpu_context *)context, (struct zecpu_device *)device);
    list->ordinal = desc->commandQueueGroupOrdinal;
    list->in_order = desc->flags & NEWER_COMMAND_LIST_FLAG_IN_ORDER;
    *out = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_command_queue_desc_t *desc, ze_command_list_handle_t *out) {
    struct zecpu_context *in = (struct zecpu_context *)context;
    struct zecpu_device *on = (struct zecpu_device *)device;
    ze_result_t result = zecpu_call_device(__func__, context, device);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    if (!result) result = check_ordinal(__func__, desc->ordinal);
    if (result) return result;
    struct zecpu_worker *worker = calloc(1, sizeof *worker);
    if (!worker || !zecpu_worker_start(worker, in, on, true)) {
        free(worker);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    struct zecpu_list *list = zecpu_object_make(ZECPU_LIST, sizeof *list, in, on);
    list->ordinal = desc->ordinal;
    list->in_order = desc->flags & NEWER_COMMAND_QUEUE_FLAG_IN_ORDER;
    list->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    list->worker = worker;
    *out = (ze_command_list_handle_t)list;
    return ZE_RESULT_SUCCESS;
}

static void empty(struct zecpu_list *list) {
    for (size_t i = 0; i < list->count; i++) zecpu_command_free(list->commands[i]);
    list->count = 0;
}

/* Its commands are read by those that run: so even a client that errs is made to wait. */
static void wait_until_idle(const char *function, const struct zecpu_list *list) {
    zecpu_lock();
    const bool busy = list->under_way && !zecpu_context_is_lost(list->object.context, list->object.device);
    while (list->under_way) (void)zecpu_wait(UINT64_MAX);
    zecpu_unlock();
    if (busy) zecpu_misuse("%s: the list is under way", function);
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t handle) {
    struct zecpu_list *list = (struct zecpu_list *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_LIST, &result)) return result;
    zecpu_object_retire(list);
    if (list->worker)
        zecpu_worker_stop(list->worker, __func__);
    else
        wait_until_idle(__func__, list);
    free(list->worker);
    empty(list);
    free(list->commands);
    list->commands = NULL;
    return result;
}

ze_result_t zeCommandListClose(ze_command_list_handle_t handle) {
    struct zecpu_list *list = (struct zecpu_list *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_LIST);
    if (result) return result;
    if (list->worker || list->closed) {
        zecpu_misuse("%s: the list is %s", __func__, list->worker ? "immediate" : "closed already");
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    list->closed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListReset(ze_command_list_handle_t handle) {
    struct zecpu_list *list = (struct zecpu_list *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_LIST);
    if (result) return result;
    zecpu_lock();
    const bool busy = list->under_way;
    zecpu_unlock();
    if (busy || list->worker) {
        zecpu_misuse("%s: the list is %s", __func__, list->worker ? "immediate" : "under way");
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    empty(list);
    list->closed = false;
    return ZE_RESULT_SUCCESS;
}

/* Newer than the headers: see newer.h. */
ZE_APIEXPORT ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t handle, uint64_t timeout_ns);
ze_result_t zeCommandListHostSynchronize(ze_command_list_handle_t handle, uint64_t timeout_ns) {
    struct zecpu_list *list = (struct zecpu_list *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_LIST);
    if (result) return result;
    if (!list->worker) {
        zecpu_misuse("%s: the list is not immediate", __func__);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return zecpu_worker_finish(list->worker, timeout_ns);
}
