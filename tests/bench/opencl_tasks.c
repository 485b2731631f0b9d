/*
 * opencl_tasks.c: suite opencl: ten thousand small tasks, one task of 64 K, keccak256 beside the SIMD backend, a matrix
 * product beside the kernel of every first tutorial, and what the caches save in a thousand mixed batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cl_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 10000, MESSAGES = 65536, ORDER = 1000, MIXED_BATCHES = 1000 };

static void row(struct cl_scene *scene, const char *name, double ours, double peer, const char *peer_name,
                const char *unit, double bound, const struct cl_verdict *verdict) {
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = ours,
                                                 .peer = peer,
                                                 .peer_name = peer_name,
                                                 .unit = unit,
                                                 .ask = scene->pocl ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                                 .bound = bound,
                                                 .wrong = verdict->wrong,
                                                 .note = *verdict->note ? verdict->note : NULL});
}

/* So that nobody takes a figure of two rounds for a median of many. */
static void say_few(const struct cl_scene *scene, const struct bench_lane *lane, struct cl_verdict *verdict) {
    if (*verdict->note || lane->rounds >= scene->bench.rounds) return;
    (void)snprintf(verdict->note, sizeof verdict->note, "%u of %u rounds: they are long here", (unsigned)lane->rounds,
                   (unsigned)scene->bench.rounds);
}

static void many_tasks(struct cl_scene *scene) {
    static struct bench_lane enqueued, callers, in_place; /* too large for a stack */
    static size_t sizes[MANY];
    uint64_t state = 1;
    for (size_t i = 0; i < MANY; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sizes[i] = 64 + (size_t)(state >> 33) % 961;
    }
    struct cl_work work;
    cl_work_open(&work, scene, sizes, MANY);
    struct cl_verdict verdict = cl_work_check(&work);
    enqueued = (struct bench_lane){.run = work.shared ? cl_run_shared : cl_run_enqueued, .user = &work};
    callers = (struct bench_lane){.run = cl_run_callers, .user = &work};
    in_place = (struct bench_lane){.run = cl_run_in_place, .user = &work};
    struct bench_lane *const lanes[] = {&in_place, &callers, &enqueued};
    bench_measure(&scene->bench, lanes, 3);
    say_few(scene, &enqueued, &verdict);
    double peer = bench_median(&scene->bench, &enqueued) / 1e6;
    row(scene, "10,000 tasks of 64 to 1,024, in place", bench_median(&scene->bench, &in_place) / 1e6, peer, "enqueued",
        "ms", 15, &verdict);
    row(scene, "10,000 tasks of 64 to 1,024, caller's memory", bench_median(&scene->bench, &callers) / 1e6, peer,
        "enqueued", "ms", 4, &verdict);
    cl_work_close(&work);
}

static void one_task(struct cl_scene *scene) {
    static struct bench_lane bare, in_place;
    const size_t size = 65536;
    struct cl_work work;
    cl_work_open(&work, scene, &size, 1);
    const struct cl_verdict verdict = cl_work_check(&work);
    bare = (struct bench_lane){.run = work.shared ? cl_run_shared : cl_run_enqueued, .user = &work};
    in_place = (struct bench_lane){.run = cl_run_in_place, .user = &work};
    bench_measure(&scene->bench, (struct bench_lane *const[]){&in_place, &bare}, 2);
    row(scene, "one vec_add_f32 of 64 K, in place", bench_median(&scene->bench, &in_place) / 1e3,
        bench_median(&scene->bench, &bare) / 1e3, "bare", "us", 1 / 1.3, &verdict);
    cl_work_close(&work);
}

/* ---- keccak256 and matrices ------------------------------------------------------------------------------------- */

/* One example, run over and over. */
struct example {
    svmx_batch_t *batch;
    struct svmx_example data;
};

static void run_example(void *user, uint64_t repeats) {
    struct example *example = user;
    while (repeats-- > 0) {
        cl_scene_demand(svmx_batch_rearm(example->batch), example->batch, "svmx_batch_rearm");
        cl_scene_demand(svmx_run(example->batch), example->batch, "svmx_run");
    }
}

static void example_open(struct example *example, svmx_executor_t *executor, uint32_t op, uint64_t size) {
    cl_scene_demand(svmx_example_create(executor, op, size, 1, &example->data), NULL, "svmx_example_create");
    cl_scene_demand(svmx_batch_create(executor, &example->batch), NULL, "svmx_batch_create");
    cl_scene_demand(svmx_batch_add(example->batch, op, example->data.args, example->data.arg_count), example->batch,
                    "svmx_batch_add");
    cl_scene_demand(svmx_run(example->batch), example->batch, "svmx_run");
}

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) & ~UINT64_C(63); }

