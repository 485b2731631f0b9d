/*
 * chains_threads.c: suite chains: 24 threads that submit tiny batches to one OpenCL device, against
 *
 *   naive       the same threads, each taking a lock, enqueuing by the plain API and waiting
 *   one thread  the same batches submitted by one, without waiting for each
 *
 * and how far the slowest thread is behind the fastest. A batch is one sum of 64 floats. A thread of ours has a few batches under
 * way, as the API invites to: it waits for the oldest. Threads are there before the clock starts: to make and end 24 of them takes a
 * quarter of what is measured. What is asked for is asked of PoCL, which computes on the host's cores: it
 * shows what a launch costs the host, not how fast a GPU is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "peer_cl.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { THREADS = 24, EACH = 64, AHEAD = 8, N = 64, DEVICES = 8 };

struct scene;

/* What one thread does: EACH batches, AHEAD of them under way. */
struct caller {
    struct scene *scene;
    svmx_batch_t *batches[AHEAD];
    float out[AHEAD][N], a[N], b[N];
    uint64_t ns; /* that it took, the last time */
};

struct scene {
    svmx_executor_t *executor;
    struct peer_cl *peer;
    pthread_mutex_t lock;         /* of the naive way */
    pthread_barrier_t start, end; /* of all callers and who measures */
    pthread_t threads[THREADS];
    void (*work)(struct caller *caller); /* of each caller, next; NULL: no more */
    struct caller callers[THREADS];
    double spread[BENCH_MAX_ROUNDS * 4]; /* slowest over fastest, of each run */
    size_t spread_count;
};

static void demand(enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", what, svmx_status_name(status));
    exit(1);
}

/* ---- callers ------------------------------------------------------------------------------------------------------- */

static void caller_open(struct caller *caller, struct scene *scene, unsigned number) {
    caller->scene = scene;
    for (int i = 0; i < N; i++) caller->a[i] = (float)(i + (int)number), caller->b[i] = (float)(i * 3) - (float)number;
    for (int i = 0; i < AHEAD; i++) {
        demand(svmx_batch_create(scene->executor, &caller->batches[i]), "svmx_batch_create");
        demand(svmx_vec_add_f32(caller->batches[i], caller->out[i], caller->a, caller->b, N), "svmx_vec_add_f32");
    }
}

static bool caller_is_right(const struct caller *caller) {
    for (int i = 0; i < AHEAD; i++)
        for (int k = 0; k < N; k++)
            if (caller->out[i][k] != caller->a[k] + caller->b[k]) return false;
    return true;
}

static void submit(svmx_batch_t *batch) { demand(svmx_submit(batch, 0), "svmx_submit"); }

static void await(svmx_batch_t *batch) {
    demand(svmx_wait(batch, UINT64_MAX), "svmx_wait");
    demand(svmx_batch_rearm(batch), "svmx_batch_rearm");
}

static void call(struct caller *caller) {
    const uint64_t start_ns = bench_now_ns();
    for (int i = 0; i < EACH; i++) {
        if (i >= AHEAD) await(caller->batches[i % AHEAD]);
        submit(caller->batches[i % AHEAD]);
    }
    for (int i = 0; i < AHEAD; i++) await(caller->batches[i]);
    caller->ns = bench_now_ns() - start_ns;
}

static void call_naively(struct caller *caller) {
    struct scene *scene = caller->scene;
    for (int i = 0; i < EACH; i++) {
        const struct peer_cl_task task = {caller->out[i % AHEAD], caller->a, caller->b, N};
        pthread_mutex_lock(&scene->lock);
        peer_cl_naive(scene->peer, &task, 1);
        pthread_mutex_unlock(&scene->lock);
    }
}

/* A thread, from one slice to the next. */
static void *serve(void *user) {
    struct caller *caller = user;
    struct scene *scene = caller->scene;
    for (;;) {
        (void)pthread_barrier_wait(&scene->start);
        if (!scene->work) return NULL;
        scene->work(caller);
        (void)pthread_barrier_wait(&scene->end);
    }
}

/* ---- lanes --------------------------------------------------------------------------------------------------------- */

static void threads_open(struct scene *scene) {
    (void)pthread_barrier_init(&scene->start, NULL, THREADS + 1);
    (void)pthread_barrier_init(&scene->end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&scene->threads[i], NULL, serve, &scene->callers[i]) != 0) exit(1);
}

static void threads_close(struct scene *scene) {
    scene->work = NULL;
    (void)pthread_barrier_wait(&scene->start);
    for (int i = 0; i < THREADS; i++) (void)pthread_join(scene->threads[i], NULL);
    (void)pthread_barrier_destroy(&scene->start);
    (void)pthread_barrier_destroy(&scene->end);
}

static void run_threads(struct scene *scene, void (*work)(struct caller *caller)) {
    scene->work = work;
    (void)pthread_barrier_wait(&scene->start);
    (void)pthread_barrier_wait(&scene->end);
}

static void note_spread(struct scene *scene) {
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < THREADS; i++) {
        const uint64_t ns = scene->callers[i].ns;
        least = ns < least ? ns : least;
        most = ns > most ? ns : most;
    }
    if (scene->spread_count < sizeof scene->spread / sizeof *scene->spread)
        scene->spread[scene->spread_count++] = (double)most / (double)least;
}

