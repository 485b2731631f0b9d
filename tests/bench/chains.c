/*
 * chains.c: suite chains: tasks that take one another's results, beside separate runs of the same operations on SIMD; and a
 * batch that is recorded and replayed, beside one that is built anew.
 *
 * Four links of 4 Mi floats each. A chain passes what is between; separate runs write it and read it again, as four
 * batches of one task do. Both end in the same bytes, which is checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { LINKS = 4, ELEMENTS = 4 * 1024 * 1024, TASKS = 100, SMALL = 64 };

static void expect(enum svmx_status status, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", what, svmx_status_name(status));
    exit(1);
}

static float *floats(size_t count) {
    float *memory = aligned_alloc(64, count * sizeof *memory);
    if (!memory) exit(1);
    for (size_t i = 0; i < count; i++) memory[i] = (float)(i % 1000) / 500 - 1;
    return memory;
}

static svmx_batch_t *batch_of(svmx_executor_t *executor) {
    svmx_batch_t *batch;
    expect(svmx_batch_create(executor, &batch), "svmx_batch_create");
    return batch;
}

static void run_again(svmx_batch_t *batch) {
    expect(svmx_run(batch), "svmx_run");
    expect(svmx_batch_rearm(batch), "svmx_batch_rearm");
}

/* ---- chains ------------------------------------------------------------------------------------------------------- */

struct scene {
    svmx_batch_t *chain, *separate[LINKS];
    float *in, *other, *steps[LINKS], *out;
};

static void run_chain(void *user, uint64_t repeats) {
    const struct scene *scene = user;
    while (repeats--) run_again(scene->chain);
}

static void run_separate(void *user, uint64_t repeats) {
    const struct scene *scene = user;
    while (repeats--)
        for (int i = 0; i < LINKS; i++) run_again(scene->separate[i]);
}

/* One link: out = op(taken) or op(taken, other). */
static void add(svmx_batch_t *batch, uint32_t op, struct svmx_arg out, struct svmx_arg taken, const float *other) {
    const struct svmx_arg args[] = {out, taken, svmx_in(SVMX_F32, other, ELEMENTS)};
    expect(svmx_batch_add(batch, op, args, other ? 3 : 2), "svmx_batch_add");
}

static void fill(svmx_executor_t *executor, struct scene *scene, const uint32_t *ops, bool binary) {
    const float *other = binary ? scene->other : NULL;
    scene->chain = batch_of(executor);
    for (uint32_t i = 0; i < LINKS; i++) {
        const bool last = i + 1 == LINKS;
        scene->separate[i] = batch_of(executor);
        add(scene->chain, ops[i],
            last ? svmx_out(SVMX_F32, scene->out, ELEMENTS) : svmx_out_passing(SVMX_F32, ELEMENTS),
            i ? svmx_result_of(SVMX_F32, i - 1, 0) : svmx_in(SVMX_F32, scene->in, ELEMENTS), other);
        add(scene->separate[i], ops[i], svmx_out(SVMX_F32, scene->steps[i], ELEMENTS),
            svmx_in(SVMX_F32, i ? scene->steps[i - 1] : scene->in, ELEMENTS), other);
    }
}

static void compare(struct bench *bench, svmx_executor_t *executor, struct scene *scene, const char *name,
                    const uint32_t *ops, bool binary, double ask) {
    static struct bench_lane chain, separate; /* too large for a stack */
    fill(executor, scene, ops, binary);
    chain = (struct bench_lane){.run = run_chain, .user = scene};
    separate = (struct bench_lane){.run = run_separate, .user = scene};
    bench_measure(bench, (struct bench_lane *const[]){&chain, &separate}, 2);
    bench_row(bench,
              &(struct bench_row){.name = name,
                                  .ours = bench_median(bench, &chain) / 1e6,
                                  .peer = bench_median(bench, &separate) / 1e6,
                                  .peer_name = "separate runs",
                                  .unit = "ms",
                                  .ask = BENCH_RATIO_AT_LEAST,
                                  .bound = ask,
                                  .wrong = memcmp(scene->out, scene->steps[LINKS - 1], ELEMENTS * sizeof(float)) != 0});
    svmx_batch_destroy(scene->chain);
    for (int i = 0; i < LINKS; i++) svmx_batch_destroy(scene->separate[i]);
}

