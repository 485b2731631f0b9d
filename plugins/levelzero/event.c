/*
 * event.c: events, made in bursts of a pool each and used again and again: in steady state the driver makes none.
 *
 * An event that counts needs no reset: whoever waits, waits for what was appended last. Any other is reset when it comes
 * back, which is when nobody waits for it any more; one that cannot be reset is never used again.
 *
 * Every event takes the time of its command: a ticket answers what its copies and kernels took. Called by queue.c and
 * ticket.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

/* ---- bursts ----------------------------------------------------------------------------------------------- */

static ze_result_t make_pool(const struct lz_device *device, ze_event_pool_handle_t *pool) {
    const struct lz_counter_based_desc counts = {.stype = (ze_structure_type_t)LZ_STRUCTURE_COUNTER_BASED,
                                                 .flags = LZ_COUNTER_BASED_IMMEDIATE};
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
                                       .pNext = device->in_order ? &counts : NULL,
                                       .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
                                       .count = LZ_BURST};
    ze_device_handle_t devices[] = {device->id};
    return zeEventPoolCreate(device->context, &desc, 1, devices, pool);
}

static ze_result_t make_events(struct lz_burst *burst) {
    for (; burst->count < LZ_BURST; burst->count++) {
        const ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
                                      .index = burst->count,
                                      .signal = ZE_EVENT_SCOPE_FLAG_HOST,
                                      .wait = ZE_EVENT_SCOPE_FLAG_DEVICE}; /* a kernel for a copy on another engine */
        const ze_result_t result = zeEventCreate(burst->pool, &desc, &burst->events[burst->count].handle);
        if (result != ZE_RESULT_SUCCESS) return result;
    }
    return ZE_RESULT_SUCCESS;
}

static void burst_free(struct lz_device *device, struct lz_burst *burst) {
    const bool ours = !lz_is_stuck(device);
    for (uint32_t i = 0; ours && i < burst->count; i++) lz_note(device, zeEventDestroy(burst->events[i].handle));
    if (ours) lz_note(device, zeEventPoolDestroy(burst->pool));
    device->backend->host->release(device->backend->host, burst);
}

static ze_result_t burst_make(struct lz_device *device, struct lz_burst **made) {
    const struct svmx_host *host = device->backend->host;
    struct lz_burst *burst = host->alloc(host, sizeof *burst, _Alignof(struct lz_burst));
    if (!burst) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *burst = (struct lz_burst){.count = 0};
    ze_result_t result = make_pool(device, &burst->pool);
    if (result != ZE_RESULT_SUCCESS) {
        host->release(host, burst);
        return result;
    }
    result = make_events(burst);
    if (result != ZE_RESULT_SUCCESS)
        burst_free(device, burst);
    else
        *made = burst;
    return result;
}

static void burst_add(struct lz_device *device, struct lz_burst *burst) {
    pthread_mutex_lock(&device->lock);
    burst->next = device->bursts;
    device->bursts = burst;
    for (uint32_t i = burst->count; i-- > 0;) {
        burst->events[i].next = device->free_events;
        device->free_events = &burst->events[i];
    }
    pthread_mutex_unlock(&device->lock);
}

/* ---- events ----------------------------------------------------------------------------------------------- */

static struct lz_event *pop(struct lz_device *device) {
    pthread_mutex_lock(&device->lock);
    struct lz_event *event = device->free_events;
    if (event) device->free_events = event->next;
    pthread_mutex_unlock(&device->lock);
    return event;
}

ze_result_t lz_event_take(struct lz_device *device, struct lz_event **event) {
    struct lz_event *taken = pop(device);
    if (!taken) {
        struct lz_burst *burst;
        const ze_result_t result = burst_make(device, &burst);
        if (result != ZE_RESULT_SUCCESS) return result;
        burst_add(device, burst);
        taken = pop(device); /* only the submitter takes events */
    }
    *event = taken;
    return ZE_RESULT_SUCCESS;
}

void lz_event_give(struct lz_device *device, struct lz_event *event) {
    if (!device->in_order) {
        const ze_result_t result = zeEventHostReset(event->handle);
        lz_note(device, result);
        if (result != ZE_RESULT_SUCCESS) return;
    }
    pthread_mutex_lock(&device->lock);
    event->next = device->free_events;
    device->free_events = event;
    pthread_mutex_unlock(&device->lock);
}

void lz_events_free(struct lz_device *device) {
    while (device->bursts) {
        struct lz_burst *burst = device->bursts;
        device->bursts = burst->next;
        burst_free(device, burst);
    }
    device->free_events = NULL;
}

/* ---- times ------------------------------------------------------------------------------------------------ */

/* Stamps have so many valid bits and may wrap once between start and end. */
uint64_t lz_event_duration_ns(struct lz_device *device, const struct lz_event *event) {
    const uint64_t second = UINT64_C(1000000000);
    ze_kernel_timestamp_result_t stamps;
    const ze_result_t result = zeEventQueryKernelTimestamp(event->handle, &stamps);
    lz_note(device, result);
    if (result != ZE_RESULT_SUCCESS || device->timer_hz == 0) return 0;
    const uint64_t cycles = (stamps.global.kernelEnd - stamps.global.kernelStart) & device->stamp_mask;
    const uint64_t rest = cycles % device->timer_hz;
    return cycles / device->timer_hz * second + rest * second / device->timer_hz;
}
