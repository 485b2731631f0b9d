/*
 * plugin.c: the SIMD backend: one device, the CPU, that computes in the memory of the caller before submit returns.
 *
 *   open            features and settings -> variant (variant.c), threads (pool.c)
 *   pipeline_build  operation -> a line of the variant's table; that line *is* the pipeline. Where there is none but the
 *                   host has code of its own (an operation that a program registered): hosted.c
 *   submit          dispatches in order, in the calling thread; what outweighs a hand-over is shared with the pool
 *
 * The core loads it with dlopen, or links it in and names the symbol itself (SIMD_PLUGIN_SYMBOL). It includes
 * nothing of the core but svmx/plugin.h. The reference and this plugin give the same bits: so does every variant,
 * thread count and cut, because kernels promise it (kernel.h) and the floating-point environment is pinned here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "chain.h"
#include "hosted.h"
#include "kernel.h"
#include "pool.h"
#include "sources_hash.h"
#include "variant.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.0.0"
#endif
#ifndef SIMD_PLUGIN_SYMBOL
#define SIMD_PLUGIN_SYMBOL svmx_plugin
#endif

enum { MAX_THREADS = 1024 };

struct simd_backend {
    const struct svmx_host *host;
    struct simd_pool *pool;
    struct simd_hosted_set hosted;
    const char *variant;
    uint32_t features;
    char cpu[49];
};

/* ---- settings --------------------------------------------------------------------------------------------- */

/* CPUs that the opening thread may use. A mask wider than cpu_set_t is refused by the kernel: then all that are on. */
static uint32_t threads_default(void) {
    cpu_set_t mask;
    long count = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1) return 1;
    return count > MAX_THREADS ? MAX_THREADS : (uint32_t)count;
}

/* Digits only: no sign, no blank. False for anything but 1..MAX_THREADS. */
static bool threads_parse(const char *text, uint32_t *threads) {
    uint32_t value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9') return false;
        value = value * 10 + (uint32_t)(*at - '0');
        if (value > MAX_THREADS) return false;
    }
    *threads = value;
    return value >= 1;
}

static enum svmx_status threads_choose(const struct svmx_host *host, uint32_t *threads) {
    const char *wanted = host->option(host, "threads");
    if (wanted == NULL) {
        *threads = threads_default();
        return SVMX_OK;
    }
    if (threads_parse(wanted, threads)) return SVMX_OK;
    char text[160];
    snprintf(text, sizeof text, "threads=\"%.32s\" is not a number from 1 to %d", wanted, MAX_THREADS);
    host->log(host, SVMX_LOG_ERROR, text);
    return SVMX_ERR_ARGUMENT;
}

static enum svmx_status variant_choose(const struct svmx_host *host, uint32_t features, const char **variant) {
    const char *wanted = host->option(host, "variant");
    const char *found = wanted == NULL ? simd_variant_best(features) : simd_variant_find(features, wanted);
    if (found != NULL) {
        *variant = found;
        return SVMX_OK;
    }
    char available[64], text[192];
    simd_variant_list(features, available, sizeof available);
    snprintf(text, sizeof text,
             "no variant \"%.32s\" on this machine (SUPERVM_VARIANT, options.variant); available: %s", wanted,
             available);
    host->log(host, SVMX_LOG_ERROR, text);
    return SVMX_ERR_ARGUMENT;
}

/* ---- device and pipelines --------------------------------------------------------------------------------- */

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct simd_backend *backend = self;
    if (index != 0) return SVMX_ERR_UNKNOWN;
    uint32_t threads = simd_pool_threads(backend->pool);
    struct svmx_device_info mine = {
        .size = info->size,
        .kind = SVMX_DEVICE_CPU,
        .flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_INLINE | SVMX_DEVICE_CHAINS,
        .compute_engines = 1,
        .threads = threads,
        .alignment = 64, /* none is needed; this is what runs best */
    };
    snprintf(mine.name, sizeof mine.name, "%s, %u thread%s", backend->cpu, (unsigned)threads, threads == 1 ? "" : "s");
    snprintf(mine.driver, sizeof mine.driver, "svmx-simd %s", PACKAGE_VERSION);
    snprintf(mine.variant, sizeof mine.variant, "%s", backend->variant);
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

/* A pipeline is a kernel under another name: a line of a table, constant, or one that hosted.c made. */
static struct svmx_pipeline *pipeline_of(const struct simd_kernel *kernel) {
    return (struct svmx_pipeline *)(uintptr_t)kernel; /* the ABI's pointer is not const; nobody writes through it */
}

static const struct simd_kernel *kernel_of(const struct svmx_dispatch *dispatch) {
    return (const struct simd_kernel *)(const void *)dispatch->pipeline;
}

