/*
 * devices_probe.c: `svmx devices --probe`: every operation is tried on every device, so that what is refused is known.
 *
 * Devices with a queue by svmx_prewarm, which compiles and compares with known answers; those that compute in the caller's
 * thread prove an operation at its first use, so they get a task of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "devices.h"
#include "text.h"

#include <unistd.h>

/* One unit of it on the CPU. */
static enum svmx_status run_one(svmx_executor_t *executor, uint32_t op) {
    struct svmx_example example = {0};
    svmx_batch_t *batch = NULL;
    enum svmx_status status = svmx_example_create(executor, op, 1, 1, &example);
    if (status != SVMX_OK) return status;
    status = svmx_batch_create(executor, &batch);
    if (status == SVMX_OK) status = svmx_batch_set_policy(batch, SVMX_POLICY_CPU);
    if (status == SVMX_OK) status = svmx_batch_add(batch, op, example.args, example.arg_count);
    if (status == SVMX_OK) status = svmx_run(batch);
    svmx_batch_destroy(batch);
    svmx_example_destroy(&example);
    return status;
}

/* Compiling takes minutes: on a terminal a line says how far it is, and goes with the last call, which has no name. */
static void tell(uint32_t number, uint32_t count, const char *name) {
    if (!isatty(STDERR_FILENO)) return;
    if (name)
        (void)fprintf(stderr, "\r\033[Kprobing %u of %u: %s", number, count, name);
    else
        (void)fprintf(stderr, "\r\033[K");
}

static enum svmx_status probe(svmx_executor_t *executor, const struct svmx_op *op) {
    const enum svmx_status status = svmx_prewarm(executor, op->id, 1);
    return status == SVMX_OK ? run_one(executor, op->id) : status;
}

enum cli_exit devices_probe(const struct cli_session *session) {
    struct svmx_op op = {.size = sizeof op};
    enum svmx_status status = SVMX_OK;
    const uint32_t count = svmx_op_count(session->executor);
    for (uint32_t i = 0; status == SVMX_OK && svmx_op_get(session->executor, i, &op) == SVMX_OK; i++) {
        tell(i + 1, count, op.name);
        status = probe(session->executor, &op);
    }
    tell(0, 0, NULL);
    return status == SVMX_OK ? CLI_OK : cli_session_failed(op.name, status, "");
}

/* An executor that was just opened has no device that is not usable: whoever is not was lost to the probing. */
enum cli_exit devices_given_up(const struct cli_session *session) {
    struct svmx_device device = {.size = sizeof device};
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; svmx_device_get(session->executor, i, &device) == SVMX_OK; i++) {
        if (device.usable) continue;
        cli_error("%s:%u (%s) was given up while it was probed: %s", device.backend, device.index, device.name,
                  device.health_reason);
        code = CLI_BAD_INPUT;
    }
    return code;
}
