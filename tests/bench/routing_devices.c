/*
 * routing_devices.c: suite routing, on the devices that are here: how near the choice by measurement comes to the better of
 * "always the CPU" and "always the other device", for six operations of eight sizes; and a pair that crosses on any
 * machine, the scalar code beside an OpenCL driver.
 *
 * One executor for all: the three policies take turns within a round, in any order, and each is the median of 15, or of as many as
 * SVMX_BENCH_ROUNDS says if these are fewer. A cell that misses is measured again before it counts: once, if auto went anywhere
 * else than the better policy; a few times, if all its runs were on the same device, since then the two did the same and what
 * differs is the machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>

enum { ROUNDS = 15, AGAIN = 4, SIZES = 8, POLICIES = 3, SLICE_NS = 100000, SETTLE_NS = 400000 };
static const uint32_t policies[POLICIES] = {SVMX_POLICY_AUTO, SVMX_POLICY_CPU, SVMX_POLICY_GPU};

/* One task of one size, ready to run over and over. */
struct cell {
    svmx_batch_t *batch;
    struct svmx_example example;
    uint64_t ns[POLICIES];    /* medians */
    uint32_t runs, elsewhere; /* under auto while it was measured; not on the CPU */
};

struct scene {
    struct bench bench;
    svmx_executor_t *executor;
    uint32_t met, cells; /* within the bound */
    uint32_t elsewhere;  /* cells that auto sent to another device than the CPU */
    uint32_t same;       /* cells that missed although auto did what the better policy does */
    double worst;
    char worst_name[192];
};

static void demand(bool good, const char *what, svmx_batch_t *batch) {
    if (good) return;
    fprintf(stderr, "%s: %s\n", what, batch ? svmx_batch_error(batch) : "failed");
    exit(1);
}

static uint64_t run_ns(struct cell *cell, uint32_t policy) {
    demand(svmx_batch_set_policy(cell->batch, policy) == SVMX_OK, "policy", cell->batch);
    const uint64_t start = bench_now_ns();
    demand(svmx_run(cell->batch) == SVMX_OK, "svmx_run", cell->batch);
    const uint64_t ns = bench_now_ns() - start;
    if (policy == SVMX_POLICY_AUTO) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        demand(svmx_receipt_get(cell->batch, 0, &receipt) == SVMX_OK, "receipt", cell->batch);
        cell->runs++;
        cell->elsewhere += receipt.device != 0;
    }
    demand(svmx_batch_rearm(cell->batch) == SVMX_OK, "rearm", cell->batch);
    return ns;
}

static int by_value(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* One slice: what one run takes, of as many as fill it. Before it what the slice before left behind comes to an end: caches, and
 * threads of drivers that look on for a while before they sleep, and want the cores meanwhile. The shortest of these runs tells
 * how many fill a slice: one that was disturbed would make it a slice of few. */
static uint64_t slice_ns(struct cell *cell, uint32_t policy) {
    const uint64_t end = bench_now_ns() + SETTLE_NS;
    uint64_t least = run_ns(cell, policy), sum = 0;
    do {
        const uint64_t ns = run_ns(cell, policy);
        least = ns < least ? ns : least;
    } while (bench_now_ns() < end);
    const uint64_t runs = least < SLICE_NS ? SLICE_NS / (least ? least : 1) + 1 : 1;
    for (uint64_t i = 0; i < runs; i++) sum += run_ns(cell, policy);
    return sum / runs;
}

static void measure(const struct bench *bench, struct cell *cell) {
    uint64_t ns[POLICIES][ROUNDS];
    size_t order[POLICIES];
    const int rounds = (int)bench_rounds(bench, ROUNDS);
    cell->runs = cell->elsewhere = 0;
    for (int round = 0; round < rounds; round++) {
        bench_shuffle((uint32_t)round, order, POLICIES);
        for (int i = 0; i < POLICIES; i++) ns[order[i]][round] = slice_ns(cell, policies[order[i]]);
    }
    for (int p = 0; p < POLICIES; p++) {
        qsort(ns[p], (size_t)rounds, sizeof **ns, by_value);
        cell->ns[p] = ns[p][rounds / 2];
    }
}

/* How many times longer auto took than the better of the two. */
static double over_best(const struct cell *cell) {
    const uint64_t best = cell->ns[1] < cell->ns[2] ? cell->ns[1] : cell->ns[2];
    return (double)cell->ns[0] / (double)best;
}

/* Whether every run of auto was where the better policy has its runs. */
static bool did_the_same(const struct cell *cell) {
    return cell->elsewhere == (cell->ns[1] < cell->ns[2] ? 0 : cell->runs);
}

/* Lets the executor see the size under each policy until the choice is settled. */
static void warm_up(const struct bench *bench, struct cell *cell) {
    const uint64_t end = bench_now_ns() + (bench->quick ? UINT64_C(50000000) : UINT64_C(150000000));
    for (int i = 0; i < 8; i++)
        for (int p = 0; p < POLICIES; p++) (void)run_ns(cell, policies[p]);
    for (int i = 0; i < 64 && bench_now_ns() < end; i++) (void)run_ns(cell, SVMX_POLICY_AUTO);
}

static uint32_t device_of(struct cell *cell) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    demand(svmx_run(cell->batch) == SVMX_OK, "svmx_run", cell->batch);
    demand(svmx_receipt_get(cell->batch, 0, &receipt) == SVMX_OK, "receipt", cell->batch);
    demand(svmx_batch_rearm(cell->batch) == SVMX_OK, "rearm", cell->batch);
    return receipt.device;
}

