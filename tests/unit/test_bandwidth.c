/*
 * test_bandwidth.c: what copies cost is measured through the submitter, told to the router, and leaves nothing behind: on the
 * check plugin, which looks at every rule, and on PoCL where it is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../integration/abandons.h"
#include "executor/executor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POCL_ICD "/etc/OpenCL/vendors/pocl.icd"

static unsigned complaints;
static char first[256];

static void note(void *user, enum svmx_log_level level, const char *text) {
    (void)user, (void)level;
    if (!strstr(text, "check: check: ") || strstr(text, "told to fail") || strstr(text, "is lost")) return;
    if (complaints++ == 0) (void)snprintf(first, sizeof first, "%s", text);
}

static svmx_executor_t *open_check(const char *script, uint32_t timeout_ms) {
    const char *path = getenv("SVMX_TEST_DRIVER_PATH");
    char backends[128];
    svmx_executor_t *executor = NULL;
    struct svmx_error error = {SVMX_OK, ""};
    if (!path) cr_skip_test("SVMX_TEST_DRIVER_PATH does not say where the check plugin is");
    (void)snprintf(backends, sizeof backends, "+check:%s,stop", script);
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = backends,
                                         .backend_path = path,
                                         .timeout_ms = timeout_ms,
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT,
                                         .log_level = SVMX_LOG_ERROR,
                                         .log = note};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

static void expect_sound(const struct svmx_bandwidth *bandwidth) {
    cr_expect_gt(bandwidth->latency_in_ns, 0);
    cr_expect_gt(bandwidth->latency_out_ns, 0);
    cr_expect_gt(bandwidth->in_bytes_per_ns, 0);
    cr_expect_gt(bandwidth->out_bytes_per_ns, 0);
    cr_expect_gt(bandwidth->host_in_bytes_per_ns, 0);
    cr_expect_gt(bandwidth->host_out_bytes_per_ns, 0);
}

Test(bandwidth, by_the_rules_of_plugins_and_the_router_is_told) {
    svmx_executor_t *executor = open_check("plain", 2000);
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 1 << 20, &bandwidth, &error), SVMX_OK, "%s", error.text);
    expect_sound(&bandwidth);
    cr_assert_eq(bandwidth.size, sizeof bandwidth);
    cr_assert_eq(bandwidth.bytes, 1 << 20);
    cr_assert_eq(bandwidth.in_place, 0);
    const struct svmx__model_device *told = &executor->model.devices[0];
    cr_assert_float_eq(told->latency_ns, bandwidth.latency_in_ns + bandwidth.latency_out_ns, 1e-6);
    cr_assert_lt(told->bytes_per_ns, bandwidth.in_bytes_per_ns + bandwidth.out_bytes_per_ns);
    cr_assert_gt(told->bytes_per_ns, 0);
    cr_assert(told->measured, "else it would not go into the profile");
    struct svmx_stats stats = {.size = sizeof stats};
    cr_assert_eq(svmx_stats_get(executor, &stats), SVMX_OK);
    cr_assert_eq(stats.pool_bytes, 0, "memory went into the pool");
    cr_assert_eq(stats.launches, 0, "copies are no launches");
    svmx_close(executor);
    cr_assert_eq(complaints, 0, "%s", first);
}

Test(bandwidth, no_more_than_the_device_has) {
    svmx_executor_t *executor = open_check("plain", 2000);
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    struct svmx_device device = {.size = sizeof device};
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, UINT64_MAX, &bandwidth, &error), SVMX_OK, "%s", error.text);
    cr_assert_leq(bandwidth.bytes, device.max_alloc_bytes);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 1, &bandwidth, &error), SVMX_OK, "%s", error.text);
    cr_assert_eq(bandwidth.bytes, 64, "the smallest copy");
    svmx_close(executor);
    cr_assert_eq(complaints, 0, "%s", first);
}

/* What fails, and what must come of it. */
static void fails(const char *script, enum svmx_status expected, uint32_t timeout_ms) {
    svmx_executor_t *executor = open_check(script, timeout_ms);
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth, .bytes = 42};
    struct svmx_error error = {SVMX_OK, ""};
    const double before = executor->model.devices[0].latency_ns;
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 1 << 20, &bandwidth, &error), expected, "%s: %s", script,
                 error.text);
    cr_assert_eq(error.status, expected);
    cr_assert(*error.text);
    cr_assert_eq(bandwidth.bytes, 42, "outputs are set on success only");
    cr_assert_eq(executor->model.devices[0].latency_ns, before);
    svmx_close(executor);
    cr_assert_eq(complaints, 0, "%s: %s", script, first);
}

