/*
 * collect.c: stage 6: wait for a part up to its deadline, take its results, give its memory back.
 *
 * Results reach the caller's memory only here and only after the device said OK: a device that fails, or wakes up late,
 * has written into the library's memory at most. Memory that a device may still be using is set aside, never reused.
 * Called by pipeline.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* A final status of the ticket, or TIMEOUT. */
static enum svmx_status wait_for_ticket(struct svmx__part *part) {
    struct svmx__device *device = part->device;
    const struct svmx_backend *instance = &device->backend->instance;
    uint64_t timeout_ns = device->executor->config.number[SVMX__TIMEOUT_MS] * NS_PER_MS;
    uint64_t end = part->dispatch_ns + timeout_ns;
    for (;;) {
        uint64_t now = svmx__clock_ns();
        uint64_t left = now < end ? end - now : 0;
        enum svmx_status status = instance->ops->wait(instance->self, device->index, part->ticket, left, &part->timing);
        if (status != SVMX_TIMEOUT || left == 0) return status;
    }
}

/* Copies outputs from the staging buffer to where the caller wants them. */
static void scatter(const struct svmx__part *part) {
    const struct svmx__layout *layout = part->layout;
    if (!part->staging_out) return;
    /* Offsets are counted again as stage counted them: the table in staging memory is a device's to spoil. */
    const unsigned char *from = part->staging_out->host;
    uint64_t rows = (uint64_t)part->task_count * layout->slot_count;
    for (uint64_t i = 0; i < rows; i++) {
        const struct svmx_slot *slot = &part->slots[i];
        if (layout->place[i % layout->slot_count] != SVMX__PLACE_OUTPUT) continue;
        if (slot->bytes) memcpy((void *)(uintptr_t)slot->at, from, slot->bytes);
        from += svmx__align(slot->bytes, layout->alignment);
    }
}

/* A device that keeps a ticket past the deadline, or says that it is lost, is not used again. */
static void give_up(struct svmx__device *device, const char *reason) {
    if (!atomic_exchange(&device->usable, false)) return;
    svmx__log(&device->executor->log, SVMX_LOG_ERROR, "%s (%s) is given up: %s", device->info.name,
              device->backend->name, reason);
    for (uint32_t i = 0; i < svmx__op_count(); i++) svmx__route_publish(device->executor, svmx__op_at(i)->id);
}

static void release_all(struct svmx__part *part) {
    struct svmx__staging **const held[] = {&part->staging_in, &part->staging_out, &part->inputs, &part->outputs,
                                           &part->scratch};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        svmx__staging_release(&part->device->pool, *held[i]);
        *held[i] = NULL;
    }
}

/* The driver still has them: they stay allocated until the process ends, and the device is closed by nobody. */
static void set_aside(struct svmx__part *part) {
    part->staging_in = part->staging_out = part->inputs = part->outputs = part->scratch = NULL;
    atomic_store(&part->device->abandoned, true);
}

static void note_wait_failure(struct svmx__part *part, enum svmx_status status) {
    char line[96];
    svmx__host_take_error(part->device->backend, line, sizeof line);
    if (status == SVMX_TIMEOUT)
        (void)snprintf(part->reason, sizeof part->reason, "no answer within the timeout (timeout_ms)");
    else
        (void)snprintf(part->reason, sizeof part->reason, "wait: %s: %s", svmx_status_name(status), line);
}

enum svmx_status svmx__collect(struct svmx__part *part, enum svmx_status so_far) {
    enum svmx_status status = so_far;
    if (status == SVMX_OK && part->ticket != 0) {
        status = wait_for_ticket(part);
        if (status != SVMX_OK) note_wait_failure(part, status);
    }
    part->done_ns = svmx__clock_ns();
    if (status == SVMX_OK && !part->device->host_memory) scatter(part);
    if (status == SVMX_TIMEOUT)
        set_aside(part);
    else
        release_all(part);
    if (status == SVMX_TIMEOUT || status == SVMX_ERR_DEVICE_LOST) give_up(part->device, part->reason);
    return status;
}
