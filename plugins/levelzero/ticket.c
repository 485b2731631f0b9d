/*
 * ticket.c: submissions under way: waiting for them, whether they went well, and the time that they took.
 *
 * A ticket holds the events of all its commands; when the last is over, all are. The driver waits for it with a deadline,
 * and most drivers spin while they do. So, where the time of the last run of that size is known, the thread sleeps until
 * shortly before it; and what takes longer than it should is asked in growing pauses. A driver that computes on the CPU
 * itself is left to wait as it likes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

#include <string.h>

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- slots ------------------------------------------------------------------------------------------------ */

/* A ticket: [device + 1 : 16][serial : 48]. */
enum { DEVICE_SHIFT = 48 };

static struct lz_slot *slot_of(struct lz_device *device, uint64_t ticket) {
    for (size_t i = 0; i < LZ_SLOTS; i++)
        if (device->slots[i].ticket == ticket) return &device->slots[i];
    return NULL;
}

struct lz_slot *lz_slot_take(struct lz_device *device) {
    return slot_of(device, 0);
}

bool lz_slots_are_open(const struct lz_device *device) {
    for (size_t i = 0; i < LZ_SLOTS; i++)
        if (device->slots[i].ticket) return true;
    return false;
}

static bool reserve(const struct lz_device *device, struct lz_slot *slot) {
    if (slot->event_count < slot->event_capacity) return true;
    const struct svmx_host *host = device->backend->host;
    const size_t capacity = slot->event_capacity ? 2 * slot->event_capacity : 8;
    struct lz_event **events = host->alloc(host, capacity * sizeof *events, _Alignof(struct lz_event *));
    if (!events) return false;
    if (slot->event_count) memcpy(events, slot->events, slot->event_count * sizeof *events);
    host->release(host, slot->events);
    slot->events = events;
    slot->event_capacity = capacity;
    return true;
}

ze_result_t lz_slot_event(struct lz_device *device, struct lz_slot *slot, uint32_t kind, struct lz_event **event) {
    if (!reserve(device, slot)) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    const ze_result_t result = lz_event_take(device, event);
    if (result != ZE_RESULT_SUCCESS) return result;
    (*event)->kind = kind;
    slot->events[slot->event_count++] = *event;
    return ZE_RESULT_SUCCESS;
}

void lz_slot_drop(struct lz_device *device, struct lz_slot *slot) {
    lz_event_give(device, slot->events[--slot->event_count]);
}

void lz_slot_clear(struct lz_device *device, struct lz_slot *slot, bool over) {
    const size_t count = slot->event_count;
    pthread_mutex_lock(&device->lock);
    slot->event_count = 0;
    slot->ticket = 0;
    pthread_mutex_unlock(&device->lock);
    for (size_t i = 0; over && i < count; i++) lz_event_give(device, slot->events[i]);
}

uint64_t lz_slot_open(struct lz_device *device, struct lz_slot *slot) {
    const uint64_t index = (uint64_t)(device - device->backend->devices);
    pthread_mutex_lock(&device->lock);
    slot->ticket = (index + 1) << DEVICE_SHIFT | ++device->next_ticket;
    pthread_mutex_unlock(&device->lock);
    return slot->ticket;
}

void lz_slots_free(struct lz_device *device) {
    const struct svmx_host *host = device->backend->host;
    for (size_t i = 0; i < LZ_SLOTS; i++) host->release(host, device->slots[i].events);
}

static bool is_lost(const struct lz_device *device) {
    return atomic_load_explicit(&device->lost, memory_order_relaxed);
}

/* ---- waiting ---------------------------------------------------------------------------------------------- */

/* NOT_READY: not over within the time. */
static ze_result_t wait_for(const struct lz_device *device, const struct lz_slot *slot, uint64_t timeout_ns) {
    const ze_event_handle_t last = slot->events[slot->event_count - 1]->handle;
    const uint64_t start = kernels_now_ns();
    if (device->shares_cores) return zeEventHostSynchronize(last, timeout_ns);
    for (uint64_t now = start;; now = kernels_now_ns()) {
        const uint64_t left = timeout_ns - least(now - start, timeout_ns);
        const uint64_t pause = kernels_next_pause(now - slot->submitted_ns, slot->expected_ns);
        const ze_result_t result = zeEventHostSynchronize(last, pause ? 0 : least(left, KERNELS_SPIN_NS));
        if (result != ZE_RESULT_NOT_READY || left == 0) return result;
        if (pause) kernels_sleep_ns(least(pause, left));
    }
}

