/*
 * opencl_local.c: kernels write local memory before they read it: what another work-group, or another tenant, left there is
 * never seen. oclgrind follows values that were never written (OCLGRIND_UNINITIALIZED) and says what it finds on standard error.
 *
 * Every operation with a kernel that has local memory; those that oclgrind takes long for only with SVMX_TEST_LONG=1. One
 * thread of oclgrind's, since what it knows of memory is not safe from a second one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/kernels/catalog.h"
#include "../integration/mix_op.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char report[4096];

static void start(const char *name) {
    const char *driver = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";
    const char *build = getenv("SVMX_TEST_BUILDDIR"), *objdir = getenv("SVMX_TEST_OBJDIR");
    char layer[4096];
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (access(driver, R_OK) != 0) cr_skip_test("there is no oclgrind (package oclgrind)");
    cr_assert(build && objdir, "run by make check, which says where the layer is");
    snprintf(layer, sizeof layer, "%s/tests/drivers/cl_fault/%s/layer.so", build, objdir);
    snprintf(report, sizeof report, "%s/tests/run/oclgrind-local-%s.log", build, name);
    cr_assert_not_null(freopen(report, "w", stderr));
    setenv("OPENCL_LAYERS", layer, 1);
    setenv("SVMX_LAYER_OCLGRIND", "1", 1);
    setenv("OCL_ICD_VENDORS", driver, 1);
    setenv("OCLGRIND_UNINITIALIZED", "1", 1);
    setenv("OCLGRIND_NUM_THREADS", "1", 1);
    unsetenv("OCLGRIND_LOG"); /* every context begins it anew */
    setenv("SUPERVM_DRIVER_PROBE", "off", 1);
}

/* The variant for GPUs, also on a device that is none: it has the local memory. */
static svmx_executor_t *open_oclgrind(void) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "+opencl,stop",
                                         .policy = "gpu",
                                         .variant = "gpu",
                                         .timeout_ms = 600000,
                                         .patience_ms = 3600000};
    svmx_executor_t *executor;
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static void run(svmx_executor_t *executor, uint32_t op, uint64_t size) {
    struct svmx_example example = {0};
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch;
    cr_assert_eq(svmx_example_create(executor, op, size, 1, &example), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, op, example.args, example.arg_count), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0, "%s", receipt.reason);
    svmx_batch_destroy(batch);
    svmx_example_destroy(&example);
}

/* What oclgrind wrote, in bytes. */
static long found(void) {
    struct stat info;
    return stat(report, &info) == 0 ? (long)info.st_size : 0;
}

/* Whether it says that something was read before it was written. */
static bool found_unwritten(void) {
    FILE *file = fopen(report, "r");
    char line[1024];
    bool yes = false;
    while (file && fgets(line, sizeof line, file)) yes = yes || strstr(line, "ninitialized");
    if (file) (void)fclose(file);
    return yes;
}

static bool has_local_memory(const struct catalog_entry *entry) {
    for (int i = 0; i < CATALOG_SOURCES && entry->sources[i]; i++) {
        const char *text = catalog_source(entry->sources[i]);
        if (text && strstr(text, "    __local ")) return true; /* a variable of a kernel */
    }
    return false;
}

static bool is_slow(const char *op) {
    return strncmp(op, "merkle", 6) == 0 || strncmp(op, "eigh", 4) == 0 || strcmp(op, "matmul_batch_f32") == 0;
}

Test(contract_opencl_local, nothing_is_read_before_it_is_written) {
    struct svmx_op op = {.size = sizeof op};
    unsigned looked_at = 0;
    start("none");
    svmx_executor_t *executor = open_oclgrind();
    for (uint32_t i = 0; svmx_op_get(executor, i, &op) == SVMX_OK; i++) {
        const struct catalog_entry *entry = catalog_find(op.name);
        if (!entry || !has_local_memory(entry) || (is_slow(op.name) && !getenv("SVMX_TEST_LONG"))) continue;
        printf("%s\n", op.name);
        run(executor, op.id, 40);
        cr_expect_eq(found(), 0, "%s: see %s", op.name, report);
        looked_at++;
    }
    svmx_close(executor);
    cr_expect_eq(found(), 0, "see %s", report);
    cr_expect_geq(looked_at, 8, "reductions, softmax and matrix products have local memory");
}

/* The same way, a kernel that looks at what it never wrote: it is seen. */
Test(contract_opencl_local, what_was_not_written_is_seen) {
    static const char code[] =
        "SVMX_KERNEL(peeks, 16) {\n"
        "    __local uint left[16];\n"
        "    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 4);\n"
        "    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);\n"
        "    struct svmx_piece piece;\n"
        "    const uint secret = left[get_local_id(0)];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    left[get_local_id(0)] = 1;\n"
        "    while (svmx_walk_next(&t, &walk, &piece)) {\n"
        "        __global uint *to = (__global uint *)(out + svmx_at(&t, piece.task, 0));\n"
        "        __global const uint *a = (__global const uint *)(in + svmx_at(&t, piece.task, 1));\n"
        "        __global const uint *b = (__global const uint *)(in + svmx_at(&t, piece.task, 2));\n"
        "        const uint k = (uint)svmx_at(&t, piece.task, 3);\n"
        "        for (ulong i = piece.begin; i < piece.end; i++)\n"
        "            to[i] = secret == 0xdeadbeefu ? 0 : a[i] * k + rotate(b[i], (uint)5);\n"
        "    }\n"
        "}\n";
    struct svmx_op_def def = mix_def("peeks", code);
    uint32_t op;
    def.trial_size = 40;
    start("some");
    svmx_executor_t *executor = open_oclgrind();
    cr_assert_eq(svmx_op_register(executor, &def, &op, NULL), SVMX_OK);
    run(executor, op, 40);
    svmx_close(executor);
    cr_expect(found_unwritten(), "see %s", report);
}
