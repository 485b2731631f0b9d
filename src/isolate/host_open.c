/*
 * host_open.c: the plugin of svmx-host: loaded, opened, described, closed; and the upcalls that it gets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "isolate/host.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "ops/chain_f32.h"
#include "plugin/loader.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>

/* ---- upcalls ---------------------------------------------------------------------------------------------------- */

static struct hosted *hosted_of(const struct svmx_host *upcalls) { return (struct hosted *)(uintptr_t)upcalls; }

/* One that there is no memory for is lost, and not half of it. */
static void put_line(struct svmx__wire *lines, enum svmx_log_level level, const char *text) {
    const size_t before = lines->count;
    svmx__wire_put(lines, level);
    svmx__wire_put_text(lines, text);
    if (lines->broken) lines->count = before;
    lines->broken = false;
}

/* A thread that answers a call has its lines go with the answer; so a reason is never behind its failure. */
static void up_log(const struct svmx_host *upcalls, enum svmx_log_level level, const char *text) {
    struct hosted *hosted = hosted_of(upcalls);
    if (svmx__host_lines) {
        put_line(svmx__host_lines, level, text);
        return;
    }
    pthread_mutex_lock(&hosted->lock);
    put_line(&hosted->strays, level, text);
    pthread_mutex_unlock(&hosted->lock);
}

static void *up_alloc(const struct svmx_host *upcalls, size_t bytes, size_t alignment) {
    (void)upcalls;
    return svmx__aligned_alloc(bytes, alignment);
}

static void up_release(const struct svmx_host *upcalls, void *memory) {
    (void)upcalls;
    free(memory);
}

static const char *up_option(const struct svmx_host *upcalls, const char *key) {
    const struct hosted *hosted = hosted_of(upcalls);
    if (strcmp(key, "select") == 0) return hosted->select;
    if (strcmp(key, "threads") == 0) return hosted->threads;
    if (strcmp(key, "variant") == 0) return hosted->variant;
    if (strcmp(key, "sim_model") == 0) return hosted->sim_model;
    return NULL;
}

static uint64_t up_now(const struct svmx_host *upcalls) {
    (void)upcalls;
    return svmx__clock_ns(); /* the machine's: the same in every process */
}

/* Built-in ones only: functions of the program are in the program. */
static enum svmx_status up_reference(const struct svmx_host *upcalls, const char *name, const struct svmx_slot *slots,
                                     size_t slot_count) {
    (void)upcalls;
    const struct svmx__op *op = strcmp(name, SVMX__CHAIN_NAME) == 0 ? svmx__op_chain_f32() : svmx__op_by_name(name);
    if (!op) return SVMX_ERR_UNKNOWN;
    if (slot_count != op->param_count) return SVMX_ERR_ARGUMENT;
    if (slots) svmx__reference_run(op, slots);
    return SVMX_OK;
}

