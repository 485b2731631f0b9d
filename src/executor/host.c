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
#include "ops/chain_f32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that an upcall needs, its own: an instance that was abandoned may call after svmx_close. */
struct host {
    struct svmx_host base; /* first: the plugin gives this pointer back */
    char backend[32];
    char *select, *threads, *variant; /* NULL = not set; so the next */
    char *sim_model;
    struct svmx__operations *operations; /* a reference */
    bool again;                          /* an instance of this backend was given up before */
    atomic_bool orphan;                  /* the executor has gone: functions of the program are not called any more */
    pthread_mutex_t lock;                /* guards all below */
    struct svmx__log log;
    bool opening; /* the registry reports why an instance did not open: its own lines are for debugging then */
    char last_error[256];
    char warned[384]; /* while it opened; "; " between lines */
    char told[384];   /* a copy for who asks; not under the lock */
};

/* What a backend said last in this thread: of a refusal that is no error nothing else tells why. */
static _Thread_local char said[128];

static struct host *host_of(const struct svmx_host *base) { return (struct host *)(uintptr_t)base; }

static void note_warning(struct host *host, const char *text) {
    const size_t length = strlen(host->warned);
    (void)snprintf(host->warned + length, sizeof host->warned - length, "%s%s", length ? "; " : "", text);
}

static void host_log(const struct svmx_host *base, enum svmx_log_level level, const char *text) {
    struct host *host = host_of(base);
    (void)snprintf(said, sizeof said, "%s", text);
    pthread_mutex_lock(&host->lock);
    const struct svmx__log log = host->log;
    if (level == SVMX_LOG_ERROR) {
        (void)snprintf(host->last_error, sizeof host->last_error, "%s", text);
        if (host->opening) level = SVMX_LOG_DEBUG;
    }
    if (level == SVMX_LOG_WARN && host->opening) note_warning(host, text);
    pthread_mutex_unlock(&host->lock);
    svmx__log(&log, level, "%s: %s", host->backend, text);
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
    if (strcmp(key, "select") == 0) return host->select;
    if (strcmp(key, "threads") == 0) return host->threads;
    if (strcmp(key, "variant") == 0) return host->variant;
    if (strcmp(key, "sim_model") == 0) return host->sim_model;
    if (strcmp(key, "again") == 0 && host->again) return "1";
    return NULL;
}

static uint64_t host_now(const struct svmx_host *base) {
    (void)base;
    return svmx__clock_ns();
}

static enum svmx_status host_reference(const struct svmx_host *base, const char *name, const struct svmx_slot *slots,
                                       size_t slot_count) {
    const struct host *host = host_of(base);
    const struct svmx__op *op = svmx__operations_by_name(host->operations, name);
    if (!op && strcmp(name, SVMX__CHAIN_NAME) == 0) op = svmx__op_chain_f32();
    if (!op || (!op->reference && atomic_load_explicit(&host->orphan, memory_order_acquire))) return SVMX_ERR_UNKNOWN;
    if (slot_count != op->param_count) return SVMX_ERR_ARGUMENT;
    if (slots) svmx__reference_run(op, slots);
    return SVMX_OK;
}

static void host_unmake(void *user, const struct svmx_host *base) {
    (void)user;
    struct host *host = host_of(base);
    pthread_mutex_destroy(&host->lock);
    free(host->select);
    free(host->threads);
    free(host->variant);
    free(host->sim_model);
    svmx__operations_release(host->operations);
    free(host);
}

/* Copies a text that is set; false: no memory. */
static bool copy_text(char **copy, const char *text) {
    if (text && *text) *copy = strdup(text);
    return !text || !*text || *copy;
}

static const struct svmx_host *host_make(void *user, const char *backend, const char *select) {
    const struct svmx_executor *executor = user;
    const struct svmx__config *config = &executor->config;
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
    host->log = executor->log;
    host->again = executor->devices != NULL; /* the first instances are opened before devices are found */
    host->opening = true;
    host->operations = executor->operations;
    svmx__operations_retain(host->operations);
    (void)snprintf(host->backend, sizeof host->backend, "%s", backend);
    pthread_mutex_init(&host->lock, NULL); /* cannot fail with default attributes */
    if (copy_text(&host->select, select) &&
        copy_text(&host->threads, config->number[SVMX__THREADS] ? config->text[SVMX__THREADS] : NULL) &&
        copy_text(&host->variant, config->text[SVMX__VARIANT]) &&
        copy_text(&host->sim_model, config->text[SVMX__SIM_MODEL]))
        return &host->base;
    host_unmake(NULL, &host->base);
    return NULL;
}

static const char *host_last_error(void *user, const struct svmx_host *base) {
    (void)user;
    return host_of(base)->last_error; /* asked only right after open failed: nobody writes any more */
}

static const char *host_warnings(void *user, const struct svmx_host *base) {
    struct host *host = host_of(base);
    (void)user;
    pthread_mutex_lock(&host->lock); /* threads of the plugin may go on warning */
    memcpy(host->told, host->warned, sizeof host->told);
    pthread_mutex_unlock(&host->lock);
    return host->told;
}

static void host_orphan(void *user, const struct svmx_host *base) {
    struct host *host = host_of(base);
    (void)user;
    pthread_mutex_lock(&host->lock);
    host->log = (struct svmx__log){.level = SVMX_LOG_OFF};
    atomic_store_explicit(&host->orphan, true, memory_order_release);
    pthread_mutex_unlock(&host->lock);
}

struct svmx__host_maker svmx__host_maker(struct svmx_executor *executor) {
    return (struct svmx__host_maker){executor, host_make, host_unmake, host_last_error, host_warnings, host_orphan};
}

void svmx__host_opened(const struct svmx__backend *backend) {
    struct host *host = host_of(backend->host);
    pthread_mutex_lock(&host->lock);
    host->opening = false;
    pthread_mutex_unlock(&host->lock);
}

void svmx__host_orphan(const struct svmx__backend *backend) { host_orphan(NULL, backend->host); }

void svmx__host_take_error(const struct svmx__backend *backend, char *line, size_t bytes) {
    struct host *host = host_of(backend->host);
    pthread_mutex_lock(&host->lock);
    (void)snprintf(line, bytes, "%s", host->last_error[0] ? host->last_error : "it logged no reason");
    host->last_error[0] = '\0';
    pthread_mutex_unlock(&host->lock);
}

void svmx__host_listen(void) { said[0] = '\0'; }

const char *svmx__host_heard(void) { return said; }
