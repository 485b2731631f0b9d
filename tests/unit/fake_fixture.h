/*
 * fake_fixture.h: an executor on the fake backend for each test of a suite: TestSuite(name, .init = set_up, .fini = tear_down).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_FAKE_FIXTURE_H
#define TESTS_UNIT_FAKE_FIXTURE_H

#include "../integration/fake.h"
#include "executor/executor.h"

#include <criterion/criterion.h>

static svmx_executor_t *executor;

static inline void set_up(void) {
    const struct svmx_options options = fake_options();
    fake_start();
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
}

static inline void tear_down(void) { svmx_close(executor); }

#endif
