/*
 * test_loops.c: loops against their definition, run by hand one iteration after another: the same states, counts and values
 * however often the conditions are looked at, on host memory, SIMD and a device, with many problems that end at different
 * times, and with a device that fails at any call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"

enum { PROBLEMS = 7, N = 16, MOST = 40 };

/* Each problem: x = (1 - rate) x + rate target, until the largest step is below a limit. */
static float start[PROBLEMS][N], target[PROBLEMS][N];
static const float rates[PROBLEMS] = {0.5f, 0.25f, 0.9f, 0.1f, 1.0f, 0.02f, 0.6f};
static const float limits[PROBLEMS] = {1e-3f, 1e-2f, 1e-3f, 1e-2f, 1e-5f, 1e-4f, 1e-1f};

struct outcome {
    float state[PROBLEMS][N], scaled[PROBLEMS][N];
    struct svmx_loop_end ends[PROBLEMS];
};

static void fill(void) {
    for (int p = 0; p < PROBLEMS; p++)
        for (int i = 0; i < N; i++) start[p][i] = (float)(i + p), target[p][i] = (float)(i * p % 5) / 4;
}

/* ---- by hand --------------------------------------------------------------------------------------------------------- */

static float step_of(float *x, float *scaled, const float *to, float rate) {
    float most = 0;
    for (int i = 0; i < N; i++) {
        volatile float difference = to[i] - x[i], part = rate * difference;
        const float next = part + x[i];
        scaled[i] = difference;
        volatile float step = next - x[i];
        if ((step < 0 ? -step : step) > most) most = step < 0 ? -step : step;
        x[i] = next;
    }
    return most;
}

static void by_hand(struct outcome *outcome) {
    for (int p = 0; p < PROBLEMS; p++) {
        struct svmx_loop_end *end = &outcome->ends[p];
        *end = (struct svmx_loop_end){0};
        memcpy(outcome->state[p], start[p], sizeof start[p]);
        while (!end->reason) {
            end->value = (double)step_of(outcome->state[p], outcome->scaled[p], target[p], rates[p]);
            end->iterations++;
            if (end->value < (double)limits[p])
                end->reason = SVMX_LOOP_CONDITION;
            else if (end->iterations == MOST)
                end->reason = SVMX_LOOP_LIMIT;
        }
    }
}

/* ---- by the library ---------------------------------------------------------------------------------------------------- */

struct scene {
    svmx_buffer_t *states, *targets;
    svmx_batch_t *body;
    struct svmx_carry carries[PROBLEMS];
    struct svmx_until untils[PROBLEMS];
    struct svmx_loop loop;
};

static uint32_t add(svmx_batch_t *batch, uint32_t op, const struct svmx_arg *args, size_t count) {
    const uint32_t number = svmx_batch_task_count(batch);
    cr_assert_eq(svmx_batch_add(batch, op, args, count), SVMX_OK, "%s", svmx_batch_error(batch));
    return number;
}

static void add_problem(struct scene *scene, uint32_t p, float *scaled) {
    const struct svmx_arg x = svmx_view(SVMX_F32, scene->states, p * N, N),
                          to = svmx_view(SVMX_F32, scene->targets, p * N, N);
    const struct svmx_arg minus[] = {svmx_out(SVMX_F32, scaled, N), to, x};
    const uint32_t difference = add(scene->body, SVMX_OP_VEC_SUB_F32, minus, 3);
    const struct svmx_arg mix[] = {svmx_out_passing(SVMX_F32, N), svmx_result_of(SVMX_F32, difference, 0), x,
                                   svmx_f32(rates[p])};
    const uint32_t next = add(scene->body, SVMX_OP_AXPY_F32, mix, 4);
    const struct svmx_arg step[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, next, 0), x};
    const uint32_t most = add(scene->body, SVMX_OP_MAX_ABS_DIFF_F32, step, 3);
    scene->carries[p] = (struct svmx_carry){next, 0, scene->states, p * N * sizeof(float)};
    scene->untils[p] = (struct svmx_until){.task = most, .kind = SVMX_UNTIL_BELOW, .limit = (double)limits[p]};
}

