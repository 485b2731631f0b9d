/*
 * test_fused.c: elementwise tasks that follow one another are one pass over memory on a device that takes chains: the bytes
 * of separate runs, one launch, results that pass from task to task without memory; and what happens when such a launch
 * fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "executor/executor.h"
#include "trial.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <svmx/plugin.h>
#include <unistd.h>

enum { ROWS = 3, LINKS = 6, MOST = 20000 };

static float in[ROWS][MOST], other[ROWS][MOST], outs[2][LINKS][ROWS][MOST];

static svmx_executor_t *open_with(const char *backends) {
    const struct svmx_options options = {.size = sizeof options, .backends = backends, .log_level = SVMX_LOG_ERROR};
    svmx_executor_t *executor = NULL;
    struct svmx_error error;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static void fill(unsigned seed) {
    srand(seed);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < MOST; i++) {
            in[r][i] = (float)(rand() % 2001 - 1000) / 128;
            other[r][i] = (float)(rand() % 2001 - 1000) / 512;
        }
}

/* ---- a made-up chain --------------------------------------------------------------------------------------------- */

enum where { TO_HOST, TO_LIBRARY, TO_NOBODY };

struct plan {
    uint32_t rows, links;
    uint64_t count[ROWS];
    uint32_t op[LINKS];
    enum where where[LINKS];
};

static const uint32_t operations[] = {SVMX_OP_RELU_F32, SVMX_OP_GELU_F32,    SVMX_OP_TANH_F32,   SVMX_OP_VEC_ADD_F32,
                                      SVMX_OP_AXPY_F32, SVMX_OP_VEC_MUL_F32, SVMX_OP_SIGMOID_F32};

static struct plan plan_of(unsigned seed) {
    static const uint64_t counts[] = {1, 7, 64, 1000, 4096, 4097, 12289, MOST};
    struct plan plan = {.rows = 1 + seed % ROWS, .links = 2 + seed % (LINKS - 1)};
    srand(seed);
    for (uint32_t r = 0; r < plan.rows; r++) plan.count[r] = counts[(size_t)rand() % (sizeof counts / sizeof *counts)];
    for (uint32_t l = 0; l < plan.links; l++) {
        plan.op[l] = operations[(size_t)rand() % (sizeof operations / sizeof *operations)];
        plan.where[l] = l + 1 == plan.links ? TO_HOST : (enum where)(rand() % 3);
    }
    return plan;
}

static struct svmx_arg output_of(const struct plan *plan, uint32_t link, uint32_t row, float *memory) {
    switch (plan->where[link]) {
    case TO_LIBRARY: return svmx_out_library(SVMX_F32, plan->count[row]);
    case TO_NOBODY: return svmx_out_passing(SVMX_F32, plan->count[row]);
    default: return svmx_out(SVMX_F32, memory, plan->count[row]);
    }
}

/* One task: of the input, or of the result of the link before. */
static void add_task(svmx_batch_t *batch, const struct plan *plan, uint32_t link, uint32_t row, float *memory) {
    const uint64_t n = plan->count[row];
    const struct svmx_arg taken =
        link ? svmx_result_of(SVMX_F32, (link - 1) * plan->rows + row, 0) : svmx_in(SVMX_F32, in[row], n);
    struct svmx_arg args[4] = {output_of(plan, link, row, memory), taken};
    size_t count = 2;
    if (plan->op[link] == SVMX_OP_VEC_MUL_F32 && link)
        args[count++] = taken; /* twice the same */
    else if (plan->op[link] == SVMX_OP_VEC_ADD_F32 || plan->op[link] == SVMX_OP_VEC_MUL_F32 ||
             plan->op[link] == SVMX_OP_AXPY_F32)
        args[count++] = svmx_in(SVMX_F32, other[row], n);
    if (plan->op[link] == SVMX_OP_AXPY_F32) args[count++] = svmx_f32(0.375f);
    cr_assert_eq(svmx_batch_add(batch, plan->op[link], args, count), SVMX_OK, "%s", svmx_batch_error(batch));
}

