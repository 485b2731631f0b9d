/*
 * on_opencl.c: see on_opencl.h.
 *
 * First all operations are tried and the receipts looked at: those that the device answered itself are compared; every
 * other is listed by its name, as unsupported or, with the reason, as in quarantine. From then on an answer that is not
 * the device's own is a failure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "on_opencl.h"

#include "../../plugins/kernels/catalog.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEVICES = 16 };

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

/* ---- what a device does --------------------------------------------------------------------------------------------- */

/* Signatures: thousands of products each, in code that takes long to compile. */
static bool is_dear(const struct svmx_op *op) {
    const struct catalog_entry *entry = catalog_find(op->name);
    return entry && entry->calls;
}

/* Products of 384 bits take an interpreter a minute for the known answers alone. */
static bool is_wide_product(const struct svmx_op *op) { return strstr(op->name, "mul_u384") != NULL; }

/* Of signatures slow drivers see Ed25519, whose messages begin and end anywhere; of wide products that which has the other inside;
 * with SVMX_TEST_LONG all. */
static bool is_for_long_tests(const struct svmx_op *op) {
    return (is_dear(op) && !starts_with(op->name, "ed25519")) || strcmp(op->name, "mont_mul_u384") == 0;
}

/* Why the device did not answer the operation; "" if it did. */
static void reason_of(struct pair *pair, const struct svmx_op *op, char *reason, size_t bytes) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    pair->strict = false;
    run_one(pair, op, 3, PLAIN, 1, 0);
    pair->strict = true;
    cr_assert_eq(svmx_receipt_get(pair->tested_batch, 0, &receipt), SVMX_OK);
    const bool own = receipt.device == 0 && receipt.redone == 0;
    snprintf(reason, bytes, "%s", own ? "" : receipt.reason[0] ? receipt.reason : "UNSUPPORTED");
}

/* Tries every operation, lists what is left out, and sees to it that something is left. */
static void survey(struct pair *pair, const char *device, const struct driver *driver) {
    uint32_t served = 0, refused = 0;
    printf("%s\n", device);
    for (uint32_t o = 0; o < op_count(pair); o++) {
        const struct svmx_op op = op_at(pair, o);
        char reason[160];
        pair->left_out[o] = driver->slow && is_for_long_tests(&op) && !getenv("SVMX_TEST_LONG");
        if (pair->left_out[o]) continue;
        reason_of(pair, &op, reason, sizeof reason);
        pair->left_out[o] = *reason != '\0';
        served += !pair->left_out[o];
        if (!pair->left_out[o]) continue;
        const bool unsupported = strstr(reason, "UNSUPPORTED") != NULL;
        printf("  %s: %s%s%s\n", op.name, unsupported ? "unsupported" : "in quarantine: ", unsupported ? "" : reason,
               "");
        const bool expected = driver->complete && catalog_find(op.name) != NULL;
        cr_expect(!expected, "%s: %s has device code and is not served: %s", device, op.name, reason);
        refused += expected;
    }
    for (uint32_t o = 0; o < op_count(pair) && driver->slow; o++) {
        const struct svmx_op op = op_at(pair, o);
        pair->left_out[o] |= is_dear(&op) || (is_wide_product(&op) && !getenv("SVMX_TEST_LONG"));
    }
    printf("  %u of %u operations served\n", served, op_count(pair));
    fflush(stdout);
    cr_assert_gt(served, 0, "%s does nothing at all", device);
    cr_assert_eq(refused, 0);
}

static void on_device(unsigned index, const struct driver *driver) {
    struct target target = {.threads = 0};
    struct svmx_device device = {.size = sizeof device};
    snprintf(target.backends, sizeof target.backends, "+opencl:%u,stop", index);
    struct pair pair = pair_open(&target);
    cr_assert_eq(svmx_device_get(pair.tested, 0, &device), SVMX_OK);
    cr_assert_str_eq(device.backend, "opencl");
    pair.size_cap = driver->size_cap;
    pair.batch = driver->batch;
    pair.random_sizes = driver->random_sizes;
    survey(&pair, device.name, driver);
    if (driver->file) few_of(&pair, is_dear); /* on a real device all of what follows, too */
    random_sizes(&pair);
    many_tasks(&pair);
    mixed_operations(&pair);
    if (!driver->slow || getenv("SVMX_TEST_LONG")) all_alignments(&pair);
    pair_close(&pair);
}

/* ---- on which drivers ------------------------------------------------------------------------------------------------ */

/* How many devices of the backend there are, and which of them are wanted. */
static unsigned find_devices(bool (*wanted)(const char *driver), bool *use) {
    const struct target all = {.backends = "opencl,stop"};
    svmx_executor_t *executor = open_one(&all);
    unsigned count = 0;
    for (uint32_t i = 0; i + 1 < svmx_device_count(executor) && i < MAX_DEVICES; i++) {
        struct svmx_device device = {.size = sizeof device};
        cr_assert_eq(svmx_device_get(executor, i, &device), SVMX_OK);
        use[i] = !wanted || wanted(device.driver);
        count += use[i];
    }
    svmx_close(executor);
    return count;
}

/* Compiling all device code takes drivers minutes, and is the same whatever compiler made the executor. */
static void leave_out_on_request(void) {
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
}

void on_driver(const struct driver *driver) {
    bool use[MAX_DEVICES] = {false};
    leave_out_on_request();
    if (access(driver->file, R_OK) != 0) cr_skip_test("there is no %s (package %s)", driver->file, driver->package);
    setenv("OCL_ICD_VENDORS", driver->file, 1);
    cr_assert_gt(find_devices(NULL, use), 0, "%s has no device", driver->file);
    for (unsigned i = 0; i < MAX_DEVICES; i++)
        if (use[i]) on_device(i, driver);
}

/* None of those with a suite of their own, by the name of the platform. */
static bool is_another(const char *driver) {
    return !starts_with(driver, "Portable Computing Language") && !starts_with(driver, "rusticl") &&
           !starts_with(driver, "Oclgrind");
}

void on_other_drivers(void) {
    static const struct driver other = {NULL, NULL, false, false, 0, BATCH, RANDOM_SIZES};
    const char *users = getenv("SVMX_TEST_OPENCL_VENDORS");
    bool use[MAX_DEVICES] = {false};
    leave_out_on_request();
    if (users && *users)
        setenv("OCL_ICD_VENDORS", users, 1);
    else
        unsetenv("OCL_ICD_VENDORS");
    if (find_devices(is_another, use) == 0) cr_skip_test("there is no other OpenCL device on this machine");
    for (unsigned i = 0; i < MAX_DEVICES; i++)
        if (use[i]) on_device(i, &other);
}
