/*
 * queue.c: command queues, which execute closed lists, and fences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>
#include <string.h>

ze_result_t zeCommandQueueCreate(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *out) {
    struct zecpu_context *in = (struct zecpu_context *)context;
    struct zecpu_device *on = (struct zecpu_device *)device;
    ze_result_t result = zecpu_call_device(__func__, context, device);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    if (result) return result;
    if (desc->ordinal >= ZECPU_GROUPS || desc->index >= (desc->ordinal == ZECPU_COMPUTE ? 4u : 2u)) {
        zecpu_misuse("%s: there is no queue %u in group %u", __func__, (unsigned)desc->index, (unsigned)desc->ordinal);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct zecpu_queue *queue = zecpu_object_make(ZECPU_QUEUE, sizeof *queue, in, on);
    queue->ordinal = desc->ordinal;
    queue->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    if (!zecpu_worker_start(&queue->worker, in, on, false)) {
        zecpu_object_retire(queue);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = (ze_command_queue_handle_t)queue;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t handle) {
    struct zecpu_queue *queue = (struct zecpu_queue *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_QUEUE, &result)) return result;
    zecpu_object_retire(queue);
    zecpu_worker_stop(&queue->worker, __func__);
    return result;
}

/* ---- execution ------------------------------------------------------------------------------------------------ */

static ze_result_t check_list(const char *function, const struct zecpu_queue *queue, const struct zecpu_list *list) {
    const char *wrong = NULL;
    if (!zecpu_object_check(list, ZECPU_LIST, function)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (list->worker)
        wrong = "is immediate";
    else if (!list->closed)
        wrong = "is not closed";
    else if (list->ordinal != queue->ordinal)
        wrong = "was made for another group of queues";
    else if (list->object.context != queue->object.context)
        wrong = "was made in another context";
    else if (list->object.device != queue->object.device)
        wrong = "was made for another device";
    if (wrong) zecpu_misuse("%s: a list %s", function, wrong);
    return wrong ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

/* Are the events and kernels of a closed list still there? */
static ze_result_t check_commands(const char *function, const struct zecpu_list *list) {
    bool good = true;
    for (size_t i = 0; i < list->count; i++) {
        const struct zecpu_command *command = list->commands[i];
        if (command->op == ZECPU_OP_KERNEL) good &= zecpu_object_check(command->launch.kernel, ZECPU_KERNEL, function);
        if (command->signal) good &= zecpu_object_check(command->signal, ZECPU_EVENT, function);
        for (uint32_t j = 0; j < command->wait_count; j++)
            good &= zecpu_object_check(command->waits[j].event, ZECPU_EVENT, function);
        for (uint32_t j = 0; j < command->event_count; j++)
            good &= zecpu_object_check(command->events[j], ZECPU_EVENT, function);
    }
    return good ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

static struct zecpu_command *copy_of(const struct zecpu_command *command, struct zecpu_list *list) {
    struct zecpu_command *copy = malloc(sizeof *copy);
    struct zecpu_awaited *waits = malloc((command->wait_count + 1) * sizeof *waits);
    if (!copy || !waits) abort();
    *copy = *command;
    copy->borrowed = list;
    copy->waits = waits;
    if (command->wait_count) memcpy(waits, command->waits, command->wait_count * sizeof *waits);
    return copy;
}

static void submit_list(struct zecpu_queue *queue, struct zecpu_list *list) {
    const struct zecpu_command end = {.op = ZECPU_OP_LIST_END};
    for (size_t i = 0; i < list->count; i++) zecpu_worker_submit(&queue->worker, copy_of(list->commands[i], list));
    zecpu_worker_submit(&queue->worker, copy_of(&end, list));
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t handle, uint32_t count,
                                              ze_command_list_handle_t *lists, ze_fence_handle_t fence) {
    struct zecpu_queue *queue = (struct zecpu_queue *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_QUEUE);
    if (!result && fence && !zecpu_object_check(fence, ZECPU_FENCE, __func__))
        result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    for (uint32_t i = 0; !result && i < count; i++) {
        const struct zecpu_list *list = (const struct zecpu_list *)lists[i];
        result = check_list(__func__, queue, list);
        if (!result) result = check_commands(__func__, list);
    }
    if (result) return result;
    const struct zecpu_command end = {.op = ZECPU_OP_FENCE, .fence = (struct zecpu_fence *)fence};
    zecpu_lock();
    for (uint32_t i = 0; i < count; i++) submit_list(queue, (struct zecpu_list *)lists[i]);
    if (fence) zecpu_worker_submit(&queue->worker, copy_of(&end, NULL));
    zecpu_unlock();
    return queue->synchronous ? zecpu_worker_finish(&queue->worker, UINT64_MAX) : ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t handle, uint64_t timeout_ns) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_QUEUE);
    return result ? result : zecpu_worker_finish(&((struct zecpu_queue *)handle)->worker, timeout_ns);
}

/* ---- fences --------------------------------------------------------------------------------------------------- */

ze_result_t zeFenceCreate(ze_command_queue_handle_t handle, const ze_fence_desc_t *desc, ze_fence_handle_t *out) {
    const struct zecpu_object *queue = (const struct zecpu_object *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_QUEUE);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_FENCE_DESC);
    if (result) return result;
    struct zecpu_fence *fence = zecpu_object_make(ZECPU_FENCE, sizeof *fence, queue->context, queue->device);
    fence->signalled = desc->flags & ZE_FENCE_FLAG_SIGNALED;
    *out = (ze_fence_handle_t)fence;
    return ZE_RESULT_SUCCESS;
}

/* Misuse, if its lists are under way. */
static bool in_use(const char *function, const struct zecpu_fence *fence) {
    zecpu_lock();
    const bool used = fence->users && !zecpu_context_is_lost(fence->object.context, fence->object.device);
    zecpu_unlock();
    if (used) zecpu_misuse("%s: the lists that the fence was given with are under way", function);
    return used;
}

ze_result_t zeFenceDestroy(ze_fence_handle_t handle) {
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_FENCE, &result)) return result;
    (void)in_use(__func__, (const struct zecpu_fence *)handle);
    zecpu_object_retire(handle);
    return result;
}

static ze_result_t wait_for(const struct zecpu_fence *fence, uint64_t timeout_ns) {
    const uint64_t deadline = zecpu_deadline(timeout_ns);
    ze_result_t result = ZE_RESULT_SUCCESS;
    zecpu_lock();
    while (!result && !fence->signalled) {
        if (zecpu_context_is_lost(fence->object.context, fence->object.device))
            result = ZE_RESULT_ERROR_DEVICE_LOST;
        else if (!zecpu_wait(deadline))
            result = ZE_RESULT_NOT_READY;
    }
    if (fence->signalled) result = ZE_RESULT_SUCCESS;
    zecpu_unlock();
    return result;
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t handle, uint64_t timeout_ns) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_FENCE);
    return result ? result : wait_for((const struct zecpu_fence *)handle, timeout_ns);
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t handle) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_FENCE);
    return result ? result : wait_for((const struct zecpu_fence *)handle, 0);
}

ze_result_t zeFenceReset(ze_fence_handle_t handle) {
    struct zecpu_fence *fence = (struct zecpu_fence *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_FENCE);
    if (result) return result;
    if (in_use(__func__, fence)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    zecpu_lock();
    fence->signalled = false;
    zecpu_unlock();
    return ZE_RESULT_SUCCESS;
}