static void add_all(svmx_batch_t *batch, const struct plan *plan, int to) {
    for (uint32_t l = 0; l < plan->links; l++)
        for (uint32_t r = 0; r < plan->rows; r++) add_task(batch, plan, l, r, outs[to][l][r]);
}

/* The results that the caller may look at. */
static void take_library(svmx_batch_t *batch, const struct plan *plan, int to) {
    for (uint32_t l = 0; l < plan->links; l++)
        for (uint32_t r = 0; r < plan->rows; r++) {
            void *data;
            uint64_t bytes;
            const enum svmx_status status = svmx_result(batch, l * plan->rows + r, 0, &data, &bytes);
            cr_assert_eq(status, plan->where[l] == TO_NOBODY ? SVMX_ERR_UNKNOWN : SVMX_OK);
            if (plan->where[l] != TO_LIBRARY) continue;
            cr_assert_eq(bytes, 4 * plan->count[r]);
            memcpy(outs[to][l][r], data, bytes);
        }
}

static void run(svmx_executor_t *executor, const struct plan *plan, int to, bool asynchronous) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    add_all(batch, plan, to);
    for (int round = 0; round < 2; round++) { /* armed again, everything is found anew */
        memset(outs[to], 0xff, sizeof outs[to]);
        cr_assert_eq(asynchronous ? svmx_submit(batch, 0) : svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
        cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK, "%s", svmx_batch_error(batch));
        take_library(batch, plan, to);
        if (!round) cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
}

static uint64_t launches_of(svmx_executor_t *executor) {
    uint64_t launches = 0;
    for (uint32_t d = 0; d < svmx_device_count(executor); d++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, d, &device), SVMX_OK);
        launches += device.launches;
    }
    return launches;
}

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

Test(fused, chains_have_the_bytes_of_separate_runs) {
    svmx_executor_t *fused = open_with("+simd,stop"), *separate = open_with("none");
    fill(1);
    for (unsigned seed = 1; seed <= 120; seed++) {
        const struct plan plan = plan_of(seed);
        run(fused, &plan, 0, seed % 2);
        run(separate, &plan, 1, false);
        cr_assert(memcmp(outs[0], outs[1], sizeof outs[0]) == 0, "seed %u", seed);
    }
    svmx_close(fused);
    svmx_close(separate);
}

/* More than caches hold: outputs go past them, in pieces, and what the next piece reads is fetched ahead. Lengths and places that are
 * no multiple of a cache line, a result in the midst that is asked for, and an input that two links read. */
enum { FAR = 2000003, FAR_TASKS = 2, FAR_LINKS = 4 };

static void add_far(svmx_batch_t *batch, uint32_t link, struct svmx_arg out, struct svmx_arg taken,
                    const float *second) {
    static const uint32_t ops[FAR_LINKS] = {SVMX_OP_RELU_F32, SVMX_OP_VEC_ADD_F32, SVMX_OP_SIGMOID_F32,
                                            SVMX_OP_VEC_MUL_F32};
    const struct svmx_arg args[] = {out, taken, svmx_in(SVMX_F32, second, FAR)};
    cr_assert_eq(svmx_batch_add(batch, ops[link], args, link % 2 ? 3 : 2), SVMX_OK, "%s", svmx_batch_error(batch));
}

