/*
 * device_run.h: an operation on PoCL, by the opencl backend and by nobody else, for suites that compare it with the reference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TESTS_DEVICE_RUN_H
#define SVMX_TESTS_DEVICE_RUN_H

#include "op_fixture.h"

#include <stdlib.h>
#include <svmx/ops.h>
#include <unistd.h>

#define POCL_DRIVER "/etc/OpenCL/vendors/pocl.icd"

/* Skips the test where PoCL, or time for it, is not there. */
static inline svmx_executor_t *device_open(void) {
    const struct svmx_options options = {.size = sizeof options, .backends = "+opencl,stop"};
    struct svmx_error error = {SVMX_OK, ""};
    svmx_executor_t *executor = NULL;
    if (getenv("SVMX_TEST_NO_OPENCL_CONTRACT")) cr_skip_test("left out in this configuration (scripts/test.sh)");
    if (access(POCL_DRIVER, R_OK) != 0) cr_skip_test("there is no PoCL (package pocl-opencl-icd)");
    setenv("OCL_ICD_VENDORS", POCL_DRIVER, 1);
    cr_assert_eq(svmx_open(&executor, &options, &error), SVMX_OK, "%s", error.text);
    return executor;
}

/* One task; outputs go where the slots say. */
static inline void device_run(svmx_executor_t *executor, uint32_t id, const struct svmx_slot *slots, uint32_t count) {
    const struct svmx__op *op = svmx__op_by_id(id);
    struct svmx_arg args[SVMX__MAX_PARAMS];
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = NULL;
    for (uint32_t i = 0; i < count; i++)
        args[i] = svmx_in((enum svmx_type)op->params[i].type, (void *)(uintptr_t)slots[i].at,
                          slots[i].bytes / svmx_type_bytes((enum svmx_type)op->params[i].type));
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_add(batch, id, args, count), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(receipt.device == 0 && receipt.redone == 0, "answered by device %u: %s", receipt.device, receipt.reason);
    svmx_batch_destroy(batch);
}

#endif
