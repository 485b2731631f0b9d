/*
 * quarantine.c: operations that a device gave wrong bytes for: it does not get them any more.
 *
 * Found by the self-test (prepare.c) or by comparison (compare.c), or read from the profile, which keeps it for as long as
 * device, driver and plugin are the same and until somebody clears it (svmx profile clear). A rebuilt device still has it:
 * a driver that miscompiles does so again. What a device on host memory has is not kept: it has no driver that could
 * change, and the self-test meets it again. Nor is an operation of a program's own, whose name says nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>

/* false: it was there already. */
static bool add(struct svmx__device *device, const struct svmx__op *op, const char *reason) {
    /* relaxed: one thread gets to publish it */
    if (atomic_exchange_explicit(&device->fitness[op->id], SVMX__QUARANTINED, memory_order_relaxed) ==
        SVMX__QUARANTINED)
        return false;
    struct svmx__quarantined *made = calloc(1, sizeof *made);
    if (!made) return true; /* it holds without its reason */
    made->op = op;
    (void)snprintf(made->reason, sizeof made->reason, "%s", reason);
    made->next = atomic_load_explicit(&device->quarantined, memory_order_relaxed);
    /* release: pairs with the acquire of svmx__quarantine_of */
    while (!atomic_compare_exchange_weak_explicit(&device->quarantined, &made->next, made, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return true;
}

void svmx__quarantine(struct svmx__device *device, const struct svmx__op *op, const char *reason) {
    struct svmx_executor *executor = device->executor;
    struct svmx__text why = {""};
    if (!add(device, op, reason)) return;
    svmx__log(&executor->log, SVMX_LOG_WARN, "%s on %s is off: %s (quarantined)", op->name, device->info.name, reason);
    svmx__route_publish(executor, op->id);
    if (!svmx__quarantine_is_kept(device, op)) return;
    /* now, and not at close: who knows how this process ends */
    if (svmx__profile_save(executor, &why) != SVMX_OK)
        svmx__log(&executor->log, SVMX_LOG_WARN, "the quarantine is not written to the profile: %s", why.line);
}

void svmx__quarantine_restore(struct svmx__device *device, const struct svmx__op *op, const char *reason) {
    if (!add(device, op, reason)) return;
    svmx__log(&device->executor->log, SVMX_LOG_WARN,
              "%s on %s is off: %s (quarantined by an earlier process; `svmx profile clear` ends it)", op->name,
              device->info.name, reason);
}

bool svmx__quarantine_is_kept(const struct svmx__device *device, const struct svmx__op *op) {
    return !device->host_memory && op->id < SVMX_OP_FIRST_REGISTERED && device->id < device->executor->routed;
}

const struct svmx__quarantined *svmx__quarantine_of(const struct svmx__device *device) {
    return atomic_load_explicit(&device->quarantined, memory_order_acquire);
}

void svmx__quarantine_free(struct svmx__device *device) {
    struct svmx__quarantined *at = atomic_load_explicit(&device->quarantined, memory_order_relaxed);
    while (at) {
        struct svmx__quarantined *next = at->next;
        free(at);
        at = next;
    }
}