/* The same in memory of the executor: nobody copies. All inputs in one piece, as svmx_batch_alloc wants it. */
static void example_open_in_place(struct example *example, svmx_executor_t *executor, uint32_t op, uint64_t size) {
    struct svmx_arg args[8];
    uint64_t bytes = 0;
    void *memory;
    cl_scene_demand(svmx_example_create(executor, op, size, 1, &example->data), NULL, "svmx_example_create");
    cl_scene_demand(svmx_batch_create(executor, &example->batch), NULL, "svmx_batch_create");
    for (size_t i = 1; i < example->data.arg_count; i++) bytes += aligned(example->data.args[i].bytes);
    cl_scene_demand(svmx_batch_alloc(example->batch, bytes, &memory), example->batch, "svmx_batch_alloc");
    unsigned char *next = memory;
    args[0] = svmx_out_library(SVMX_U8, example->data.args[0].bytes);
    for (size_t i = 1; i < example->data.arg_count && i < 8; i++) {
        args[i] = example->data.args[i];
        memcpy(next, args[i].from.in, (size_t)args[i].bytes);
        args[i].from.in = next;
        next += aligned(args[i].bytes);
    }
    cl_scene_demand(svmx_batch_add(example->batch, op, args, example->data.arg_count), example->batch,
                    "svmx_batch_add");
    cl_scene_demand(svmx_run(example->batch), example->batch, "svmx_run");
}

static bool is_result(const struct example *example, const void *expected, size_t bytes) {
    void *data = NULL;
    uint64_t found = 0;
    cl_scene_demand(svmx_result(example->batch, 0, 0, &data, &found), example->batch, "svmx_result");
    return found == bytes && memcmp(data, expected, bytes) == 0;
}

static void example_close(struct example *example) {
    svmx_batch_destroy(example->batch);
    svmx_example_destroy(&example->data);
}

static void hash_row(struct cl_scene *scene, const char *name, const struct bench_lane *lane, double peer, bool right) {
    const struct example *example = lane->user;
    struct cl_verdict verdict = cl_scene_check(scene, example->batch);
    if (!right) verdict = (struct cl_verdict){true, "the hashes are wrong"};
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = MESSAGES * 1e3 / bench_median(&scene->bench, lane),
                                                 .peer = peer,
                                                 .peer_name = "svmx simd",
                                                 .unit = "M/s",
                                                 .more_is_better = true,
                                                 .ask = scene->pocl ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                                 .bound = 0.8,
                                                 .wrong = verdict.wrong,
                                                 .note = *verdict.note ? verdict.note : NULL});
}

static void hashes(struct cl_scene *scene) {
    static struct bench_lane ours, placed, simd;
    const struct svmx_options options = {.size = sizeof options, .backends = "+simd,stop"};
    svmx_executor_t *executor;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) {
        bench_row(&scene->bench, &(struct bench_row){.name = "keccak256 of 65,536 x 32 bytes",
                                                     .ours = NAN,
                                                     .peer = NAN,
                                                     .unit = "M/s",
                                                     .note = "skipped: no SIMD backend"});
        return;
    }
    struct example device, in_place, cpu;
    example_open(&device, scene->executor, SVMX_OP_KECCAK256, MESSAGES);
    example_open_in_place(&in_place, scene->executor, SVMX_OP_KECCAK256, MESSAGES);
    example_open(&cpu, executor, SVMX_OP_KECCAK256, MESSAGES);
    const void *expected = cpu.data.args[0].from.in;
    ours = (struct bench_lane){.run = run_example, .user = &device};
    placed = (struct bench_lane){.run = run_example, .user = &in_place};
    simd = (struct bench_lane){.run = run_example, .user = &cpu};
    bench_measure(&scene->bench, (struct bench_lane *const[]){&ours, &placed, &simd}, 3);
    const double peer = MESSAGES * 1e3 / bench_median(&scene->bench, &simd);
    hash_row(scene, "keccak256 of 65,536 x 32 bytes", &ours, peer,
             memcmp(device.data.args[0].from.in, expected, 32 * MESSAGES) == 0);
    hash_row(scene, "keccak256 of 65,536 x 32 bytes, in place", &placed, peer,
             is_result(&in_place, expected, 32 * MESSAGES));
    example_close(&device);
    example_close(&in_place);
    example_close(&cpu);
    svmx_close(executor);
}

struct product {
    struct cl_scene *scene;
    svmx_batch_t *batch;
    float *out, *a, *b;
};

static void run_product(void *user, uint64_t repeats) {
    struct product *product = user;
    while (repeats-- > 0) {
        cl_scene_demand(svmx_batch_rearm(product->batch), product->batch, "svmx_batch_rearm");
        cl_scene_demand(svmx_run(product->batch), product->batch, "svmx_run");
    }
}

static void run_naive_product(void *user, uint64_t repeats) {
    struct product *product = user;
    while (repeats-- > 0) peer_cl_matmul(product->scene->peer, product->out, product->a, product->b, ORDER);
}

