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
#include <sys/stat.h>
#include <unistd.h>

/* oclgrind writes what it finds into a log: that has to be empty. */
Test(contract_opencl, oclgrind) {
    static const struct driver oclgrind = {
        "/usr/lib/oclgrind/liboclgrind-rt-icd.so", "oclgrind", true, true, 200, 12, 4};
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
