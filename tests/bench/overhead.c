/*
 * overhead.c: suite overhead, through the public API as an embedder links it: what a task costs over its own work.
 *
 *   one task      reset, add, svmx_run of one vec_add_f32 of 1,024 elements
 *   tiny tasks    reset, 1,000 x add of 16 elements, svmx_run: building the batch is counted in
 *
 * Lanes: ours, the plain loop (plain.h), and StarPU where it is there. Figures are what a task took over the plain loop
 * in the same round. The third case, choosing the route, is in overhead_route.c, which needs the library's inside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "peer_starpu.h"
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { ONE_ELEMENTS = 1024, TINY_ELEMENTS = 16, TINY_TASKS = 1000, ROOM = 3 * TINY_ELEMENTS * TINY_TASKS + 4096 };

static _Alignas(64) float room[ROOM];

/* Everything the lanes of a case need. */
struct scene {
    svmx_batch_t *batch;
    struct starpu_peer *starpu;
    const char *no_starpu; /* why it is not there */
    plain_fn plain;
    struct plain_work work;
};

/* ---- lanes -------------------------------------------------------------------------------------------------- */

static void demand(const struct scene *scene, enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, svmx_status_name(status), svmx_batch_error(scene->batch));
    exit(1);
}

static void run_ours(void *user, uint64_t repeats) {
    struct scene *scene = user;
    const struct plain_work *work = &scene->work;
    svmx_batch_t *batch = scene->batch;
    while (repeats-- > 0) {
        demand(scene, svmx_batch_reset(batch), "svmx_batch_reset");
        for (size_t row = 0; row < work->rows; row++) {
            size_t at = row * work->stride;
            demand(scene, svmx_vec_add_f32(batch, work->out + at, work->a + at, work->b + at, work->n),
                   "svmx_vec_add_f32");
        }
        demand(scene, svmx_run(batch), "svmx_run");
    }
}

static void run_plain(void *user, uint64_t repeats) {
    const struct scene *scene = user;
    while (repeats-- > 0) scene->plain(&scene->work);
}

static void run_starpu(void *user, uint64_t repeats) {
    struct scene *scene = user;
    while (repeats-- > 0) starpu_peer_run(scene->starpu, &scene->work);
}

static void enter_starpu(void *user) { starpu_peer_resume(((struct scene *)user)->starpu); }
static void leave_starpu(void *user) { starpu_peer_pause(((struct scene *)user)->starpu); }

/* ---- cases -------------------------------------------------------------------------------------------------- */

static void fill(struct scene *scene) {
    for (size_t i = 0; i < ROOM; i++) room[i] = (float)(i % 1000);
    for (size_t row = 0; row < scene->work.rows; row++)
        memset(scene->work.out + row * scene->work.stride, 0xff, scene->work.n * sizeof(float));
}

static bool right(const struct plain_work *work) {
    for (size_t row = 0; row < work->rows; row++) {
        for (size_t i = row * work->stride; i < row * work->stride + work->n; i++)
            if (!(work->out[i] == work->a[i] + work->b[i])) return false;
    }
    return true;
}

/* Runs a lane once on cleared outputs: figures of wrong results would be worth nothing. */
static bool lane_is_right(struct scene *scene, struct bench_lane *lane) {
    if (!lane) return true;
    fill(scene);
    if (lane->enter) lane->enter(scene);
    lane->run(scene, 1);
    if (lane->leave) lane->leave(scene);
    return right(&scene->work);
}

static void write_note(const struct bench *bench, const struct scene *scene, struct bench_lane *const lanes[3],
                       char *note, size_t bytes) {
    double noise = bench_noise(bench, lanes[1]);
    int length = snprintf(note, bytes, "a task: ours %.1f ns, plain loop %.1f ns", bench_median(bench, lanes[0]),
                          bench_median(bench, lanes[1]));
    if (lanes[2])
        length += snprintf(note + length, bytes - (size_t)length, ", StarPU %.0f ns", bench_median(bench, lanes[2]));
    else
        length += snprintf(note + length, bytes - (size_t)length, "; StarPU skipped: %s", scene->no_starpu);
    if (noise > 1.3) (void)snprintf(note + length, bytes - (size_t)length, "; the machine was unquiet (%.1fx)", noise);
}

