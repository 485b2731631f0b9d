/*
 * tsan_simd_pool.c: eight threads submit to one SIMD backend at once, and to many opened and closed beside it. Made
 * for -fsanitize=thread, under which Criterion does not run; useful without it as well.
 *
 * Links plugins/simd/{plugin,variant,pool}.c and the kernels. The kernels here are its own, plain C that a sanitizer
 * sees into: the plain stores of ranges and of finish are what would be reported if the pool ordered them badly. So is
 * the operation that only the host knows, whose pipeline is built and freed by all at once (hosted.c).
 * Prints "N passed, N failed"; status 1 when something failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/kernel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef SIMD_PLUGIN_SYMBOL
#define SIMD_PLUGIN_SYMBOL svmx_plugin
#endif
extern const struct svmx_plugin SIMD_PLUGIN_SYMBOL;

enum { CALLERS = 8, ROUNDS = 400, TASKS = 600, UNITS_A_TASK = 5, UNITS = TASKS * UNITS_A_TASK };

static atomic_uint passed, failed;

static void check(bool condition, const char *what) {
    atomic_fetch_add(condition ? &passed : &failed, 1);
    if (!condition) fprintf(stderr, "failed: %s\n", what);
}

/* ---- a host ----------------------------------------------------------------------------------------------- */

static void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    if (level < SVMX_LOG_DEBUG) fprintf(stderr, "%s\n", text);
}

static void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    (void)host;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    free(memory);
}

static const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    return strcmp(key, "threads") == 0 ? "5" : NULL;
}

static uint64_t host_now(const struct svmx_host *host) {
    (void)host;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One operation, "known": out = 3 * in + 1, slowly. */
static enum svmx_status host_reference(const struct svmx_host *host, const char *op, const struct svmx_slot *slots,
                                       size_t slot_count) {
    (void)host;
    if (strcmp(op, "known") != 0) return SVMX_ERR_UNKNOWN;
    if (slot_count != 2) return SVMX_ERR_ARGUMENT;
    if (slots == NULL) return SVMX_OK;
    for (volatile int i = 0; i < 300; i++)
        ;
    *(uint64_t *)(uintptr_t)slots[0].at = *(const uint64_t *)(uintptr_t)slots[1].at * 3 + 1;
    return SVMX_OK;
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .now = host_now,
                                      .reference = host_reference};

/* ---- kernels: out[task] = sum over its units of (seed + unit) ----------------------------------------------- */

static void add_run(const struct svmx_dispatch *dispatch, uint64_t first, uint64_t end) {
    uint64_t *scratch = dispatch->host_scratch;
    for (uint64_t i = first; i < end; i++) scratch[i] = dispatch->slots[0].at + i;
}

static void add_finish(const struct svmx_dispatch *dispatch, uint32_t first, uint32_t end) {
    const uint64_t *scratch = dispatch->host_scratch;
    uint64_t *out = (uint64_t *)(uintptr_t)dispatch->slots[1].at;
    for (uint32_t task = first; task < end; task++) {
        out[task] = 0;
        for (uint64_t i = dispatch->first_unit[task]; i < dispatch->first_unit[task + 1]; i++) out[task] += scratch[i];
    }
}

static const struct simd_kernel add_kernel = {"add", add_run, add_finish, 8, 1000, 0};

/* ---- callers ---------------------------------------------------------------------------------------------- */

struct caller {
    const struct svmx_backend *backend;
    uint64_t number;
};

/* All that a submission points at lives in this frame: a helper that came late would be caught. */
static bool submit_once(const struct svmx_backend *backend, uint64_t seed, uint32_t tasks, uint64_t work) {
    uint64_t first_unit[TASKS + 1], scratch[UNITS], out[TASKS];
    for (uint32_t i = 0; i <= tasks; i++) first_unit[i] = (uint64_t)i * UNITS_A_TASK;
    struct svmx_slot slots[2] = {{seed, 8}, {(uintptr_t)out, sizeof out}};
    struct svmx_command command = {.kind = SVMX_COMMAND_DISPATCH};
    command.as.dispatch = (struct svmx_dispatch){.pipeline = (struct svmx_pipeline *)(uintptr_t)&add_kernel,
                                                 .slots = slots,
                                                 .first_unit = first_unit,
                                                 .task_count = tasks,
                                                 .slot_count = 2,
                                                 .work = work,
                                                 .host_scratch = scratch};
    struct svmx_command_list list = {sizeof list, sizeof command, &command, 1};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    uint64_t ticket = 1;
    if (backend->ops->submit(backend->self, &submission, &ticket) != SVMX_OK || ticket != 0) return false;
    uint64_t wrong = 0;
    for (uint64_t task = 0; task < tasks; task++) {
        uint64_t expected = 0;
        for (uint64_t i = 0; i < UNITS_A_TASK; i++) expected += seed + task * UNITS_A_TASK + i;
        wrong += out[task] != expected;
    }
    return wrong == 0;
}

/* The same for the host's operation, with a pipeline of its own from build to free. */
static bool host_once(const struct svmx_backend *backend, uint64_t seed, uint32_t tasks) {
    const struct svmx_op_desc op = {.size = sizeof op, .name = "known", .param_count = 2};
    const struct svmx_pipeline_desc desc = {.size = sizeof desc, .op = &op, .bucket = 16384};
    struct svmx_pipeline *pipeline;
    uint64_t first_unit[TASKS + 1], in[TASKS], out[TASKS], ticket = 1;
    struct svmx_slot slots[TASKS * 2];
    if (backend->ops->pipeline_build(backend->self, 0, &desc, &pipeline) != SVMX_OK) return false;
    for (uint32_t i = 0; i <= tasks; i++) first_unit[i] = i / 2; /* every second task is empty, and runs */
    for (uint32_t i = 0; i < tasks; i++) {
        in[i] = seed + i;
        slots[2 * i] = (struct svmx_slot){(uintptr_t)&out[i], 8};
        slots[2 * i + 1] = (struct svmx_slot){(uintptr_t)&in[i], 8};
    }
    struct svmx_command command = {.kind = SVMX_COMMAND_DISPATCH};
    command.as.dispatch = (struct svmx_dispatch){.pipeline = pipeline,
                                                 .slots = slots,
                                                 .first_unit = first_unit,
                                                 .task_count = tasks,
                                                 .slot_count = 2,
                                                 .work = tasks};
    struct svmx_command_list list = {sizeof list, sizeof command, &command, 1};
    struct svmx_submission submission = {.size = sizeof submission, .list = &list};
    if (backend->ops->submit(backend->self, &submission, &ticket) != SVMX_OK || ticket != 0) return false;
    backend->ops->pipeline_free(backend->self, pipeline);
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < tasks; i++) wrong += out[i] != (seed + i) * 3 + 1;
    return wrong == 0;
}