static void run_gathered(void *user, uint64_t repeats) {
    while (repeats--) {
        run_threads(user, call);
        note_spread(user);
    }
}

static void run_naive(void *user, uint64_t repeats) {
    while (repeats--) run_threads(user, call_naively);
}

/* All batches of all callers by this thread, as many under way as there are. */
static void run_one(void *user, uint64_t repeats) {
    struct scene *scene = user;
    const int count = THREADS * AHEAD;
    while (repeats--) {
        for (int i = 0; i < THREADS * EACH; i++) {
            svmx_batch_t *batch = scene->callers[i % count / AHEAD].batches[i % AHEAD];
            if (i >= count) await(batch);
            submit(batch);
        }
        for (int i = 0; i < count; i++) await(scene->callers[i / AHEAD].batches[i % AHEAD]);
    }
}

/* ---- rows ---------------------------------------------------------------------------------------------------------- */

static int by_size(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static void write_rows(struct bench *bench, struct scene *scene, const char *device, bool pocl,
                       struct bench_lane *lanes[3], bool wrong) {
    static const char *const peers[] = {"a lock, enqueue, wait", "one thread, no waiting"};
    static const double bounds[] = {5, 0.5};
    char name[96];
    for (int i = 0; i < 2; i++) {
        (void)snprintf(name, sizeof name, "24 threads, tiny batches, %.24s%s", device, i ? ", beside one" : "");
        bench_row(bench, &(struct bench_row){.name = name,
                                             .ours = bench_median(bench, lanes[0]) / 1e3,
                                             .peer = bench_median(bench, lanes[i + 1]) / 1e3,
                                             .peer_name = peers[i],
                                             .unit = "us a batch",
                                             .ask = pocl ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                             .bound = bounds[i],
                                             .wrong = wrong,
                                             .note = wrong ? "the results are wrong" : NULL});
    }
    qsort(scene->spread, scene->spread_count, sizeof *scene->spread, by_size);
    (void)snprintf(name, sizeof name, "24 threads, tiny batches, %.24s, slowest", device);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = scene->spread_count ? scene->spread[scene->spread_count / 2] : NAN,
                                         .peer = NAN,
                                         .unit = "x the fastest thread",
                                         .ask = pocl ? BENCH_OURS_AT_MOST : BENCH_NO_ASK,
                                         .bound = 3});
}

static void measure_device(struct bench *bench, struct scene *scene, const struct svmx_device *device) {
    static struct bench_lane gathered, naive, one; /* too large for a stack */
    struct bench_lane *lanes[] = {&gathered, &naive, &one};
    void (*const runs[])(void *, uint64_t) = {run_gathered, run_naive, run_one};
    const bool pocl = strstr(device->driver, "Portable Computing Language") || strstr(device->driver, "PoCL");
    bool wrong = false;
    for (unsigned i = 0; i < THREADS; i++) caller_open(&scene->callers[i], scene, i);
    for (int i = 0; i < 3; i++) *lanes[i] = (struct bench_lane){.run = runs[i], .user = scene, .items = THREADS * EACH};
    threads_open(scene);
    demand(svmx_prewarm(scene->executor, SVMX_OP_VEC_ADD_F32, N), "svmx_prewarm");
    run_gathered(scene, 1);
    for (int i = 0; i < THREADS; i++) wrong = wrong || !caller_is_right(&scene->callers[i]);
    scene->spread_count = 0;
    bench_measure(bench, lanes, 3);
    threads_close(scene);
    write_rows(bench, scene, pocl ? "PoCL" : device->name, pocl, lanes, wrong);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < AHEAD; k++) svmx_batch_destroy(scene->callers[i].batches[k]);
}

/* false: there is no device of that number. */
static bool measure(struct bench *bench, uint32_t index, bool *any) {
    static struct scene scene;
    struct svmx_device device = {.size = sizeof device};
    char backends[64];
    (void)snprintf(backends, sizeof backends, "+opencl:%u,stop", index);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .policy = "gpu",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    memset(&scene, 0, sizeof scene);
    if (svmx_open(&scene.executor, &options, NULL) != SVMX_OK) return false;
    demand(svmx_device_get(scene.executor, 0, &device), "svmx_device_get");
    (void)pthread_mutex_init(&scene.lock, NULL);
    scene.peer = device.flags & SVMX_DEVICE_TEST ? NULL : peer_cl_open(device.name);
    if (scene.peer) measure_device(bench, &scene, &device);
    *any = *any || scene.peer;
    if (scene.peer) peer_cl_close(scene.peer);
    svmx_close(scene.executor);
    return true;
}

int main(void) {
    struct bench bench;
    bool any = false;
    bench_open(&bench, "chains");
    if (bench.rounds > 41) bench.rounds = 41; /* a slice is 1,536 batches */
    for (uint32_t index = 0; index < DEVICES; index++)
        if (!measure(&bench, index, &any)) break;
    if (!any)
        bench_row(&bench, &(struct bench_row){.name = "24 threads, tiny batches",
                                              .ours = NAN,
                                              .peer = NAN,
                                              .unit = "us a batch",
                                              .note = "skipped: no OpenCL device"});
    return bench_close(&bench);
}