Test(fused, a_chain_that_no_cache_holds_has_the_bytes_of_separate_runs) {
    svmx_executor_t *executor = open_with("+simd,stop");
    svmx_batch_t *chain, *separate;
    float *memory = malloc((3 + 2 * FAR_LINKS) * (FAR_TASKS * FAR + 1) * sizeof *memory), *at[3 + 2 * FAR_LINKS];
    cr_assert_not_null(memory);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) at[i] = memory + i * (FAR_TASKS * FAR + 1) + 1;
    for (size_t i = 0; i < FAR_TASKS * FAR; i++)
        at[0][i] = (float)(i % 1009) / 100 - 5, at[1][i] = (float)(i % 757) / 99 - 3;
    cr_assert_eq(svmx_batch_create(executor, &chain), SVMX_OK);
    for (uint32_t l = 0; l < FAR_LINKS; l++) {
        cr_assert_eq(svmx_batch_create(executor, &separate), SVMX_OK);
        for (uint32_t t = 0; t < FAR_TASKS; t++) {
            const size_t from = (size_t)t * FAR;
            float *const apart = at[3 + l] + from, *const together = at[3 + FAR_LINKS + l] + from;
            add_far(separate, l, svmx_out(SVMX_F32, apart, FAR), svmx_in(SVMX_F32, (l ? at[2 + l] : at[0]) + from, FAR),
                    at[1] + from);
            add_far(chain, l, l % 2 ? svmx_out(SVMX_F32, together, FAR) : svmx_out_passing(SVMX_F32, FAR),
                    l ? svmx_result_of(SVMX_F32, (l - 1) * FAR_TASKS + t, 0) : svmx_in(SVMX_F32, at[0] + from, FAR),
                    at[1] + from);
        }
        cr_assert_eq(svmx_run(separate), SVMX_OK);
        svmx_batch_destroy(separate);
    }
    cr_assert_eq(svmx_run(chain), SVMX_OK);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(chain, 1, &receipt), SVMX_OK);
    cr_assert_eq(receipt.launches, 0, "or this shows nothing");
    for (uint32_t l = 1; l < FAR_LINKS; l += 2)
        cr_assert_eq(memcmp(at[3 + l], at[3 + FAR_LINKS + l], FAR_TASKS * FAR * sizeof(float)), 0, "link %u", l);
    svmx_batch_destroy(chain);
    free(memory);
    svmx_close(executor);
}

Test(fused, a_chain_is_one_launch_and_its_receipts_say_so) {
    svmx_executor_t *executor = open_with("+simd,stop");
    const struct plan plan = {.rows = 2,
                              .links = 4,
                              .count = {5000, 300},
                              .op = {SVMX_OP_GELU_F32, SVMX_OP_VEC_ADD_F32, SVMX_OP_TANH_F32, SVMX_OP_RELU_F32},
                              .where = {TO_NOBODY, TO_HOST, TO_NOBODY, TO_HOST}};
    svmx_batch_t *batch;
    fill(2);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    add_all(batch, &plan, 0);
    const uint64_t before = launches_of(executor);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(launches_of(executor), before + 1);
    cr_assert_eq(svmx_receipt_count(batch), 4);
    for (uint32_t i = 0; i < 4; i++) {
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
        cr_assert_eq(receipt.tasks, 2);
        cr_assert_eq(receipt.launches, i == 0);
        cr_assert_eq((receipt.flags & SVMX_RECEIPT_FUSED) != 0, i > 0);
        cr_assert(i == 0 ? receipt.run_ns > 0 : receipt.run_ns == 0);
    }
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* Rows that cross, a result that two take, one that two make, lengths that a reduction changes: no links, right results. */
Test(fused, what_is_no_chain_is_left_alone) {
    svmx_executor_t *executor = open_with("+simd,stop");
    static float out[6][64], sum;
    svmx_batch_t *batch;
    fill(3);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_relu_f32(batch, out[0], in[0], 64), SVMX_OK);
    cr_assert_eq(svmx_relu_f32(batch, out[1], in[1], 64), SVMX_OK);
    const struct svmx_arg crossed[2][2] = {{svmx_out(SVMX_F32, out[2], 64), svmx_result_of(SVMX_F32, 1, 0)},
                                           {svmx_out(SVMX_F32, out[3], 64), svmx_result_of(SVMX_F32, 0, 0)}};
    for (int i = 0; i < 2; i++) cr_assert_eq(svmx_batch_add(batch, SVMX_OP_RELU_F32, crossed[i], 2), SVMX_OK);
    const struct svmx_arg both[] = {svmx_out(SVMX_F32, out[4], 64), svmx_result_of(SVMX_F32, 2, 0),
                                    svmx_result_of(SVMX_F32, 3, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, both, 3), SVMX_OK);
    const struct svmx_arg total[] = {svmx_out(SVMX_F32, &sum, 1), svmx_result_of(SVMX_F32, 4, 0)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_SUM_F32, total, 2), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    float expected = 0;
    for (int i = 0; i < 64; i++) {
        const float a = in[0][i] > 0 ? in[0][i] : 0, b = in[1][i] > 0 ? in[1][i] : 0;
        cr_assert_eq(out[2][i], b);
        cr_assert_eq(out[3][i], a);
        cr_assert_eq(out[4][i], b + a);
        expected += a + b;
    }
    cr_assert_float_eq(sum, expected, 1e-2f);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(fused, an_input_cannot_pass) {
    svmx_executor_t *executor = open_with("none");
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, outs[0][0][0], 8), svmx_out_passing(SVMX_F32, 8)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_RELU_F32, args, 2), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "'a' is an input"), "%s", svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* ---- a device whose chains fail ----------------------------------------------------------------------------------- */

