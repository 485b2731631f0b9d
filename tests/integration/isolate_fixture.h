/*
 * isolate_fixture.h: what the suites about processes of backends share: options, what became of a backend, whoever is left of
 * our children, and a folder to put plugins and svmx-host into.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ISOLATE_FIXTURE_H
#define ISOLATE_FIXTURE_H

#include "faults_fixture.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[8192]; /* of plugins: the check plugin's, the real ones */

static inline void find_plugins(void) {
    const char *drivers = getenv("SVMX_TEST_DRIVER_PATH"), *plugins = getenv("SVMX_TEST_BACKEND_PATH");
    if (!drivers || !plugins) cr_skip_test("run by make check, which says where plugins are");
    (void)snprintf(path, sizeof path, "%s:%s", drivers, plugins);
}

static inline struct svmx_options options_of(const char *backends, const char *isolate) {
    find_plugins();
    return (struct svmx_options){.size = sizeof(struct svmx_options),
                                 .backends = backends,
                                 .policy = "order",
                                 .backend_path = path,
                                 .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                 .log_level = SVMX_LOG_ERROR,
                                 .log = silent,
                                 .isolate = isolate};
}

/* Was it built? After find_plugins. */
static inline bool has_plugin(const char *name) {
    char file[8192];
    (void)snprintf(file, sizeof file, "%s/%s", getenv("SVMX_TEST_BACKEND_PATH"), name);
    return access(file, R_OK) == 0;
}

/* What became of a backend. */
static inline struct svmx_load_entry entry_of(svmx_executor_t *executor, const char *name) {
    struct svmx_load_entry entry = {.size = sizeof entry};
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        cr_assert_eq(svmx_load_report_get(executor, i, &entry), SVMX_OK);
        if (strcmp(entry.name, name) == 0) return entry;
    }
    cr_assert_fail("no backend %s in the report", name);
    return entry;
}

static inline void expect_no_children(void) {
    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a process of ours is left");
    cr_assert_eq(errno, ECHILD);
}

/* ---- a folder of plugins ---- */

static char folder[64];

static inline void place(const char *from_variable, const char *name, const char *mode) {
    char command[16384];
    (void)snprintf(command, sizeof command, "cp '%s/%s' '%s/%s' && chmod %s '%s/%s'", getenv(from_variable), name,
                   folder, name, mode, folder, name);
    cr_assert_eq(system(command), 0, "%s", command);
}

static inline void make_folder(void) {
    (void)snprintf(folder, sizeof folder, "/tmp/svmx-isolate-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static inline void remove_folder(void) {
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

#endif
