/*
 * test_probe.c: drivers are tried in another process before they are loaded here: one that crashes or hangs there costs its
 * backend only, by name, and is not tried again while nothing has changed.
 *
 * The check plugin plays the driver. Here it would take the suite with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "isolate_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

static char cache[96];

/* A folder with the check plugin and svmx-host in it, and one for verdicts. */
static void set_up(void) {
    find_plugins();
    make_folder();
    place("SVMX_TEST_DRIVER_PATH", "check.so", "755");
    place("SVMX_TEST_BACKEND_PATH", "svmx-host", "755");
    (void)snprintf(cache, sizeof cache, "%s/cache", folder);
}

TestSuite(probe, .init = set_up, .fini = remove_folder);

static struct svmx_options probe_options(const char *backends, const char *probe) {
    struct svmx_options options = options_of(backends, NULL);
    options.backend_path = folder;
    options.cache_dir = cache;
    options.profile = "off";
    options.driver_probe = probe;
    options.timeout_ms = TIMEOUT_MS;
    return options;
}

/* The verdict that is kept, or "". */
static const char *verdict(void) {
    static char text[300];
    char file[128];
    (void)snprintf(file, sizeof file, "%s/probed-check", cache);
    FILE *in = fopen(file, "r");
    text[in ? fread(text, 1, sizeof text - 1, in) : 0] = '\0';
    if (in) (void)fclose(in);
    return text;
}

static void remove_program(void) {
    char file[128];
    (void)snprintf(file, sizeof file, "%s/svmx-host", folder);
    cr_assert_eq(unlink(file), 0);
}

static void expect_refused(const struct svmx_options *options, const char *reason) {
    svmx_executor_t *executor = open_with(options);
    const struct svmx_load_entry entry = entry_of(executor, "check");
    cr_assert_eq(entry.verdict, SVMX_REFUSED);
    cr_assert_not_null(strstr(entry.reason, reason), "%s", entry.reason);
    cr_assert_eq(run_trial(executor).redone, 0);
    svmx_close(executor);
    expect_no_children();
}

static void expect_loaded(const struct svmx_options *options) {
    svmx_executor_t *executor = open_with(options);
    const struct svmx_load_entry entry = entry_of(executor, "check");
    cr_assert_eq(entry.verdict, SVMX_LOADED, "%s", entry.reason);
    cr_assert_str_eq(entry.reason, "ready");
    svmx_close(executor);
    expect_no_children();
}

Test(probe, a_driver_that_dies_costs_its_backend_only) {
    static const char *const scripts[][2] = {{"check:open@1=abort,stop", "signal 6"},
                                             {"check:device_info@1=kill,stop", "signal 9"},
                                             {"check:open@1=stuck,stop", "did not answer in time"}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const struct svmx_options options = probe_options(scripts[i][0], "auto");
        expect_refused(&options, scripts[i][1]);
        cr_assert_not_null(strstr(verdict(), " bad "), "%s", verdict());
    }
}

Test(probe, a_verdict_is_kept) {
    const struct svmx_options options = probe_options("check:open@1=abort,stop", "auto");
    expect_refused(&options, "signal 6");
    remove_program(); /* who would try it again finds nothing to try it with, and loads it, which ends this test */
    expect_refused(&options, "signal 6");
}

Test(probe, a_changed_driver_is_tried_again) {
    const struct svmx_options options = probe_options("check:plain,stop", "auto");
    char before[300], file[128];
    expect_loaded(&options);
    (void)snprintf(before, sizeof before, "%s", verdict());
    cr_assert_not_null(strstr(before, " ok"), "%s", before);
    expect_loaded(&options);
    cr_assert_str_eq(verdict(), before);
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    (void)snprintf(file, sizeof file, "%s/check.so", folder);
    cr_assert_eq(utimensat(AT_FDCWD, file, times, 0), 0);
    expect_loaded(&options);
    cr_assert_str_neq(verdict(), before);
}