Test(bandwidth, no_memory) { fails("memory_alloc@1=memory", SVMX_ERR_MEMORY, 2000); }
Test(bandwidth, no_memory_on_the_device) { fails("memory_alloc@2=memory", SVMX_ERR_MEMORY, 2000); }
Test(bandwidth, a_copy_that_is_refused) { fails("submit@5=backend", SVMX_ERR_BACKEND, 2000); }
Test(bandwidth, a_copy_that_fails) { fails("wait@12=backend", SVMX_ERR_BACKEND, 2000); }
Test(bandwidth, a_device_that_is_lost) { fails("submit@3=lost", SVMX_ERR_DEVICE_LOST, 2000); }
Test(bandwidth, a_device_that_hangs) {
    abandons = true;
    fails("wait@2=hang", SVMX_TIMEOUT, 40);
}

Test(bandwidth, a_device_that_was_given_up) {
    abandons = true;
    svmx_executor_t *executor = open_check("wait@1=hang", 40);
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 4096, &bandwidth, NULL), SVMX_TIMEOUT);
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(device.usable, 0);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 4096, &bandwidth, NULL), SVMX_ERR_DEVICE_LOST);
    svmx_close(executor);
}

Test(bandwidth, what_is_refused) {
    const struct svmx_options options = {
        .size = sizeof options, .backends = "none", .backend_path = "/nonexistent", .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *executor = NULL;
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    struct svmx_error error = {SVMX_OK, ""};
    cr_assert_eq(svmx_open(&executor, &options, NULL), SVMX_OK);
    cr_assert_eq(svmx_bandwidth_measure(NULL, 0, 0, &bandwidth, &error), SVMX_ERR_ARGUMENT);
    cr_assert(*error.text);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 0, NULL, &error), SVMX_ERR_ARGUMENT);
    bandwidth.size = 8;
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 0, &bandwidth, NULL), SVMX_ERR_ARGUMENT);
    bandwidth.size = sizeof bandwidth;
    cr_assert_eq(svmx_bandwidth_measure(executor, 1, 0, &bandwidth, &error), SVMX_ERR_UNKNOWN);
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 0, &bandwidth, &error), SVMX_ERR_UNSUPPORTED);
    cr_assert(strstr(error.text, "caller's memory"), "%s", error.text);
    svmx_close(executor);
}

Test(bandwidth, on_pocl) {
    const char *path = getenv("SVMX_TEST_BACKEND_PATH");
    struct svmx_error error = {SVMX_OK, ""};
    struct svmx_bandwidth bandwidth = {.size = sizeof bandwidth};
    svmx_executor_t *executor = NULL;
    if (!path || access(POCL_ICD, R_OK) != 0) cr_skip_test("there is no PoCL, or no folder of backends");
    setenv("OCL_ICD_VENDORS", POCL_ICD, 1);
    const struct svmx_options options = {
        .size = sizeof options, .backends = "opencl,stop", .backend_path = path, .flags = SVMX_OPEN_NO_ENVIRONMENT};
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    if (svmx_device_count(executor) < 2) {
        svmx_close(executor);
        cr_skip_test("the opencl backend is not built, or finds no device");
    }
    cr_assert_eq(svmx_bandwidth_measure(executor, 0, 4 << 20, &bandwidth, &error), SVMX_OK, "%s", error.text);
    expect_sound(&bandwidth);
    struct svmx_device device = {.size = sizeof device};
    cr_assert_eq(svmx_device_get(executor, 0, &device), SVMX_OK);
    cr_assert_eq(bandwidth.in_place, (device.flags & SVMX_DEVICE_SHARES_MEMORY) != 0);
    cr_assert_geq(bandwidth.bytes, 1 << 16);
    svmx_close(executor);
}
