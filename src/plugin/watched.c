/*
 * watched.c: see watched.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/watched.h"

#include <stdlib.h>
#include <string.h>

/* A call of a plugin while an executor is opened. What the plugin looks at, and answers into, is here: it may be late. */
struct call {
    struct svmx__backend copy; /* of the backend */
    uint32_t index;            /* of a device */
    struct svmx_device_info info;
    enum svmx_status status;
};

static struct call *call_make(const struct svmx__backend *backend) {
    struct call *call = calloc(1, sizeof *call);
    if (call) call->copy = *backend;
    return call;
}

/* false: it has not returned. The backend is left alone with all that it has, which is the call and the host, too. */
static bool call_aside(const struct svmx__registry *registry, struct svmx__backend *backend, void (*run)(void *call),
                       struct call *call, uint64_t limit_ns) {
    if (svmx__aside_call(registry->watched.aside, run, call, limit_ns)) return true;
    backend->abandoned = true;
    registry->maker.orphan(registry->maker.user, backend->host);
    return false;
}

static void run_open(void *user) {
    struct call *call = user;
    call->status = call->copy.plugin->open(call->copy.host, &call->copy.instance);
}

static void run_describe(void *user) {
    struct call *call = user;
    const struct svmx_backend *instance = &call->copy.instance;
    call->status = instance->ops->device_info(instance->self, call->index, &call->info);
}

static void run_close(void *user) {
    const struct svmx_backend *instance = &((struct call *)user)->copy.instance;
    instance->ops->close(instance->self);
}

/* Calls of a process of its own have their time there, and the reference code is our own. */
static bool is_watched(const struct svmx__registry *registry, const struct svmx__backend *backend) {
    return registry->watched.aside && !backend->isolated && strcmp(backend->name, SVMX__REFERENCE_NAME) != 0;
}

enum svmx_status svmx__watched_open(const struct svmx__registry *registry, struct svmx__backend *backend) {
    if (!is_watched(registry, backend)) return backend->plugin->open(backend->host, &backend->instance);
    struct call *call = call_make(backend);
    if (!call) return SVMX_ERR_MEMORY;
    if (!call_aside(registry, backend, run_open, call, registry->watched.limit_ns)) return SVMX_TIMEOUT;
    const enum svmx_status status = call->status;
    backend->instance = call->copy.instance;
    free(call);
    return status;
}

enum svmx_status svmx__watched_describe(const struct svmx__registry *registry, struct svmx__backend *backend,
                                        uint32_t index, struct svmx_device_info *info) {
    const struct svmx_backend *instance = &backend->instance;
    if (!is_watched(registry, backend)) return instance->ops->device_info(instance->self, index, info);
    struct call *call = call_make(backend);
    if (!call) return SVMX_ERR_MEMORY;
    call->index = index;
    call->info = *info;
    if (!call_aside(registry, backend, run_describe, call, registry->watched.limit_ns)) return SVMX_TIMEOUT;
    const enum svmx_status status = call->status;
    *info = call->info;
    free(call);
    return status;
}

void svmx__watched_close(const struct svmx__registry *registry, struct svmx__backend *backend) {
    struct call *call = is_watched(registry, backend) ? call_make(backend) : NULL;
    if (!call)
        backend->instance.ops->close(backend->instance.self);
    else if (call_aside(registry, backend, run_close, call, registry->watched.limit_ns))
        free(call);
}