enum svmx_status svmx__host_fail(struct hosted *hosted, enum svmx_status status, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    up_log(&hosted->upcalls, SVMX_LOG_ERROR, line);
    return status;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static bool note_flags(struct hosted *hosted, uint32_t flags) {
    uint32_t *grown = realloc(hosted->device_flags, (hosted->device_count + 1) * sizeof *grown);
    if (!grown) return false;
    hosted->device_flags = grown;
    grown[hosted->device_count++] = flags;
    return true;
}

/* Appends every device, after their count, which is written when it is known. */
static enum svmx_status describe(struct hosted *hosted, struct svmx__wire *answer) {
    const struct svmx_backend *instance = &hosted->backend.instance;
    const size_t count_at = answer->count;
    svmx__wire_put(answer, 0);
    for (uint32_t index = 0;; index++) {
        struct svmx_device_info info = {.size = sizeof info};
        const enum svmx_status status = instance->ops->device_info(instance->self, index, &info);
        if (status != SVMX_OK) {
            if (status != SVMX_ERR_UNKNOWN)
                (void)svmx__host_fail(hosted, status, "device %u cannot be described: %s", (unsigned)index,
                                      svmx_status_name(status));
            if (!answer->broken) answer->words[count_at] = index;
            return SVMX_OK;
        }
        if (info.flags & SVMX_DEVICE_HOST_MEMORY)
            return svmx__host_fail(
                hosted, SVMX_ERR_ARGUMENT,
                "cannot be isolated: it works in the caller's memory, which is in another process; take it "
                "out of SUPERVM_ISOLATE");
        if (!note_flags(hosted, info.flags)) return svmx__host_fail(hosted, SVMX_ERR_MEMORY, "no memory for devices");
        svmx__wire_put_bytes(answer, &info, sizeof info);
    }
}

/* ---- open and close --------------------------------------------------------------------------------------------- */

/* Copies a text that is set; false: no memory. */
static bool copy_text(char **copy, const char *text) {
    *copy = text ? strdup(text) : NULL;
    return !text || *copy;
}

static enum svmx_status load(struct hosted *hosted, const char *name, const char *path) {
    struct svmx__text why = {""};
    struct svmx__found file = {.path = (char *)(uintptr_t)path};
    struct svmx__inspected inspected;
    (void)snprintf(file.name, sizeof file.name, "%s", name);
    enum svmx_status status = svmx__loader_inspect(&file, &inspected, &why);
    if (status == SVMX_OK) status = svmx__loader_load(&file, &inspected, &hosted->backend.plugin, &why);
    return status == SVMX_OK ? SVMX_OK : svmx__host_fail(hosted, status, "%s", why.line);
}

static enum svmx_status open_plugin(struct hosted *hosted) {
    struct svmx__backend *backend = &hosted->backend;
    struct svmx__text why = {""};
    hosted->upcalls = (struct svmx_host){.size = sizeof hosted->upcalls,
                                         .abi_major = SVMX_ABI_MAJOR,
                                         .abi_minor = SVMX_ABI_MINOR,
                                         .log = up_log,
                                         .alloc = up_alloc,
                                         .release = up_release,
                                         .option = up_option,
                                         .now = up_now,
                                         .reference = up_reference};
    enum svmx_status status = backend->plugin->open(&hosted->upcalls, &backend->instance);
    if (status != SVMX_OK) return status;
    status = svmx__backend_check(backend, &why);
    return status == SVMX_OK ? SVMX_OK : svmx__host_fail(hosted, status, "%s", why.line);
}

enum svmx_status svmx__host_open(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    const uint64_t version = svmx__wire_get(request);
    const char *name = svmx__wire_get_text(request), *path = svmx__wire_get_text(request);
    const char *select = svmx__wire_get_text(request), *threads = svmx__wire_get_text(request);
    const char *variant = svmx__wire_get_text(request);
    const char *sim_model = svmx__wire_get_text(request);
    if (version != SVMX__CALLS_VERSION || request->broken || !name || !path || hosted->backend.plugin)
        return svmx__host_fail(hosted, SVMX_ERR_ABI,
                               SVMX__HOST_PROGRAM " is not of this library's build: install both");
    if (!copy_text(&hosted->select, select) || !copy_text(&hosted->threads, threads) ||
        !copy_text(&hosted->variant, variant) || !copy_text(&hosted->sim_model, sim_model))
        return SVMX_ERR_MEMORY;
    enum svmx_status status = load(hosted, name, path);
    if (status == SVMX_OK) status = open_plugin(hosted);
    if (status != SVMX_OK) return status;
    svmx__wire_put(answer, hosted->backend.instance.ops->pipeline_binary ? SVMX__HOSTED_BINARIES : 0);
    status = describe(hosted, answer);
    atomic_store_explicit(&hosted->open, status == SVMX_OK, memory_order_release);
    return status;
}

enum svmx_status svmx__host_close(struct hosted *hosted, struct svmx__wire *request, struct svmx__wire *answer) {
    (void)request, (void)answer;
    if (atomic_load_explicit(&hosted->open, memory_order_acquire))
        hosted->backend.instance.ops->close(hosted->backend.instance.self);
    atomic_store_explicit(&hosted->open, false, memory_order_release);
    atomic_store_explicit(&hosted->closed, true, memory_order_release);
    return SVMX_OK;
}
