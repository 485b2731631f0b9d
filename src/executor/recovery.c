/*
 * recovery.c: devices that fail are given up, rest, and come back.
 *
 *   collect, route                a launch failed       -> svmx__device_failed, svmx__device_lost    health.c decides
 *   route, while somebody rests   is a rest over?       -> svmx__recovery_look
 *   the device's submitter        a new life            -> rebuild: open the plugin again, prove every operation that the
 *                                                          device served; then it serves, watched, or rests on
 *
 * Nobody is woken for it: a device that nobody has work for may rest on. Health is of one device in one executor: the same
 * device in another executor is another matter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/building.h"
#include "executor/stages.h"

#include <string.h>

static uint64_t now_of(const struct svmx_executor *executor) {
    const uint64_t stopped_ns = atomic_load_explicit(&executor->stopped_ns, memory_order_relaxed);
    return stopped_ns ? stopped_ns : svmx__clock_ns();
}

/* When route is to look again: the earliest end of a rest. */
static void plan(struct svmx_executor *executor) {
    uint64_t first = SVMX__NEVER;
    pthread_mutex_lock(&executor->publishing); /* the last to look is the last to write */
    for (uint32_t i = 0; i < executor->device_count; i++) {
        const uint64_t back = atomic_load_explicit(&executor->devices[i].health.back_ns, memory_order_relaxed);
        if (back < first) first = back;
    }
    atomic_store_explicit(&executor->look_ns, first, memory_order_relaxed);
    pthread_mutex_unlock(&executor->publishing);
}

/* ---- giving up ---------------------------------------------------------------------------------------------------- */

static void give_up(struct svmx__device *device, const char *how, const char *reason) {
    /* relaxed: a part that still starts there is redone like any that a device fails */
    atomic_store_explicit(&svmx__life_of(device)->over, true, memory_order_relaxed);
    svmx__log(&device->executor->log, SVMX_LOG_ERROR, "%s (%s) %s: %s", device->info.name, device->backend->name, how,
              reason);
    svmx__route_publish_all(device->executor);
    plan(device->executor);
}

/* Of the life that the device has now? What is left of an earlier one says nothing, and one that is only being proved has
 * rebuild to judge it. */
static bool is_of_now(const struct svmx__part *part) { return part->life == svmx__life_of(part->device); }

void svmx__device_lost(const struct svmx__part *part, bool for_good) {
    struct svmx__device *device = part->device;
    if (svmx__is_reference(device) || !is_of_now(part)) return;
    if (svmx__health_lose(&device->health, now_of(device->executor), for_good, part->reason))
        give_up(device, "is given up", part->reason);
}

/* What a device can be blamed for: it had the launch, and neither memory ran out nor is the operation missing. Wrong bytes
 * are quarantined, not counted. */
static bool is_strike(const struct svmx__part *part) {
    return part->dispatch_ns && part->status != SVMX_ERR_MEMORY && part->status != SVMX_ERR_UNSUPPORTED &&
           part->status != SVMX_ERR_WRONG_RESULT;
}

void svmx__device_failed(const struct svmx__part *part) {
    struct svmx__device *device = part->device;
    if (svmx__is_reference(device) || !is_of_now(part) || !is_strike(part)) return;
    if (svmx__health_strike(&device->health, now_of(device->executor), part->reason))
        give_up(device, "is given up after failures", part->reason);
}

/* ---- coming back, in the submitter --------------------------------------------------------------------------------- */

/* One operation; *proved: the device has it. Wrong bytes cost it that operation, anything else its return. */
static enum svmx_status prove(struct svmx__life *life, const struct svmx__op *op, bool *proved,
                              struct svmx__text *why) {
    struct svmx__device *device = life->device;
    struct svmx__pipeline made = {.key = {device->id, op->id, svmx__bucket_of(device->executor, op, 1), life->number},
                                  .life = life};
    const enum svmx_status status = svmx__pipeline_make(device, op, &made, why);
    svmx__pipeline_drop(life, made.compiled); /* the builder makes the fastest variant when it is wanted */
    if (status == SVMX_ERR_UNSUPPORTED) return SVMX_OK;
    *proved = true;
    if (status != SVMX_ERR_WRONG_RESULT) return status;
    svmx__quarantine(device, op, why->line);
    return SVMX_OK;
}

/* All operations that the device is known to be so fit for, or the first that it has. */
static enum svmx_status prove_those(struct svmx__life *life, uint8_t fitness, bool one, bool *proved,
                                    struct svmx__text *why) {
    const struct svmx__device *device = life->device;
    const struct svmx__op *op;
    for (uint32_t i = 0; (op = svmx__operations_at(device->executor->operations, i)); i++) {
        if (atomic_load_explicit(&device->fitness[op->id], memory_order_relaxed) != fitness) continue;
        if (svmx__is_closed(device->executor)) return svmx__fail(why, SVMX_TIMEOUT, "closed meanwhile");
        const enum svmx_status status = prove(life, op, proved, why);
        if (status != SVMX_OK || (one && *proved)) return status;
    }
    return SVMX_OK;
}

