/*
 * opencl_compositions.c: suite opencl: vector sums in the compositions that batches have, in all ways (cl_scene.h).
 *
 * Three rows a composition: in place (d) against a launch a task in place (b) and against naive use (a); memory of the
 * caller (c) against the better of (a) and (b) with copies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cl_scene.h"

#include <math.h>

enum { MAX_TASKS = 64 };

static const struct composition {
    const char *name;
    size_t count;
    size_t pattern[4], pattern_length; /* repeated until there are `count` */
    double in_place;                   /* asked of (d) against (b) in place */
} compositions[] = {
    {"Uniform-32k x4", 4, {32768}, 1, 0.95},
    {"Uniform-64k x4", 4, {65536}, 1, 0.95},
    {"Mixed-Same-Bucket x4", 4, {20000, 25000, 30000, 28000}, 4, 0.95},
    {"Mixed-Adjacent x4", 4, {20000, 40000}, 2, 0.95},
    {"Mixed-Diverse x4", 4, {16000, 30000, 60000, 120000}, 4, 0.95},
    {"Large-Uniform x8", 8, {500000}, 1, 0.95},
    {"Large-Mixed x6", 6, {250000, 500000}, 2, 0.95},
    {"Small-4k x64", 64, {4096}, 1, 2},
    {"Small-1k x64", 64, {1024}, 1, 2},
};

static void row(struct cl_scene *scene, const char *name, const char *way, double ours, double peer,
                const char *peer_name, double bound, const struct cl_verdict *verdict) {
    char text[96];
    (void)snprintf(text, sizeof text, "%s, %s", name, way);
    bench_row(&scene->bench, &(struct bench_row){.name = text,
                                                 .ours = ours / 1e3,
                                                 .peer = peer / 1e3,
                                                 .peer_name = peer_name,
                                                 .unit = "us a task",
                                                 .ask = scene->pocl ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                                 .bound = bound,
                                                 .wrong = verdict->wrong,
                                                 .note = *verdict->note ? verdict->note : NULL});
}

static void compose(struct cl_scene *scene, const struct composition *composition) {
    static struct bench_lane naive, enqueued, shared, callers, in_place; /* too large for a stack */
    size_t sizes[MAX_TASKS];
    for (size_t i = 0; i < composition->count; i++) sizes[i] = composition->pattern[i % composition->pattern_length];
    struct cl_work work;
    cl_work_open(&work, scene, sizes, composition->count);
    const struct cl_verdict verdict = cl_work_check(&work);
    naive = (struct bench_lane){.run = cl_run_naive, .user = &work, .items = work.count};
    enqueued = (struct bench_lane){.run = cl_run_enqueued, .user = &work, .items = work.count};
    shared = (struct bench_lane){.run = cl_run_shared, .user = &work, .items = work.count};
    callers = (struct bench_lane){.run = cl_run_callers, .user = &work, .items = work.count};
    in_place = (struct bench_lane){.run = cl_run_in_place, .user = &work, .items = work.count};
    struct bench_lane *const lanes[] = {&in_place, &callers, &naive, &enqueued, work.shared ? &shared : NULL};
    bench_measure(&scene->bench, lanes, 5);
    double a = bench_median(&scene->bench, &naive), b = bench_median(&scene->bench, &enqueued);
    double d = bench_median(&scene->bench, &in_place);
    if (work.shared)
        row(scene, composition->name, "in place", d, bench_median(&scene->bench, &shared), "enqueued",
            composition->in_place, &verdict);
    row(scene, composition->name, "in place", d, a, "naive", 2, &verdict);
    row(scene, composition->name, "caller's memory", bench_median(&scene->bench, &callers), b < a ? b : a,
        b < a ? "enqueued" : "naive", 0.95, &verdict);
    cl_work_close(&work);
}

static void measure(struct cl_scene *scene) {
    for (size_t i = 0; i < sizeof compositions / sizeof *compositions; i++) compose(scene, &compositions[i]);
}

int main(void) { return cl_scene_each("compositions", measure); }
