/*
 * vm.c: suite vm: blocks on examples/contract-vm in batches, against the same interpreter with the same SIMD code a call
 * at a time, one transaction after another or a transaction a thread.
 *
 *   transfers    two hashes of 64 bytes each: what parking costs where there is little to gain
 *   hashes       64 hashes of 1 KiB each
 *   signatures   8 signatures each, beside its own
 *   mixed        all of them; conflicts: each depends on the one before
 *
 * And a block of signatures in batches against the same in batches on an executor without eight lanes for signatures (variant
 * avx2, which calls libsecp256k1 for each): what these lanes are worth to a block.
 *
 * Unsigned transfers and conflicts show parking by itself, without the senders that a batch recovers faster.
 *
 * A run is all of a block: senders, names, instructions, settling, roots. All three lanes use one executor with the SIMD
 * backend and all its threads. Their outcomes are compared before anything is measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/generate.h"
#include "../../examples/contract-vm/run.h"
#include "../../examples/contract-vm/sign.h"
#include "bench.h"

#include <math.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { MOST_ROUNDS = 31, LANES = 3 };

struct scene {
    struct bench bench;
    svmx_executor_t *executor;
    uint32_t threads;
    bool avx512;
};

static const struct svmx_options executor_options = {
    .size = sizeof executor_options, .backends = "simd,stop", .policy = "order", .profile = "off"};

/* A block in a mode. */
struct lane_of {
    struct scene *scene;
    const struct block *block;
    struct run_options options;
};

struct vm_case {
    enum block_kind kind;
    size_t count;
    double ask; /* of the ratio to serial; 0: none */
    bool asks_avx512;
    bool is_unsigned; /* without senders to be recovered, which batches are good at */
};

static void run_once(const struct lane_of *lane, struct outcome *outcome) {
    struct svmx_error error;
    if (block_run(lane->scene->executor, lane->block, &lane->options, outcome, &error) == SVMX_OK) return;
    (void)fprintf(stderr, "a block was not run: %s\n", error.text);
    exit(1);
}

static void run_lane(void *user, uint64_t repeats) {
    struct outcome outcome;
    while (repeats-- > 0) {
        run_once(user, &outcome);
        outcome_free(&outcome);
    }
}

static bool same_roots(const struct lane_of *lanes) {
    struct roots roots[LANES];
    for (int i = 0; i < LANES; i++) {
        struct outcome outcome;
        run_once(&lanes[i], &outcome);
        roots[i] = outcome.roots;
        outcome_free(&outcome);
    }
    return memcmp(&roots[0], &roots[1], sizeof *roots) == 0 && memcmp(&roots[0], &roots[2], sizeof *roots) == 0;
}

/* Thousands of transactions a second. */
static double speed(const struct bench *bench, const struct bench_lane *lane) {
    return 1e6 / bench_median(bench, lane);
}

static void write_row(struct scene *scene, const struct vm_case *c, const struct bench_lane *lanes, int peer,
                      bool wrong) {
    static const char *const names[LANES] = {"batched", "serial", "threads"};
    char name[64], note[160];
    const bool asked = peer == 1 && c->ask > 0, judged = !c->asks_avx512 || (scene->avx512 && scene->threads >= 2);
    (void)snprintf(name, sizeof name, "%zu %s%s, against %s", c->count, block_kind_names[c->kind],
                   c->is_unsigned ? ", unsigned" : "", names[peer]);
    (void)snprintf(note, sizeof note, "%u threads%s; noise %.2f%s", scene->threads, scene->avx512 ? ", AVX-512" : "",
                   bench_noise(&scene->bench, &lanes[0]),
                   asked && !judged ? "; asked for with AVX-512 and two threads" : "");
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = speed(&scene->bench, &lanes[0]),
                                                 .peer = speed(&scene->bench, &lanes[peer]),
                                                 .peer_name = names[peer],
                                                 .unit = "ktx/s",
                                                 .more_is_better = true,
                                                 .ask = asked ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                                                 .unjudged = !judged,
                                                 .bound = c->ask,
                                                 .wrong = wrong,
                                                 .note = note});
}

static void measure(struct scene *scene, const struct vm_case *c) {
    static struct bench_lane lanes[LANES];
    struct lane_of users[LANES];
    struct bench_lane *pointers[LANES];
    struct block block;
    struct svmx_error error;
    if (scene->bench.only && !strstr(block_kind_names[c->kind], scene->bench.only)) return;
    if (block_generate(scene->executor, &(struct generate_options){c->kind, c->count, 1, c->is_unsigned}, &block,
                       &error) != SVMX_OK) {
        (void)fprintf(stderr, "no block was made: %s\n", error.text);
        exit(1);
    }
    for (int i = 0; i < LANES; i++) {
        users[i] = (struct lane_of){scene, &block, run_defaults};
        users[i].options.mode = i == 0 ? RUN_BATCHED : i == 1 ? RUN_SERIAL : RUN_THREADS;
        users[i].options.threads = scene->threads;
        lanes[i] = (struct bench_lane){.run = run_lane, .user = &users[i], .items = c->count};
        pointers[i] = &lanes[i];
    }
    const bool wrong = !same_roots(users);
    bench_measure(&scene->bench, pointers, LANES);
    for (int peer = 1; peer < LANES; peer++) write_row(scene, c, lanes, peer, wrong);
    block_free(&block);
}

