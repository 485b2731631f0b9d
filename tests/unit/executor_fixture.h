/*
 * executor_fixture.h: an executor with the reference code alone, and one batch of it, for unit suites of src/executor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXECUTOR_FIXTURE_H
#define EXECUTOR_FIXTURE_H

#include "executor/batch.h"
#include "executor/executor.h"
#include "executor/stages.h"

#include <criterion/criterion.h>
#include <svmx/ops.h>

static svmx_executor_t *executor;
static svmx_batch_t *batch;

static const struct svmx_options reference_only = {.size = sizeof reference_only,
                                                   .backends = "none",
                                                   .backend_path = "/nonexistent",
                                                   .flags = SVMX_OPEN_NO_ENVIRONMENT};

static void set_up(void) {
    cr_assert_eq(svmx_open(&executor, &reference_only, NULL), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
}

static void tear_down(void) {
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

#endif
