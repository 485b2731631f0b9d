/*
 * opencl_isolate.c: suite opencl: what it costs to run the backend in a process of its own (SUPERVM_ISOLATE), beside the same
 * work with the backend at home, and what trying drivers before they are loaded costs at svmx_open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static void demand(enum svmx_status status, const svmx_batch_t *batch, const char *what) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

/* One example on one executor, run over and over. */
struct side {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_example data;
    bool device; /* the device itself answered */
};

static bool side_open(struct side *side, const char *isolate) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+opencl:0,stop",
                                         .timeout_ms = 60000,
                                         .log_level = SVMX_LOG_ERROR,
                                         .isolate = isolate};
    *side = (struct side){.executor = NULL};
    return svmx_open(&side->executor, &options, NULL) == SVMX_OK;
}

static void side_take(struct side *side, uint32_t op, uint64_t size) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    demand(svmx_prewarm(side->executor, op, size), NULL, "svmx_prewarm");
    demand(svmx_example_create(side->executor, op, size, 1, &side->data), NULL, "svmx_example_create");
    demand(svmx_batch_create(side->executor, &side->batch), NULL, "svmx_batch_create");
    demand(svmx_batch_add(side->batch, op, side->data.args, side->data.arg_count), side->batch, "svmx_batch_add");
    demand(svmx_run(side->batch), side->batch, "svmx_run");
    demand(svmx_receipt_get(side->batch, 0, &receipt), side->batch, "svmx_receipt_get");
    side->device = receipt.device == 0 && receipt.redone == 0;
}

static void side_drop(struct side *side) {
    svmx_batch_destroy(side->batch);
    svmx_example_destroy(&side->data);
}

static void run(void *user, uint64_t repeats) {
    struct side *side = user;
    while (repeats-- > 0) {
        demand(svmx_batch_rearm(side->batch), side->batch, "svmx_batch_rearm");
        demand(svmx_run(side->batch), side->batch, "svmx_run");
    }
}

static void launches(struct bench *bench, struct side *away, struct side *home, const char *name, uint32_t op,
                     uint64_t size) {
    static struct bench_lane ours, peer; /* too large for a stack */
    side_take(away, op, size);
    side_take(home, op, size);
    const bool right =
        away->device && home->device &&
        memcmp(away->data.args[0].from.in, home->data.args[0].from.in, (size_t)home->data.args[0].bytes) == 0;
    ours = (struct bench_lane){.run = run, .user = away};
    peer = (struct bench_lane){.run = run, .user = home};
    bench_measure(bench, (struct bench_lane *const[]){&ours, &peer}, 2);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = bench_median(bench, &ours) / 1e3,
                                         .peer = bench_median(bench, &peer) / 1e3,
                                         .peer_name = "in process",
                                         .unit = "us",
                                         .wrong = !right,
                                         .note = right ? NULL : "the results differ, or are of another device"});
    side_drop(away);
    side_drop(home);
}

/* ---- opening ---------------------------------------------------------------------------------------------------- */

static void open_close(void *user, uint64_t repeats) {
    while (repeats-- > 0) {
        svmx_executor_t *executor;
        demand(svmx_open(&executor, user, NULL), NULL, "svmx_open");
        svmx_close(executor);
    }
}

static void opening(struct bench *bench, const char *name, struct svmx_options *given, struct svmx_options *plain,
                    const char *peer_name) {
    static struct bench_lane ours, peer;
    struct bench few = *bench; /* each takes a tenth of a second */
    few.rounds = bench_rounds(&few, 15);
    few.patience_ns = 0;
    ours = (struct bench_lane){.run = open_close, .user = given};
    peer = (struct bench_lane){.run = open_close, .user = plain};
    bench_measure(&few, (struct bench_lane *const[]){&ours, &peer}, 2);
    bench_row(bench, &(struct bench_row){.name = name,
                                         .ours = bench_median(&few, &ours) / 1e6,
                                         .peer = bench_median(&few, &peer) / 1e6,
                                         .peer_name = peer_name,
                                         .unit = "ms"});
}

static void openings(struct bench *bench) {
    char folder[] = "/tmp/svmx-bench-XXXXXX", command[64];
    if (!mkdtemp(folder)) exit(1);
    struct svmx_options plain = {.size = sizeof plain,
                                 .backends = "+opencl,stop",
                                 .log_level = SVMX_LOG_ERROR,
                                 .cache_dir = folder,
                                 .profile = "off",
                                 .driver_probe = "off"};
    struct svmx_options isolated = plain, kept = plain, each = plain;
    isolated.isolate = "opencl";
    kept.driver_probe = "auto";
    each.driver_probe = "on";
    each.cache_dir = "off";
    open_close(&kept, 1); /* the verdict */
    opening(bench, "open and close, isolated", &isolated, &plain, "in process");
    opening(bench, "open and close, a kept verdict on drivers", &kept, &plain, "no verdict");
    opening(bench, "open and close, drivers tried each time", &each, &plain, "not tried");
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left behind\n", folder);
}

int main(void) {
    struct bench bench;
    struct side away, home;
    bench_open(&bench, "opencl");
    if (!side_open(&home, NULL) || !side_open(&away, "opencl")) {
        bench_row(&bench,
                  &(struct bench_row){
                      .name = "isolated", .ours = NAN, .peer = NAN, .unit = "us", .note = "skipped: no OpenCL device"});
        return bench_close(&bench);
    }
    launches(&bench, &away, &home, "isolated: vec_add_f32 of 1 K", SVMX_OP_VEC_ADD_F32, 1 << 10);
    launches(&bench, &away, &home, "isolated: vec_add_f32 of 64 K", SVMX_OP_VEC_ADD_F32, 1 << 16);
    launches(&bench, &away, &home, "isolated: vec_add_f32 of 1 M", SVMX_OP_VEC_ADD_F32, 1 << 20);
    launches(&bench, &away, &home, "isolated: keccak256 of 65,536 x 32 bytes", SVMX_OP_KECCAK256, 65536);
    svmx_close(away.executor);
    svmx_close(home.executor);
    openings(&bench);
    return bench_close(&bench);
}
