/*
 * host.c: the upcalls that a backend gets (struct svmx_host of plugin.h).
 *
 * One host an instance, so that its log lines carry its name and its options are its own. Made and released by the
 * registry through svmx__host_maker. Any thread of the backend may call at any time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host {
    struct svmx_host base; /* first: the plugin gives this pointer back */
    struct svmx_executor *executor;
    char backend[32];
    char select[256]; /* "" = none */
    pthread_mutex_t lock; /* guards last_error */
    char last_error[256];
};

static struct host *host_of(const struct svmx_host *base) { return (struct host *)(uintptr_t)base; }

static void host_log(const struct svmx_host *base, enum svmx_log_level level, const char *text) {
    struct host *host = host_of(base);
    if (level == SVMX_LOG_ERROR) {
        pthread_mutex_lock(&host->lock);
        (void)snprintf(host->last_error, sizeof host->last_error, "%s", text);
        pthread_mutex_unlock(&host->lock);
    }
    svmx__log(&host->executor->log, level, "%s: %s", host->backend, text);
}

static void *host_alloc(const struct svmx_host *base, size_t bytes, size_t alignment) {
    (void)base;
    return svmx__aligned_alloc(bytes, alignment);
}

static void host_release(const struct svmx_host *base, void *memory) {
    (void)base;
    free(memory);
}

static const char *host_option(const struct svmx_host *base, const char *key) {
    const struct host *host = host_of(base);
    const struct svmx__config *config = &host->executor->config;
    if (strcmp(key, "select") == 0) return host->select[0] ? host->select : NULL;
    if (strcmp(key, "threads") == 0) return config->number[SVMX__THREADS] ? config->text[SVMX__THREADS] : NULL;
    if (strcmp(key, "variant") == 0) return config->text[SVMX__VARIANT][0] ? config->text[SVMX__VARIANT] : NULL;
    return NULL;
}

static uint64_t host_now(const struct svmx_host *base) {
    (void)base;
    return svmx__clock_ns();
}

static enum svmx_status host_reference(const struct svmx_host *base, const char *name, const struct svmx_slot *slots,
                                       size_t slot_count) {
    (void)base;
    const struct svmx__op *op = svmx__op_by_name(name);
    if (!op) return SVMX_ERR_UNKNOWN;
    if (slot_count != op->param_count) return SVMX_ERR_ARGUMENT;
    if (slots) svmx__reference_run(op, slots);
    return SVMX_OK;
}

static const struct svmx_host *host_make(void *user, const char *backend, const char *select) {
    struct host *host = calloc(1, sizeof *host);
    if (!host) return NULL;
    host->base = (struct svmx_host){.size = sizeof host->base,
                                    .abi_major = SVMX_ABI_MAJOR,
                                    .abi_minor = SVMX_ABI_MINOR,
                                    .log = host_log,
                                    .alloc = host_alloc,
                                    .release = host_release,
                                    .option = host_option,
                                    .now = host_now,
                                    .reference = host_reference};
    host->executor = user;
    (void)snprintf(host->backend, sizeof host->backend, "%s", backend);
    (void)snprintf(host->select, sizeof host->select, "%s", select ? select : "");
    pthread_mutex_init(&host->lock, NULL); /* cannot fail with default attributes */
    return &host->base;
}

static void host_unmake(void *user, const struct svmx_host *base) {
    (void)user;
    struct host *host = host_of(base);
    pthread_mutex_destroy(&host->lock);
    free(host);
}

static void last_error_copy(const struct svmx_host *base, char *line, size_t bytes) {
    struct host *host = host_of(base);
    pthread_mutex_lock(&host->lock);
    (void)snprintf(line, bytes, "%s", host->last_error);
    pthread_mutex_unlock(&host->lock);
}

static const char *host_last_error(void *user, const struct svmx_host *base) {
    (void)user;
    return host_of(base)->last_error; /* asked only right after open failed: nobody writes any more */
}

struct svmx__host_maker svmx__host_maker(struct svmx_executor *executor) {
    return (struct svmx__host_maker){executor, host_make, host_unmake, host_last_error};
}

void svmx__host_last_error(const struct svmx__backend *backend, char *line, size_t bytes) {
    last_error_copy(backend->host, line, bytes);
}