static const struct svmx_host *host;
static atomic_uint chains_seen;

static enum svmx_status device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    (void)self;
    if (index) return SVMX_ERR_UNKNOWN;
    strcpy(info->name, "breaks chains");
    strcpy(info->driver, "test");
    info->kind = SVMX_DEVICE_CPU;
    info->flags = SVMX_DEVICE_HOST_MEMORY | SVMX_DEVICE_INLINE | SVMX_DEVICE_TEST | SVMX_DEVICE_CHAINS;
    info->compute_engines = info->threads = info->alignment = 1;
    return SVMX_OK;
}

static enum svmx_status pipeline_build(void *self, uint32_t device, const struct svmx_pipeline_desc *desc,
                                       struct svmx_pipeline **pipeline) {
    (void)self, (void)device;
    *pipeline = (struct svmx_pipeline *)(uintptr_t)desc->op->name;
    return SVMX_OK;
}

static void pipeline_free(void *self, struct svmx_pipeline *pipeline) { (void)self, (void)pipeline; }

static enum svmx_status submit(void *self, const struct svmx_submission *submission, uint64_t *ticket) {
    (void)self;
    const struct svmx_command *command = submission->list->commands;
    *ticket = 0;
    if (command->kind == SVMX_COMMAND_CHAIN) {
        atomic_fetch_add(&chains_seen, 1);
        host->log(host, SVMX_LOG_ERROR, "no chains today");
        return SVMX_ERR_BACKEND;
    }
    const struct svmx_dispatch *dispatch = &command->as.dispatch;
    for (uint32_t t = 0; t < dispatch->task_count; t++) {
        const enum svmx_status status =
            host->reference(host, (const char *)dispatch->pipeline, dispatch->slots + (size_t)t * dispatch->slot_count,
                            dispatch->slot_count);
        if (status != SVMX_OK) return status;
    }
    return SVMX_OK;
}

static enum svmx_status wait_ticket(void *self, uint32_t device, uint64_t ticket, uint64_t timeout_ns,
                                    struct svmx_timing *timing) {
    (void)self, (void)device, (void)ticket, (void)timeout_ns, (void)timing;
    return SVMX_ERR_UNKNOWN;
}

static void backend_close(void *self) { (void)self; }

static enum svmx_status backend_open(const struct svmx_host *from, struct svmx_backend *backend) {
    static const struct svmx_backend_ops ops = {.size = sizeof ops,
                                                .device_info = device_info,
                                                .pipeline_build = pipeline_build,
                                                .pipeline_free = pipeline_free,
                                                .submit = submit,
                                                .wait = wait_ticket,
                                                .close = backend_close};
    host = from;
    *backend = (struct svmx_backend){&ops, NULL};
    return SVMX_OK;
}

static void quiet(void *user, enum svmx_log_level level, const char *text) { (void)user, (void)level, (void)text; }

