/*
 * test_text.c: the text of an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <criterion/criterion.h>
#include <string.h>

Test(text, fail_writes_the_line_and_gives_the_status_back) {
    struct svmx__text why = {"before"};
    cr_assert_eq(svmx__fail(&why, SVMX_ERR_STATE, "%s %d", "number", 7), SVMX_ERR_STATE);
    cr_assert_str_eq(why.line, "number 7");
}

Test(text, without_a_buffer_only_the_status_counts) {
    cr_assert_eq(svmx__fail(NULL, SVMX_ERR_MEMORY, "%d", 1), SVMX_ERR_MEMORY);
}

Test(text, a_line_that_is_too_long_is_cut) {
    char endless[2000];
    struct svmx__text why;
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    (void)svmx__fail(&why, SVMX_ERR_ARGUMENT, "%s", endless);
    cr_assert_eq(strlen(why.line), sizeof why.line - 1);
}
