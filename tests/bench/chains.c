/*
 * chains.c: suite chains: tasks that take one another's results, beside separate runs of the same operations on SIMD; and a
 * batch that is recorded and replayed, beside one that is built anew.
 *
 * And loops of many problems, beside a recorded batch that is replayed and read each time; and both on OpenCL.
 *
 * Four links of 4 Mi floats each. A chain passes what is between; separate runs write it and read it again, as four
 * batches of one task do. Both end in the same bytes, which is checked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "chains_devices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { LINKS = 4, ELEMENTS = 4 * 1024 * 1024, FEW = 64 * 1024, TASKS = 100, SMALL = 64 };
enum { CACHED = 128 * 1024 }; /* floats that two caches of the second level hold, in and out */
enum { PROBLEMS = 52, ITERATIONS = 32, WINDOW = 8 };

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
    size_t elements;
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
static void add(svmx_batch_t *batch, uint32_t op, struct svmx_arg out, struct svmx_arg taken, const float *other,
                size_t elements) {
    const struct svmx_arg args[] = {out, taken, svmx_in(SVMX_F32, other, elements)};
    expect(svmx_batch_add(batch, op, args, other ? 3 : 2), "svmx_batch_add");
}

static void fill(svmx_executor_t *executor, struct scene *scene, const uint32_t *ops, bool binary) {
    const float *other = binary ? scene->other : NULL;
    scene->chain = batch_of(executor);
    for (uint32_t i = 0; i < LINKS; i++) {
        const bool last = i + 1 == LINKS;
        scene->separate[i] = batch_of(executor);
        add(scene->chain, ops[i],
            last ? svmx_out(SVMX_F32, scene->out, scene->elements) : svmx_out_passing(SVMX_F32, scene->elements),
            i ? svmx_result_of(SVMX_F32, i - 1, 0) : svmx_in(SVMX_F32, scene->in, scene->elements), other,
            scene->elements);
        add(scene->separate[i], ops[i], svmx_out(SVMX_F32, scene->steps[i], scene->elements),
            svmx_in(SVMX_F32, i ? scene->steps[i - 1] : scene->in, scene->elements), other, scene->elements);
    }
}

/* ns that the arithmetic of a chain takes by itself: of so few elements that they stay in caches, as often as it needs. */
static double arithmetic_ns(struct bench *bench, svmx_executor_t *executor, const struct scene *scene,
                            const uint32_t *ops) {
    static struct bench_lane lane;
    struct scene few = *scene;
    few.elements = CACHED;
    fill(executor, &few, ops, false);
    lane = (struct bench_lane){.run = run_chain, .user = &few};
    bench_measure(bench, (struct bench_lane *const[]){&lane}, 1);
    svmx_batch_destroy(few.chain);
    for (int i = 0; i < LINKS; i++) svmx_batch_destroy(few.separate[i]);
    return bench_median(bench, &lane) * ((double)scene->elements / CACHED);
}

