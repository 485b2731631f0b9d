/*
 * quarantine.c: operations that a device gave wrong bytes for: it does not get them any more.
 *
 * Found by the self-test (prepare.c) or by comparison (compare.c), or read from the profile, which keeps it for as long as
 * device, driver and plugin are the same and until somebody clears it (svmx profile clear). A rebuilt device still has it:
 * a driver that miscompiles does so again. What a device on host memory has is not kept: it has no driver that could
 * change, and the self-test meets it again. Nor is an operation of a program's own, whose name says nothing.
 *
 * Beside them stand the reasons why a device was refused other operations, for svmx_device_op_get: these end with a rebuilt
 * device, and are never kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without memory it holds without its reason. */
static void push(_Atomic(struct svmx__quarantined *) *list, const struct svmx__op *op, enum svmx_status verdict,
                 const char *reason) {
    struct svmx__quarantined *made = calloc(1, sizeof *made);
    if (!made) return;
    made->op = op;
    made->verdict = verdict;
    (void)snprintf(made->reason, sizeof made->reason, "%s", reason);
    made->next = atomic_load_explicit(list, memory_order_relaxed);
    /* release: pairs with the acquire of svmx__quarantine_of and of find */
    while (
        !atomic_compare_exchange_weak_explicit(list, &made->next, made, memory_order_release, memory_order_relaxed)) {
    }
}

/* The last that was noted of an operation, or NULL. */
static const struct svmx__quarantined *find(const _Atomic(struct svmx__quarantined *) *list,
                                            const struct svmx__op *op) {
    const struct svmx__quarantined *at = atomic_load_explicit(list, memory_order_acquire);
    while (at && at->op != op) at = at->next;
    return at;
}

/* false: it was there already. */
static bool add(struct svmx__device *device, const struct svmx__op *op, const char *reason) {
    if (atomic_load_explicit(&device->fitness[op->id], memory_order_relaxed) == SVMX__QUARANTINED) return false;
    if (!find(&device->quarantined, op)) push(&device->quarantined, op, SVMX_ERR_WRONG_RESULT, reason);
    /* release: pairs with the acquire of svmx__fitness_of, which then finds the reason. One thread gets to publish it */
    return atomic_exchange_explicit(&device->fitness[op->id], SVMX__QUARANTINED, memory_order_release) !=
           SVMX__QUARANTINED;
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

/* The same reason again, as of a device that was rebuilt, is there already: the list stays as long as there are reasons. */
void svmx__refusal_note(struct svmx__device *device, const struct svmx__op *op, enum svmx_status verdict,
                        const char *reason) {
    const struct svmx__quarantined *last = find(&device->refused, op);
    if (!last || last->verdict != verdict || strcmp(last->reason, reason) != 0)
        push(&device->refused, op, verdict, reason);
}

uint32_t svmx__fitness_of(const struct svmx__device *device, const struct svmx__op *op,
                          const struct svmx__quarantined **why) {
    /* acquire: pairs with the release of judge: the reason was noted before */
    const uint8_t fitness = atomic_load_explicit(&device->fitness[op->id], memory_order_acquire);
    *why = NULL;
    if (fitness == SVMX__QUARANTINED) {
        *why = find(&device->quarantined, op);
        return SVMX_FITNESS_QUARANTINED;
    }
    if (fitness == SVMX__UNFIT) {
        *why = find(&device->refused, op);
        return *why && (*why)->verdict == SVMX_ERR_UNSUPPORTED ? SVMX_FITNESS_UNSUPPORTED : SVMX_FITNESS_FAILED;
    }
    return fitness == SVMX__FIT || svmx__is_reference(device) ? SVMX_FITNESS_PROVED : SVMX_FITNESS_UNTRIED;
}

static void free_list(_Atomic(struct svmx__quarantined *) *list) {
    struct svmx__quarantined *at = atomic_load_explicit(list, memory_order_relaxed);
    while (at) {
        struct svmx__quarantined *next = at->next;
        free(at);
        at = next;
    }
}

void svmx__quarantine_free(struct svmx__device *device) {
    free_list(&device->quarantined);
    free_list(&device->refused);
}