/* No fault if there is none: the core asks about every operation. */
static enum svmx_status hosted_build(struct simd_backend *backend, const struct svmx_op_desc *op,
                                     const struct simd_kernel **kernel) {
    const struct svmx_host *host = backend->host;
    enum svmx_status status = simd_hosted_get(&backend->hosted, host, op, kernel);
    char text[160];
    snprintf(text, sizeof text, "variant %s has no kernel for \"%.64s\"%s", backend->variant, op->name,
             status == SVMX_OK ? ": variant host, the reference code on all threads" : "");
    host->log(host, status == SVMX_ERR_MEMORY ? SVMX_LOG_ERROR : SVMX_LOG_DEBUG,
              status == SVMX_ERR_MEMORY ? "pipeline_build: no memory" : text);
    return status;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    struct simd_backend *backend = self;
    if (device != 0) {
        backend->host->log(backend->host, SVMX_LOG_ERROR, "pipeline_build: there is only device 0");
        return SVMX_ERR_UNKNOWN;
    }
    const struct simd_kernel *kernel = simd_kernel_find(backend->features, backend->variant, desc->op->name);
    if (kernel == NULL) {
        enum svmx_status status = hosted_build(backend, desc->op, &kernel);
        if (status != SVMX_OK) return status;
    }
    *pipeline = pipeline_of(kernel);
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) {
    struct simd_backend *backend = self;
    const struct simd_kernel *kernel = (const void *)pipeline;
    if (kernel->run == NULL) simd_hosted_put(&backend->hosted, kernel);
}

/* ---- submit ----------------------------------------------------------------------------------------------- */

static void run_range(const void *context, uint64_t first, uint64_t end) {
    const struct svmx_dispatch *dispatch = context;
    kernel_of(dispatch)->run(dispatch, first, end);
}

static void finish_range(const void *context, uint64_t first, uint64_t end) {
    const struct svmx_dispatch *dispatch = context;
    kernel_of(dispatch)->finish(dispatch, (uint32_t)first, (uint32_t)end);
}

/* Rough, in picoseconds. Messages may be empty and still cost: a unit counts as one work at least. */
static uint64_t run_cost(const struct svmx_dispatch *dispatch, uint64_t units) {
    uint64_t work = dispatch->work > units ? dispatch->work : units, cost;
    if (__builtin_mul_overflow(work, kernel_of(dispatch)->ps_per_work, &cost)) return UINT64_MAX;
    return cost;
}

/* Measured: 2 ns a task of one unit, and a quarter of a ns for each unit of a long one. */
static uint64_t finish_cost(const struct svmx_dispatch *dispatch, uint64_t units) {
    return units * 250 + dispatch->task_count * UINT64_C(2000);
}

/* The pool would run a small job alone as well; asking here saves the small path a call through two tables. */
static bool worth_sharing(uint64_t cost_ps) { return cost_ps >= UINT64_C(1000) * SIMD_POOL_ALONE_NS; }

static void dispatch_finish(struct simd_pool *pool, const struct svmx_dispatch *dispatch, uint64_t units) {
    uint64_t cost = finish_cost(dispatch, units);
    if (dispatch->task_count > 1 && worth_sharing(cost))
        simd_pool_run(pool, &(struct simd_job){finish_range, dispatch, dispatch->task_count, 1, cost, 0});
    else
        kernel_of(dispatch)->finish(dispatch, 0, dispatch->task_count);
}

static void dispatch_run(struct simd_pool *pool, const struct svmx_dispatch *dispatch) {
    if (dispatch->task_count == 0) return;
    const struct simd_kernel *kernel = kernel_of(dispatch);
    if (kernel->run == NULL) {
        simd_hosted_run(kernel, pool, dispatch);
        return;
    }
    uint64_t units = dispatch->first_unit[dispatch->task_count];
    uint64_t cost = run_cost(dispatch, units);
    if (worth_sharing(cost))
        simd_pool_run(pool, &(struct simd_job){run_range, dispatch, units, kernel->units_per_grain, cost,
                                               kernel->units_per_range});
    else if (units != 0)
        kernel->run(dispatch, 0, units);
    if (kernel->finish != NULL) /* of tasks without units too: an empty sum has a value */
        dispatch_finish(pool, dispatch, units);
}

/* The stride is the core's: a later minor version may have longer commands than we know. */
static const struct svmx_command *command_at(const struct svmx_command_list *list, size_t index) {
    return (const void *)((const char *)list->commands + index * list->command_size);
}

/* The links behind the command `index`, a chain. `count` 0: there are not so many dispatches. */
static struct simd_chain chain_at(const struct svmx_command_list *list, size_t index) {
    struct simd_chain chain = {command_at(list, index + 1), list->command_size,
                               command_at(list, index)->as.chain.count};
    if (chain.count > list->count - index - 1) chain.count = 0;
    for (size_t i = index + 1; i <= index + chain.count; i++)
        if (command_at(list, i)->kind != SVMX_COMMAND_DISPATCH) chain.count = 0;
    return chain;
}

static bool is_known(const struct svmx_command_list *list, size_t index) {
    const uint32_t kind = command_at(list, index)->kind;
    if (kind == SVMX_COMMAND_DISPATCH || kind == SVMX_COMMAND_BARRIER) return true;
    if (kind != SVMX_COMMAND_CHAIN) return false;
    const struct simd_chain chain = chain_at(list, index);
    return simd_chain_is_sound(&chain);
}

