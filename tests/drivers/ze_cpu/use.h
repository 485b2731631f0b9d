/*
 * use.h: how a suite sets up the test driver: its file for the real loader with the validation layer on, an empty report.
 *
 * For one process: call before the backend is opened. The report and the counts are written when that process ends, so
 * whoever looks at them is another one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRIVERS_ZE_CPU_USE_H
#define TESTS_DRIVERS_ZE_CPU_USE_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ZE_CPU_PATH = 4096 };

/* A file of the build folder. */
static inline void ze_cpu_path(char *path, const char *format, const char *name) {
    const char *build = getenv("SVMX_TEST_BUILDDIR");
    const int used = snprintf(path, ZE_CPU_PATH, "%s/", build ? build : ".");
    (void)snprintf(path + used, ZE_CPU_PATH - (size_t)used, format, name);
}

static inline void ze_cpu_report_path(char *path, const char *name) {
    ze_cpu_path(path, "tests/run/ze_cpu-%s.report", name);
}
static inline void ze_cpu_count_path(char *path, const char *name) {
    ze_cpu_path(path, "tests/run/ze_cpu-%s.count", name);
}

/* Why the driver cannot be used here; NULL: it can. */
static inline const char *ze_cpu_missing(void) {
    char path[ZE_CPU_PATH];
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (sanitizer && strstr(sanitizer, "thread")) return "the thread sanitizer does not know PoCL's threads";
    ze_cpu_path(path, "tests/drivers/ze_cpu/%s", "ze_cpu.so");
    if (access(path, R_OK) != 0) return "the test driver was not built (libze-dev, opencl-c-headers)";
    if (access("/etc/OpenCL/vendors/pocl.icd", R_OK) != 0) return "there is no PoCL (package pocl-opencl-icd)";
    if (access("/usr/bin/llvm-spirv-15", X_OK) != 0) return "there is no llvm-spirv-15";
    return NULL;
}

/* Report and counts go to files of that name. */
static inline void ze_cpu_use(const char *name) {
    char path[ZE_CPU_PATH];
    ze_cpu_path(path, "tests/drivers/ze_cpu/%s", "ze_cpu.so");
    setenv("ZE_ENABLE_ALT_DRIVERS", path, 1);
    setenv("ZE_ENABLE_VALIDATION_LAYER", "1", 1);
    setenv("ZE_ENABLE_PARAMETER_VALIDATION", "1", 1);
    ze_cpu_report_path(path, name);
    (void)unlink(path);
    setenv("ZE_CPU_REPORT", path, 1);
    ze_cpu_count_path(path, name);
    (void)unlink(path);
    setenv("ZE_CPU_COUNT", path, 1);
}

/* From now on the driver is the loader, too: a newer one, with in-order lists and events that count. Before the backend is loaded,
 * which then finds a library of that name in the process; other processes find it on their way, and the real loader finds no
 * driver. false: it cannot be had. */
static inline bool ze_cpu_use_newer(const char *name) {
    char path[ZE_CPU_PATH], more[2 * ZE_CPU_PATH];
    const char *old = getenv("LD_LIBRARY_PATH");
    ze_cpu_use(name);
    unsetenv("ZE_ENABLE_ALT_DRIVERS");
    ze_cpu_path(path, "tests/drivers/ze_cpu/%s", "loader");
    (void)snprintf(more, sizeof more, "%s%s%s", path, old ? ":" : "", old ? old : "");
    setenv("LD_LIBRARY_PATH", more, 1);
    ze_cpu_path(path, "tests/drivers/ze_cpu/loader/%s", "libze_loader.so.1");
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

/* In another process, afterwards: the driver came to its end, and had nothing to report. Tells what it finds. */
static inline bool ze_cpu_is_content(const char *name) {
    char path[ZE_CPU_PATH], line[512];
    ze_cpu_count_path(path, name);
    const bool ended = access(path, R_OK) == 0;
    if (!ended) printf("%s: the test driver did not come to its end\n", name);
    ze_cpu_report_path(path, name);
    FILE *report = fopen(path, "r");
    bool content = ended;
    while (report && fgets(line, sizeof line, report)) {
        printf("%s: %s", name, line);
        content = false;
    }
    if (report) fclose(report);
    return content;
}

#endif
