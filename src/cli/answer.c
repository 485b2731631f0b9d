/*
 * answer.c: which devices answered a batch. A device that was demanded and did not answer is a failure: results would be
 * right, but not those of the trial that the user asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run.h"
#include "text.h"
#include <stdio.h>

enum cli_exit run_answer_read(const struct run *run, svmx_batch_t *batch, struct run_answer *answer) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    answer->parts = svmx_receipt_count(batch);
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        struct svmx_device device = {.size = sizeof device};
        enum svmx_status status = svmx_device_get(run->session.executor, receipt.device, &device);
        if (status != SVMX_OK) return cli_session_failed("asking for a device", status, "");
        answer->redone += receipt.redone;
        answer->tries += receipt.why == SVMX_WHY_PROBE;
        if (receipt.redone && !*answer->reason)
            snprintf(answer->reason, sizeof answer->reason, "%s", *receipt.reason ? receipt.reason : "unknown");
        if (cli_session_accepts(&run->session, device.backend)) continue;
        cli_error("--device %s did not answer, %s did: %s", run->session.demanded, device.backend,
                  *receipt.reason ? receipt.reason : "it does not offer this operation");
        return CLI_FAILED;
    }
    return run_receipts_write(run, batch);
}