/* One against a driver holds for an hour. */
Test(probe, an_old_verdict_against_a_driver_is_none) {
    const struct svmx_options options = probe_options("check:open@1=abort,stop", "auto");
    char file[128];
    struct stat now;
    expect_refused(&options, "signal 6");
    (void)snprintf(file, sizeof file, "%s/probed-check", cache);
    const struct timespec times[2] = {{.tv_sec = time(NULL) - 4000}, {.tv_sec = time(NULL) - 4000}};
    cr_assert_eq(utimensat(AT_FDCWD, file, times, 0), 0);
    expect_refused(&options, "signal 6");
    cr_assert_eq(stat(file, &now), 0);
    cr_assert_gt(now.st_mtim.tv_sec, times[1].tv_sec, "it was not tried again");
}

Test(probe, a_broken_verdict_is_none) {
    const struct svmx_options options = probe_options("check:plain,stop", "auto");
    static const char *const texts[] = {"", "svmx-probe 1", "svmx-probe 1 0 maybe\n", "svmx-probe 9 0 ok\n",
                                        "\xff\xfe"};
    char file[128];
    expect_loaded(&options);
    (void)snprintf(file, sizeof file, "%s/probed-check", cache);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FILE *out = fopen(file, "w");
        cr_assert(out && fputs(texts[i], out) >= 0 && fclose(out) == 0);
        expect_loaded(&options);
        cr_assert_not_null(strstr(verdict(), " ok\n"), "%s", verdict());
    }
}

/* Puts a program in place of svmx-host that leaves a mark and ends. */
static void place_marker(void) {
    char file[128];
    (void)snprintf(file, sizeof file, "%s/svmx-host", folder);
    FILE *out = fopen(file, "w");
    cr_assert(out && fprintf(out, "#!/bin/sh\n: >'%s/mark'\n", folder) > 0 && fclose(out) == 0);
}

static bool was_tried(void) {
    char file[128];
    (void)snprintf(file, sizeof file, "%s/mark", folder);
    return access(file, F_OK) == 0;
}

Test(probe, nothing_is_tried_where_no_verdict_can_be_kept) {
    struct svmx_options options = probe_options("check:plain,stop", "auto");
    place_marker();
    options.cache_dir = "off";
    expect_loaded(&options);
    options.cache_dir = cache;
    cr_assert_eq(mkdir(cache, 0700), 0);
    cr_assert_eq(chmod(cache, 0777), 0); /* not safe */
    expect_loaded(&options);
    options.driver_probe = "off";
    cr_assert_eq(chmod(cache, 0700), 0);
    expect_loaded(&options);
    cr_assert(!was_tried() && !*verdict());
    options.driver_probe = "auto";
    expect_refused(&options, "it ended with status 0");
    cr_assert(was_tried() && *verdict());
}

Test(probe, on_request_it_is_tried_each_time) {
    struct svmx_options options = probe_options("check:open@1=abort,stop", "on");
    options.cache_dir = "off";
    expect_refused(&options, "signal 6");
    expect_refused(&options, "signal 6");
    cr_assert_str_eq(verdict(), "");
}

/* One that hangs here, since nobody tried it before, costs its backend as well, and svmx_open returns. */
Test(probe, a_driver_that_was_not_tried_and_hangs_is_left_alone, .timeout = 60) {
    struct svmx_options options = probe_options("check:open@1=stuck,stop", "off");
    abandons = true;
    options.patience_ms = 100;
    expect_refused(&options, "it does not answer: open has not returned");
}

Test(probe, without_the_program_a_plugin_is_loaded_as_ever) {
    const struct svmx_options options = probe_options("check:plain,stop", "on");
    remove_program();
    if (access(SVMX_BACKEND_DIR "/svmx-host", F_OK) == 0) cr_skip_test("svmx-host is installed on this machine");
    expect_loaded(&options);
    cr_assert_str_eq(verdict(), "");
}

Test(probe, a_word_that_is_none_is_an_error) {
    const struct svmx_options options = probe_options("check:plain,stop", "perhaps");
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_ERR_ARGUMENT);
    cr_assert_not_null(strstr(error.text, "options.driver_probe is 'perhaps': give auto, on or off"), "%s", error.text);
}
