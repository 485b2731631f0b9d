/*
 * faults.c: suite faults: what it costs that a device may fail, at 1 M elements: guard bytes around outputs, and a note of every
 * call of a driver, so that one that hangs is left behind.
 *
 * Comparing launches (verify) is off by default and no part of it. The others cannot be switched off by options, since nobody
 * should; so this links the core as an archive and has the linker put a switch before each of them. The lanes are one batch on one
 * executor, with them and without, in turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include "executor/executor.h"
#include <math.h>
#include <stdlib.h>
#include <svmx/ops.h>

static bool without;

/* The linker has a call of f go to __wrap_f, and one of __real_f to f. */
size_t __real_svmx__guard_lay(struct svmx__part *part, struct svmx_command *commands);
size_t __wrap_svmx__guard_lay(struct svmx__part *part, struct svmx_command *commands);
enum svmx_status __real_svmx__guard_check(struct svmx__part *part);
enum svmx_status __wrap_svmx__guard_check(struct svmx__part *part);
void __real_svmx__call_begin(struct svmx__life *life, struct svmx__call call, uint64_t allowed_ns);
void __wrap_svmx__call_begin(struct svmx__life *life, struct svmx__call call, uint64_t allowed_ns);
void __real_svmx__call_end(void);
void __wrap_svmx__call_end(void);

size_t __wrap_svmx__guard_lay(struct svmx__part *part, struct svmx_command *commands) {
    return without ? 0 : __real_svmx__guard_lay(part, commands);
}

enum svmx_status __wrap_svmx__guard_check(struct svmx__part *part) {
    return without ? SVMX_OK : __real_svmx__guard_check(part);
}

void __wrap_svmx__call_begin(struct svmx__life *life, struct svmx__call call, uint64_t allowed_ns) {
    if (!without) __real_svmx__call_begin(life, call, allowed_ns);
}

void __wrap_svmx__call_end(void) {
    if (!without) __real_svmx__call_end();
}

static void demand(enum svmx_status status, const svmx_batch_t *batch, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

struct side {
    svmx_batch_t *batch;
    bool without;
};

static void run(void *user, uint64_t repeats) {
    const struct side *side = user;
    without = side->without; /* nothing is under way */
    while (repeats-- > 0) {
        demand(svmx_run(side->batch), side->batch, "svmx_run");
        demand(svmx_batch_rearm(side->batch), side->batch, "svmx_batch_rearm");
    }
}

static bool device_answers(svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    demand(svmx_run(batch), batch, "svmx_run");
    demand(svmx_receipt_get(batch, 0, &receipt), batch, "svmx_receipt_get");
    demand(svmx_batch_rearm(batch), batch, "svmx_batch_rearm");
    return receipt.device == 0 && receipt.redone == 0;
}

static void skip(struct bench *bench, const char *name) {
    bench_row(bench,
              &(struct bench_row){.name = name, .ours = NAN, .peer = NAN, .unit = "us", .note = "skipped: no device"});
}

static void measure(struct bench *bench, const char *backends, const char *name) {
    static struct bench_lane ours, peer; /* too large for a stack */
    const struct svmx_options options = {.size = sizeof options, .backends = backends, .log_level = SVMX_LOG_ERROR};
    svmx_executor_t *executor;
    struct svmx_example data;
    svmx_batch_t *batch;
    if (svmx_open(&executor, &options, NULL) != SVMX_OK) {
        skip(bench, name);
        return;
    }
    demand(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, 1 << 20), NULL, "svmx_prewarm");
    demand(svmx_example_create(executor, SVMX_OP_VEC_ADD_F32, 1 << 20, 1, &data), NULL, "svmx_example_create");
    demand(svmx_batch_create(executor, &batch), NULL, "svmx_batch_create");
    demand(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, data.args, data.arg_count), batch, "svmx_batch_add");
    const bool right = device_answers(batch);
    struct side with_them = {batch, false}, without_them = {batch, true};
    ours = (struct bench_lane){.run = run, .user = &with_them};
    peer = (struct bench_lane){.run = run, .user = &without_them};
    bench_measure(bench, (struct bench_lane *const[]){&ours, &peer}, 2);
    without = false;
    bench_row(bench,
              &(struct bench_row){.name = name,
                                  .ours = bench_median(bench, &ours) / 1e3,
                                  .peer = bench_median(bench, &peer) / 1e3,
                                  .peer_name = "without",
                                  .unit = "us",
                                  .ask = BENCH_RATIO_AT_LEAST,
                                  .bound = 0.98,
                                  .wrong = !right || !device_answers(batch),
                                  .note = "guard bytes and notes of driver calls; without: a switch of the linker's"});
    svmx_batch_destroy(batch);
    svmx_example_destroy(&data);
    svmx_close(executor);
}

int main(void) {
    static struct bench bench;
    bench_open(&bench, "faults");
    measure(&bench, "+simd,stop", "what faults cost: vec_add_f32 of 1 M, SIMD");
    measure(&bench, "+opencl:0,stop", "what faults cost: vec_add_f32 of 1 M, OpenCL");
    return bench_close(&bench);
}
