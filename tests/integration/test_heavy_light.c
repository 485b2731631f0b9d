/*
 * test_heavy_light.c: heavy work, then light work, in one process: products of 2,048 x 2,048 matrices, then 20 tensors of 256
 * and one of 5,120 through relu. Nothing of the heavy work is held against the light: no timeout, no strike, neither in the same
 * executor nor in the next.
 *
 * On PoCL and on the CPU, with what is the default but for the deadline of the heavy work: how long that takes is the
 * machine's. SVMX_TEST_LONG=1: three products instead of two. Then smaller products with the default deadline as well, on a
 * modelled device, on the test driver of Level Zero and on PoCL: what one takes of them is far from it on any machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <unistd.h>

static const char *const ze_cpu_names[] = {"heavy_light", NULL};
#include "../drivers/ze_cpu/content.h"

#define POCL_ICD "/etc/OpenCL/vendors/pocl.icd"
enum { SIDE = 2048, LIGHT = 256, LIGHTS = 20, LAST = 5120 };
#define HEAVY_NS UINT64_C(600000000000)
enum { SMALLER = 128, SMALLER_PRODUCTS = 8 };

static svmx_executor_t *open_on(const char *backends) {
    const struct svmx_options options = {.size = sizeof options, .backends = backends, .log_level = SVMX_LOG_ERROR};
    struct svmx_error error;
    svmx_executor_t *executor = NULL;
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

/* A product with a matrix whose every row is one element: each result is that of its column, by hand. */
static void run_product(svmx_executor_t *executor, size_t side, uint64_t timeout_ns) {
    const size_t count = side * side;
    float *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b), *out = malloc(count * sizeof *out);
    svmx_batch_t *batch;
    cr_assert(a && b && out);
    for (size_t i = 0; i < side; i++) a[i * side + (i * 7) % side] = 2;
    for (size_t i = 0; i < count; i++) b[i] = (float)(i % 1021);
    (void)svmx_prewarm(executor, SVMX_OP_MATMUL_F32, count);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    if (timeout_ns) cr_assert_eq(svmx_batch_set_timeout(batch, timeout_ns), SVMX_OK);
    cr_assert_eq(svmx_matmul_f32(batch, out, a, b, side, side, side), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j += 97)
            cr_assert_eq(out[i * side + j], 2 * b[(i * 7) % side * side + j], "row %zu, column %zu", i, j);
    svmx_batch_destroy(batch);
    free(a);
    free(b);
    free(out);
}

static void run_relu(svmx_executor_t *executor, uint32_t count) {
    static float in[LAST], out[LAST];
    svmx_batch_t *batch;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (uint32_t i = 0; i < count; i++) in[i] = (float)i - (float)count / 2;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_relu_f32(batch, out, in, count), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    for (uint32_t i = 0; i < count; i++) cr_assert_eq(out[i], in[i] > 0 ? in[i] : 0);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0, "it is not trusted any more: %s", receipt.reason);
    cr_assert_eq(receipt.redone, 0, "%s", receipt.reason);
    svmx_batch_destroy(batch);
}

static void run_light(svmx_executor_t *executor) {
    (void)svmx_prewarm(executor, SVMX_OP_RELU_F32, LIGHT);
    for (int i = 0; i < LIGHTS; i++) run_relu(executor, LIGHT);
    run_relu(executor, LAST);
    struct svmx_device device = {.size = sizeof device};
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(device.health, SVMX_HEALTHY, "%s", device.health_reason);
    cr_assert_eq(device.strikes, 0);
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.fallbacks, 0);
}

static void heavy_then_light(const char *backends) {
    const int products = getenv("SVMX_TEST_LONG") ? 3 : 2;
    svmx_executor_t *executor = open_on(backends);
    for (int i = 0; i < products; i++) run_product(executor, SIDE, HEAVY_NS);
    run_light(executor);
    svmx_close(executor);
    executor = open_on(backends);
    run_light(executor);
    svmx_close(executor);
}

/* With the default deadline. */
static void smaller_then_light(const char *backends) {
    svmx_executor_t *executor = open_on(backends);
    for (int i = 0; i < SMALLER_PRODUCTS; i++) run_product(executor, SMALLER, 0);
    run_light(executor);
    svmx_close(executor);
    executor = open_on(backends);
    run_light(executor);
    svmx_close(executor);
}

Test(heavy_light, on_the_cpu) { heavy_then_light("simd,stop"); }

static void need(const char *backend) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    char plugin[4096];
    (void)snprintf(plugin, sizeof plugin, "%s/%s.so", path ? path : ".", backend);
    if (access(plugin, R_OK) != 0) cr_skip_test("this build has no %s.so", backend);
}

static void use_pocl(void) {
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (sanitizer && *sanitizer) cr_skip_test("a product takes too long under a sanitizer");
    if (access(POCL_ICD, R_OK) != 0) cr_skip_test("there is no " POCL_ICD " (package pocl-opencl-icd)");
    need("opencl");
    setenv("OCL_ICD_VENDORS", POCL_ICD, 1);
}

Test(heavy_light, on_pocl) {
    use_pocl();
    heavy_then_light("opencl,simd,stop");
}

Test(heavy_light, on_pocl_with_the_default_deadline) {
    use_pocl();
    smaller_then_light("opencl,simd,stop");
}

/* It computes with the reference code, and takes the time that its model says. */
Test(heavy_light, on_a_modelled_device_with_the_default_deadline) {
    need("sim");
    smaller_then_light("sim:integrated,simd,stop");
}

Test(heavy_light, on_level_zero_with_the_default_deadline) {
    const char *sanitizer = getenv("SVMX_TEST_SANITIZER");
    if (sanitizer && *sanitizer) cr_skip_test("a product takes too long under a sanitizer");
    need("levelzero");
    if (ze_cpu_missing()) cr_skip_test("%s", ze_cpu_missing());
    ze_cpu_use("heavy_light");
    smaller_then_light("levelzero,simd,stop");
}
