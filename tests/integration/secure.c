/*
 * secure.c: in a program with raised rights (AT_SECURE) no variable of the environment has an effect, and of plugins in files only
 * simd is loaded unasked: whoever starts the program decides nothing.
 *
 * Makes a set-group-ID copy of itself, which the kernel then starts as such a program, with an environment that would show in
 * every answer. Skipped where that cannot be done: not root, or a folder that is mounted nosuid. A plain program. Ends with
 * `N passed, N failed, N skipped`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/svmx.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_SECURE = 77, OTHER_GROUP = 65534 };

static unsigned passed, failed;

static void check(bool right, const char *what) {
    if (right) {
        passed++;
        return;
    }
    failed++;
    printf("failed: %s\n", what);
}

/* ---- with raised rights --------------------------------------------------------------------------------------------- */

static void no_variable_counts(void) {
    svmx_executor_t *executor;
    struct svmx_error error = {0};
    const enum svmx_status status = svmx_open(&executor, NULL, &error);
    check(status == SVMX_OK, "SUPERVM_BACKENDS names no backend, and is read");
    if (status != SVMX_OK) return;
    for (uint32_t i = 0; i < svmx_config_count(executor); i++) {
        struct svmx_config_entry entry = {.size = sizeof entry};
        check(svmx_config_get(executor, i, &entry) == SVMX_OK && entry.source == SVMX_FROM_DEFAULT, entry.variable);
    }
    svmx_close(executor);
}

/* Is a plugin of that name loaded? */
static bool has(const svmx_executor_t *executor, const char *name) {
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        struct svmx_load_entry entry = {.size = sizeof entry};
        if (svmx_load_report_get(executor, i, &entry) == SVMX_OK && entry.verdict == SVMX_LOADED &&
            strcmp(entry.name, name) == 0)
            return true;
    }
    return false;
}

static void only_simd_is_loaded_unasked(const char *plugins) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backend_path = plugins,
                                         .cache_dir = "off",
                                         .profile = "off",
                                         .log_level = SVMX_LOG_ERROR};
    svmx_executor_t *executor;
    struct svmx_error error = {0};
    const enum svmx_status status = svmx_open(&executor, &options, &error);
    check(status == SVMX_OK, error.text);
    if (status != SVMX_OK) return;
    for (uint32_t i = 0; i < svmx_load_report_count(executor); i++) {
        struct svmx_load_entry entry = {.size = sizeof entry};
        check(svmx_load_report_get(executor, i, &entry) == SVMX_OK, "the load report");
        const bool file = entry.path[0] != '\0', simd = strcmp(entry.name, "simd") == 0;
        check(!file || simd || entry.verdict != SVMX_LOADED, entry.name);
    }
    svmx_close(executor);
}

/* The options may: they are the program's own. */
static void what_is_named_is_loaded(const char *plugins) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "sim,stop",
                                         .backend_path = plugins,
                                         .cache_dir = "off",
                                         .profile = "off",
                                         .log_level = SVMX_LOG_ERROR};
    svmx_executor_t *executor;
    char file[4096];
    (void)snprintf(file, sizeof file, "%s/sim.so", plugins);
    if (access(file, R_OK) != 0) return; /* not built */
    const bool open = svmx_open(&executor, &options, NULL) == SVMX_OK;
    check(open && has(executor, "sim"), "sim is named by the options, and is not loaded");
    if (open) svmx_close(executor);
}

static int with_raised_rights(const char *plugins) {
    if (!getauxval(AT_SECURE)) return NOT_SECURE;
    no_variable_counts();
    only_simd_is_loaded_unasked(plugins);
    what_is_named_is_loaded(plugins);
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}

/* ---- starting it ------------------------------------------------------------------------------------------------------ */

static bool copy_to(const char *path) {
    char buffer[1 << 16];
    FILE *from = fopen("/proc/self/exe", "rb"), *to = from ? fopen(path, "wb") : NULL;
    bool well = to != NULL;
    for (size_t n; well && (n = fread(buffer, 1, sizeof buffer, from)) > 0;) well = fwrite(buffer, 1, n, to) == n;
    if (to && fclose(to) != 0) well = false;
    if (from) fclose(from);
    return well && chown(path, (uid_t)-1, OTHER_GROUP) == 0 && chmod(path, 02755) == 0;
}

static int start(const char *path, const char *plugins) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        static const char *const variables[][2] = {{"SUPERVM_BACKENDS", "no_such_backend"},
                                                   {"SUPERVM_BACKEND_PATH", "/no/such/folder"},
                                                   {"SUPERVM_THREADS", "none"},
                                                   {"SUPERVM_LOG", "debug"},
                                                   {"SUPERVM_WINDOW", "7"}};
        for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
            (void)setenv(variables[i][0], variables[i][1], 1);
        execl(path, path, plugins, (char *)NULL);
        _exit(NOT_SECURE);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return NOT_SECURE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv) {
    if (argc == 2) return with_raised_rights(argv[1]);
    const char *plugins = getenv("SUPERVM_BACKEND_PATH");
    char folder[] = "/tmp/svmx-test-XXXXXX", path[64];
    if (!plugins) return fprintf(stderr, "SUPERVM_BACKEND_PATH is not set: see tests/local.mk\n"), 1;
    if (!mkdtemp(folder)) return perror(folder), 1;
    (void)snprintf(path, sizeof path, "%s/secure", folder);
    int result = NOT_SECURE;
    if (chmod(folder, 0755) == 0 && copy_to(path)) result = start(path, plugins);
    (void)unlink(path);
    (void)rmdir(folder);
    if (result != NOT_SECURE) return result;
    puts("this user, or this folder, cannot start a program with raised rights");
    puts("0 passed, 0 failed, 1 skipped");
    return 77;
}