static void scene_open(struct scene *scene, svmx_executor_t *executor, uint32_t every, struct outcome *outcome) {
    cr_assert_eq(svmx_buffer_create(executor, sizeof start, &scene->states), SVMX_OK);
    cr_assert_eq(svmx_buffer_create(executor, sizeof target, &scene->targets), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(scene->states, 0, start, sizeof start), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(scene->targets, 0, target, sizeof target), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &scene->body), SVMX_OK);
    for (uint32_t p = 0; p < PROBLEMS; p++) add_problem(scene, p, outcome->scaled[p]);
    scene->loop = (struct svmx_loop){.size = sizeof scene->loop,
                                     .carries = scene->carries,
                                     .untils = scene->untils,
                                     .carry_count = PROBLEMS,
                                     .until_count = PROBLEMS,
                                     .max_iterations = MOST,
                                     .check_every = every};
}

static void scene_close(struct scene *scene) {
    svmx_batch_destroy(scene->body);
    svmx_buffer_destroy(scene->states);
    svmx_buffer_destroy(scene->targets);
}

static struct svmx_loop_counts by_library(svmx_executor_t *executor, uint32_t every, struct outcome *outcome) {
    struct scene scene;
    struct svmx_loop_counts counts;
    memset(outcome, 0x66, sizeof *outcome);
    scene_open(&scene, executor, every, outcome);
    cr_assert_eq(svmx_loop_run(scene.body, &scene.loop, outcome->ends, &counts), SVMX_OK, "%s",
                 svmx_batch_error(scene.body));
    cr_assert_eq(svmx_buffer_read(scene.states, 0, outcome->state, sizeof outcome->state), SVMX_OK);
    scene_close(&scene);
    return counts;
}

static void expect_same(const struct outcome *actual, const struct outcome *expected, uint32_t every) {
    for (int p = 0; p < PROBLEMS; p++) {
        const struct svmx_loop_end *a = &actual->ends[p], *e = &expected->ends[p];
        cr_assert_eq(a->iterations, e->iterations, "problem %d, every %u: %u", p, every, a->iterations);
        cr_assert_eq(a->reason, e->reason);
        cr_assert_eq(a->value, e->value, "problem %d: %g, not %g", p, a->value, e->value);
        cr_assert_arr_eq(actual->state[p], expected->state[p], sizeof expected->state[p], "problem %d", p);
        cr_assert_arr_eq(actual->scaled[p], expected->scaled[p], sizeof expected->scaled[p], "problem %d", p);
    }
}

static const uint32_t everies[] = {1, 3, 16, 0, MOST, 1000};

static void as_defined(svmx_executor_t *executor) {
    static struct outcome expected, actual;
    by_hand(&expected);
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) {
        (void)by_library(executor, everies[i], &actual);
        expect_same(&actual, &expected, everies[i]);
    }
    svmx_close(executor);
}

Test(loops, on_host_memory, .init = fill) {
    const struct svmx_options options = plain_options();
    as_defined(open_with(&options));
}

Test(loops, on_simd, .init = fill) {
    const struct svmx_options options = {.size = sizeof options, .backends = "simd", .log_level = SVMX_LOG_OFF};
    svmx_executor_t *executor = NULL;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) cr_skip_test("there is no SIMD backend");
    as_defined(executor);
}

Test(loops, on_a_device, .init = fill) {
    fake_start();
    as_defined(open_fake());
    expect_all_returned();
}

Test(loops, on_a_device_in_staging_memory, .init = fill) {
    fake_start();
    fake.flags = SVMX_DEVICE_SHARES_MEMORY;
    as_defined(open_fake());
    expect_all_returned();
}

