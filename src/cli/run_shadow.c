/*
 * run_shadow.c: `svmx run --shadow`: what was just run again on the other side, so that a log has the times of both.
 *
 * A run under the same tag is a shadow run to svmx replay (docs/RECEIPTS.md). It is work like any: the executor learns from it, so
 * that it need not try by itself what a device takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "text.h"
#include "trial.h"

/* Whether all of the last run was computed in the caller's memory. */
static bool was_on_host(const struct trial *trial) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (uint32_t i = 0; svmx_receipt_get(trial->batch, i, &receipt) == SVMX_OK; i++) {
        struct svmx_device device = {.size = sizeof device};
        if (svmx_device_get(trial->run->session.executor, receipt.device, &device) != SVMX_OK) return false;
        if (!(device.flags & SVMX_DEVICE_HOST_MEMORY)) return false;
    }
    return true;
}

enum cli_exit trial_shadow(struct trial *trial) {
    const uint32_t other = was_on_host(trial) ? SVMX_POLICY_GPU : SVMX_POLICY_CPU;
    enum svmx_status status = trial->runs > 1 ? svmx_batch_rearm(trial->shadow) : SVMX_OK;
    if (status == SVMX_OK) status = svmx_batch_set_tag(trial->shadow, trial->runs);
    if (status == SVMX_OK) status = svmx_batch_set_policy(trial->shadow, other);
    if (status == SVMX_OK) status = svmx_run(trial->shadow);
    if (status != SVMX_OK) return cli_session_failed("--shadow", status, svmx_batch_error(trial->shadow));
    return run_receipts_write(trial->run, trial->shadow);
}
