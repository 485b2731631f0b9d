/*
 * test_status.c: names of statuses, and the version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <svmx/svmx.h>

Test(status, every_status_has_its_own_name) {
    static const struct {
        enum svmx_status status;
        const char *name;
    } all[] = {{SVMX_OK, "SVMX_OK"},
               {SVMX_BUSY, "SVMX_BUSY"},
               {SVMX_TIMEOUT, "SVMX_TIMEOUT"},
               {SVMX_CANCELLED, "SVMX_CANCELLED"},
               {SVMX_ERR_ARGUMENT, "SVMX_ERR_ARGUMENT"},
               {SVMX_ERR_OVERFLOW, "SVMX_ERR_OVERFLOW"},
               {SVMX_ERR_STATE, "SVMX_ERR_STATE"},
               {SVMX_ERR_MEMORY, "SVMX_ERR_MEMORY"},
               {SVMX_ERR_UNKNOWN, "SVMX_ERR_UNKNOWN"},
               {SVMX_ERR_UNSUPPORTED, "SVMX_ERR_UNSUPPORTED"},
               {SVMX_ERR_BACKEND, "SVMX_ERR_BACKEND"},
               {SVMX_ERR_DEVICE_LOST, "SVMX_ERR_DEVICE_LOST"},
               {SVMX_ERR_WRONG_RESULT, "SVMX_ERR_WRONG_RESULT"},
               {SVMX_ERR_PERMISSION, "SVMX_ERR_PERMISSION"},
               {SVMX_ERR_ABI, "SVMX_ERR_ABI"},
               {SVMX_ERR_CLOSED, "SVMX_ERR_CLOSED"},
               {SVMX_ERR_SYSTEM, "SVMX_ERR_SYSTEM"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cr_assert_str_eq(svmx_status_name(all[i].status), all[i].name);
}

Test(status, what_is_no_status_says_so) {
    cr_assert_str_eq(svmx_status_name((enum svmx_status)4), "unknown status");
    cr_assert_str_eq(svmx_status_name((enum svmx_status) - 14), "unknown status");
}

Test(status, shipped_values_keep_their_meaning) {
    cr_assert_eq(SVMX_OK, 0);
    cr_assert_eq(SVMX_CANCELLED, 3);
    cr_assert_eq(SVMX_ERR_ARGUMENT, -1);
    cr_assert_eq(SVMX_ERR_SYSTEM, -13);
}

Test(status, the_version_is_that_of_the_header) {
    char expected[32];
    (void)snprintf(expected, sizeof expected, "%d.%d.%d", SVMX_VERSION_MAJOR, SVMX_VERSION_MINOR, SVMX_VERSION_PATCH);
    cr_assert_str_eq(svmx_version(), expected);
}