Test(loops, the_outcomes_differ, .init = fill) {
    struct outcome outcome;
    bool seen[MOST + 1] = {false};
    unsigned reasons = 0, counts = 0;
    by_hand(&outcome);
    for (int p = 0; p < PROBLEMS; p++) {
        reasons |= 1u << outcome.ends[p].reason;
        counts += !seen[outcome.ends[p].iterations];
        seen[outcome.ends[p].iterations] = true;
    }
    cr_assert_eq(reasons, 1u << SVMX_LOOP_CONDITION | 1u << SVMX_LOOP_LIMIT, "or the suite shows little");
    cr_assert_geq(counts, 5);
}

/* On a device a window is one submission with one readback, and only the first windows have all problems. */
Test(loops, a_window_is_one_submission, .init = fill) {
    static struct outcome outcome;
    fake_start();
    svmx_executor_t *executor = open_fake();
    (void)by_library(executor, 1, &outcome); /* pipelines are built meanwhile */
    const unsigned submits = fake.calls[FAKE_SUBMIT], tasks = fake.tasks;
    const struct svmx_loop_counts counts = by_library(executor, 10, &outcome);
    cr_assert_eq(counts.windows, MOST / 10);
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, counts.windows);
    cr_assert_eq(counts.readbacks, counts.windows);
    cr_assert_eq(counts.launches, 3 * MOST, "an operation a launch, whatever the number of problems");
    uint64_t computed = 0;
    for (int p = 0; p < PROBLEMS; p++) computed += (outcome.ends[p].iterations + 9) / 10 * 10 * 3;
    cr_assert_eq(fake.tasks - tasks, computed, "those that are over drop out");
    svmx_close(executor);
}

/* ---- conditions that are whole numbers ------------------------------------------------------------------------------------ */

/* Two operations of the program's own: x + 1, and whether x has reached a limit. */
static void tick_run(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / 4; i++)
        ((uint32_t *)args[0].data)[i] = ((const uint32_t *)args[1].data)[i] + 1;
}

static void reached_run(const struct svmx_operand *args, void *user) {
    (void)user;
    for (uint64_t i = 0; i < args[0].bytes / 4; i++)
        ((uint32_t *)args[0].data)[i] = ((const uint32_t *)args[1].data)[i] >= *(const uint32_t *)args[2].data;
}

static uint32_t register_op(svmx_executor_t *executor, const char *name, svmx_op_run_fn run, uint32_t params) {
    static const struct svmx_param all[] = {{"out", SVMX_OUT, SVMX_U32, SVMX_ARRAY, 0, 1},
                                            {"x", SVMX_IN, SVMX_U32, SVMX_ARRAY, 0, 1},
                                            {"limit", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1}};
    const struct svmx_op_def def = {.size = sizeof def,
                                    .name = name,
                                    .params = all,
                                    .param_count = params,
                                    .exactness = SVMX_EXACT,
                                    .run = run,
                                    .opencl_c = "/* the device of fake.h asks for the definition */",
                                    .local = 1,
                                    .grain = 1};
    uint32_t op;
    struct svmx_error error = {.text = ""};
    cr_assert_eq(svmx_op_register(executor, &def, &op, &error), SVMX_OK, "%s", error.text);
    return op;
}

/* Two problems: a counter that is its own condition, from -1 on: over when it is not 0; and one that counts to a limit, of which
 * an operation of the user's tells. */
