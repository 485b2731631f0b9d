/*
 * plugin.c: the sim backend: the data symbol, open and close, the table of functions. sim.h says which file does what.
 *
 * Loaded on request only, and its devices are labelled as modelled: no work shall go there by chance. Includes nothing of
 * the core but svmx/plugin.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.0.0"
#endif

enum svmx_status sim_fail(const struct sim_instance *instance, enum svmx_status status, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    instance->host->log(instance->host, SVMX_LOG_ERROR, line);
    return status;
}

static void instance_close(void *self) {
    struct sim_instance *instance = self;
    const struct svmx_host *host = instance->host;
    sim_workers_end(instance);
    sim_devices_free(instance);
    pthread_cond_destroy(&instance->changed);
    pthread_mutex_destroy(&instance->lock);
    host->release(host, instance);
}

static const struct svmx_backend_ops backend_ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = sim_device_info,
    .memory_alloc = sim_memory_alloc,
    .memory_free = sim_memory_free,
    .pipeline_build = sim_pipeline_build,
    .pipeline_free = sim_pipeline_free,
    .submit = sim_submit,
    .wait = sim_wait,
    .close = instance_close,
};

/* A timed wait must not be moved by somebody who sets the time of day. */
static void cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes); /* none of these can fail on Linux */
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The environment is the host's to read: it knows whether it counts. */
static const char *model_path(const struct svmx_host *host) {
    const char *path = host->option(host, "sim_model");
    return path && *path ? path : NULL;
}

static enum svmx_status instance_open(const struct svmx_host *host, struct svmx_backend *opened) {
    if (host->abi_major != SVMX_ABI_MAJOR || host->size < sizeof *host)
        return SVMX_ERR_ABI; /* not even its log can be trusted */
    struct sim_instance *instance = host->alloc(host, sizeof *instance, 64);
    if (!instance) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the instance");
        return SVMX_ERR_MEMORY;
    }
    *instance = (struct sim_instance){.host = host, .again = host->option(host, "again") != NULL};
    pthread_mutex_init(&instance->lock, NULL);
    cond_init(&instance->changed);
    const enum svmx_status status = sim_devices_add(instance, model_path(host));
    if (status == SVMX_OK)
        *opened = (struct svmx_backend){.ops = &backend_ops, .self = instance};
    else
        instance_close(instance);
    return status;
}

SVMX_EXPORT extern const struct svmx_plugin svmx_plugin;
const struct svmx_plugin svmx_plugin = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .flags = SVMX_PLUGIN_ON_REQUEST,
    .name = "sim",
    .version = PACKAGE_VERSION,
    .licence = "Apache-2.0",
    .open = instance_open,
};
