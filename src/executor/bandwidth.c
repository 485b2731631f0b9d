/*
 * bandwidth.c: svmx_bandwidth_measure: what copies cost, between the caller's memory and staging memory and between that and
 * the device, as an errand for the device's submitter: only it may submit.
 *
 *   caller's memory  <- copy.c ->  staging memory  <- commands ->  memory of the device
 *                    host_in/out                   in/out, latency of the smallest
 *
 * Copies go the way that real work goes, with its deadline: a device that hangs is given up, and its memory set aside. The
 * memory is not the pool's, so that nothing of it is kept. Commands are timed by the host's clock: that is what a launch
 * waits for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/versioned.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BANDWIDTH = SVMX__THROUGH(struct svmx_bandwidth, reserved) };

enum {
    SMALLEST = 64,         /* bytes */
    FIRST_BYTES = 1 << 16, /* of the copies whose size rises, four times each */
    ROW_BYTES = 256 << 10, /* tasks that the caller's memory is cut into: the piece that one thread copies */
    TIMES = 9,             /* copies of one size; their median counts */
    STANDARD_BYTES = 64 << 20
};
#define LONG_NS UINT64_C(20000000) /* no larger copies after one that took longer */

/* One measurement, from the caller to the submitter and back. */
struct measure {
    struct svmx__work errand; /* first */
    struct svmx__device *device;
    struct svmx__life *life;
    uint64_t bytes;
    struct svmx_bandwidth result;
    enum svmx_status status;
    struct svmx__text why;

    struct svmx_memory *staging, *memory; /* of the device */
    void *host;                           /* address of staging */
    unsigned char *callers;
    bool aside; /* the device may still be at it */

    pthread_mutex_t lock; /* guards done */
    pthread_cond_t changed;
    bool done;
};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* What the driver answers is on this stack: a thread that never comes back stays with it, while the measurement goes. */
static enum svmx_status alloc(struct measure *measure, enum svmx_memory_kind kind, uint32_t usage,
                              struct svmx_memory **memory, void **host) {
    const struct svmx__staging_source *source = &measure->life->pool.source;
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = measure->bytes};
    struct svmx_memory *given = NULL;
    void *address = NULL;
    const enum svmx_status status = source->alloc(source->user, &desc, &given, &address);
    if (status == SVMX_OK) {
        *memory = given;
        *host = address;
        return SVMX_OK;
    }
    return svmx__fail(&measure->why, status, "%s: no memory of %llu bytes: %s", measure->device->info.name,
                      (unsigned long long)measure->bytes, svmx_status_name(status));
}

static enum svmx_status alloc_all(struct measure *measure) {
    const uint32_t copied = SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET;
    void *none = NULL;
    measure->callers = svmx__aligned_alloc((size_t)measure->bytes, 64);
    if (!measure->callers) return svmx__fail(&measure->why, SVMX_ERR_MEMORY, "no memory to copy from");
    memset(measure->callers, 1, (size_t)measure->bytes); /* so that no copy pays for new pages */
    enum svmx_status status = alloc(measure, SVMX_MEMORY_STAGING, copied | SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE,
                                    &measure->staging, &measure->host);
    if (status == SVMX_OK)
        status = alloc(measure, SVMX_MEMORY_DEVICE, copied | SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE,
                       &measure->memory, &none);
    return status;
}

static void free_all(struct measure *measure) {
    const struct svmx__staging_source *source = &measure->life->pool.source;
    free(measure->callers);
    if (measure->aside) return; /* it stays until the process ends, as what work had would */
    if (measure->memory) source->release(source->user, measure->memory, NULL);
    if (measure->staging) source->release(source->user, measure->staging, measure->host);
}

/* ---- one copy ---------------------------------------------------------------------------------------------------- */

/* Takes so long: a copy of that many bytes, one way. */
typedef enum svmx_status (*copy_fn)(struct measure *measure, bool in, uint64_t bytes, uint64_t *ns);

/* By a command of the device. */
static enum svmx_status device_copy(struct measure *measure, bool in, uint64_t bytes, uint64_t *ns) {
    const struct svmx_span staging = {measure->staging, 0, bytes}, memory = {measure->memory, 0, bytes};
    struct svmx__part part = {.device = measure->device, .life = measure->life, .command_count = 1};
    part.commands[0] = (struct svmx_command){.kind = in ? SVMX_COMMAND_COPY_IN : SVMX_COMMAND_COPY_OUT,
                                             .as.copy = {in ? staging : memory, in ? memory : staging}};
    enum svmx_status status = svmx__dispatch(&part);
    status = svmx__collect(&part, status);
    *ns = part.done_ns - part.dispatch_ns;
    measure->aside = status == SVMX_TIMEOUT;
    if (status == SVMX_OK) return SVMX_OK;
    return svmx__fail(&measure->why, status, "%s: a copy of %llu bytes failed: %s", measure->device->info.name,
                      (unsigned long long)bytes, part.reason);
}