static void count_on(svmx_executor_t *executor, uint32_t tick, uint32_t reached, uint32_t every) {
    enum { LIMIT = 23 };
    uint32_t from[2] = {UINT32_MAX, 0}, to[2] = {77, 77};
    svmx_buffer_t *state;
    svmx_batch_t *body;
    struct svmx_loop_end ends[2];
    cr_assert_eq(svmx_buffer_create(executor, sizeof from, &state), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(state, 0, from, sizeof from), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    for (uint32_t p = 0; p < 2; p++) {
        const struct svmx_arg next[] = {svmx_out_passing(SVMX_U32, 1), svmx_view(SVMX_U32, state, p, 1)};
        (void)add(body, tick, next, 2);
    }
    const struct svmx_arg over[] = {svmx_out_passing(SVMX_U32, 1), svmx_result_of(SVMX_U32, 1, 0), svmx_u32(LIMIT)};
    (void)add(body, reached, over, 3);
    const struct svmx_carry carries[] = {{0, 0, state, 0}, {1, 0, state, 4}};
    const struct svmx_until untils[] = {{.task = 0, .kind = SVMX_UNTIL_NOT_ZERO},
                                        {.task = 2, .kind = SVMX_UNTIL_NOT_ZERO}};
    const struct svmx_loop loop = {.size = sizeof loop,
                                   .carries = carries,
                                   .untils = untils,
                                   .carry_count = 2,
                                   .until_count = 2,
                                   .max_iterations = MOST,
                                   .check_every = every};
    cr_assert_eq(svmx_loop_run(body, &loop, ends, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(state, 0, to, sizeof to), SVMX_OK);
    cr_assert_eq(to[0], 1, "-1, 0, 1");
    cr_assert_eq(ends[0].iterations, 2, "0 is no end, 1 is one");
    cr_assert_eq(ends[0].value, 1.0);
    cr_assert_eq(to[1], LIMIT, "every %u: %u", every, to[1]);
    cr_assert_eq(ends[1].iterations, LIMIT);
    for (int p = 0; p < 2; p++) cr_assert_eq(ends[p].reason, SVMX_LOOP_CONDITION);
    svmx_batch_destroy(body);
    svmx_buffer_destroy(state);
}

static void count_with(svmx_executor_t *executor) {
    const uint32_t tick = register_op(executor, "tick_u32", tick_run, 2),
                   reached = register_op(executor, "reached_u32", reached_run, 3);
    for (size_t i = 0; i < sizeof everies / sizeof *everies; i++) count_on(executor, tick, reached, everies[i]);
    svmx_close(executor);
}

Test(loops, until_a_counter_or_an_operation_of_ones_own_on_host_memory) {
    const struct svmx_options options = plain_options();
    count_with(open_with(&options));
}

Test(loops, until_a_counter_or_an_operation_of_ones_own_on_a_device) {
    fake_start();
    count_with(open_fake());
    cr_assert_gt(fake.launches, 0);
    expect_all_returned();
}

/* ---- how often is looked ---------------------------------------------------------------------------------------------- */

/* A device that computes for a tenth of what a window takes: windows grow, and the results are those of any other. */
Test(loops, windows_grow_while_they_are_cheap, .init = fill) {
    static struct outcome learned, fixed;
    fake_start();
    fake.delay_ms = 1;
    fake.timing.compute_ns = 100000;
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    svmx_executor_t *executor = open_with(&options);
    (void)by_library(executor, 1, &fixed); /* pipelines are built meanwhile */
    const struct svmx_loop_counts eight = by_library(executor, 8, &fixed), own = by_library(executor, 0, &learned);
    expect_same(&learned, &fixed, 0);
    cr_assert_eq(eight.windows, MOST / 8);
    cr_assert_lt(own.windows, eight.windows, "1, 8, 16, 15");
    svmx_close(executor);
    expect_all_returned();
}

/* ---- wishes ------------------------------------------------------------------------------------------------------------ */

/* What is wished for the body holds for its windows, as their receipts tell. */
static void expect_wishes(const char *verify, bool hash) {
    static struct outcome outcome;
    static struct svmx_receipt receipts[1024];
    struct scene scene;
    uint64_t from = 0;
    size_t count = 0;
    fake_start();
    svmx_executor_t *executor = open_fake();
    scene_open(&scene, executor, 4, &outcome);
    cr_assert_eq(svmx_batch_set_tag(scene.body, 77), SVMX_OK);
    cr_assert_eq(svmx_batch_set_verify(scene.body, verify), SVMX_OK);
    cr_assert_eq(svmx_batch_set_hash(scene.body, hash), SVMX_OK);
    cr_assert_eq(svmx_loop_run(scene.body, &scene.loop, outcome.ends, NULL), SVMX_OK);
    for (size_t i = 0; i < 1024; i++) receipts[i].size = sizeof *receipts;
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 1024, &count), SVMX_OK);
    cr_assert_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(receipts[i].tag, 77);
        cr_assert_eq(receipts[i].result_hash != 0, hash, "receipt %zu", i);
        if (receipts[i].device == 0)
            cr_assert_eq((receipts[i].flags & SVMX_RECEIPT_COMPARED) != 0, strcmp(verify, "full") == 0);
    }
    scene_close(&scene);
    svmx_close(executor);
    expect_all_returned();
}

