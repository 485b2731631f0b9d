/*
 * abandons.h: for suites under the leak sanitizer: an instance that holds memory past a deadline is abandoned on purpose, so
 * there is no leak of a test that brings one about and says so by `abandons = true`. Every test has its own process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_ABANDONS_H
#define TESTS_ABANDONS_H

#include <stdbool.h>
#include <svmx/svmx.h>

static bool abandons;
SVMX_EXPORT int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return abandons; }

#endif
