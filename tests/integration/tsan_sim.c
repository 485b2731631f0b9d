/*
 * tsan_sim.c: modelled devices under many threads: batches on two of them at once, instances that come and go, with the
 * thread sanitizer looking on where the build has it. A plain program because Criterion does not run under it.
 *
 * Ends with `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <svmx/ops.h>
#include <svmx/svmx.h>

enum { THREADS = 4, BATCHES = 20, N = 500, INSTANCES = 3 };

static atomic_uint passed, failed, by_model;

static void check(bool condition, const char *what) {
    atomic_fetch_add(condition ? &passed : &failed, 1);
    if (!condition) fprintf(stderr, "failed: %s\n", what);
}

struct actor {
    svmx_executor_t *executor;
    float number;
};

static void run_once(svmx_batch_t *batch, float number) {
    float a[N], b[N], out[N];
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = number, out[i] = -1;
    bool right = svmx_batch_reset(batch) == SVMX_OK && svmx_vec_add_f32(batch, out, a, b, N) == SVMX_OK &&
                 svmx_run(batch) == SVMX_OK && svmx_receipt_get(batch, 0, &receipt) == SVMX_OK;
    for (int i = 0; right && i < N; i++) right = out[i] == (float)i + number;
    check(right, "every sum is right");
    if (receipt.device < 2 && receipt.redone == 0) atomic_fetch_add(&by_model, 1);
}

static void *act(void *argument) {
    const struct actor *actor = argument;
    svmx_batch_t *batch;
    if (svmx_batch_create(actor->executor, &batch) != SVMX_OK) exit(2);
    for (int i = 0; i < BATCHES; i++) run_once(batch, actor->number + (float)i);
    svmx_batch_destroy(batch);
    return NULL;
}

static void instance(const char *path) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+sim:integrated,+sim:pcie4-discrete,stop",
                                         .backend_path = path,
                                         .log_level = SVMX_LOG_ERROR};
    struct svmx_error error;
    svmx_executor_t *executor;
    pthread_t threads[THREADS];
    struct actor actors[THREADS];
    if (svmx_open(&executor, &options, &error) != SVMX_OK) {
        fprintf(stderr, "open: %s\n", error.text);
        exit(2);
    }
    check(svmx_device_count(executor) == 3, "two models and the reference code");
    check(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, N) == SVMX_OK, "pipelines are made");
    for (int i = 0; i < THREADS; i++) {
        actors[i] = (struct actor){executor, (float)(1000 * i)};
        if (pthread_create(&threads[i], NULL, act, &actors[i]) != 0) exit(2);
    }
    for (int i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    svmx_close(executor);
}

int main(void) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    if (!path) {
        puts("SVMX_TEST_BACKEND_PATH does not say where backends are\n0 passed, 0 failed, 1 skipped");
        return 77;
    }
    for (int i = 0; i < INSTANCES; i++) instance(path);
    check(atomic_load(&by_model) > 0, "modelled devices answered");
    printf("%u passed, %u failed, 0 skipped\n", atomic_load(&passed), atomic_load(&failed));
    return atomic_load(&failed) == 0 ? 0 : 1;
}