Test(loops, verify_of_the_body_holds, .init = fill) { expect_wishes("full", false); }
Test(loops, hash_of_the_body_holds, .init = fill) { expect_wishes("off", true); }

/* ---- devices that fail ---------------------------------------------------------------------------------------------------- */

static struct outcome expected_by_hand;

static void expect_by_hand(svmx_executor_t *executor) {
    static struct outcome actual;
    (void)by_library(executor, 7, &actual);
    expect_same(&actual, &expected_by_hand, 7);
}

static void fail_each(enum fake_call call, enum svmx_status how, unsigned times) {
    by_hand(&expected_by_hand);
    fail_each_call(call, how, times, expect_by_hand);
}

Test(loops, any_submit_fails, .init = fill) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1); }
Test(loops, any_wait_fails, .init = fill) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1); }
Test(loops, any_memory_fails, .init = fill) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1); }
Test(loops, lost_in_mid_loop, .init = fill) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL); }

/* ---- state that is large ------------------------------------------------------------------------------------------------- */

/* So much of it that it comes back once a window, and not once an iteration. */
enum { LARGE = 32768, LARGE_PROBLEMS = 3, LARGE_MOST = 20, LARGE_BYTES = LARGE_PROBLEMS * LARGE * sizeof(float) };

struct large {
    float state[LARGE_PROBLEMS][LARGE], scaled[LARGE_PROBLEMS][LARGE];
    struct svmx_loop_end ends[LARGE_PROBLEMS];
    struct svmx_loop_counts counts;
};

/* Toward a target by a share that differs: the problems end in different iterations, one at the limit. */
static void add_large(svmx_batch_t *body, svmx_buffer_t *states, svmx_buffer_t *targets, uint32_t p, float *scaled,
                      struct svmx_carry *carry, struct svmx_until *until) {
    static const float shares[LARGE_PROBLEMS] = {0.9f, 0.5f, 0.01f};
    const struct svmx_arg x = svmx_view(SVMX_F32, states, p * LARGE, LARGE),
                          to = svmx_view(SVMX_F32, targets, p * LARGE, LARGE);
    const struct svmx_arg minus[] = {svmx_out(SVMX_F32, scaled, LARGE), to, x};
    const uint32_t difference = add(body, SVMX_OP_VEC_SUB_F32, minus, 3);
    const struct svmx_arg mix[] = {svmx_out_passing(SVMX_F32, LARGE), svmx_result_of(SVMX_F32, difference, 0), x,
                                   svmx_f32(shares[p])};
    const uint32_t next = add(body, SVMX_OP_AXPY_F32, mix, 4);
    const struct svmx_arg step[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, next, 0), x};
    const uint32_t most = add(body, SVMX_OP_MAX_ABS_DIFF_F32, step, 3);
    *carry = (struct svmx_carry){next, 0, states, p * LARGE * sizeof(float)};
    *until = (struct svmx_until){.task = most, .kind = SVMX_UNTIL_BELOW, .limit = 1e-2};
}

