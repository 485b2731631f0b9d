/*
 * test_opencl_steady.c: in steady state a launch on OpenCL is calls that enqueue, set arguments and look at events: nothing is
 * made, built or asked for. Counted by a layer between the loader and the driver (tests/drivers/cl_fault), which sees what may
 * fail: buffers, maps, programs, kernels, queues, contexts, and what devices say of themselves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <svmx/svmx.h>
#include <unistd.h>

enum { TASKS = 100, ITEMS = 300, WARM = 20, RUNS = 50 };

static unsigned (*launching)(void), (*making)(void);

static void use_layer(void) {
    const char *build = getenv("SVMX_TEST_BUILDDIR"), *objdir = getenv("SVMX_TEST_OBJDIR");
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER"), *pocl = "/etc/OpenCL/vendors/pocl.icd";
    char path[4096];
    if (sanitizer && strstr(sanitizer, "thread")) cr_skip_test("the thread sanitizer does not know PoCL's threads");
    if (access(pocl, R_OK) != 0) cr_skip_test("there is no PoCL (package pocl-opencl-icd)");
    cr_assert(build && objdir, "run by make check, which says where the layer is");
    (void)snprintf(path, sizeof path, "%s/tests/drivers/cl_fault/%s/layer.so", build, objdir);
    setenv("OCL_ICD_VENDORS", pocl, 1);
    setenv("OPENCL_LAYERS", path, 1);
    setenv("SUPERVM_DRIVER_PROBE", "off", 1);
    void *layer = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* the loader of OpenCL will find it loaded */
    cr_assert_not_null(layer, "%s", dlerror());
    *(void **)&launching = dlsym(layer, "svmx_layer_launching");
    *(void **)&making = dlsym(layer, "svmx_layer_making");
    cr_assert(launching && making, "%s does not count", path);
}

static float out[TASKS][ITEMS], a[ITEMS], b[ITEMS];

/* A batch that is filled anew each time, as a program would. */
static void run(svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    for (int t = 0; t < TASKS; t++) cr_assert_eq(svmx_vec_add_f32(batch, out[t], a, b, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.device == 0 && receipt.launches == 1 && !receipt.redone, "%s", receipt.reason);
}

static void expect_launches_only(const char *card) {
    const struct svmx_options options = {.size = sizeof options, .backends = "+opencl,stop", .timeout_ms = 60000};
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_error error = {SVMX_OK, ""};
    use_layer();
    if (card) setenv("SVMX_LAYER_CARD", card, 1);
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, TASKS * ITEMS), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    for (int i = 0; i < WARM; i++) run(batch);
    const unsigned made = making(), launched = launching();
    cr_assert_gt(made, 10, "the layer sees what the plugin does");
    for (int i = 0; i < RUNS; i++) run(batch);
    cr_expect_eq(making(), made, "%u calls that make or build something, in %d launches", making() - made, RUNS);
    cr_expect_geq(launching(), launched + RUNS);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

Test(opencl_steady, in_place) { expect_launches_only(NULL); }
Test(opencl_steady, with_copies) { expect_launches_only("1"); }