/* ---- replayed -------------------------------------------------------------------------------------------------- */

struct many {
    svmx_batch_t *kept, *anew;
    float *in, *out;
};

static void add_many(svmx_batch_t *batch, const struct many *many) {
    for (size_t i = 0; i < TASKS; i++)
        expect(svmx_vec_add_f32(batch, many->out + i * SMALL, many->in + i * SMALL, many->in, SMALL),
               "svmx_vec_add_f32");
}

static void run_kept(void *user, uint64_t repeats) {
    const struct many *many = user;
    while (repeats--) expect(svmx_batch_replay(many->kept), "svmx_batch_replay");
}

static void run_anew(void *user, uint64_t repeats) {
    const struct many *many = user;
    while (repeats--) {
        expect(svmx_batch_reset(many->anew), "svmx_batch_reset");
        add_many(many->anew, many);
        expect(svmx_run(many->anew), "svmx_run");
    }
}

static void compare_replayed(struct bench *bench, svmx_executor_t *executor) {
    static struct bench_lane kept, anew;
    struct many many = {batch_of(executor), batch_of(executor), floats(TASKS * SMALL), floats(TASKS * SMALL)};
    add_many(many.kept, &many);
    expect(svmx_batch_record(many.kept), "svmx_batch_record");
    kept = (struct bench_lane){.run = run_kept, .user = &many};
    anew = (struct bench_lane){.run = run_anew, .user = &many};
    bench_measure(bench, (struct bench_lane *const[]){&kept, &anew}, 2);
    bench_row(bench, &(struct bench_row){.name = "100 small tasks, replayed",
                                         .ours = bench_median(bench, &kept) / 1e3,
                                         .peer = bench_median(bench, &anew) / 1e3,
                                         .peer_name = "built anew",
                                         .unit = "us",
                                         .ask = BENCH_RATIO_AT_LEAST,
                                         .bound = 2});
    svmx_batch_destroy(many.kept);
    svmx_batch_destroy(many.anew);
    free(many.in);
    free(many.out);
}

int main(void) {
    static const uint32_t unary[LINKS] = {SVMX_OP_RELU_F32, SVMX_OP_EXP_F32, SVMX_OP_SIGMOID_F32, SVMX_OP_RELU_F32};
    static const uint32_t light[LINKS] = {SVMX_OP_RELU_F32, SVMX_OP_RELU_F32, SVMX_OP_RELU_F32, SVMX_OP_RELU_F32};
    static const uint32_t binary[LINKS] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_VEC_SUB_F32,
                                           SVMX_OP_VEC_ADD_F32};
    const struct svmx_options options = {.size = sizeof options, .backends = "+simd,stop"};
    struct svmx_error error;
    struct bench bench;
    svmx_executor_t *executor;
    struct scene scene = {.in = floats(ELEMENTS), .other = floats(ELEMENTS), .out = floats(ELEMENTS)};
    for (int i = 0; i < LINKS; i++) scene.steps[i] = floats(ELEMENTS);
    bench_open(&bench, "chains");
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        fprintf(stderr, "svmx_open: %s\n", error.text);
        return 1;
    }
    compare(&bench, executor, &scene, "relu four times, 4 Mi floats", light, false, 2.5);
    compare(&bench, executor, &scene, "relu, exp, sigmoid, relu, 4 Mi floats", unary, false, 1);
    compare(&bench, executor, &scene, "add, mul, sub, add, 4 Mi floats", binary, true, 1.6);
    compare_replayed(&bench, executor);
    svmx_close(executor);
    free(scene.in);
    free(scene.other);
    free(scene.out);
    for (int i = 0; i < LINKS; i++) free(scene.steps[i]);
    return bench_close(&bench);
}
