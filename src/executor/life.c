/*
 * life.c: the lives of a device: see struct svmx__life.
 *
 * The ABI has no reset. So what is sick is left behind whole, with what it holds, and the plugin is opened once more. Parts
 * take their life with them from stage to collect, pipelines and staging memory know theirs: nothing of one life ever
 * reaches the instance of another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static enum svmx_status host_memory_alloc(void *user, const struct svmx_memory_desc *desc, struct svmx_memory **memory,
                                          void **host) {
    (void)user;
    *memory = NULL;
    *host = desc->bytes <= SIZE_MAX ? svmx__aligned_alloc((size_t)desc->bytes, 64) : NULL;
    return *host ? SVMX_OK : SVMX_ERR_MEMORY;
}

static void host_memory_free(void *user, struct svmx_memory *memory, void *host) {
    (void)user;
    (void)memory;
    free(host);
}

static void device_memory_free(void *user, struct svmx_memory *memory, void *host);

/* What was said to be given may be nothing that one could write to. */
static enum svmx_status accept_memory(struct svmx__life *life, const struct svmx_memory_desc *desc,
                                      struct svmx_memory *memory, void *host) {
    const bool seen = (desc->usage & (SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE)) != 0;
    if (memory && (host || !seen)) return SVMX_OK;
    svmx__log(&life->device->executor->log, SVMX_LOG_ERROR, "%s: memory_alloc gave no %s, but said OK",
              life->device->info.name, memory ? "address" : "memory");
    if (memory) device_memory_free(life, memory, host);
    return SVMX_ERR_BACKEND;
}

static enum svmx_status device_memory_alloc(void *user, const struct svmx_memory_desc *desc,
                                            struct svmx_memory **memory, void **host) {
    struct svmx__life *life = user;
    const struct svmx_backend *instance = &life->backend->instance;
    const uint64_t most = life->device->info.max_alloc_bytes;
    if ((most && desc->bytes > most) || svmx__life_is_abandoned(life)) return SVMX_ERR_MEMORY;
    *host = NULL;
    svmx__call_begin(life, (struct svmx__call){"memory_alloc", NULL}, 0);
    const enum svmx_status status =
        instance->ops->memory_alloc(instance->self, life->device->index, desc, memory, host);
    svmx__call_end();
    return status == SVMX_OK ? accept_memory(life, desc, *memory, *host) : status;
}

static void device_memory_free(void *user, struct svmx_memory *memory, void *host) {
    struct svmx__life *life = user;
    (void)host;
    if (svmx__life_is_abandoned(life)) return;
    svmx__call_begin(life, (struct svmx__call){"memory_free", NULL}, 0);
    life->backend->instance.ops->memory_free(life->backend->instance.self, memory);
    svmx__call_end();
}

/* It keeps a fill past its time. Whoever wanted the memory may do without it and never tell: so the device is given up here. */
static void lose_to_fill(struct svmx__life *life, uint64_t limit_ns) {
    struct svmx__part part = {.device = life->device, .life = life};
    (void)snprintf(part.reason, sizeof part.reason, "memory was not cleared within %.3g ms", (double)limit_ns / 1e6);
    atomic_store_explicit(&life->abandoned, true, memory_order_relaxed);
    svmx__device_lost(&part, false);
}

/* By the submitter, or for an inline device by any thread: nobody else acquires memory of the device's own. */
static enum svmx_status device_memory_clear(void *user, struct svmx_memory *memory, uint64_t bytes) {
    struct svmx__life *life = user;
    const struct svmx_backend *instance = &life->backend->instance;
    const struct svmx_command fill = {.kind = SVMX_COMMAND_FILL, .as.fill = {{memory, 0, bytes}, 0}};
    const struct svmx_command_list list = {
        .size = sizeof list, .command_size = sizeof fill, .commands = &fill, .count = 1};
    const struct svmx_submission submission = {.size = sizeof submission, .device = life->device->index, .list = &list};
    struct svmx_timing timing = {.size = sizeof timing};
    uint64_t ticket = 0;
    const uint64_t ahead = life->device->window.count; /* launches that it waits for */
    const uint64_t limit_ns = (1 + ahead) * life->device->executor->config.number[SVMX__TIMEOUT_MS] * SVMX__NS_PER_MS;
    const uint64_t start_ns = svmx__clock_ns();
    if (svmx__life_is_abandoned(life)) return SVMX_ERR_DEVICE_LOST;
    svmx__call_begin(life, (struct svmx__call){"submit of a fill", NULL}, limit_ns);
    enum svmx_status status = instance->ops->submit(instance->self, &submission, &ticket);
    if (status == SVMX_OK && ticket != 0) {
        do status = instance->ops->wait(instance->self, life->device->index, ticket, limit_ns, &timing);
        while (status == SVMX_TIMEOUT && svmx__clock_since(svmx__clock_ns(), start_ns) < limit_ns);
    }
    svmx__call_end();
    if (status == SVMX_TIMEOUT) lose_to_fill(life, limit_ns);
    return status;
}

/* ---- beginning ---------------------------------------------------------------------------------------------------- */

static void begin(struct svmx__life *life, struct svmx__device *device, struct svmx__backend *backend) {
    life->device = device;
    life->backend = backend;
    const struct svmx__staging_source source =
        device->host_memory
            ? (struct svmx__staging_source){life, host_memory_alloc, host_memory_free, NULL}
            : (struct svmx__staging_source){life, device_memory_alloc, device_memory_free, device_memory_clear};
    svmx__staging_pool_init(&life->pool, &source, device->executor->config.number[SVMX__POOL_BYTES]);
}

