/*
 * chain.c: four operations on a vector, once as four batches and once as one whose tasks take one another's results.
 *
 *   x = a + b,  y = x * b,  z = gelu(y),  out = softmax(z)
 *
 * Build: cc chain.c $(pkg-config --cflags --libs svmx)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

enum { N = 1024, ROWS = 64, COUNT = N * ROWS };

static float a[COUNT], b[COUNT], x[COUNT], y[COUNT], z[COUNT], separate[COUNT], chained[COUNT];

static void check(enum svmx_status status, const svmx_batch_t *batch) {
    if (status == SVMX_OK) return;
    fprintf(stderr, "%s: %s\n", svmx_status_name(status), svmx_batch_error(batch));
    exit(1);
}

static void run_and_reset(svmx_batch_t *batch) {
    check(svmx_run(batch), batch);
    check(svmx_batch_reset(batch), batch);
}

/* Every result comes back, and goes in again. */
static void run_separately(svmx_batch_t *batch) {
    check(svmx_vec_add_f32(batch, x, a, b, COUNT), batch);
    run_and_reset(batch);
    check(svmx_vec_mul_f32(batch, y, x, b, COUNT), batch);
    run_and_reset(batch);
    check(svmx_gelu_f32(batch, z, y, COUNT), batch);
    run_and_reset(batch);
    check(svmx_softmax_f32(batch, separate, z, N, COUNT), batch);
    run_and_reset(batch);
}

/* What only the next task takes passes: it need not be in memory. */
static void add_chain(svmx_batch_t *batch) {
    const struct svmx_arg sum[] = {svmx_out_passing(SVMX_F32, COUNT), svmx_in(SVMX_F32, a, COUNT),
                                   svmx_in(SVMX_F32, b, COUNT)},
                          product[] = {svmx_out_passing(SVMX_F32, COUNT), svmx_result_of(SVMX_F32, 0, 0),
                                       svmx_in(SVMX_F32, b, COUNT)},
                          gelu[] = {svmx_out_passing(SVMX_F32, COUNT), svmx_result_of(SVMX_F32, 1, 0)},
                          softmax[] = {svmx_out(SVMX_F32, chained, COUNT), svmx_result_of(SVMX_F32, 2, 0), svmx_u64(N)};
    check(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, sum, 3), batch);
    check(svmx_batch_add(batch, SVMX_OP_VEC_MUL_F32, product, 3), batch);
    check(svmx_batch_add(batch, SVMX_OP_GELU_F32, gelu, 2), batch);
    check(svmx_batch_add(batch, SVMX_OP_SOFTMAX_F32, softmax, 3), batch);
}

static uint32_t launches_of(const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint32_t launches = 0;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) launches += receipt.launches;
    return launches;
}

int main(void) {
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_error error;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)(i % 17) / 8 - 1;
        b[i] = (float)(i % 5) / 4;
    }
    if (svmx_open(&executor, NULL, &error) != SVMX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    check(svmx_batch_create(executor, &batch), NULL);
    run_separately(batch);
    add_chain(batch);
    check(svmx_run(batch), batch);
    /* A device that computes chains in one launch compiles that meanwhile, and has answered link by link. */
    for (int i = 0; i < 100 && launches_of(batch) > 2; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        check(svmx_batch_rearm(batch), batch);
        check(svmx_run(batch), batch);
    }
    printf("4 operations on %d floats: 4 launches apart, %u chained; the same bytes: %s\n", COUNT, launches_of(batch),
           memcmp(separate, chained, sizeof chained) == 0 ? "yes" : "NO");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return memcmp(separate, chained, sizeof chained) == 0 ? 0 : 1;
}