static void measure(struct bench *bench, struct scene *scene, const char *name, double bound_ns) {
    static struct bench_lane ours, plain, starpu; /* too large for a stack */
    ours = (struct bench_lane){.run = run_ours, .user = scene, .items = scene->work.rows};
    plain = (struct bench_lane){.run = run_plain, .user = scene, .items = scene->work.rows};
    starpu = (struct bench_lane){
        .run = run_starpu, .enter = enter_starpu, .leave = leave_starpu, .user = scene, .items = scene->work.rows};
    struct bench_lane *const lanes[] = {&ours, &plain, scene->starpu ? &starpu : NULL};
    bool all_right = lane_is_right(scene, lanes[0]) && lane_is_right(scene, lanes[1]) && lane_is_right(scene, lanes[2]);
    bench_measure(bench, lanes, 3);
    char note[256] = "the results are wrong";
    if (all_right) write_note(bench, scene, lanes, note, sizeof note);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = bench_median_over(bench, &ours, &plain),
                                         .peer = bench_median_over(bench, lanes[2], &plain),
                                         .peer_name = "StarPU",
                                         .unit = "ns over loop",
                                         .ask = BENCH_OURS_AT_MOST,
                                         .bound = bound_ns,
                                         .wrong = !all_right,
                                         .note = note});
}

/* Arrays a little more than 4 KiB apart: those that share their offset in a page slow each other down. */
static void one_task(struct bench *bench, struct scene *scene) {
    size_t apart = ONE_ELEMENTS + 64;
    scene->work = (struct plain_work){room, room + apart, room + 2 * apart, ONE_ELEMENTS, 1, 0};
    measure(bench, scene, "one vec_add_f32 of 1,024 through svmx_run", 300);
}

/* An array for each argument; what callers mostly have. */
static void tiny_tasks(struct bench *bench, struct scene *scene) {
    size_t apart = TINY_TASKS * TINY_ELEMENTS + 64;
    scene->work = (struct plain_work){room, room + apart, room + 2 * apart, TINY_ELEMENTS, TINY_TASKS, TINY_ELEMENTS};
    measure(bench, scene, "tiny tasks, 1,000 a batch", 50);
}

/* Output, input, input side by side in one block a task: whether any of them overlap has to be looked at closely. */
static void tiny_blocks(struct bench *bench, struct scene *scene) {
    scene->work = (struct plain_work){room,          room + TINY_ELEMENTS, room + 2 * TINY_ELEMENTS,
                                      TINY_ELEMENTS, TINY_TASKS,           3 * TINY_ELEMENTS};
    measure(bench, scene, "tiny tasks, 1,000 a batch, memory intermixed", 50);
}

/* ---- set-up ------------------------------------------------------------------------------------------------- */

/* false, after a row that says so: without the SIMD backend there is nothing to measure. */
static bool open_executor(struct bench *bench, svmx_executor_t **executor) {
    const struct svmx_options options = {.size = sizeof options, .backends = "+simd"};
    struct svmx_error error;
    if (svmx_open(executor, &options, &error) == SVMX_OK) return true;
    bench_row(bench, &(struct bench_row){
                         .name = "all cases", .ours = NAN, .peer = NAN, .unit = "ns over loop", .note = error.text});
    return false;
}

int main(void) {
    struct bench bench;
    bench_open(&bench, "overhead");
    svmx_executor_t *executor;
    if (!open_executor(&bench, &executor)) return bench_close(&bench);
    struct scene scene = {.plain = plain_vec_add_f32()};
    if (svmx_batch_create(executor, &scene.batch) != SVMX_OK) return 1;
    scene.starpu = starpu_peer_open(TINY_TASKS, &scene.no_starpu);

    one_task(&bench, &scene);
    tiny_tasks(&bench, &scene);
    tiny_blocks(&bench, &scene);

    starpu_peer_close(scene.starpu);
    svmx_batch_destroy(scene.batch);
    svmx_close(executor);
    return bench_close(&bench);
}