static void run_large(svmx_executor_t *executor, uint32_t every, struct large *large) {
    static float from[LARGE_PROBLEMS][LARGE], to[LARGE_PROBLEMS][LARGE];
    struct svmx_carry carries[LARGE_PROBLEMS];
    struct svmx_until untils[LARGE_PROBLEMS];
    svmx_buffer_t *states, *targets;
    svmx_batch_t *body;
    for (int p = 0; p < LARGE_PROBLEMS; p++)
        for (int i = 0; i < LARGE; i++) from[p][i] = (float)(i % 101) / 8, to[p][i] = (float)(i % 17 + p);
    cr_assert_eq(svmx_buffer_create(executor, LARGE_BYTES, &states), SVMX_OK);
    cr_assert_eq(svmx_buffer_create(executor, LARGE_BYTES, &targets), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(states, 0, from, LARGE_BYTES), SVMX_OK);
    cr_assert_eq(svmx_buffer_write(targets, 0, to, LARGE_BYTES), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &body), SVMX_OK);
    memset(large, 0, sizeof *large);
    for (uint32_t p = 0; p < LARGE_PROBLEMS; p++)
        add_large(body, states, targets, p, large->scaled[p], &carries[p], &untils[p]);
    const struct svmx_loop loop = {sizeof loop, carries, untils, LARGE_PROBLEMS, LARGE_PROBLEMS, LARGE_MOST, every};
    cr_assert_eq(svmx_loop_run(body, &loop, large->ends, &large->counts), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_buffer_read(states, 0, large->state, LARGE_BYTES), SVMX_OK);
    svmx_batch_destroy(body);
    svmx_buffer_destroy(states);
    svmx_buffer_destroy(targets);
}

static struct large large_expected, large_actual;

static void expect_large(uint32_t every) {
    cr_assert_arr_eq(large_actual.ends, large_expected.ends, sizeof large_actual.ends, "looked at every %u", every);
    cr_assert_arr_eq(large_actual.state, large_expected.state, LARGE_BYTES, "looked at every %u", every);
    cr_assert_arr_eq(large_actual.scaled, large_expected.scaled, LARGE_BYTES, "looked at every %u", every);
}

/* One iteration after another, on the host. */
static void expect_of_large(void) {
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    run_large(executor, 1, &large_expected);
    cr_assert_lt(large_expected.ends[0].iterations, large_expected.ends[1].iterations);
    cr_assert_lt(large_expected.ends[1].iterations, large_expected.ends[2].iterations);
    cr_assert_eq(large_expected.ends[2].reason, SVMX_LOOP_LIMIT);
    svmx_close(executor);
}

Test(loops, large_state_gives_the_same_however_often_is_looked) {
    static const uint32_t often[] = {1, 2, 3, 7, 16, 0, LARGE_MOST};
    expect_of_large();
    for (uint32_t flags = 0; flags <= SVMX_DEVICE_SHARES_MEMORY; flags += SVMX_DEVICE_SHARES_MEMORY) {
        fake_start();
        fake.flags = flags;
        svmx_executor_t *executor = open_fake();
        for (size_t i = 0; i < sizeof often / sizeof *often; i++) {
            run_large(executor, often[i], &large_actual);
            expect_large(often[i]);
        }
        svmx_close(executor);
        expect_all_returned();
    }
}

/* A window brings the flags of its iterations back, and one state: what the last of them carries on, and what it gives. Each
 * problem that ends in the midst of a window brings its own once more. */
Test(loops, large_state_comes_back_once_a_window) {
    enum { EVERY = 5, FLAG = 64, GUARDS = 1024 }; /* the last: what may lie around the results of a submission */
    struct svmx_options options = fake_options();
    options.timeout_ms = 60000;
    fake_start();
    svmx_executor_t *executor = open_with(&options);
    run_large(executor, EVERY, &large_actual); /* pipelines are built meanwhile */
    const uint64_t before = fake.bytes_out;
    const unsigned submits = fake.calls[FAKE_SUBMIT];
    run_large(executor, EVERY, &large_actual);
    uint64_t most = 0, windows = 0;
    for (int p = 0; p < LARGE_PROBLEMS; p++) {
        const uint64_t own = (large_actual.ends[p].iterations + EVERY - 1) / EVERY;
        windows = own > windows ? own : windows;
        most += (own + (large_actual.ends[p].iterations % EVERY > 0)) * (2 * LARGE * sizeof(float) + EVERY * FLAG);
    }
    cr_assert_leq(fake.bytes_out - before, most + large_actual.counts.windows * GUARDS);
    cr_assert_geq(fake.bytes_out - before, most - LARGE_PROBLEMS * (LARGE_MOST + EVERY) * FLAG);
    cr_assert_leq(large_actual.counts.windows, windows + LARGE_PROBLEMS - 1, "the last one ends with a window");
    cr_assert_eq(fake.calls[FAKE_SUBMIT] - submits, large_actual.counts.windows);
    svmx_close(executor);
    expect_all_returned();
}