static void compare(struct bench *bench, svmx_executor_t *executor, struct scene *scene, const char *name,
                    const uint32_t *ops, bool binary, double ask) {
    static struct bench_lane chain, separate; /* too large for a stack */
    fill(executor, scene, ops, binary);
    chain = (struct bench_lane){.run = run_chain, .user = scene};
    separate = (struct bench_lane){.run = run_separate, .user = scene};
    bench_measure(bench, (struct bench_lane *const[]){&chain, &separate}, 2);
    const double least_ns = ask > 0 && !binary ? arithmetic_ns(bench, executor, scene, ops) : 0;
    char note[160] = "";
    if (least_ns > 0)
        (void)snprintf(note, sizeof note,
                       "in caches it takes %.1f ms: no pass over memory is faster, at most %.2f times", least_ns / 1e6,
                       bench_median(bench, &separate) / least_ns);
    bench_row(bench, &(struct bench_row){
                         .name = name,
                         .note = *note ? note : NULL,
                         .ours = bench_median(bench, &chain) / 1e6,
                         .peer = bench_median(bench, &separate) / 1e6,
                         .peer_name = "separate runs",
                         .unit = "ms",
                         .ask = ask > 0 ? BENCH_RATIO_AT_LEAST : BENCH_NO_ASK,
                         .bound = ask,
                         .wrong = memcmp(scene->out, scene->steps[LINKS - 1], scene->elements * sizeof(float)) != 0});
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

/* ---- on other devices -------------------------------------------------------------------------------------------- */

/* x = x + rate (target - x), of many problems, so many iterations: as a loop, and one after another by hand. */
struct steps {
    svmx_executor_t *executor;
    svmx_buffer_t *state;
    svmx_batch_t *body, *by_hand;
    float *memory, *target, *next, *differences;
    struct svmx_carry carries[PROBLEMS];
    struct svmx_until untils[PROBLEMS];
    struct svmx_loop_end ends[PROBLEMS];
};

static void add_step(svmx_batch_t *batch, struct svmx_arg x, struct svmx_arg to, struct svmx_arg next,
                     struct svmx_arg most) {
    const uint32_t first = svmx_batch_task_count(batch);
    const struct svmx_arg minus[] = {svmx_out_passing(SVMX_F32, SMALL), to, x},
                          mix[] = {next, svmx_result_of(SVMX_F32, first, 0), x, svmx_f32(0.25f)},
                          step[] = {most, svmx_result_of(SVMX_F32, first + 1, 0), x};
    expect(svmx_batch_add(batch, SVMX_OP_VEC_SUB_F32, minus, 3), "svmx_batch_add");
    expect(svmx_batch_add(batch, SVMX_OP_AXPY_F32, mix, 4), "svmx_batch_add");
    expect(svmx_batch_add(batch, SVMX_OP_MAX_ABS_DIFF_F32, step, 3), "svmx_batch_add");
}

static void run_loop(void *user, uint64_t repeats) {
    struct steps *steps = user;
    const struct svmx_loop loop = {sizeof loop, steps->carries, steps->untils, PROBLEMS, PROBLEMS, ITERATIONS, WINDOW};
    while (repeats--) {
        expect(svmx_buffer_write(steps->state, 0, steps->target, PROBLEMS * SMALL * sizeof(float)), "a write");
        expect(svmx_loop_run(steps->body, &loop, steps->ends, NULL), "svmx_loop_run");
    }
}

static void run_by_hand(void *user, uint64_t repeats) {
    struct steps *steps = user;
    while (repeats--) {
        memcpy(steps->memory, steps->target, PROBLEMS * SMALL * sizeof(float));
        for (int i = 0; i < ITERATIONS; i++) {
            expect(svmx_batch_replay(steps->by_hand), "svmx_batch_replay");
            memcpy(steps->memory, steps->next, PROBLEMS * SMALL * sizeof(float));
        }
    }
}

static void fill_steps(struct steps *steps) {
    const float *to = steps->target + PROBLEMS * SMALL;
    for (uint32_t p = 0; p < PROBLEMS; p++) {
        float *x = steps->memory + p * SMALL;
        add_step(steps->body, svmx_view(SVMX_F32, steps->state, p * SMALL, SMALL), svmx_in(SVMX_F32, to, SMALL),
                 svmx_out_passing(SVMX_F32, SMALL), svmx_out_passing(SVMX_F32, 1));
        add_step(steps->by_hand, svmx_in(SVMX_F32, x, SMALL), svmx_in(SVMX_F32, to, SMALL),
                 svmx_out(SVMX_F32, steps->next + p * SMALL, SMALL), svmx_out(SVMX_F32, steps->differences + p, 1));
        steps->carries[p] = (struct svmx_carry){3 * p + 1, 0, steps->state, p * SMALL * sizeof(float)};
        steps->untils[p] = (struct svmx_until){.task = 3 * p + 2, .kind = SVMX_UNTIL_BELOW, .limit = -1};
    }
    expect(svmx_batch_record(steps->by_hand), "svmx_batch_record");
}

static void compare_loop(struct bench *bench, svmx_executor_t *executor, const char *name) {
    static struct bench_lane loop, by_hand;
    static struct steps steps;
    float *actual = floats(PROBLEMS * SMALL);
    steps = (struct steps){.executor = executor, .body = batch_of(executor), .by_hand = batch_of(executor)};
    expect(svmx_buffer_create(executor, PROBLEMS * SMALL * sizeof(float), &steps.state), "svmx_buffer_create");
    steps.memory = floats(PROBLEMS * SMALL);
    steps.target = floats((PROBLEMS + 1) * SMALL);
    steps.next = floats(PROBLEMS * SMALL);
    steps.differences = floats(PROBLEMS);
    fill_steps(&steps);
    loop = (struct bench_lane){.run = run_loop, .user = &steps, .items = ITERATIONS};
    by_hand = (struct bench_lane){.run = run_by_hand, .user = &steps, .items = ITERATIONS};
    bench_measure(bench, (struct bench_lane *const[]){&loop, &by_hand}, 2);
    expect(svmx_buffer_read(steps.state, 0, actual, PROBLEMS * SMALL * sizeof(float)), "svmx_buffer_read");
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = bench_median(bench, &loop) / 1e3,
                                         .peer = bench_median(bench, &by_hand) / 1e3,
                                         .peer_name = "replayed and read",
                                         .unit = "us",
                                         .wrong = memcmp(actual, steps.memory, PROBLEMS * SMALL * sizeof(float)) != 0});
    svmx_batch_destroy(steps.body);
    svmx_batch_destroy(steps.by_hand);
    svmx_buffer_destroy(steps.state);
    free(steps.memory);
    free(steps.target);
    free(steps.next);
    free(steps.differences);
    free(actual);
}

