/*
 * test_stats_folder.c: counters as a file: there while the executor is open, whole, and with the last batch once it is closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include "base/json_read.h"
#include <criterion/criterion.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <svmx/ops.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ITEMS = 16 };
static char folder[64], text[1 << 16];
static unsigned warnings;

static void set_up(void) {
    (void)snprintf(folder, sizeof folder, "/tmp/svmx-stats-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

/* The names in the folder; `path` is that of the last. */
static unsigned files(char *path, size_t room, bool remove_them) {
    unsigned count = 0;
    DIR *at = opendir(folder);
    cr_assert_not_null(at);
    for (const struct dirent *entry; (entry = readdir(at));) {
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, room, "%s/%s", folder, entry->d_name);
        if (remove_them) (void)unlink(path);
        count++;
    }
    closedir(at);
    return count;
}

static void tear_down(void) {
    char path[400];
    (void)files(path, sizeof path, true);
    (void)rmdir(folder);
}

TestSuite(stats_folder, .init = set_up, .fini = tear_down);

static void count_warnings(void *user, enum svmx_log_level level, const char *line) {
    (void)user;
    if (level == SVMX_LOG_WARN && strstr(line, "stats_dir")) warnings++;
}

static svmx_executor_t *open_with(const char *stats_dir) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "none",
                                         .backend_path = "/nonexistent",
                                         .stats_dir = stats_dir,
                                         .log = count_warnings,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *executor;
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    return executor;
}

static void run_some(svmx_executor_t *executor, unsigned count) {
    static float out[ITEMS], in[ITEMS];
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(svmx_vec_add_f32(batch, out, in, in, ITEMS), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    }
    svmx_batch_destroy(batch);
}

/* The file, which must be JSON to its end. */
static const char *read_file(const char *path) {
    struct svmx__json json;
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    svmx__json_start(&json, text, length);
    cr_assert(svmx__json_skip(&json));
    cr_assert(svmx__json_end(&json), "%s", json.error);
    return text;
}

Test(stats_folder, a_file_is_there_soon_and_has_all_once_it_is_closed) {
    char path[400];
    svmx_executor_t *executor = open_with(folder);
    while (files(path, sizeof path, false) == 0) sched_yield();
    run_some(executor, 7);
    svmx_close(executor);
    cr_assert_eq(files(path, sizeof path, false), 1);
    cr_assert(strstr(read_file(path), "\"work\":{\"batches\":7,"), "%s", text);
    cr_assert_eq(warnings, 0);
}

Test(stats_folder, each_executor_has_its_own) {
    char path[400];
    svmx_executor_t *one = open_with(folder), *other = open_with(folder);
    svmx_close(one);
    svmx_close(other);
    cr_assert_eq(files(path, sizeof path, false), 2);
}

Test(stats_folder, off_writes_nothing) {
    char path[400];
    svmx_close(open_with(NULL));
    svmx_close(open_with("off"));
    cr_assert_eq(files(path, sizeof path, false), 0);
}

Test(stats_folder, a_folder_that_others_may_write_is_refused_with_one_warning) {
    char path[400];
    cr_assert_eq(chmod(folder, 0777), 0);
    svmx_executor_t *executor = open_with(folder);
    run_some(executor, 1);
    svmx_close(executor);
    cr_assert_eq(files(path, sizeof path, false), 0);
    cr_assert_eq(warnings, 1);
}

Test(stats_folder, a_path_that_is_not_absolute_is_an_error) {
    const struct svmx_options options = {
        .size = sizeof options, .backends = "none", .stats_dir = "here", .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *executor;
    struct svmx_error error;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_ERR_ARGUMENT);
    cr_assert_str_eq(error.text, "options.stats_dir is 'here': give an absolute path, or off");
}
