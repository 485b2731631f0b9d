/*
 * runs.h: chains of elementwise operations that are one launch on devices which have a kernel for that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_CONTRACT_RUNS_H
#define TESTS_CONTRACT_RUNS_H

#include "compare.h"

/* Chains of several shapes and tasks, against the reference code, before and behind the building of that kernel; then each
 * is as few launches as it should be. */
void compare_runs(const struct pair *pair);

#endif