static void *caller_main(void *argument) {
    const struct caller *caller = argument;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint32_t tasks = 1 + (uint32_t)((round * 131 + caller->number * 17) % TASKS);
        static const uint64_t works[] = {10, 20000, 20000, 2000000}; /* alone, with who is awake, shared */
        uint64_t work = works[round % 4];
        check(submit_once(caller->backend, caller->number << 32 | round, tasks, work), "results of a submit");
        check(host_once(caller->backend, caller->number << 32 | round, tasks), "results of the host's operation");
    }
    return NULL;
}

static void open_or_die(struct svmx_backend *backend) {
    if (SIMD_PLUGIN_SYMBOL.open(&host, backend) == SVMX_OK) return;
    fprintf(stderr, "open failed\n");
    exit(2);
}

static void callers_race(void) {
    struct svmx_backend backend;
    pthread_t thread[CALLERS];
    struct caller caller[CALLERS];
    open_or_die(&backend);
    for (uint64_t i = 0; i < CALLERS; i++) {
        caller[i] = (struct caller){&backend, i};
        if (pthread_create(&thread[i], NULL, caller_main, &caller[i]) != 0) exit(2);
    }
    for (int i = 0; i < 40; i++) { /* instances share nothing: these come and go meanwhile */
        struct svmx_backend other;
        open_or_die(&other);
        if (i % 2 == 0) check(submit_once(&other, 99, TASKS, 2000000), "results on a second instance");
        other.ops->close(other.self);
    }
    for (int i = 0; i < CALLERS; i++) pthread_join(thread[i], NULL);
    backend.ops->close(backend.self);
}

int main(void) {
    callers_race();
    printf("%u passed, %u failed\n", atomic_load(&passed), atomic_load(&failed));
    return atomic_load(&failed) == 0 ? 0 : 1;
}