void svmx__life_begin(struct svmx__device *device, struct svmx__backend *backend) {
    begin(&device->first, device, backend);
    device->backend = backend;
    atomic_init(&device->life, &device->first);
}

/* Is it the device that it was? */
static bool is_same(const struct svmx__device *device, const struct svmx_device_info *info) {
    return strcmp(device->info.name, info->name) == 0 && strcmp(device->info.driver, info->driver) == 0 &&
           strcmp(device->info.pci, info->pci) == 0 && device->info.flags == info->flags &&
           device->info.alignment == info->alignment;
}

static enum svmx_status find(struct svmx__life *life, struct svmx__text *why) {
    const struct svmx__device *device = life->device;
    const struct svmx_backend *instance = &life->own.instance;
    struct svmx_device_info info = {.size = sizeof info};
    svmx__call_begin(life, (struct svmx__call){"device_info", NULL}, 0);
    const enum svmx_status status = instance->ops->device_info(instance->self, device->index, &info);
    svmx__call_end();
    if (status != SVMX_OK)
        return svmx__fail(why, status, "device %u cannot be described: %s", device->index, svmx_status_name(status));
    if (is_same(device, &info)) return SVMX_OK;
    return svmx__fail(why, SVMX_ERR_UNKNOWN, "device %u is another one now: a new executor would find it",
                      device->index);
}

/* Of a life that the registry does not have. */
static void close_instance(struct svmx__life *life) {
    svmx__call_begin(life, (struct svmx__call){"close", NULL}, 0);
    svmx__registry_end(&life->device->executor->registry, &life->own);
    svmx__call_end();
}

enum svmx_status svmx__life_open(struct svmx__device *device, struct svmx__life **life, struct svmx__text *why) {
    struct svmx__registry *registry = &device->executor->registry;
    struct svmx__life *made = calloc(1, sizeof *made);
    if (!made) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory to open the plugin again");
    svmx__call_begin(device->host_memory ? svmx__life_of(device) : NULL, (struct svmx__call){"open", NULL},
                     svmx__first_ns(device->executor));
    enum svmx_status status = svmx__registry_reopen(registry, device->backend, &made->own, why);
    svmx__call_end();
    if (status != SVMX_OK) goto free_life;
    svmx__host_opened(&made->own);
    begin(made, device, &made->own);
    made->number = ++device->life_count;
    status = find(made, why);
    if (status == SVMX_OK) {
        *life = made;
        return SVMX_OK;
    }
    svmx__staging_pool_fini(&made->pool);
    close_instance(made);
free_life:
    free(made);
    return status;
}

void svmx__life_replace(struct svmx__life *life) {
    struct svmx__life *before = svmx__life_of(life->device);
    life->before = before;
    atomic_store_explicit(&life->device->life, life, memory_order_release);
    atomic_store_explicit(&before->over, true, memory_order_relaxed); /* a part that starts there now is redone */
    (void)svmx__life_kill(before, "its device has a new one");
}

/* Its memory and its instance, unless the driver may still be at it. */
static void end(struct svmx__life *life) {
    const bool abandoned = life->backend->abandoned;
    if (!abandoned) svmx__heap_end(life);
    svmx__staging_orphan(&life->pool, !abandoned); /* what was taken since the submitter's end: by others, inline */
    if (abandoned) return;                         /* a thread that comes back late still reads its own */
    svmx__staging_pool_fini(&life->pool);
    if (life->backend != &life->own) return; /* the registry's */
    close_instance(life);
    free(life);
}

void svmx__life_strand(struct svmx__life *life) {
    struct svmx__device *device = life->device;
    for (const struct svmx__life *had = svmx__life_of(device); had; had = had->before)
        if (had == life) return;
    life->before = device->left;
    device->left = life;
}

void svmx__life_discard(struct svmx__life *life) {
    if (!life) return;
    if (!svmx__life_is_abandoned(life)) { /* this thread would have set it */
        end(life);
        return;
    }
    life->before = life->device->left;
    life->device->left = life;
}

bool svmx__life_kill(const struct svmx__life *life, const char *how) {
    const struct svmx_executor *executor = life->device->executor;
    for (uint32_t i = 0; i < executor->device_count; i++) {
        const struct svmx__device *other = &executor->devices[i];
        if (other != life->device && svmx__life_of(other)->backend == life->backend) return false;
    }
    return svmx__backend_kill(life->backend, how);
}

/* ---- end ---------------------------------------------------------------------------------------------------------- */

static void settle(struct svmx__life *life) {
    for (; life; life = life->before) {
        /* whoever set it was joined just now, or has left the executor as svmx_close demands */
        if (!svmx__life_is_abandoned(life)) continue;
        svmx__backend_abandon(life->backend);
        svmx__host_orphan(life->backend);
    }
}

void svmx__lives_settle(struct svmx__device *device) {
    settle(svmx__life_of(device));
    settle(device->left);
}

void svmx__lives_end(struct svmx__device *device) {
    struct svmx__life *life = svmx__life_of(device);
    while (life) {
        struct svmx__life *before = life->before;
        end(life);
        life = before;
    }
}
