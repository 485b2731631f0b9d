/*
 * tasks.c: see tasks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tasks.h"

#include "cli/wild.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, GUARD_BYTE = 0xa5 };

/* ---- memory ----------------------------------------------------------------------------------------------- */

static struct block block_make(uint64_t bytes, unsigned shift, uint64_t guard) {
    struct block block = {.bytes = bytes, .guard = guard};
    void *memory = NULL;
    cr_assert_eq(posix_memalign(&memory, 64, (size_t)(guard + shift + bytes + guard + !bytes)), 0, "no memory");
    block.base = memory;
    block.at = block.base + guard + shift;
    if (guard) memset(block.base, GUARD_BYTE, (size_t)(guard + shift + bytes + guard));
    return block;
}

bool guards_stand(const struct block *block) {
    for (const uint8_t *at = block->base; at < block->at; at++)
        if (*at != GUARD_BYTE) return false;
    for (uint64_t i = 0; i < block->guard; i++)
        if (block->at[block->bytes + i] != GUARD_BYTE) return false;
    return true;
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static bool in_memory(const struct task *task, uint32_t i) { return task->op.params[i].shape != SVMX_SCALAR; }
bool is_output(const struct task *task, uint32_t i) { return task->op.params[i].direction == SVMX_OUT; }

/* Inputs as `style` says, each argument at another shift. */
static void make_inputs(struct task *task, const struct svmx_example *example, enum style style, uint64_t seed,
                        unsigned shift) {
    for (uint32_t i = task->op.param_count; i-- > 0;) { /* from the last: cuts decide how long what they cut is */
        const struct svmx_param *param = &task->op.params[i];
        task->args[i] = example->args[i];
        if (!in_memory(task, i)) continue;
        const unsigned at = (shift + 7 * i) % 64;
        uint64_t bytes = example->args[i].bytes;
        if (style == WILD && param->shape == SVMX_RAGGED)
            bytes = cli_wild_cuts(task->blocks[i + 1].at, task->blocks[i + 1].bytes, seed + i);
        struct block *block = &task->blocks[i];
        *block = block_make(bytes, at, is_output(task, i) ? GUARD : 0);
        const bool given = bytes && !is_output(task, i);
        if (given && style == WILD && param->shape != SVMX_OFFSETS)
            cli_wild_fill(block->at, bytes, param->type, seed + i);
        else if (given)
            memcpy(block->at, example->args[i].from.in, (size_t)bytes);
        task->args[i].bytes = bytes;
        task->args[i].from.in = bytes || seed % 2 ? block->at : NULL;
    }
}

/* The reference's answer: this task alone. The status of adding it. */
static enum svmx_status make_expected(struct task *task, svmx_batch_t *reference) {
    struct svmx_arg args[MAX_ARGS];
    memcpy(args, task->args, sizeof args);
    for (uint32_t i = 0; i < task->op.param_count; i++) {
        if (!is_output(task, i)) continue;
        task->expected[i] = block_make(task->blocks[i].bytes, 0, GUARD);
        memset(task->expected[i].at, 0xc3, (size_t)task->blocks[i].bytes);
        args[i].from.out = task->expected[i].at;
    }
    cr_assert_eq(svmx_batch_reset(reference), SVMX_OK);
    enum svmx_status status = svmx_batch_add(reference, task->op.id, args, task->op.param_count);
    if (status != SVMX_OK) return status;
    cr_assert_eq(svmx_run(reference), SVMX_OK, "%s", svmx_batch_error(reference));
    return SVMX_OK;
}

void task_renew(struct task *task) {
    for (uint32_t i = 0; i < task->op.param_count; i++)
        if (is_output(task, i)) memset(task->blocks[i].at, 0x5a, (size_t)task->blocks[i].bytes);
}

void task_free(struct task *task) {
    for (uint32_t i = 0; i < MAX_ARGS; i++) {
        free(task->blocks[i].base);
        free(task->expected[i].base);
    }
    *task = (struct task){.op = task->op};
}

struct task task_make(const svmx_executor_t *examples, svmx_batch_t *reference, const struct svmx_op *op, uint64_t size,
                      enum style style, uint64_t seed, unsigned shift) {
    struct task task = {.op = *op};
    struct svmx_example example;
    cr_assert_eq(svmx_example_create(examples, op->id, size, seed, &example), SVMX_OK);
    cr_assert_eq(example.arg_count, op->param_count);
    make_inputs(&task, &example, style, seed, shift);
    enum svmx_status status = make_expected(&task, reference);
    if (status == SVMX_ERR_ARGUMENT && style == WILD && op->id > FIRST_OPS) { /* one that cannot take any data */
        task_free(&task);
        make_inputs(&task, &example, PLAIN, seed, shift);
        status = make_expected(&task, reference);
    }
    cr_assert_eq(status, SVMX_OK, "%s of %" PRIu64 ": %s", op->name, size, svmx_batch_error(reference));
    svmx_example_destroy(&example);
    return task;
}