static void expect_large_by_seven(svmx_executor_t *executor) {
    run_large(executor, 7, &large_actual);
    expect_large(7);
}

static void fail_large(enum fake_call call, enum svmx_status how, unsigned times) {
    expect_of_large();
    fail_each_call(call, how, times, expect_large_by_seven);
}

Test(loops, large_state_and_any_submit_fails) { fail_large(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1); }
Test(loops, large_state_and_any_memory_fails) { fail_large(FAKE_ALLOC, SVMX_ERR_MEMORY, 1); }
Test(loops, large_state_lost_in_mid_loop) { fail_large(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL); }

/* ---- what is refused --------------------------------------------------------------------------------------------------- */

Test(loops, what_is_refused, .init = fill) {
    static struct outcome outcome;
    const struct svmx_options options = plain_options();
    svmx_executor_t *executor = open_with(&options);
    struct scene scene;
    struct svmx_loop_end *ends = outcome.ends;
    scene_open(&scene, executor, 1, &outcome);
    const struct scene good = scene;
#define EXPECT_REFUSED(change, text)                                                                                   \
    do {                                                                                                               \
        memcpy(scene.carries, good.carries, sizeof scene.carries);                                                     \
        memcpy(scene.untils, good.untils, sizeof scene.untils);                                                        \
        scene.loop = good.loop;                                                                                        \
        scene.loop.carries = scene.carries;                                                                            \
        scene.loop.untils = scene.untils;                                                                              \
        change;                                                                                                        \
        cr_assert_eq(svmx_loop_run(scene.body, &scene.loop, ends, NULL), SVMX_ERR_ARGUMENT, #change);                  \
        cr_assert(strstr(svmx_batch_error(scene.body), text), "%s: %s", #change, svmx_batch_error(scene.body));        \
    } while (0)
    EXPECT_REFUSED(scene.loop.size = 0, "size");
    EXPECT_REFUSED(scene.loop.max_iterations = 0, "iteration");
    EXPECT_REFUSED(scene.loop.until_count = 0, "condition");
    EXPECT_REFUSED(scene.loop.until_count = 1, "has nothing to do with any condition");
    EXPECT_REFUSED(scene.untils[1] = scene.untils[0], "conditions 0 and 1");
    EXPECT_REFUSED(scene.untils[0].task = 1, "condition 0");
    EXPECT_REFUSED(scene.untils[0].kind = SVMX_UNTIL_NOT_ZERO, "condition 0");
    EXPECT_REFUSED(scene.untils[0].kind = 9, "condition 0");
    EXPECT_REFUSED(scene.carries[2].task = 1000, "carry 2");
    EXPECT_REFUSED(scene.carries[2].buffer = NULL, "carry 2");
    EXPECT_REFUSED(scene.carries[2].offset = sizeof start, "carry 2");
    EXPECT_REFUSED(scene.carries[2].offset -= 8, "overlap");
    EXPECT_REFUSED((scene.loop.carry_count = 1, scene.carries[0].offset = 8), "overlaps what carry 0 writes");
    cr_assert_eq(svmx_loop_run(NULL, &scene.loop, ends, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_loop_run(scene.body, &scene.loop, NULL, NULL), SVMX_ERR_ARGUMENT);
    const struct svmx_arg kept[] = {svmx_out_library(SVMX_F32, N), svmx_in(SVMX_F32, start[0], N)};
    (void)add(scene.body, SVMX_OP_RELU_F32, kept, 2);
    EXPECT_REFUSED((void)0, "leaves an output to the library");
    scene_close(&scene);
    svmx_close(executor);
}
