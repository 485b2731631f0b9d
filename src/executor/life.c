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
#include "executor/executor.h"

#include <stdlib.h>

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

static enum svmx_status device_memory_alloc(void *user, const struct svmx_memory_desc *desc,
                                            struct svmx_memory **memory, void **host) {
    const struct svmx__life *life = user;
    const struct svmx_backend *instance = &life->backend->instance;
    const uint64_t most = life->device->info.max_alloc_bytes;
    if (most && desc->bytes > most) return SVMX_ERR_MEMORY;
    *host = NULL;
    return instance->ops->memory_alloc(instance->self, life->device->index, desc, memory, host);
}

static void device_memory_free(void *user, struct svmx_memory *memory, void *host) {
    const struct svmx__life *life = user;
    (void)host;
    life->backend->instance.ops->memory_free(life->backend->instance.self, memory);
}

/* ---- beginning ---------------------------------------------------------------------------------------------------- */

static void begin(struct svmx__life *life, struct svmx__device *device, struct svmx__backend *backend) {
    life->device = device;
    life->backend = backend;
    const struct svmx__staging_source source =
        device->host_memory ? (struct svmx__staging_source){life, host_memory_alloc, host_memory_free}
                            : (struct svmx__staging_source){life, device_memory_alloc, device_memory_free};
    svmx__staging_pool_init(&life->pool, &source, device->executor->config.number[SVMX__POOL_BYTES]);
}

void svmx__life_begin(struct svmx__device *device, struct svmx__backend *backend) {
    begin(&device->first, device, backend);
    device->backend = backend;
    atomic_init(&device->life, &device->first);
}

/* ---- end ---------------------------------------------------------------------------------------------------------- */

void svmx__lives_settle(struct svmx__device *device) {
    for (struct svmx__life *life = svmx__life_of(device); life; life = life->before) {
        /* relaxed: whoever set it was joined just now, or has left the executor as svmx_close demands */
        if (!atomic_load_explicit(&life->abandoned, memory_order_relaxed)) continue;
        life->backend->abandoned = true;
        svmx__host_orphan(life->backend);
    }
}

void svmx__lives_end(struct svmx__device *device) {
    if (!device->first.backend->abandoned) svmx__staging_pool_fini(&device->first.pool);
}
