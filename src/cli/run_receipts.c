/*
 * run_receipts.c: `svmx run --receipt FILE`: a line of JSON for each launch, as svmx_receipt_json writes it.
 *
 * Called by answer.c for each batch that is done, so that a run that fails later leaves the lines of what went before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "run.h"
#include "text.h"
#include <errno.h>
#include <string.h>

enum { LINE_BYTES = 4096 };

static const char *name_of(const struct run *run) { return run->args->own[RUN_RECEIPT].text; }

enum cli_exit run_receipts_open(struct run *run) {
    const char *name = name_of(run);
    if (!name) return CLI_OK;
    run->receipts = strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    if (run->receipts) return CLI_OK;
    cli_error("--receipt: cannot write to %s: %s", name, strerror(errno));
    return CLI_FAILED;
}

enum cli_exit run_receipts_close(struct run *run, enum cli_exit so_far) {
    if (!run->receipts || run->receipts == stdout) return so_far; /* main.c looks after standard output */
    const bool failed = ferror(run->receipts) != 0;
    if ((fclose(run->receipts) == 0 && !failed) || so_far != CLI_OK) return so_far;
    cli_error("--receipt: cannot write to %s: %s", name_of(run), strerror(errno));
    return CLI_FAILED;
}

enum cli_exit run_receipts_write(const struct run *run, svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    if (!run->receipts) return CLI_OK;
    for (uint32_t i = 0; svmx_receipt_get(batch, i, &receipt) == SVMX_OK; i++) {
        char line[LINE_BYTES];
        enum svmx_status status = svmx_receipt_json(run->session.executor, &receipt, line, sizeof line, NULL);
        if (status != SVMX_OK) return cli_session_failed("svmx_receipt_json", status, "");
        fprintf(run->receipts, "%s\n", line);
    }
    return CLI_OK;
}
