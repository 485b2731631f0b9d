/*
 * opencl_oclgrind.c: the contract on oclgrind, which interprets kernels, checks every access to memory and looks for races.
 *
 * Slow: small sizes, and each operation at each alignment only with SVMX_TEST_LONG=1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Products of large numbers are unrolled, and to optimise them takes ten times as long as to interpret them as they are. Most
 * other code it does not take unless it is optimised: its compiler leaves marks of inlining that it does not know. */
static void choose_options(const struct svmx_op *op) {
    const bool product = strncmp(op->name, "mod_mul", 7) == 0 || strncmp(op->name, "mont_mul", 8) == 0;
    if (product && !getenv("SVMX_TEST_LONG"))
        setenv("OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable", 1);
    else
        unsetenv("OCLGRIND_BUILD_OPTIONS");
}

/* oclgrind writes what it finds into a log: that has to be empty. */
Test(contract_opencl, oclgrind) {
    static const struct driver oclgrind = {
        "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "oclgrind", true, true, 200, 12, 4, choose_options};
    char log[4096];
    struct stat info;
    const char *build = getenv("SVMX_TEST_BUILDDIR");
    snprintf(log, sizeof log, "%s/tests/run/oclgrind.log", build ? build : ".");
    (void)unlink(log);
    setenv("OCLGRIND_LOG", log, 1);
    setenv("OCLGRIND_DATA_RACES", "1", 1);
    on_driver(&oclgrind);
    if (stat(log, &info) == 0) cr_assert_eq(info.st_size, 0, "oclgrind found something: see %s", log);
}