/* On the first OpenCL device, if there is one: nothing is asked of it, since it may be a CPU. */
static void compare_elsewhere(struct bench *bench, struct scene *scene, const uint32_t *ops) {
    const struct svmx_options options = {
        .size = sizeof options, .backends = "+opencl:0,stop", .policy = "gpu", .timeout_ms = 60000};
    struct svmx_error error;
    svmx_executor_t *executor;
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        bench_row(bench, &(struct bench_row){.name = "chains and loops on OpenCL",
                                             .ours = NAN,
                                             .peer = NAN,
                                             .unit = "ms",
                                             .note = "skipped: there is no OpenCL device"});
        return;
    }
    scene->elements = FEW;
    compare(bench, executor, scene, "add, mul, sub, add, 64 Ki floats, OpenCL", ops, true, 0);
    compare_loop(bench, executor, "an iteration of 52 problems in a loop, OpenCL");
    svmx_close(executor);
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
    struct scene scene = {
        .elements = ELEMENTS, .in = floats(ELEMENTS), .other = floats(ELEMENTS), .out = floats(ELEMENTS)};
    for (int i = 0; i < LINKS; i++) scene.steps[i] = floats(ELEMENTS);
    bench_open(&bench, "chains");
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        fprintf(stderr, "svmx_open: %s\n", error.text);
        return 1;
    }
    compare(&bench, executor, &scene, "relu four times, 4 Mi floats", light, false, 2.5);
    compare(&bench, executor, &scene, "relu, exp, sigmoid, relu, 4 Mi floats", unary, false, 2.5);
    compare(&bench, executor, &scene, "add, mul, sub, add, 4 Mi floats", binary, true, 1.6);
    compare_replayed(&bench, executor);
    compare_loop(&bench, executor, "an iteration of 52 problems in a loop");
    svmx_close(executor);
    compare_elsewhere(&bench, &scene, binary);
    chains_on_devices(&bench);
    free(scene.in);
    free(scene.other);
    free(scene.out);
    for (int i = 0; i < LINKS; i++) free(scene.steps[i]);
    return bench_close(&bench);
}
