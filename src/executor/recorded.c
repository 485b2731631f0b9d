/*
 * recorded.c: batches that are prepared once and run many times: svmx_batch_record, svmx_batch_replay.
 *
 * What a run finds out about the tasks and not about the data is kept: that nothing overlaps (submit), the rows side by side
 * (bucket), the order of levels (weigh). The data may be other each time: it is read when the batch runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "executor/stages.h"

enum svmx_status svmx_batch_record(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    enum svmx_status status = svmx__batch_must_be_building(batch);
    if (status == SVMX_OK) status = svmx__check_overlap(batch);
    if (status == SVMX_OK) batch->recorded = true;
    return status;
}

enum svmx_status svmx_batch_replay(svmx_batch_t *batch) {
    if (!batch) return SVMX_ERR_ARGUMENT;
    const uint32_t state = atomic_load_explicit(&batch->state, memory_order_acquire);
    if (state != SVMX__BUILDING && state != SVMX__DONE) return SVMX_ERR_STATE; /* even its text is the library's now */
    if (!batch->recorded)
        return svmx__fail(&batch->error, SVMX_ERR_STATE, "this batch is not recorded: call svmx_batch_record first");
    const enum svmx_status status = state == SVMX__DONE ? svmx_batch_rearm(batch) : SVMX_OK;
    return status == SVMX_OK ? svmx_run(batch) : status;
}
