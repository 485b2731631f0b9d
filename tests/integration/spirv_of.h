/*
 * spirv_of.h: OpenCL C of a registered operation as SPIR-V, compiled by the tools that compile ours: for suites that have
 * to give a module to a device without a compiler. The options are those of plugins/kernels/compile-spirv.
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
    cr_assert(file && fprintf(file, "#include \"common.cl\"\n%s", code) > 0 && fclose(file) == 0);
    (void)snprintf(command, sizeof command,
                   "cd %s && clang-15 -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -I '%s/plugins/kernels' -O1"
                   " -Xclang -disable-llvm-passes -target spir64 -emit-llvm -c -o code.bc code.cl &&"
                   " llvm-spirv-15 --spirv-max-version=1.2 --spirv-fp-contract=off -o code.spv code.bc",
                   folder, source);
    cr_assert_eq(system(command), 0, "%s", command);
    (void)snprintf(path, sizeof path, "%s/code.spv", folder);
    void *words = spirv_read(path, bytes);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    return words;
}

#endif