/* By the host, as stage.c and collect.c have it done: rows of tasks, by several threads where that pays. */
static enum svmx_status host_copy(struct measure *measure, bool in, uint64_t bytes, uint64_t *ns) {
    const struct svmx__layout layout = {
        .slot_count = 1, .alignment = 1, .place = {in ? SVMX__PLACE_INPUT : SVMX__PLACE_OUTPUT}};
    const uint64_t rows = (bytes + ROW_BYTES - 1) / ROW_BYTES;
    struct svmx_slot *slots = calloc((size_t)rows, sizeof *slots);
    if (!slots) return svmx__fail(&measure->why, SVMX_ERR_MEMORY, "no memory for a table of copies");
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t left = bytes - i * ROW_BYTES;
        slots[i] =
            (struct svmx_slot){(uintptr_t)(measure->callers + i * ROW_BYTES), left < ROW_BYTES ? left : ROW_BYTES};
    }
    const struct svmx__part part = {
        .device = measure->device, .layout = &layout, .slots = slots, .task_count = (uint32_t)rows};
    const uint64_t start = svmx__clock_ns();
    if (in)
        svmx__copy_in(&part, measure->host, 0, bytes);
    else
        svmx__copy_out(&part, measure->host, bytes);
    *ns = svmx__clock_ns() - start;
    free(slots);
    return SVMX_OK;
}

/* ---- many copies ------------------------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The median of several, after one that does not count: it may allocate. At least 1. */
static enum svmx_status median(struct measure *measure, copy_fn copy, bool in, uint64_t bytes, uint64_t *ns) {
    uint64_t times[TIMES], first;
    enum svmx_status status = copy(measure, in, bytes, &first);
    for (int i = 0; i < TIMES && status == SVMX_OK; i++) status = copy(measure, in, bytes, &times[i]);
    if (status != SVMX_OK) return status;
    qsort(times, TIMES, sizeof *times, by_length);
    *ns = times[TIMES / 2] ? times[TIMES / 2] : 1;
    return SVMX_OK;
}

/* Copies of rising size, until they take long: the rate of the largest, without what the smallest takes. */
static enum svmx_status rate(struct measure *measure, copy_fn copy, bool in, double latency_ns, double *bytes_per_ns) {
    double best = 0;
    for (uint64_t bytes = measure->bytes < FIRST_BYTES ? measure->bytes : FIRST_BYTES;;) {
        uint64_t ns;
        const enum svmx_status status = median(measure, copy, in, bytes, &ns);
        if (status != SVMX_OK) return status;
        const double took = (double)ns > 2 * latency_ns ? (double)ns - latency_ns : (double)ns;
        best = (double)bytes / took;
        if (bytes > measure->result.bytes) measure->result.bytes = bytes;
        if (bytes == measure->bytes || ns > LONG_NS) break;
        bytes = bytes > measure->bytes / 4 ? measure->bytes : bytes * 4;
    }
    *bytes_per_ns = best;
    return SVMX_OK;
}

static enum svmx_status latency(struct measure *measure, bool in, double *ns) {
    uint64_t middle = 0;
    const enum svmx_status status = median(measure, device_copy, in, SMALLEST, &middle);
    *ns = (double)middle;
    return status;
}

static enum svmx_status measure_all(struct measure *measure) {
    struct svmx_bandwidth *to = &measure->result;
    if (atomic_load_explicit(&measure->life->over, memory_order_relaxed))
        return svmx__fail(&measure->why, SVMX_ERR_DEVICE_LOST, "%s was given up", measure->device->info.name);
    enum svmx_status status = alloc_all(measure);
    if (status == SVMX_OK) status = latency(measure, true, &to->latency_in_ns);
    if (status == SVMX_OK) status = latency(measure, false, &to->latency_out_ns);
    if (status == SVMX_OK) status = rate(measure, device_copy, true, to->latency_in_ns, &to->in_bytes_per_ns);
    if (status == SVMX_OK) status = rate(measure, device_copy, false, to->latency_out_ns, &to->out_bytes_per_ns);
    if (status == SVMX_OK) status = rate(measure, host_copy, true, 0, &to->host_in_bytes_per_ns);
    if (status == SVMX_OK) status = rate(measure, host_copy, false, 0, &to->host_out_bytes_per_ns);
    return status;
}

/* ---- the errand --------------------------------------------------------------------------------------------------- */