/* Every operation that it served; of one that never came to serve, any, as a sign of life. */
static enum svmx_status prove_all(struct svmx__life *life, struct svmx__text *why) {
    bool proved = false;
    const enum svmx_status status = prove_those(life, SVMX__FIT, false, &proved, why);
    return status != SVMX_OK || proved ? status : prove_those(life, SVMX__UNTRIED, true, &proved, why);
}

/* What an operation was refused for may be over; what it was quarantined for is not. */
static void forget_refusals(struct svmx__device *device) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        uint8_t unfit = SVMX__UNFIT;
        (void)atomic_compare_exchange_strong_explicit(&device->fitness[op], &unfit, SVMX__UNTRIED, memory_order_relaxed,
                                                      memory_order_relaxed);
        atomic_store_explicit(&device->launched[op], 0, memory_order_relaxed); /* pools are empty again */
    }
}

/* It is over: the next one may begin. Before the device's rest is planned, so that whoever sees its end finds this free; and
 * no driver is called from here on, so that no other thread says so as well. */
static void end_recall(struct svmx__device *device) {
    atomic_store_explicit(&device->recall.under_way, false, memory_order_release);
}

static void serve_again(struct svmx__life *life) {
    struct svmx__device *device = life->device;
    forget_refusals(device);
    svmx__life_replace(life);
    end_recall(device);
    svmx__health_return(&device->health, now_of(device->executor));
    svmx__log(&device->executor->log, SVMX_LOG_WARN, "%s (%s) serves again; its next %d launches are compared",
              device->info.name, device->backend->name, SVMX__COMPARED);
    svmx__route_publish_all(device->executor);
}

static void rebuild_now(struct svmx__device *device) {
    struct svmx_executor *executor = device->executor;
    struct svmx__text why = {""};
    struct svmx__life *life = NULL;
    if (svmx__is_closed(executor)) {
        end_recall(device);
        return;
    }
    enum svmx_status status = svmx__life_open(device, &life, &why);
    if (status == SVMX_OK) status = prove_all(life, &why);
    if (status == SVMX_OK) {
        serve_again(life);
    } else {
        svmx__life_discard(life);
        end_recall(device);
        svmx__health_relapse(&device->health, now_of(executor), why.line);
        give_up(device, "rests on", why.line);
    }
    plan(executor);
}

/* The submitter that rebuilt it is gone, or was about to: it had launches to collect before. Or there is none. */
static void forsake(struct svmx__work *work) {
    struct svmx__device *device = ((struct svmx__recall *)(void *)work)->device;
    static const char reason[] = "a call of its driver did not return";
    end_recall(device);
    svmx__health_relapse(&device->health, now_of(device->executor), reason);
    give_up(device, "rests on", reason);
    svmx__post_drop(work);
}

static void rebuild(struct svmx__work *work) {
    struct svmx__device *device = ((struct svmx__recall *)(void *)work)->device;
    if (!svmx__is_submitter_of(device)) { /* it calls drivers, and who has no post is not watched */
        forsake(work);
        return;
    }
    rebuild_now(device);
    svmx__post_drop(work);
}

static void recall(struct svmx__device *device) {
    /* acq_rel: pairs with the store in end_recall; it has left the queue by then */
    if (atomic_exchange_explicit(&device->recall.under_way, true, memory_order_acq_rel)) return;
    device->recall.device = device;
    device->recall.errand.run = rebuild;
    device->recall.errand.forsake = forsake;
    svmx__queue_push(&device->queue, &device->recall.errand.link);
}

void svmx__recovery_look(struct svmx_executor *executor) {
    const uint64_t now_ns = now_of(executor);
    if (now_ns < atomic_load_explicit(&executor->look_ns, memory_order_relaxed)) return;
    for (uint32_t i = 0; i < executor->device_count; i++)
        if (svmx__health_claim(&executor->devices[i].health, now_ns)) recall(&executor->devices[i]);
    plan(executor);
}

void svmx__recovery_init(struct svmx_executor *executor) { atomic_init(&executor->look_ns, SVMX__NEVER); }

enum svmx_status svmx_device_reset(svmx_executor_t *executor, uint32_t index) {
    if (!executor) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    if (index >= executor->device_count) return SVMX_ERR_UNKNOWN;
    struct svmx__device *device = &executor->devices[index];
    if (svmx__is_reference(device)) return SVMX_ERR_UNSUPPORTED;
    svmx__health_forgive(&device->health);
    (void)svmx__health_claim(&device->health, SVMX__NEVER - 1);
    recall(device);
    return SVMX_OK;
}
