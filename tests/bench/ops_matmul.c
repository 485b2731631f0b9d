/*
 * ops_matmul.c: suite ops, products of square float matrices, against OpenBLAS.
 *
 * Ours has one defined order of additions for each element, which is looked at here for some hundred of them.
 * OpenBLAS adds in whatever order is fast.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops.h"
#include "peer_openblas.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 2048, WAKE_ORDER = 256, SAMPLES = 512 };

struct work {
    struct openblas_peer *openblas;
    float *out;
    const float *a, *b;
    size_t n;
};

static void run_openblas(void *user, struct ops_team *team) {
    const struct work *work = user;
    (void)team;
    openblas_peer_multiply(work->openblas, work->out, work->a, work->b, work->n);
}

/* The first product after a pause would pay for waking the threads. */
static void enter_openblas(void *user, struct ops_team *team) {
    const struct work *work = user;
    openblas_peer_threads(work->openblas, ops_team_count(team));
    openblas_peer_multiply(work->openblas, work->out, work->a, work->b, WAKE_ORDER);
}

static void leave_openblas(void *user, struct ops_team *team) {
    const struct work *work = user;
    if (ops_team_count(team) > 1) openblas_peer_settle(work->openblas);
}

/* The definition: fma after fma in the order of p, from +0. */
static bool right(const struct ops_call *call) {
    const float *out = call->args[0].from.out, *a = call->args[1].from.in, *b = call->args[2].from.in;
    size_t n = call->args[3].from.bits;
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        size_t i = sample * 7919 % n, j = sample * 104729 % n;
        float sum = 0;
        for (size_t p = 0; p < n; p++) sum = fmaf(a[i * n + p], b[p * n + j], sum);
        if (memcmp(&sum, &out[i * n + j], sizeof sum) != 0) return false;
    }
    return true;
}

/* Close, by the bound for any order of additions with elements below 1. */
static bool close_to_ours(const struct ops_call *call, const void *user) {
    const struct work *work = user;
    const float *ours = call->args[0].from.out;
    double bound = 2 * (double)work->n * (double)work->n * 6e-8;
    for (size_t i = 0; i < work->n * work->n; i++)
        if (!(fabs((double)work->out[i] - (double)ours[i]) <= bound)) return false;
    return true;
}

static void multiply(struct ops *ops, struct work *work, float *out, size_t n, const char *no_openblas) {
    char name[64], remark[64] = "";
    (void)snprintf(name, sizeof name, "matmul_f32 of order %zu", n);
    if (work->openblas) (void)snprintf(remark, sizeof remark, "kernels of %s", openblas_peer_kernels(work->openblas));
    work->n = n;
    ops_run(ops, &(struct ops_case){
                     .name = name,
                     .call = {{.op = "matmul_f32",
                               .args = {svmx_out(SVMX_F32, out, n * n), svmx_in(SVMX_F32, work->a, n * n),
                                        svmx_in(SVMX_F32, work->b, n * n), svmx_u64(n), svmx_u64(n), svmx_u64(n)},
                               .count = 6,
                               .items = 2 * n * n * n}},
                     .peer = {.name = "OpenBLAS",
                              .missing = no_openblas,
                              .run = run_openblas,
                              .enter = enter_openblas,
                              .leave = leave_openblas,
                              .user = {work, work}},
                     .unit = "GFLOP/s",
                     .scale = 1,
                     .ask = {{0.85, 0.85}, {0.85, 0.85}},
                     .remark = remark[0] ? remark : NULL,
                     .right = right,
                     .peer_right = close_to_ours});
}

int main(void) {
    const char *no_openblas;
    struct work work = {.openblas = openblas_peer_open(&no_openblas)};
    struct ops ops;
    if (!ops_open(&ops, "matrix products")) return ops_close(&ops);
    const size_t bytes = (size_t)LONGEST * LONGEST * sizeof(float);
    float *a = ops_memory(bytes), *b = ops_memory(bytes), *out = ops_memory(bytes);
    ops_fill_f32(a, (size_t)LONGEST * LONGEST, -1, 1, 1);
    ops_fill_f32(b, (size_t)LONGEST * LONGEST, -1, 1, 2);
    work.a = a;
    work.b = b;
    work.out = ops_memory(bytes);

    static const size_t orders[] = {512, 1024, 2048};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) multiply(&ops, &work, out, orders[i], no_openblas);
    openblas_peer_close(work.openblas);
    return ops_close(&ops);
}
