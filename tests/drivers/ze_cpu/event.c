/*
 * event.c: event pools and events, plain and counter-based.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ze_cpu.h"

#include <stdlib.h>

uint64_t zecpu_event_wanted(const struct zecpu_event *event) { return event->pool->counts ? event->target : 1; }

void zecpu_event_signal(struct zecpu_event *event, uint64_t value, uint64_t start, uint64_t end) {
    if (value > event->done) event->done = value;
    event->start = start;
    event->end = end;
    zecpu_changed();
}

void zecpu_event_stamps(const struct zecpu_event *event, ze_kernel_timestamp_result_t *out) {
    out->global.kernelStart = out->context.kernelStart = zecpu_clock_masked(event->start);
    out->global.kernelEnd = out->context.kernelEnd = zecpu_clock_masked(event->end);
}

/* ---- pools ---------------------------------------------------------------------------------------------------- */

static uint32_t counts(const void *chain) {
    for (const struct newer_event_pool_counter_based_exp_desc *at = chain; at; at = at->pNext)
        if ((uint32_t)at->stype == NEWER_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC)
            return at->flags ? at->flags : NEWER_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE;
    return 0;
}

ze_result_t zeEventPoolCreate(ze_context_handle_t context, const ze_event_pool_desc_t *desc, uint32_t device_count,
                              ze_device_handle_t *devices, ze_event_pool_handle_t *out) {
    ze_result_t result = zecpu_call(__func__, context, ZECPU_CONTEXT);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    for (uint32_t i = 0; !result && i < device_count; i++)
        if (!zecpu_object_check(devices[i], ZECPU_DEVICE, __func__)) result = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!result && !desc->count) result = ZE_RESULT_ERROR_INVALID_SIZE;
    if (result) return result;
    unsigned char *used = calloc(desc->count, 1);
    if (!used) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    struct zecpu_pool *pool = zecpu_object_make(ZECPU_POOL, sizeof *pool, (struct zecpu_context *)context, NULL);
    pool->count = desc->count;
    pool->flags = desc->flags;
    pool->counts = counts(desc->pNext);
    pool->used = used;
    *out = (ze_event_pool_handle_t)pool;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t handle) {
    struct zecpu_pool *pool = (struct zecpu_pool *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_POOL, &result)) return result;
    for (uint32_t i = 0; i < pool->count; i++) {
        if (!pool->used[i]) continue;
        zecpu_misuse("%s: event %u of the pool is still there", __func__, (unsigned)i);
        return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    }
    zecpu_object_retire(pool);
    free(pool->used);
    pool->used = NULL;
    return result;
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static bool take_index(struct zecpu_pool *pool, uint32_t index) {
    zecpu_lock();
    const bool is_free = index < pool->count && !pool->used[index];
    if (is_free) pool->used[index] = 1;
    zecpu_unlock();
    return is_free;
}

ze_result_t zeEventCreate(ze_event_pool_handle_t handle, const ze_event_desc_t *desc, ze_event_handle_t *out) {
    struct zecpu_pool *pool = (struct zecpu_pool *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_POOL);
    if (!result) result = zecpu_stype(__func__, desc->stype, ZE_STRUCTURE_TYPE_EVENT_DESC);
    if (result) return result;
    if (!take_index(pool, desc->index)) {
        zecpu_misuse("%s: index %u is in use, or not below the pool's count of %u", __func__, (unsigned)desc->index,
                     (unsigned)pool->count);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    struct zecpu_event *event = zecpu_object_make(ZECPU_EVENT, sizeof *event, pool->object.context, NULL);
    event->pool = pool;
    event->index = desc->index;
    *out = (ze_event_handle_t)event;
    return ZE_RESULT_SUCCESS;
}

/* Misuse, if commands under way refer to it. */
static bool in_use(const char *function, const struct zecpu_event *event) {
    zecpu_lock();
    const bool used = event->users && !zecpu_context_is_lost(event->object.context, event->object.device);
    zecpu_unlock();
    if (used) zecpu_misuse("%s: commands under way wait for event %u or signal it", function, (unsigned)event->index);
    return used;
}

ze_result_t zeEventDestroy(ze_event_handle_t handle) {
    struct zecpu_event *event = (struct zecpu_event *)handle;
    ze_result_t result;
    if (!zecpu_call_destroy(__func__, handle, ZECPU_EVENT, &result)) return result;
    (void)in_use(__func__, event);
    zecpu_lock();
    event->pool->used[event->index] = 0;
    zecpu_unlock();
    zecpu_object_retire(event);
    return result;
}

static ze_result_t refuse_counting(const char *function, const struct zecpu_event *event) {
    if (!event->pool->counts) return ZE_RESULT_SUCCESS;
    zecpu_misuse("%s: a counter-based event is neither set nor reset by the host", function);
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeEventHostSignal(ze_event_handle_t handle) {
    struct zecpu_event *event = (struct zecpu_event *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_EVENT);
    if (!result) result = refuse_counting(__func__, event);
    if (result) return result;
    zecpu_lock();
    zecpu_event_signal(event, 1, zecpu_ticks(), zecpu_ticks());
    zecpu_unlock();
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventHostReset(ze_event_handle_t handle) {
    struct zecpu_event *event = (struct zecpu_event *)handle;
    ze_result_t result = zecpu_call(__func__, handle, ZECPU_EVENT);
    if (!result) result = refuse_counting(__func__, event);
    if (result) return result;
    if (in_use(__func__, event)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    zecpu_lock();
    event->done = 0;
    zecpu_unlock();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t wait_for(const struct zecpu_event *event, uint64_t timeout_ns) {
    const uint64_t deadline = zecpu_deadline(timeout_ns);
    ze_result_t result = ZE_RESULT_SUCCESS;
    zecpu_lock();
    const uint64_t wanted = zecpu_event_wanted(event);
    while (!result && event->done < wanted) {
        if (zecpu_context_is_lost(event->object.context, event->object.device))
            result = ZE_RESULT_ERROR_DEVICE_LOST;
        else if (!zecpu_wait(deadline))
            result = ZE_RESULT_NOT_READY;
    }
    if (event->done >= wanted) result = ZE_RESULT_SUCCESS;
    zecpu_unlock();
    return result;
}

static ze_result_t synchronize(const char *function, const struct zecpu_event *event, uint64_t timeout_ns) {
    if (!(event->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE))
        zecpu_misuse("%s: the pool of the event is not HOST_VISIBLE", function);
    if (event->pool->counts && !event->target)
        zecpu_misuse("%s: nothing was appended that signals the event", function);
    return wait_for(event, timeout_ns);
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t handle, uint64_t timeout_ns) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_EVENT);
    return result ? result : synchronize(__func__, (const struct zecpu_event *)handle, timeout_ns);
}

ze_result_t zeEventQueryStatus(ze_event_handle_t handle) {
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_EVENT);
    return result ? result : synchronize(__func__, (const struct zecpu_event *)handle, 0);
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t handle, ze_kernel_timestamp_result_t *out) {
    const struct zecpu_event *event = (const struct zecpu_event *)handle;
    const ze_result_t result = zecpu_call(__func__, handle, ZECPU_EVENT);
    if (result) return result;
    if (!(event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP)) {
        zecpu_misuse("%s: the pool of the event was made without KERNEL_TIMESTAMP", __func__);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    zecpu_lock();
    const bool done = event->done >= zecpu_event_wanted(event);
    if (done) zecpu_event_stamps(event, out);
    zecpu_unlock();
    return done ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}