static void run_cell(struct scene *scene, const char *name, uint64_t units, double bound) {
    struct cell cell = {0};
    uint32_t op;
    demand(svmx_op_find(scene->executor, name, &op, NULL) == SVMX_OK, name, NULL);
    demand(svmx_example_create(scene->executor, op, units, 1, &cell.example) == SVMX_OK, "example", NULL);
    demand(svmx_batch_create(scene->executor, &cell.batch) == SVMX_OK, "batch", NULL);
    demand(svmx_batch_add(cell.batch, op, cell.example.args, cell.example.arg_count) == SVMX_OK, name, cell.batch);
    demand(svmx_prewarm(scene->executor, op, units) == SVMX_OK, "prewarm", NULL);
    warm_up(&scene->bench, &cell);
    measure(&scene->bench, &cell);
    for (int i = 0; i < AGAIN && over_best(&cell) > bound && (i == 0 || did_the_same(&cell)); i++)
        measure(&scene->bench, &cell);
    const double over = over_best(&cell);
    demand(svmx_batch_set_policy(cell.batch, SVMX_POLICY_AUTO) == SVMX_OK, "policy", cell.batch);
    scene->cells++;
    scene->met += over <= bound;
    scene->same += over > bound && did_the_same(&cell);
    scene->elsewhere += device_of(&cell) != 0;
    if (over > scene->worst) {
        scene->worst = over;
        (void)snprintf(scene->worst_name, sizeof scene->worst_name,
                       "%s of %llu: auto %.3g us, cpu %.3g, gpu %.3g; of %u runs of auto %u not on the CPU", name,
                       (unsigned long long)units, (double)cell.ns[0] / 1e3, (double)cell.ns[1] / 1e3,
                       (double)cell.ns[2] / 1e3, cell.runs, cell.elsewhere);
    }
    svmx_batch_destroy(cell.batch);
    svmx_example_destroy(&cell.example);
}

/* false: the devices are not here. */
static bool open_scene(struct scene *scene, const char *variant) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+simd,+opencl:0,stop",
                                         .variant = variant,
                                         .policy = "auto",
                                         .profile = "off",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR};
    struct svmx_error error;
    scene->met = scene->cells = scene->elsewhere = scene->same = 0;
    scene->worst = 0;
    if (svmx_open(&scene->executor, &options, &error) == SVMX_OK) return true;
    fprintf(stderr, "%s\n", error.text);
    return false;
}

/* `ours` is the share of cells within the bound. */
static void row(struct scene *scene, const char *name, double bound, bool skipped) {
    char note[512];
    (void)snprintf(note, sizeof note,
                   "%u of %u cells within %.2f of the better policy, worst %.2f (%s); %u cells not on the CPU%s",
                   scene->met, scene->cells, bound, scene->worst, scene->worst_name, scene->elsewhere,
                   scene->same
                       ? "; the machine was not at rest: auto did the same as the better policy in a cell that missed"
                       : "");
    const double share = skipped ? (double)NAN : 100.0 * scene->met / scene->cells;
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = share,
                                                 .peer = NAN,
                                                 .unit = "%",
                                                 .more_is_better = true,
                                                 .ask = BENCH_OURS_AT_LEAST,
                                                 .bound = 100,
                                                 .note = skipped ? "skipped: no SIMD or no OpenCL device" : note});
}

/* A pair that truly crosses: some sizes are the CPU's, and some are not. */
static void crossing_row(struct scene *scene, const char *name, bool skipped) {
    const bool crosses = scene->elsewhere > 0 && scene->elsewhere < scene->cells;
    char note[128];
    (void)snprintf(note, sizeof note, "%u of %u sizes not on the CPU: at least one, and not all", scene->elsewhere,
                   scene->cells);
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = skipped ? (double)NAN : crosses,
                                                 .peer = NAN,
                                                 .unit = "crossings",
                                                 .more_is_better = true,
                                                 .ask = BENCH_OURS_AT_LEAST,
                                                 .bound = 1,
                                                 .note = skipped ? "skipped: no SIMD or no OpenCL device" : note});
}

static void run_grid(struct scene *scene) {
    static const struct {
        const char *op;
        uint64_t sizes[SIZES];
    } grid[] = {
        {"vec_add_f32", {64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304}},
        {"sigmoid_f32", {64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304}},
        {"sum_f32", {64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304}},
        {"keccak256", {1, 16, 64, 256, 1024, 4096, 16384, 65536}},
        {"sha256", {1, 16, 64, 256, 1024, 4096, 16384, 65536}},
        {"goldilocks_mul", {64, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304}},
    };
    for (size_t i = 0; i < sizeof grid / sizeof *grid; i++)
        for (int s = 0; s < SIZES; s++) run_cell(scene, grid[i].op, grid[i].sizes[s], 1.15);
}

int main(void) {
    static struct scene scene; /* too large for a stack */
    bench_open(&scene.bench, "routing");
    bool here = open_scene(&scene, NULL);
    if (here) run_grid(&scene);
    row(&scene, "auto beside the better of cpu and gpu, 6 x 8", 1.15, !here);
    if (here) svmx_close(scene.executor);
    here = open_scene(&scene, "scalar");
    for (uint64_t units = 1; here && units <= 262144; units *= 8) run_cell(&scene, "keccak256", units, 1.15);
    row(&scene, "keccak256, scalar code beside OpenCL", 1.15, !here);
    crossing_row(&scene, "keccak256, scalar code beside OpenCL: crosses", !here);
    if (here) svmx_close(scene.executor);
    return bench_close(&scene.bench);
}
