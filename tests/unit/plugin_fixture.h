/*
 * plugin_fixture.h: what the suites of src/plugin share: a folder of their own to put plugins into, a log that is kept,
 * and a small host. Every test has its own process, so one of each is enough.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_PLUGIN_FIXTURE_H
#define TESTS_UNIT_PLUGIN_FIXTURE_H

#include "base/log.h"
#include "plugin/registry.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- a folder ---- */

static char folder[256];

static inline void folder_make(void) {
    const char *base = getenv("TMPDIR");
    (void)umask(022);
    (void)snprintf(folder, sizeof folder, "%s/svmx-test-XXXXXX", base && *base ? base : "/tmp");
    cr_assert(mkdtemp(folder), "no folder %s", folder);
}

static inline int entry_remove(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static inline void folder_remove(void) {
    if (*folder) (void)nftw(folder, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* "folder/name"; four at a time. */
static inline const char *in_folder(const char *name) {
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void file_write(const char *path, const void *bytes, size_t length) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    cr_assert(fd >= 0, "cannot write %s", path);
    cr_assert_eq(write(fd, bytes, length), (ssize_t)length);
    (void)close(fd);
}

/* The caller frees. */
static inline uint8_t *file_read(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    cr_assert(file, "cannot read %s", path);
    (void)fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*length ? *length : 1);
    cr_assert(bytes && fread(bytes, 1, *length, file) == *length);
    (void)fclose(file);
    return bytes;
}

/* Where a check-only plugin was built; skips the test where shared objects are not built. */
static inline const char *module_path(const char *name) {
    static char path[512];
    const char *where = getenv("SVMX_TEST_DRIVER_PATH");
    (void)snprintf(path, sizeof path, "%s/%s.so", where ? where : "", name);
    if (!where || access(path, R_OK) != 0) cr_skip_test("no check-only plugin %s in SVMX_TEST_DRIVER_PATH", path);
    return path;
}

/* Copies a check-only plugin into the folder, under another name if `as` is not NULL. */
static inline void module_copy(const char *name, const char *as) {
    char file[64];
    size_t length;
    uint8_t *bytes = file_read(module_path(name), &length);
    (void)snprintf(file, sizeof file, "%s.so", as ? as : name);
    file_write(in_folder(file), bytes, length);
    free(bytes);
}

/* ---- a log ---- */

static char log_lines[16384]; /* "level:text\n"... */

static inline void log_keep(void *user, enum svmx_log_level level, const char *text) {
    (void)user;
    size_t used = strlen(log_lines);
    (void)snprintf(log_lines + used, sizeof log_lines - used, "%s:%s\n", svmx__log_level_name(level), text);
}

static const struct svmx__log test_log = {SVMX_LOG_DEBUG, log_keep, NULL};

/* ---- a host ---- */

struct test_host {
    struct svmx_host base; /* first */
    char backend[32], select[512], last_error[256];
    bool has_select;
};

static int hosts_alive, allocations_alive;

static inline void host_log(const struct svmx_host *base, enum svmx_log_level level, const char *text) {
    struct test_host *host = (struct test_host *)(uintptr_t)base;
    if (level == SVMX_LOG_ERROR) (void)snprintf(host->last_error, sizeof host->last_error, "%s", text);
    log_keep(NULL, level, text);
}

static inline void *host_alloc(const struct svmx_host *base, size_t bytes, size_t alignment) {
    (void)base;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory) allocations_alive++;
    return memory;
}

static inline void host_release(const struct svmx_host *base, void *memory) {
    (void)base;
    if (memory) allocations_alive--;
    free(memory);
}

static inline const char *host_option(const struct svmx_host *base, const char *key) {
    const struct test_host *host = (const struct test_host *)(uintptr_t)base;
    if (strcmp(key, "sim_model") == 0) return getenv("SUPERVM_SIM_MODEL"); /* as the executor reads its settings */
    return strcmp(key, "select") == 0 && host->has_select ? host->select : NULL;
}

static inline uint64_t host_now(const struct svmx_host *base) {
    struct timespec now;
    (void)base;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Knows one operation. Without slots it only says so. */
static inline enum svmx_status host_reference(const struct svmx_host *base, const char *op,
                                              const struct svmx_slot *slots, size_t slot_count) {
    (void)base;
    if (strcmp(op, "vec_add_f32") != 0) return SVMX_ERR_UNKNOWN;
    if (slot_count != 3) return SVMX_ERR_ARGUMENT;
    if (!slots) return SVMX_OK;
    float *out = (float *)(uintptr_t)slots[0].at;
    const float *a = (const float *)(uintptr_t)slots[1].at, *b = (const float *)(uintptr_t)slots[2].at;
    for (uint64_t i = 0; i < slots[0].bytes / sizeof *out; i++) out[i] = a[i] + b[i];
    return SVMX_OK;
}

static inline const struct svmx_host *host_make(void *user, const char *backend, const char *select) {
    struct test_host *host = calloc(1, sizeof *host);
    (void)user;
    cr_assert(host);
    host->base = (struct svmx_host){sizeof host->base, SVMX_ABI_MAJOR, SVMX_ABI_MINOR, host_log,      host_alloc,
                                    host_release,      host_option,    host_now,       host_reference};
    (void)snprintf(host->backend, sizeof host->backend, "%s", backend);
    (void)snprintf(host->select, sizeof host->select, "%s", select ? select : "");
    host->has_select = select != NULL;
    hosts_alive++;
    return &host->base;
}

static inline void host_unmake(void *user, const struct svmx_host *base) {
    (void)user;
    hosts_alive--;
    free((struct test_host *)(uintptr_t)base);
}

static inline const char *host_last_error(void *user, const struct svmx_host *base) {
    (void)user;
    return ((const struct test_host *)(uintptr_t)base)->last_error;
}

static inline const char *host_warnings(void *user, const struct svmx_host *base) {
    (void)user;
    (void)base;
    return "";
}

static inline void host_orphan(void *user, const struct svmx_host *base) {
    (void)user;
    (void)base;
}

static const struct svmx__host_maker test_maker = {NULL,          host_make,  host_unmake, host_last_error,
                                                   host_warnings, host_orphan};

#endif