/* A failed submit has started nothing: all is looked at before any is run. */
static enum svmx_status submission_check(const struct simd_backend *backend, const struct svmx_submission *submission) {
    const struct svmx_host *host = backend->host;
    if (submission->device != 0 || submission->engine != 0) {
        host->log(host, SVMX_LOG_ERROR, "submit: there is only device 0 with engine 0");
        return SVMX_ERR_UNKNOWN;
    }
    const struct svmx_command_list *list = submission->list;
    if (list == NULL) {
        host->log(host, SVMX_LOG_ERROR, "submit: recorded lists are not offered");
        return SVMX_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (is_known(list, i)) continue;
        char text[96];
        snprintf(text, sizeof text, "submit: no such command on host memory: %u, of kind %u", (unsigned)i,
                 (unsigned)command_at(list, i)->kind);
        host->log(host, SVMX_LOG_ERROR, text);
        return SVMX_ERR_UNSUPPORTED;
    }
    return SVMX_OK;
}

/* Tickets to wait for are all finished: ours are 0 from the start. Any number of threads at once. */
static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    const struct simd_backend *backend = self;
    enum svmx_status status = submission_check(backend, submission);
    if (status != SVMX_OK) return status;
    const struct svmx_command_list *list = submission->list;
    uint64_t fp_state = simd_fp_enter();
    for (size_t i = 0; i < list->count; i++) {
        const struct svmx_command *command = command_at(list, i);
        if (command->kind == SVMX_COMMAND_DISPATCH) { /* a barrier asks for nothing: all before it is done */
            dispatch_run(backend->pool, &command->as.dispatch);
        } else if (command->kind == SVMX_COMMAND_CHAIN) {
            const struct simd_chain chain = chain_at(list, i);
            simd_chain_run(backend->pool, &chain);
            i += chain.count;
        }
    }
    simd_fp_leave(fp_state);
    *ticket = 0;
    return SVMX_OK;
}

/* The core does not wait for ticket 0, and there is no other. */
static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    const struct simd_backend *backend = self;
    (void)timeout_ns;
    if (device != 0 || ticket != 0) {
        backend->host->log(backend->host, SVMX_LOG_ERROR, "wait: no such ticket, all are 0");
        return SVMX_ERR_UNKNOWN;
    }
    struct svmx_timing none = {.size = timing->size}; /* the core takes the time by its own clock */
    memcpy(timing, &none, timing->size < sizeof none ? timing->size : sizeof none);
    return SVMX_OK;
}

/* ---- open and close --------------------------------------------------------------------------------------- */

static void backend_close(void *self) {
    struct simd_backend *backend = self;
    const struct svmx_host *host = backend->host;
    simd_pool_close(backend->pool);
    simd_hosted_fini(&backend->hosted);
    host->release(host, backend);
}

static const struct svmx_backend_ops backend_ops = {
    .size = sizeof(struct svmx_backend_ops),
    .device_info = device_info,
    .memory_alloc = NULL, /* HOST_MEMORY: never asked for */
    .memory_free = NULL,
    .pipeline_build = pipeline_build,
    .pipeline_free = pipeline_free,
    .pipeline_binary = NULL, /* nothing is compiled */
    .list_record = NULL,     /* nothing would be saved */
    .list_free = NULL,
    .submit = submit,
    .wait = wait_ticket,
    .close = backend_close,
};

static enum svmx_status backend_open(const struct svmx_host *host, struct svmx_backend *opened) {
    if (host->abi_major != SVMX_ABI_MAJOR || host->size < sizeof *host)
        return SVMX_ERR_ABI; /* not even its log can be trusted */

    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    const char *variant;
    uint32_t threads;
    enum svmx_status status = variant_choose(host, features, &variant);
    if (status != SVMX_OK) return status;
    status = threads_choose(host, &threads);
    if (status != SVMX_OK) return status;

    struct simd_backend *backend = host->alloc(host, sizeof *backend, 64);
    if (backend == NULL) {
        host->log(host, SVMX_LOG_ERROR, "no memory for the instance");
        return SVMX_ERR_MEMORY;
    }
    *backend = (struct simd_backend){.host = host, .variant = variant, .features = features};
    simd_cpu_name(backend->cpu, sizeof backend->cpu);
    status = simd_pool_open(host, threads, &backend->pool);
    if (status != SVMX_OK) goto release_backend;
    simd_hosted_init(&backend->hosted);
    *opened = (struct svmx_backend){.ops = &backend_ops, .self = backend};
    return SVMX_OK;

release_backend:
    host->release(host, backend);
    return status;
}

SVMX_EXPORT extern const struct svmx_plugin SIMD_PLUGIN_SYMBOL;
const struct svmx_plugin SIMD_PLUGIN_SYMBOL = {
    .magic = SVMX_PLUGIN_MAGIC,
    .size = sizeof(struct svmx_plugin),
    .abi_major = SVMX_ABI_MAJOR,
    .abi_minor = SVMX_ABI_MINOR,
    .name = "simd",
    .version = PACKAGE_VERSION "+" SIMD_HASH,
    .licence = "Apache-2.0",
    .open = backend_open,
};