/* A device that says itself that it is lost has ended them. */
ze_result_t lz_slot_drain(struct lz_device *device, struct lz_slot *slot, ze_result_t why) {
    ze_result_t result = ZE_RESULT_SUCCESS;
    lz_note(device, why);
    for (size_t i = 0; i < slot->event_count && result == ZE_RESULT_SUCCESS && !is_lost(device); i++) {
        result = zeEventHostSynchronize(slot->events[i]->handle, device->patience_ns);
        lz_note(device, result);
    }
    const bool over = result == ZE_RESULT_SUCCESS && !is_lost(device);
    if (!over && !is_lost(device)) lz_note_stuck(device);
    lz_slot_clear(device, slot, over);
    return over ? why : ZE_RESULT_ERROR_DEVICE_LOST;
}

/* Another thread may retire the ticket at any moment, and its event be used again: so it is only asked, with the lock. */
static bool is_over(struct lz_device *device, uint64_t ticket) {
    pthread_mutex_lock(&device->lock);
    const struct lz_slot *slot = slot_of(device, ticket);
    const bool over = !slot || slot->event_count == 0 ||
                      zeEventQueryStatus(slot->events[slot->event_count - 1]->handle) != ZE_RESULT_NOT_READY;
    pthread_mutex_unlock(&device->lock);
    return over;
}

bool lz_ticket_await(struct lz_backend *backend, uint64_t ticket, uint64_t timeout_ns) {
    const uint64_t index = (ticket >> DEVICE_SHIFT) - 1, start = kernels_now_ns();
    if (index >= backend->device_count) return true; /* nobody has such a ticket: it is over */
    while (!is_over(&backend->devices[index], ticket)) {
        if (kernels_now_ns() - start >= timeout_ns) return false;
        kernels_sleep_ns(KERNELS_PAUSE_MIN_NS);
    }
    return true;
}

/* ---- what came of it --------------------------------------------------------------------------------------- */

static void take_timing(struct lz_device *device, const struct lz_slot *slot, struct svmx_timing *timing) {
    struct svmx_timing mine = {.size = timing->size};
    for (size_t i = 0; i < slot->event_count; i++) {
        const struct lz_event *event = slot->events[i];
        switch (event->kind) {
        case SVMX_COMMAND_BARRIER: break;
        case SVMX_COMMAND_DISPATCH: mine.compute_ns += lz_event_duration_ns(device, event); break;
        case SVMX_COMMAND_COPY_OUT: mine.copy_out_ns += lz_event_duration_ns(device, event); break;
        default: mine.copy_in_ns += lz_event_duration_ns(device, event); break;
        }
    }
    memcpy(timing, &mine, timing->size < sizeof mine ? timing->size : sizeof mine);
}

enum svmx_status lz_wait(void *self, uint32_t index, uint64_t ticket, uint64_t timeout_ns, struct svmx_timing *timing) {
    struct lz_backend *backend = self;
    struct lz_device *device = index < backend->device_count ? &backend->devices[index] : NULL;
    struct lz_slot *slot = device && ticket ? slot_of(device, ticket) : NULL;
    if (!slot) return lz_refuse(backend, SVMX_ERR_UNKNOWN, "wait: no such ticket");
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (slot->event_count) result = wait_for(device, slot, timeout_ns);
    if (result == ZE_RESULT_NOT_READY) return SVMX_TIMEOUT;
    if (result != ZE_RESULT_SUCCESS) return lz_fail(device, lz_slot_drain(device, slot, result), "wait");
    take_timing(device, slot, timing);
    if (slot->learn_ns && slot->dispatch_count == 1) *slot->learn_ns = kernels_now_ns() - slot->submitted_ns;
    lz_slot_clear(device, slot, true);
    return SVMX_OK;
}
