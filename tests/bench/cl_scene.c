/*
 * cl_scene.c: see cl_scene.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cl_scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define UNASKED_PATIENCE_NS UINT64_C(1000000000) /* for a case of a device of which nothing is asked */

/* ---- devices ---------------------------------------------------------------------------------------------------- */

void cl_scene_demand(enum svmx_status status, const svmx_batch_t *batch, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

static void skip(struct bench *bench, const char *program, const char *why) {
    bench_row(bench, &(struct bench_row){.name = program, .ours = NAN, .peer = NAN, .unit = "us a task", .note = why});
}

/* An executor of one device. false: there is none of that number. */
static bool open_device(struct cl_scene *scene, uint32_t index) {
    char backends[64];
    (void)snprintf(backends, sizeof backends, "+opencl:%u,stop", index);
    const struct svmx_options options = {
        .size = sizeof options, .backends = backends, .timeout_ms = 60000, .log_level = SVMX_LOG_ERROR};
    struct svmx_error error;
    if (svmx_open(&scene->executor, &options, &error) != SVMX_OK) return false;
    scene->device = (struct svmx_device){.size = sizeof scene->device};
    cl_scene_demand(svmx_device_get(scene->executor, 0, &scene->device), NULL, "svmx_device_get");
    scene->pocl = strstr(scene->device.driver, "Portable Computing Language") || strstr(scene->device.driver, "PoCL");
    scene->peer = peer_cl_open(scene->device.name);
    return true;
}

int cl_scene_each(const char *program, void (*measure)(struct cl_scene *scene)) {
    struct cl_scene scene = {.executor = NULL};
    bench_open(&scene.bench, "opencl");
    uint32_t measured = 0;
    for (uint32_t index = 0; open_device(&scene, index); index++) {
        if (!(scene.device.flags & SVMX_DEVICE_TEST) && scene.peer) {
            printf("%-10s on %s%s (%s)\n", "opencl", scene.device.name,
                   scene.device.kind == SVMX_DEVICE_CPU ? " [CPU DEVICE]" : "", scene.device.driver);
            struct bench measured_as = scene.bench;
            scene.bench.place = scene.device.name;
            if (!scene.pocl) { /* nothing is asked of it, and it may be a hundred times as slow */
                scene.bench.patience_ns = UNASKED_PATIENCE_NS;
                scene.bench.least_rounds = 1;
            }
            measure(&scene);
            scene.bench = measured_as;
            measured++;
        }
        peer_cl_close(scene.peer);
        svmx_close(scene.executor);
    }
    if (!measured) skip(&scene.bench, program, "skipped: no OpenCL device");
    return bench_close(&scene.bench);
}

/* ---- work ------------------------------------------------------------------------------------------------------- */

/* Three arrays of `total` floats behind `memory`, cut into tasks. */
static void cut(struct peer_cl_task *tasks, float *memory, const size_t *sizes, size_t count, size_t total) {
    for (size_t i = 0, at = 0; i < count; at += sizes[i++])
        tasks[i] = (struct peer_cl_task){memory + at, memory + total + at, memory + 2 * total + at, sizes[i]};
    for (size_t i = 0; i < total; i++) {
        memory[total + i] = (float)(i % 1009);
        memory[2 * total + i] = (float)(i % 13);
    }
}

static void add_tasks(svmx_batch_t *batch, const struct peer_cl_task *tasks, size_t count, bool library) {
    for (size_t i = 0; i < count; i++) {
        const struct svmx_arg args[] = {
            library ? svmx_out_library(SVMX_F32, tasks[i].n) : svmx_out(SVMX_F32, tasks[i].out, tasks[i].n),
            svmx_in(SVMX_F32, tasks[i].a, tasks[i].n), svmx_in(SVMX_F32, tasks[i].b, tasks[i].n)};
        cl_scene_demand(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), batch, "svmx_batch_add");
    }
}

