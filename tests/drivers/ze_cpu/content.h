/*
 * content.h: in a suite of Criterion, what the test driver reports (misuse, leaks) fails the suite.
 *
 * A report is whole when the process of its test has ended, so all are looked at after the last test, by the process that
 * started them. Included once, after `ze_cpu_names`: the names that the tests give to ze_cpu_use, with NULL behind them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRIVERS_ZE_CPU_CONTENT_H
#define TESTS_DRIVERS_ZE_CPU_CONTENT_H

#include "use.h"

#include <criterion/criterion.h>
#include <criterion/hooks.h>

/* What is left of an earlier run. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests) {
    char path[ZE_CPU_PATH];
    (void)tests;
    for (const char *const *name = ze_cpu_names; *name; name++) {
        ze_cpu_count_path(path, *name);
        (void)unlink(path);
        ze_cpu_report_path(path, *name);
        (void)unlink(path);
    }
}

/* A test that was skipped or that failed may have no counts: it is told of in the usual way. */
ReportHook(POST_ALL)(struct criterion_global_stats *stats) {
    const bool all_ran = stats->tests_skipped == 0 && stats->tests_failed == 0;
    bool content = true;
    for (const char *const *name = ze_cpu_names; *name; name++) {
        char path[ZE_CPU_PATH];
        ze_cpu_count_path(path, *name);
        const bool ended = access(path, R_OK) == 0;
        ze_cpu_report_path(path, *name);
        if (all_ran || ended || access(path, R_OK) == 0) content &= ze_cpu_is_content(*name);
    }
    fflush(stdout);
    if (!content) _exit(1);
}

#endif