/* ---- lanes for signatures, and none ------------------------------------------------------------------------------ */

static const struct vm_case signature_case = {BLOCK_SIGNATURES, 256, 3, true, false};

static bool has_ifma(const struct scene *scene) {
#if defined(__x86_64__)
    enum { IFMA = 1 << 21 };
    unsigned a, b, c, d;
    return scene->avx512 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & IFMA);
#else
    (void)scene;
    return false;
#endif
}

static void lanes_row(struct scene *scene, double ours, double peer, bool wrong, const char *note) {
    char name[64];
    (void)snprintf(name, sizeof name, "%zu signatures, against no lanes", signature_case.count);
    bench_row(&scene->bench, &(struct bench_row){.name = name,
                                                 .ours = ours,
                                                 .peer = peer,
                                                 .peer_name = "libsecp256k1",
                                                 .unit = "ktx/s",
                                                 .more_is_better = true,
                                                 .ask = BENCH_RATIO_AT_LEAST,
                                                 .bound = signature_case.ask,
                                                 .wrong = wrong,
                                                 .note = note});
}

static void measure_lanes(struct scene *scene) {
    static struct bench_lane lanes[2];
    struct scene without = *scene;
    struct block block;
    struct svmx_error error;
    char note[64];
    if (scene->bench.only && !strstr(block_kind_names[signature_case.kind], scene->bench.only)) return;
    if (!has_ifma(scene))
        return lanes_row(scene, NAN, NAN, false, "no AVX-512 IFMA: there are no lanes for signatures");
    struct svmx_options options = executor_options;
    options.variant = "avx2";
    if (svmx_open(&without.executor, &options, &error) != SVMX_OK)
        return lanes_row(scene, NAN, NAN, false, "no executor of variant avx2");
    if (block_generate(scene->executor, &(struct generate_options){signature_case.kind, signature_case.count, 1, false},
                       &block, &error) != SVMX_OK)
        exit(1);
    struct lane_of users[LANES] = {
        {scene, &block, run_defaults}, {&without, &block, run_defaults}, {&without, &block, run_defaults}};
    struct bench_lane *pointers[2] = {&lanes[0], &lanes[1]};
    for (int i = 0; i < 2; i++)
        lanes[i] = (struct bench_lane){.run = run_lane, .user = &users[i], .items = signature_case.count};
    const bool wrong = !same_roots(users);
    bench_measure(&scene->bench, pointers, 2);
    (void)snprintf(note, sizeof note, "%u threads; noise %.2f", scene->threads, bench_noise(&scene->bench, &lanes[0]));
    lanes_row(scene, speed(&scene->bench, &lanes[0]), speed(&scene->bench, &lanes[1]), wrong, note);
    block_free(&block);
    svmx_close(without.executor);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* Why it cannot be measured here; NULL: it can. */
static const char *open_scene(struct scene *scene, char *text, size_t bytes) {
    struct svmx_device device = {.size = sizeof device};
    struct svmx_error error;
    if (!sign_is_there()) return "this was built without libsecp256k1";
    if (svmx_open(&scene->executor, &executor_options, &error) != SVMX_OK) {
        (void)snprintf(text, bytes, "%s", error.text);
        return text;
    }
    if (svmx_device_get(scene->executor, 0, &device) != SVMX_OK || strcmp(device.backend, "simd") != 0)
        return "there is no SIMD backend";
    scene->threads = device.threads;
    scene->avx512 = strcmp(device.variant, "avx512") == 0;
    return NULL;
}

int main(void) {
    static const struct vm_case cases[] = {
        {BLOCK_TRANSFERS, 2048, 0.95, false, false}, {BLOCK_TRANSFERS, 2048, 0.95, false, true},
        {BLOCK_HASHES, 1024, 3, true, false},        {BLOCK_SIGNATURES, 256, 1.7, true, false},
        {BLOCK_MIXED, 1024, 0, false, false},        {BLOCK_CONFLICTS, 1024, 0, false, false},
        {BLOCK_CONFLICTS, 1024, 0, false, true}};
    struct scene scene = {0};
    char text[512];
    bench_open(&scene.bench, "vm");
    scene.bench.rounds = bench_rounds(&scene.bench, MOST_ROUNDS); /* a block takes some 50 ms */
    scene.bench.patience_ns = 0;
    const char *why = open_scene(&scene, text, sizeof text);
    if (why)
        bench_row(&scene.bench, &(struct bench_row){.name = "blocks",
                                                    .ours = NAN,
                                                    .peer = NAN,
                                                    .unit = "ktx/s",
                                                    .ask = BENCH_RATIO_AT_LEAST,
                                                    .bound = 3,
                                                    .note = why});
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !why; i++) measure(&scene, &cases[i]);
    if (!why) measure_lanes(&scene);
    svmx_close(scene.executor);
    return bench_close(&scene.bench);
}
