/*
 * levelzero_fixture.h: an instance of plugins/levelzero on the test driver (tests/drivers/ze_cpu), without an executor, and its
 * functions in few words, for the suites of the plugin's own.
 *
 * Every test has its own process. What the driver has to say of misuse goes to a report that has to stay empty; all of them are looked
 * at after the last test, since what is expected when a test is over does not count any more. Leaks are looked for by the suites
 * that have other ones. Included once, after SUITE, a name that no other suite has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_UNIT_LEVELZERO_FIXTURE_H
#define TESTS_UNIT_LEVELZERO_FIXTURE_H

#include "../../plugins/levelzero/levelzero.h"
#include "../drivers/ze_cpu/use.h"

#include <criterion/criterion.h>
#include <criterion/hooks.h>
#include <glob.h>
#include <string.h>

extern const struct svmx_plugin svmx_plugin;

/* ---- a host, and an instance ------------------------------------------------------------------------------------- */

static atomic_int live_allocations, allocations_left = 1000000;
static char last_error[256], all_lines[16384];

static inline void host_log(const struct svmx_host *host, enum svmx_log_level level, const char *text) {
    (void)host;
    const size_t used = strlen(all_lines);
    if (level == SVMX_LOG_ERROR) (void)snprintf(last_error, sizeof last_error, "%s", text);
    if (level <= SVMX_LOG_INFO) (void)snprintf(all_lines + used, sizeof all_lines - used, "%s\n", text);
}

static inline void *host_alloc(const struct svmx_host *host, size_t bytes, size_t alignment) {
    void *memory = NULL;
    (void)host;
    if (atomic_fetch_sub(&allocations_left, 1) <= 0) return NULL;
    if (posix_memalign(&memory, alignment < sizeof memory ? sizeof memory : alignment, bytes)) return NULL;
    atomic_fetch_add(&live_allocations, 1);
    return memory;
}

static inline void host_release(const struct svmx_host *host, void *memory) {
    (void)host;
    if (memory) atomic_fetch_sub(&live_allocations, 1);
    free(memory);
}

static inline const char *host_option(const struct svmx_host *host, const char *key) {
    (void)host;
    (void)key;
    return NULL;
}

static inline uint64_t host_now(const struct svmx_host *host) {
    (void)host;
    return 0; /* a clock that stands still: waiting must not depend on it */
}

static const struct svmx_host host = {.size = sizeof host,
                                      .abi_major = SVMX_ABI_MAJOR,
                                      .abi_minor = SVMX_ABI_MINOR,
                                      .log = host_log,
                                      .alloc = host_alloc,
                                      .release = host_release,
                                      .option = host_option,
                                      .now = host_now};
static struct svmx_backend backend;
static char name[32]; /* of the driver's files */

static inline void use(void) {
    const char *missing = ze_cpu_missing();
    if (missing) cr_skip_test("%s", missing);
    (void)snprintf(name, sizeof name, SUITE "-%d", (int)getpid()); /* tests run side by side */
    ze_cpu_use(name);
    setenv("ZE_CPU_STRICT", "1", 1);
}

static inline void open_backend(void) { cr_assert_eq(svmx_plugin.open(&host, &backend), SVMX_OK, "%s", last_error); }

static inline void start(void) {
    use();
    open_backend();
}

/* What stays of the host's memory is told beside what the driver tells. */
static inline void finish(void) {
    char path[ZE_CPU_PATH];
    backend.ops->close(backend.self);
    const int left = atomic_load(&live_allocations);
    ze_cpu_report_path(path, name);
    FILE *report = left ? fopen(path, "a") : NULL;
    if (report) fprintf(report, "misuse: close leaves %d allocations\n", left);
    if (report) fclose(report);
}

/* Given back by globfree. */
static inline glob_t reports(void) {
    char path[ZE_CPU_PATH];
    glob_t files = {.gl_pathc = 0};
    ze_cpu_report_path(path, SUITE "-*");
    if (glob(path, 0, NULL, &files) != 0) files.gl_pathc = 0;
    return files;
}

