/*
 * threads_fixture.h: what threads.c and threads_ends.c share: executors on a made-up device and on SIMD, and batches of them,
 * or the end of the program. Included by each, one copy: all is static.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_INTEGRATION_THREADS_FIXTURE_H
#define TESTS_INTEGRATION_THREADS_FIXTURE_H

#include "fake.h"
#include "threads.h"
#include "trial.h"

#include <stdio.h>
#include <unistd.h>

static inline void silent(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

static inline svmx_executor_t *open_or_die(struct svmx_options options) {
    svmx_executor_t *executor;
    struct svmx_error error;
    options.log = silent;
    if (svmx_open(&executor, &options, &error) == SVMX_OK) return executor;
    fprintf(stderr, "open: %s\n", error.text);
    exit(2);
}

static inline svmx_batch_t *batch_or_die(svmx_executor_t *executor) {
    svmx_batch_t *batch;
    if (svmx_batch_create(executor, &batch) == SVMX_OK) return batch;
    fprintf(stderr, "no batch\n");
    exit(2);
}

/* Says so where it is not. */
static inline bool simd_is_built(void) {
    const char *folder = getenv("SVMX_TEST_BACKEND_PATH");
    char plugin[4096];
    (void)snprintf(plugin, sizeof plugin, "%s/simd.so", folder ? folder : "");
    if (folder && access(plugin, F_OK) == 0) return true;
    printf("skipped: this build has no SIMD backend\n");
    return false;
}

/* It alone, with a pool of four threads. */
static inline struct svmx_options simd_options(void) {
    struct svmx_options simd = fake_options();
    simd.backends = "+simd,stop";
    simd.backend_path = getenv("SVMX_TEST_BACKEND_PATH");
    simd.threads = 4;
    return simd;
}

#endif