static void open_in_place(struct cl_work *work, const size_t *sizes, size_t total) {
    void *memory = NULL;
    cl_scene_demand(svmx_batch_alloc(work->in_place, 3 * total * sizeof(float), &memory), work->in_place,
                    "svmx_batch_alloc");
    struct peer_cl_task *tasks = malloc(work->count * sizeof *tasks);
    if (!tasks) exit(1);
    cut(tasks, memory, sizes, work->count, total); /* the first third is not used: the library has the outputs */
    add_tasks(work->in_place, tasks, work->count, true);
    free(tasks);
}

void cl_work_open(struct cl_work *work, struct cl_scene *scene, const size_t *sizes, size_t count) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += sizes[i];
    *work = (struct cl_work){.scene = scene, .count = count};
    work->own = malloc(2 * count * sizeof *work->own);
    work->memory = aligned_alloc(4096, (3 * total * sizeof(float) + 4095) / 4096 * 4096);
    if (!work->own || !work->memory) exit(1);
    cut(work->own, work->memory, sizes, count, total);
    float *shared = peer_cl_shared(scene->peer, 3 * total * sizeof(float));
    if (shared) {
        work->shared = work->own + count;
        cut(work->shared, shared, sizes, count, total);
    }
    peer_cl_prepare(scene->peer, work->own, count);
    cl_scene_demand(svmx_batch_create(scene->executor, &work->callers), NULL, "svmx_batch_create");
    cl_scene_demand(svmx_batch_create(scene->executor, &work->in_place), NULL, "svmx_batch_create");
    open_in_place(work, sizes, total);
    cl_scene_demand(svmx_prewarm(scene->executor, SVMX_OP_VEC_ADD_F32, total), NULL, "svmx_prewarm");
    cl_scene_demand(svmx_run(work->in_place), work->in_place, "svmx_run");
}

void cl_work_close(struct cl_work *work) {
    svmx_batch_destroy(work->callers);
    svmx_batch_destroy(work->in_place);
    free(work->memory);
    free(work->own);
}

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

void cl_run_naive(void *user, uint64_t repeats) {
    struct cl_work *work = user;
    while (repeats-- > 0) peer_cl_naive(work->scene->peer, work->own, work->count);
}

void cl_run_enqueued(void *user, uint64_t repeats) {
    struct cl_work *work = user;
    while (repeats-- > 0) peer_cl_enqueued(work->scene->peer, work->own, work->count);
}

void cl_run_shared(void *user, uint64_t repeats) {
    struct cl_work *work = user;
    while (repeats-- > 0) peer_cl_in_place(work->scene->peer, work->shared, work->count);
}

void cl_run_callers(void *user, uint64_t repeats) {
    struct cl_work *work = user;
    while (repeats-- > 0) {
        cl_scene_demand(svmx_batch_reset(work->callers), work->callers, "svmx_batch_reset");
        add_tasks(work->callers, work->own, work->count, false);
        cl_scene_demand(svmx_run(work->callers), work->callers, "svmx_run");
    }
}

void cl_run_in_place(void *user, uint64_t repeats) {
    struct cl_work *work = user;
    while (repeats-- > 0) {
        cl_scene_demand(svmx_batch_rearm(work->in_place), work->in_place, "svmx_batch_rearm");
        cl_scene_demand(svmx_run(work->in_place), work->in_place, "svmx_run");
    }
}

/* ---- right? ----------------------------------------------------------------------------------------------------- */

static bool sums_are_right(const struct peer_cl_task *task, const float *out) {
    for (size_t i = 0; i < task->n; i++)
        if (!(out[i] == task->a[i] + task->b[i])) return false;
    return true;
}

static bool tasks_are_right(const struct peer_cl_task *tasks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!sums_are_right(&tasks[i], tasks[i].out)) return false;
    return true;
}

__attribute__((format(printf, 2, 3))) static struct cl_verdict say(bool wrong, const char *format, ...) {
    struct cl_verdict verdict = {.wrong = wrong};
    va_list values;
    va_start(values, format);
    (void)vsnprintf(verdict.note, sizeof verdict.note, format, values);
    va_end(values);
    return verdict;
}

