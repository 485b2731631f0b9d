/*
 * scan_task.c: made-up data of one size, and what the reference code makes of it. All devices get the same memory.
 *
 *   elements, bytes   an example of the operation
 *   side of a matrix  an example of vec_add_f32 of side x side elements: its three vectors are out, a and b
 *
 * Called by cmd_scan.c; scan_measure.c compares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { MESSAGE_BYTES = 32 }; /* of a message of an example */

/* ---- making ----------------------------------------------------------------------------------------------------- */

static enum svmx_status example_make(struct scan_task *task, const svmx_executor_t *executor, uint64_t seed) {
    uint32_t id = task->op->op.id;
    uint64_t units = task->size;
    if (task->op->measure == SCAN_BYTES) units = units / MESSAGE_BYTES + (units % MESSAGE_BYTES != 0);
    if (task->op->measure == SCAN_SIDE) {
        id = SVMX_OP_VEC_ADD_F32;
        if (__builtin_mul_overflow(units, units, &units)) return SVMX_ERR_OVERFLOW;
    }
    return svmx_example_create(executor, id, units, seed, &task->example);
}

static void args_take(struct scan_task *task) {
    task->arg_count = task->example.arg_count;
    memcpy(task->args, task->example.args, task->arg_count * sizeof *task->args);
    if (task->op->measure != SCAN_SIDE) return;
    while (task->arg_count < task->op->op.param_count) task->args[task->arg_count++] = svmx_u64(task->size);
}

static bool is_output(const struct scan_task *task, uint32_t param) {
    return task->op->op.params[param].direction == SVMX_OUT && task->args[param].bytes > 0;
}

static enum cli_exit reference_run(struct scan_task *task, const struct cli_session *reference) {
    svmx_batch_t *batch = NULL;
    enum svmx_status status = svmx_batch_create(reference->executor, &batch);
    if (status == SVMX_OK) status = svmx_batch_add(batch, task->op->op.id, task->args, task->arg_count);
    const uint64_t start = scan_now_ns();
    if (status == SVMX_OK) status = svmx_run(batch);
    task->reference_ns = scan_now_ns() - start;
    enum cli_exit code =
        status == SVMX_OK ? CLI_OK : cli_session_failed(task->op->op.name, status, svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    return code;
}

static enum cli_exit no_memory(const struct scan_task *task) {
    cli_error("%s, size %llu: no memory for its data: try smaller --sizes", task->op->op.name,
              (unsigned long long)task->size);
    return CLI_FAILED;
}

enum cli_exit scan_task_make(struct scan_task *task, const struct cli_session *reference, const struct scan_op *op,
                             uint64_t size, uint64_t seed) {
    *task = (struct scan_task){.op = op, .size = size};
    enum svmx_status status = example_make(task, reference->executor, seed);
    if (status == SVMX_ERR_OVERFLOW || status == SVMX_ERR_ARGUMENT) return CLI_USAGE;
    if (status == SVMX_ERR_MEMORY) return no_memory(task);
    if (status != SVMX_OK) return cli_session_failed("making up data", status, "");
    args_take(task);
    enum cli_exit code = reference_run(task, reference);
    if (code != CLI_OK) return code;
    for (uint32_t i = 0; i < op->op.param_count; i++) {
        if (!is_output(task, i)) continue;
        task->want[i] = malloc(task->args[i].bytes);
        if (!task->want[i]) return no_memory(task);
        memcpy(task->want[i], task->args[i].from.out, task->args[i].bytes);
    }
    return CLI_OK;
}

void scan_task_free(struct scan_task *task) {
    for (size_t i = 0; i < SVMX_OP_MAX_PARAMS; i++) free(task->want[i]);
    svmx_example_destroy(&task->example);
    *task = (struct scan_task){.op = NULL};
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

void scan_task_dirty(const struct scan_task *task) {
    for (uint32_t i = 0; i < task->op->op.param_count; i++)
        if (task->want[i]) memset(task->args[i].from.out, 0xa5, task->args[i].bytes);
}

bool scan_task_agrees(const struct scan_task *task) {
    for (uint32_t i = 0; i < task->op->op.param_count; i++)
        if (task->want[i] && memcmp(task->want[i], task->args[i].from.out, task->args[i].bytes) != 0) return false;
    return true;
}
