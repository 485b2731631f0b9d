/*
 * test_log.c: which lines pass, where they go, and the names of levels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <string.h>

struct lines {
    int count;
    enum svmx_log_level level;
    char last[2048];
};

static void keep(void *user, enum svmx_log_level level, const char *text) {
    struct lines *lines = user;
    lines->count++;
    lines->level = level;
    (void)snprintf(lines->last, sizeof lines->last, "%s", text);
}

Test(log, a_threshold_passes_all_up_to_itself) {
    for (int threshold = SVMX_LOG_OFF; threshold <= SVMX_LOG_DEBUG; threshold++) {
        struct lines lines = {0};
        const struct svmx__log log = {(enum svmx_log_level)threshold, keep, &lines};
        for (int level = SVMX_LOG_ERROR; level <= SVMX_LOG_DEBUG; level++) {
            svmx__log(&log, (enum svmx_log_level)level, "line %d", level);
            int expected = level < threshold ? level : threshold;
            cr_assert_eq(lines.count, expected, "threshold %d level %d", threshold, level);
        }
    }
}

Test(log, a_line_of_level_off_never_passes) {
    struct lines lines = {0};
    const struct svmx__log log = {SVMX_LOG_DEBUG, keep, &lines};
    svmx__log(&log, SVMX_LOG_OFF, "no");
    cr_assert_eq(lines.count, 0);
}

Test(log, a_long_line_is_cut_and_ends) {
    struct lines lines = {0};
    const struct svmx__log log = {SVMX_LOG_DEBUG, keep, &lines};
    char endless[5000];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    svmx__log(&log, SVMX_LOG_WARN, "%s", endless);
    cr_assert_eq(lines.level, SVMX_LOG_WARN);
    cr_assert_eq(strlen(lines.last), 1023);
}

Test(log, without_a_sink_lines_go_to_standard_error, .init = cr_redirect_stderr) {
    const struct svmx__log log = {SVMX_LOG_INFO, NULL, NULL};
    svmx__log(&log, SVMX_LOG_INFO, "hello %d", 3);
    svmx__log(&log, SVMX_LOG_DEBUG, "not this one");
    fflush(stderr);
    cr_assert_stderr_eq_str("svmx: info: hello 3\n");
}

Test(log, names_and_levels) {
    static const char *const names[] = {"off", "error", "warn", "info", "debug"};
    for (int i = 0; i <= SVMX_LOG_DEBUG; i++) {
        enum svmx_log_level level = SVMX_LOG_OFF;
        cr_assert(svmx__log_level_parse(names[i], &level));
        cr_assert_eq((int)level, i);
        cr_assert_str_eq(svmx__log_level_name(level), names[i]);
    }
    enum svmx_log_level level = SVMX_LOG_INFO;
    static const char *const wrong[] = {"", "Warn", "warning", "2", "off ", "debugg"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) cr_assert_not(svmx__log_level_parse(wrong[i], &level));
    cr_assert_eq(level, SVMX_LOG_INFO, "left alone");
    cr_assert_str_eq(svmx__log_level_name((enum svmx_log_level)17), "unknown");
}