/* What is left of an earlier run. */
ReportHook(PRE_ALL)(struct criterion_test_set *tests) {
    glob_t files = reports();
    (void)tests;
    for (size_t i = 0; i < files.gl_pathc; i++) (void)unlink(files.gl_pathv[i]);
    globfree(&files);
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats) {
    glob_t files = reports();
    bool content = true;
    (void)stats;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        char line[512];
        FILE *report = fopen(files.gl_pathv[i], "r");
        while (report && fgets(line, sizeof line, report)) {
            if (strncmp(line, "misuse", 6) != 0) continue;
            printf("%s: %s", files.gl_pathv[i], line);
            content = false;
        }
        if (report) fclose(report);
    }
    globfree(&files);
    fflush(stdout);
    if (!content) _exit(1);
}

static inline struct svmx_device_info info_of(uint32_t index) {
    struct svmx_device_info info = {.size = sizeof info};
    cr_assert_eq(backend.ops->device_info(backend.self, index, &info), SVMX_OK);
    return info;
}

static inline enum svmx_status alloc(uint32_t kind, uint32_t usage, uint64_t bytes, struct svmx_memory **memory,
                                     void **at) {
    const struct svmx_memory_desc desc = {.size = sizeof desc, .kind = kind, .usage = usage, .bytes = bytes};
    return backend.ops->memory_alloc(backend.self, 0, &desc, memory, at);
}

static inline struct svmx_memory *staging(uint64_t bytes, void **at) {
    struct svmx_memory *memory = NULL;
    const uint32_t usage = SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE;
    cr_assert_eq(alloc(SVMX_MEMORY_STAGING, usage, bytes, &memory, at), SVMX_OK, "%s", last_error);
    return memory;
}

static inline struct svmx_memory *device_memory(uint64_t bytes) {
    struct svmx_memory *memory = NULL;
    void *none;
    cr_assert_eq(alloc(SVMX_MEMORY_DEVICE, SVMX_USAGE_COPY_TARGET, bytes, &memory, &none), SVMX_OK, "%s", last_error);
    cr_assert_null(none);
    return memory;
}

static inline void release(struct svmx_memory *memory) { backend.ops->memory_free(backend.self, memory); }

static inline enum svmx_status submit(uint32_t engine, const struct svmx_command *commands, size_t count,
                                      const uint64_t *after, uint64_t *ticket) {
    const struct svmx_command_list list = {sizeof list, sizeof *commands, commands, count};
    const struct svmx_submission submission = {
        .size = sizeof submission, .engine = engine, .list = &list, .after = after, .after_count = after ? 1 : 0};
    return backend.ops->submit(backend.self, &submission, ticket);
}

static inline enum svmx_status wait_for(uint64_t ticket, struct svmx_timing *timing) {
    struct svmx_timing unused = {.size = sizeof unused};
    return backend.ops->wait(backend.self, 0, ticket, UINT64_C(60000000000), timing ? timing : &unused);
}

static inline enum svmx_status build(const char *op, uint32_t variant, const void *binary, size_t bytes,
                                     struct svmx_pipeline **pipeline) {
    const struct svmx_op_desc desc = {.size = sizeof desc, .name = op};
    const struct svmx_pipeline_desc wish = {
        .size = sizeof wish, .op = &desc, .bucket = 16384, .variant = variant, .binary = binary, .binary_bytes = bytes};
    return backend.ops->pipeline_build(backend.self, 0, &wish, pipeline);
}

static inline struct svmx_command copy(uint32_t kind, struct svmx_memory *from, struct svmx_memory *to,
                                       uint64_t bytes) {
    return (struct svmx_command){.kind = kind, .as.copy = {{from, 0, bytes}, {to, 0, bytes}}};
}

static const struct svmx_command barrier = {.kind = SVMX_COMMAND_BARRIER};

#endif
