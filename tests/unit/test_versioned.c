/*
 * test_versioned.c: structures that grow: an older caller gets what it knows, a newer one keeps what we do not know.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"

#include <criterion/criterion.h>
#include <stdint.h>

struct first {
    size_t size;
    uint64_t a;
    uint32_t b;
};

struct second {
    size_t size;
    uint64_t a;
    uint32_t b;
    uint32_t c;
    uint64_t d;
};

enum { FIRST = SVMX__THROUGH(struct second, b) };

static const struct second ours = {.size = sizeof ours, .a = 1, .b = 2, .c = 3, .d = 4};

Test(versioned, an_older_caller_gets_what_it_knows_and_nothing_behind_it) {
    struct second theirs = {.size = FIRST, .a = 9, .b = 9, .c = 9, .d = 9};
    cr_assert(svmx__is_served(&theirs, FIRST));
    svmx__give(&theirs, &ours, sizeof ours);
    cr_assert_eq(theirs.size, FIRST);
    cr_assert_eq(theirs.a, 1);
    cr_assert_eq(theirs.b, 2);
    cr_assert_eq(theirs.c, 9, "written behind the caller's structure");
    cr_assert_eq(theirs.d, 9, "written behind the caller's structure");
}

Test(versioned, a_caller_of_today_gets_all) {
    struct second theirs = {.size = sizeof theirs};
    svmx__give(&theirs, &ours, sizeof ours);
    cr_assert_eq(memcmp(&theirs, &ours, sizeof ours), 0);
}

Test(versioned, a_later_caller_keeps_what_we_do_not_know) {
    const struct first older = {.size = sizeof older, .a = 1, .b = 2};
    struct second theirs = {.size = sizeof theirs, .d = 9};
    svmx__give(&theirs, &older, sizeof older);
    cr_assert_eq(theirs.size, sizeof theirs);
    cr_assert_eq(theirs.a, 1);
    cr_assert_eq(theirs.b, 2);
    cr_assert_eq(theirs.d, 9);
}

Test(versioned, less_than_was_ever_shipped_is_not_served) {
    const struct second small = {.size = FIRST - 1}, none = {.size = 0};
    cr_assert_not(svmx__is_served(&small, FIRST));
    cr_assert_not(svmx__is_served(&none, FIRST));
    cr_assert_not(svmx__is_served(NULL, FIRST));
}