/* Its time, for strikes and rests, stands still: nobody comes back unasked. */
static svmx_executor_t *open_breaker(void) {
    static const struct svmx_plugin plugin = {.magic = SVMX_PLUGIN_MAGIC,
                                              .size = sizeof plugin,
                                              .abi_major = SVMX_ABI_MAJOR,
                                              .abi_minor = SVMX_ABI_MINOR,
                                              .name = "breaker",
                                              .version = "1",
                                              .licence = "Apache-2.0",
                                              .open = backend_open};
    static const struct svmx_plugin *const plugins[] = {&plugin};
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "breaker,stop",
                                         .static_plugins = plugins,
                                         .static_plugin_count = 1,
                                         .log = quiet};
    svmx_executor_t *executor = NULL;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    atomic_store(&executor->stopped_ns, svmx__clock_ns());
    atomic_store(&chains_seen, 0);
    return executor;
}

static struct svmx_device breaker_of(svmx_executor_t *executor) {
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    return device;
}

static void run_both(svmx_executor_t *broken, svmx_executor_t *separate, unsigned seed) {
    const struct plan plan = plan_of(seed);
    run(broken, &plan, 0, seed % 2);
    run(separate, &plan, 1, false);
    cr_assert(memcmp(outs[0], outs[1], sizeof outs[0]) == 0, "seed %u", seed);
}

Test(fused, a_chain_that_fails_falls_apart_and_is_right_and_is_one_strike) {
    svmx_executor_t *separate = open_with("none");
    fill(4);
    for (unsigned seed = 1; seed <= 20; seed++) {
        svmx_executor_t *broken = open_breaker();
        run_both(broken, separate, seed);
        cr_assert_geq(atomic_load(&chains_seen), 2); /* armed again, it is tried again */
        cr_assert_eq(breaker_of(broken).strikes, atomic_load(&chains_seen), "seed %u", seed);
        cr_assert_eq(breaker_of(broken).failures, atomic_load(&chains_seen), "seed %u", seed);
        cr_assert_eq(breaker_of(broken).usable, atomic_load(&chains_seen) < SVMX__STRIKES);
        svmx_close(broken);
    }
    svmx_close(separate);
}

Test(fused, a_device_that_is_watched_gets_no_chains) {
    svmx_executor_t *broken = open_breaker(), *separate = open_with("none");
    fill(5);
    run_both(broken, separate, 2); /* a chain and what is left of it, twice: it rests */
    cr_assert_eq(breaker_of(broken).health, SVMX_RESTING);
    const unsigned seen = atomic_load(&chains_seen);
    cr_assert_eq(svmx_device_reset(broken, 0), SVMX_OK);
    while (breaker_of(broken).health != SVMX_SUSPECT) usleep(1000);
    const uint64_t launches = breaker_of(broken).launches;
    run_both(broken, separate, 2);
    cr_assert_eq(breaker_of(broken).launches, launches + 8, "each link alone, each compared");
    cr_assert_eq(breaker_of(broken).health, SVMX_SUSPECT);
    cr_assert_eq(atomic_load(&chains_seen), seen);
    run_both(broken, separate, 2);
    cr_assert_gt(atomic_load(&chains_seen), seen, "after ten launches it is trusted");
    svmx_close(broken);
    svmx_close(separate);
}

/* What passes from link to link could not be compared. */
Test(fused, chains_whose_launches_are_verified_fall_apart_and_are_right) {
    struct svmx_options options = {
        .size = sizeof options, .backends = "simd", .log_level = SVMX_LOG_ERROR, .verify = "full"};
    svmx_executor_t *verified = NULL, *separate = open_with("none");
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_open(&verified, &options, NULL), SVMX_OK);
    fill(6);
    for (unsigned seed = 1; seed <= 20; seed++) run_both(verified, separate, seed);
    cr_assert_eq(svmx_stats_get(verified, &stats), SVMX_OK);
    cr_assert_eq(stats.compared, stats.launches, "%llu of %llu", (unsigned long long)stats.compared,
                 (unsigned long long)stats.launches);
    cr_assert_eq(stats.differed, 0);
    svmx_close(verified);
    svmx_close(separate);
}
