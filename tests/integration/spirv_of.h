/*
 * spirv_of.h: OpenCL C of a registered operation as SPIR-V, compiled by scripts/compile-op: for suites that have to give a
 * module to a device without a compiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SPIRV_OF_H
#define SPIRV_OF_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Why there is no compiler; NULL: there is. */
static inline const char *spirv_missing(void) {
    if (access("/usr/bin/clang-15", X_OK) != 0) return "there is no clang-15";
    if (access("/usr/bin/spirv-val", X_OK) != 0) return "there is no spirv-val";
    return access("/usr/bin/llvm-spirv-15", X_OK) != 0 ? "there is no llvm-spirv-15" : NULL;
}

/* All of a file; free() takes it. */
static inline void *spirv_read(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    void *words = malloc(1 << 20);
    cr_assert(file && words, "%s was not made", path);
    *bytes = fread(words, 1, 1 << 20, file);
    cr_assert(*bytes > 0 && feof(file));
    fclose(file);
    return words;
}

/* The module of `code`, with common.cl in front of it; free() takes it. */
static inline void *spirv_of(const char *code, size_t *bytes) {
    char folder[] = "/tmp/svmx-test-XXXXXX", path[64], command[4096];
    const char *source = getenv("SVMX_TEST_SRCDIR");
    cr_assert(source && mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/code.cl", folder);
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(code, file) >= 0 && fclose(file) == 0);
    (void)snprintf(command, sizeof command, "'%s/scripts/compile-op' %s/code.cl", source, folder);
    cr_assert_eq(system(command), 0, "%s", command);
    (void)snprintf(path, sizeof path, "%s/code.spv", folder);
    void *words = spirv_read(path, bytes);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    return words;
}

#endif