static void end(struct measure *measure, enum svmx_status status) {
    pthread_mutex_lock(&measure->lock);
    measure->status = status;
    measure->done = true;
    pthread_cond_signal(&measure->changed); /* under the lock: it goes once the other one has seen `done` */
    pthread_mutex_unlock(&measure->lock);
}

static void run_errand(struct svmx__work *work) {
    struct measure *measure = (struct measure *)(void *)work;
    measure->life = svmx__life_of(measure->device);
    const enum svmx_status status = measure_all(measure);
    free_all(measure);
    svmx__post_drop(work);
    end(measure, status);
}

/* The driver never returned: what it was given stays with it. */
static void forsake(struct svmx__work *work) {
    struct measure *measure = (struct measure *)(void *)work;
    svmx__post_drop(work);
    end(measure,
        svmx__fail(&measure->why, SVMX_TIMEOUT, "%s: a call of the driver did not return", measure->device->info.name));
}

static void have_run(struct measure *measure) {
    pthread_mutex_init(&measure->lock, NULL); /* neither can fail with default attributes */
    pthread_cond_init(&measure->changed, NULL);
    measure->errand.run = run_errand;
    measure->errand.forsake = forsake;
    svmx__queue_push(&measure->device->queue, &measure->errand.link);
    pthread_mutex_lock(&measure->lock);
    while (!measure->done) pthread_cond_wait(&measure->changed, &measure->lock);
    pthread_mutex_unlock(&measure->lock);
    pthread_cond_destroy(&measure->changed);
    pthread_mutex_destroy(&measure->lock);
}

/* The router wants one number for both ways. A byte of a launch goes through staging memory and, unless kernels reach that
 * themselves, on to the device. */
static void tell_router(struct svmx__device *device, const struct svmx_bandwidth *bandwidth) {
    const double host = 1 / bandwidth->host_in_bytes_per_ns + 1 / bandwidth->host_out_bytes_per_ns;
    const double bus = 1 / bandwidth->in_bytes_per_ns + 1 / bandwidth->out_bytes_per_ns;
    const double latency_ns =
        bandwidth->in_place ? bandwidth->latency_in_ns : bandwidth->latency_in_ns + bandwidth->latency_out_ns;
    if (device->id < device->executor->routed)
        svmx__model_set_bus(&device->executor->model, device->id, latency_ns,
                            2 / (host + (bandwidth->in_place ? 0 : bus)));
}

/* How large copies are: what was asked for, at most what the device gives twice. */
static uint64_t bytes_of(const struct svmx__device *device, uint64_t asked) {
    uint64_t bytes = asked ? asked : STANDARD_BYTES;
    const uint64_t most = device->info.max_alloc_bytes, room = device->info.memory_bytes / 4;
    if (most && bytes > most) bytes = most;
    if (room && bytes > room) bytes = room;
    return bytes < SMALLEST ? SMALLEST : bytes;
}

static enum svmx_status check(const svmx_executor_t *executor, uint32_t device, struct svmx__text *why) {
    if (svmx__is_closed(executor)) return svmx__fail(why, SVMX_ERR_CLOSED, "%s", svmx__closed_text(executor));
    if (device >= executor->device_count)
        return svmx__fail(why, SVMX_ERR_UNKNOWN, "there is no device %u; svmx_device_count tells how many there are",
                          device);
    if (executor->devices[device].host_memory)
        return svmx__fail(why, SVMX_ERR_UNSUPPORTED, "%s computes in the caller's memory: there is nothing to copy",
                          executor->devices[device].info.name);
    return SVMX_OK;
}

enum svmx_status svmx_bandwidth_measure(svmx_executor_t *executor, uint32_t index, uint64_t bytes,
                                        struct svmx_bandwidth *bandwidth, struct svmx_error *error) {
    struct measure measure = {.status = SVMX_ERR_ARGUMENT,
                              .why = {"executor or bandwidth is NULL, or its size is wrong"}};
    if (executor && svmx__is_served(bandwidth, FIRST_BANDWIDTH)) measure.status = check(executor, index, &measure.why);
    if (measure.status == SVMX_OK) {
        measure.device = &executor->devices[index];
        measure.bytes = bytes_of(measure.device, bytes);
        measure.result.in_place = (measure.device->info.flags & SVMX_DEVICE_SHARES_MEMORY) != 0;
        have_run(&measure);
    }
    if (measure.status == SVMX_OK) {
        tell_router(measure.device, &measure.result);
        svmx__give(bandwidth, &measure.result, sizeof measure.result);
    } else if (error) {
        error->status = measure.status;
        (void)snprintf(error->text, sizeof error->text, "%s", measure.why.line);
    }
    return measure.status;
}