/* Why another device answered: what its receipt has, or what is held against the operation on the device. */
static struct cl_verdict tell_who(const struct cl_scene *scene, const struct svmx_receipt *receipt) {
    static const char *const words[] = {"not tried", "proved", "not offered", "off", "quarantined"};
    struct svmx_device_op known = {.size = sizeof known};
    struct svmx_device who = {.size = sizeof who}, now = {.size = sizeof now};
    cl_scene_demand(svmx_device_op_get(scene->executor, 0, receipt->op, &known), NULL, "svmx_device_op_get");
    cl_scene_demand(svmx_device_get(scene->executor, receipt->device, &who), NULL, "svmx_device_get");
    cl_scene_demand(svmx_device_get(scene->executor, 0, &now), NULL, "svmx_device_get");
    if (known.fitness > SVMX_FITNESS_PROVED)
        return say(true, "%s on this driver: %s", words[known.fitness % 5], known.reason);
    if (*receipt->reason) return say(true, "answered by %s: %s", who.name, receipt->reason);
    if (!now.usable) return say(true, "answered by %s: the device is given up: %s", who.name, now.health_reason);
    return say(true, "answered by %s: the router sent it there", who.name);
}

/* In one launch, with one copy back, or none where the device writes into the host's memory. More are asked for where work is
 * long, or memory short: on slow devices that is as it should be. */
struct cl_verdict cl_scene_check(const struct cl_scene *scene, const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    const uint32_t readbacks = scene->device.flags & SVMX_DEVICE_SHARES_MEMORY ? 0 : 1;
    if (svmx_receipt_count(batch) != 1 || svmx_receipt_get(batch, 0, &receipt) != SVMX_OK)
        return say(true, "it has %u receipts", svmx_receipt_count(batch));
    if (receipt.device != 0) return tell_who(scene, &receipt);
    if (receipt.launches == 1 && receipt.readbacks == readbacks) return (struct cl_verdict){.wrong = false};
    return say(scene->pocl, "%u launches, %u readbacks: %s", receipt.launches, receipt.readbacks,
               *receipt.reason ? receipt.reason : "cut, since it is expected to take more than 100 ms");
}

static bool lane_is_right(struct cl_work *work, void (*run)(void *, uint64_t), const struct peer_cl_task *tasks) {
    for (size_t i = 0; i < work->count; i++) memset(tasks[i].out, 0xff, tasks[i].n * sizeof(float));
    run(work, 1);
    return tasks_are_right(tasks, work->count);
}

static bool results_are_right(struct cl_work *work) {
    for (uint32_t i = 0; i < work->count; i++) {
        void *data = NULL;
        cl_scene_demand(svmx_result(work->in_place, i, 0, &data, NULL), work->in_place, "svmx_result");
        if (!sums_are_right(&work->own[i], data)) return false;
    }
    return true;
}

struct cl_verdict cl_work_check(struct cl_work *work) {
    if (!lane_is_right(work, cl_run_naive, work->own)) return say(true, "naive use of this driver gives wrong sums");
    if (!lane_is_right(work, cl_run_enqueued, work->own)) return say(true, "enqueued, this driver gives wrong sums");
    if (work->shared && !lane_is_right(work, cl_run_shared, work->shared))
        return say(true, "in shared memory this driver gives wrong sums");
    if (!lane_is_right(work, cl_run_callers, work->own))
        return say(true, "the results in the caller's memory are wrong");
    const struct cl_verdict callers = cl_scene_check(work->scene, work->callers);
    if (callers.wrong) return callers;
    cl_run_in_place(work, 1);
    if (!results_are_right(work)) return say(true, "the results in place are wrong");
    const struct cl_verdict in_place = cl_scene_check(work->scene, work->in_place);
    return *in_place.note ? in_place : callers;
}