static void products(struct cl_scene *scene) {
    static struct bench_lane ours, naive;
    const size_t cells = (size_t)ORDER * ORDER;
    float *memory = malloc(4 * cells * sizeof *memory);
    if (!memory) exit(1);
    struct product product = {scene, NULL, memory, memory + cells, memory + 2 * cells};
    for (size_t i = 0; i < 2 * cells; i++) product.a[i] = (float)((int)(i % 257) - 128) / 64;
    cl_scene_demand(svmx_batch_create(scene->executor, &product.batch), NULL, "svmx_batch_create");
    cl_scene_demand(svmx_matmul_f32(product.batch, memory + 3 * cells, product.a, product.b, ORDER, ORDER, ORDER),
                    product.batch, "svmx_matmul_f32");
    cl_scene_demand(svmx_run(product.batch), product.batch, "svmx_run");
    struct cl_verdict verdict = cl_scene_check(scene, product.batch);
    if (!verdict.wrong) {
        run_naive_product(&product, 1);
        if (memcmp(memory, memory + 3 * cells, cells * sizeof *memory) != 0) /* the same order of steps */
            verdict = (struct cl_verdict){true, "the results differ from those of the naive kernel"};
        ours = (struct bench_lane){.run = run_product, .user = &product};
        naive = (struct bench_lane){.run = run_naive_product, .user = &product};
        bench_measure(&scene->bench, (struct bench_lane *const[]){&ours, &naive}, 2);
        say_few(scene, &naive, &verdict);
        row(scene, "matmul_f32 1,000 x 1,000", bench_median(&scene->bench, &ours) / 1e6,
            bench_median(&scene->bench, &naive) / 1e6, "naive", "ms", 15, &verdict);
    } else {
        bench_row(&scene->bench, &(struct bench_row){.name = "matmul_f32 1,000 x 1,000",
                                                     .ours = NAN,
                                                     .peer = NAN,
                                                     .unit = "ms",
                                                     .note = verdict.note,
                                                     .wrong = scene->pocl});
    }
    svmx_batch_destroy(product.batch);
    free(memory);
}

/* ---- caches ----------------------------------------------------------------------------------------------------- */

static struct svmx_stats stats_of(const struct cl_scene *scene) {
    struct svmx_stats stats = {.size = sizeof stats};
    cl_scene_demand(svmx_stats_get(scene->executor, &stats), NULL, "svmx_stats_get");
    return stats;
}

/* A batch of one to nine sums, of sizes that change from batch to batch. */
static void mixed_batch(svmx_batch_t *batch, float *memory, uint32_t seed) {
    cl_scene_demand(svmx_batch_reset(batch), batch, "svmx_batch_reset");
    for (uint32_t t = 0; t <= seed % 9; t++) {
        size_t n = 1000 + (seed * 7919 + t * 104729) % 60000;
        float *at = memory + (size_t)t * 3 * 65536;
        cl_scene_demand(svmx_vec_add_f32(batch, at, at + 65536, at + 131072, n), batch, "svmx_vec_add_f32");
    }
    cl_scene_demand(svmx_run(batch), batch, "svmx_run");
}

static double share(uint64_t hits, uint64_t misses) {
    return hits + misses ? 100.0 * (double)hits / (double)(hits + misses) : NAN;
}

static void caches(struct cl_scene *scene) {
    float *memory = calloc((size_t)9 * 3 * 65536, sizeof *memory);
    svmx_batch_t *batch;
    if (!memory) exit(1);
    cl_scene_demand(svmx_batch_create(scene->executor, &batch), NULL, "svmx_batch_create");
    for (uint32_t i = 0; i < 100; i++) mixed_batch(batch, memory, i);
    struct svmx_stats before = stats_of(scene);
    for (uint32_t i = 0; i < MIXED_BATCHES; i++) mixed_batch(batch, memory, i);
    struct svmx_stats after = stats_of(scene);
    bench_row(&scene->bench, &(struct bench_row){.name = "pool reuse, 1,000 mixed batches",
                                                 .ours = share(after.pool_hits - before.pool_hits,
                                                               after.pool_misses - before.pool_misses),
                                                 .peer = NAN,
                                                 .unit = "%",
                                                 .more_is_better = true,
                                                 .ask = BENCH_OURS_AT_LEAST,
                                                 .bound = 95});
    bench_row(&scene->bench, &(struct bench_row){.name = "pipeline hits, 1,000 mixed batches",
                                                 .ours = share(after.pipeline_hits - before.pipeline_hits,
                                                               after.pipeline_misses - before.pipeline_misses),
                                                 .peer = NAN,
                                                 .unit = "%",
                                                 .more_is_better = true,
                                                 .ask = BENCH_OURS_AT_LEAST,
                                                 .bound = 100});
    svmx_batch_destroy(batch);
    free(memory);
}

static void measure(struct cl_scene *scene) {
    one_task(scene);
    many_tasks(scene);
    hashes(scene);
    products(scene);
    caches(scene);
}

int main(void) { return cl_scene_each("tasks", measure); }
