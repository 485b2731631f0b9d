/*
 * selftest.c: proof that a pipeline computes what it should, before it serves.
 *
 * All known answers of the operation as tasks of one launch, then two examples of other sizes against the reference
 * code; both through the same stages as real work, so that placing and collecting are proved too. Called by prepare.c and
 * builder.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "executor/building.h"
#include "executor/stages.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = SVMX__MAX_KNOWN };

/* The first launch of a kernel may compile it: a proof has this many times the usual deadline. */
enum { PATIENCE = 20 };

/* Tasks under test. Inputs and expected outputs are the test's; what the device writes goes to memory of its own. */
struct rows {
    struct svmx_slot slots[MAX_ROWS * SVMX__MAX_PARAMS];
    const void *expected[MAX_ROWS * SVMX__MAX_PARAMS]; /* NULL where a slot is no output */
    uint64_t first_unit[MAX_ROWS + 1];
    uint64_t units, work;
    uint32_t count;
};

static bool is_output(const struct svmx__op *op, uint32_t at) { return op->params[at].direction == SVMX_OUT; }

/* Adds a task whose inputs are in place, and gives its outputs memory. `expected` has an entry a parameter. */
static enum svmx_status add_row(struct rows *rows, const struct svmx__op *op, const struct svmx_slot *inputs,
                                const void *const *expected, struct svmx__text *why) {
    uint32_t base = rows->count * op->param_count;
    struct svmx__size size = {0, 0};
    if (rows->count == MAX_ROWS) return svmx__fail(why, SVMX_ERR_OVERFLOW, "%s has too many known answers", op->name);
    rows->count++;
    for (uint32_t i = 0; i < op->param_count; i++) {
        rows->slots[base + i] = inputs[i];
        rows->expected[base + i] = is_output(op, i) ? expected[i] : NULL;
        if (is_output(op, i)) rows->slots[base + i].at = 0; /* so that free_rows is right whatever happens next */
    }
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (!is_output(op, i)) continue;
        void *memory = calloc(1, inputs[i].bytes ? inputs[i].bytes : 1);
        if (!memory) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for the self-test of %s", op->name);
        rows->slots[base + i].at = (uintptr_t)memory;
    }
    enum svmx_status status = svmx__op_check(op, rows->slots + base, &size, why);
    rows->units += size.units;
    rows->work += size.work;
    rows->first_unit[rows->count] = rows->units;
    return status;
}

static void free_rows(struct rows *rows, const struct svmx__op *op) {
    for (uint32_t i = 0; i < rows->count * op->param_count; i++)
        if (is_output(op, i % op->param_count)) free((void *)(uintptr_t)rows->slots[i].at);
}

enum svmx_status svmx__selftest_launch(struct svmx__part *part) {
    part->timeout_ns = PATIENCE * part->device->executor->config.number[SVMX__TIMEOUT_MS] * SVMX__NS_PER_MS;
    enum svmx_status status = svmx__stage(part);
    if (status == SVMX_OK) status = svmx__dispatch(part);
    return svmx__collect(part, status);
}

static enum svmx_status run_rows(struct svmx__device *device, const struct svmx__op *op,
                                 const struct svmx__pipeline *pipeline, struct rows *rows, const char *what,
                                 struct svmx__text *why) {
    struct svmx__part part = {.op = op,
                              .task_count = rows->count,
                              .units = rows->units,
                              .work = rows->work,
                              .slots = rows->slots,
                              .first_unit = rows->first_unit,
                              .bucket = pipeline->key.bucket,
                              .device = device,
                              .life = pipeline->life,
                              .pipeline = pipeline};
    enum svmx_status status = svmx__selftest_launch(&part);
    if (status != SVMX_OK) return svmx__fail(why, status, "self-test of %s failed: %s", op->name, part.reason);
    for (uint32_t i = 0; i < rows->count * op->param_count; i++) {
        if (!rows->expected[i] || !rows->slots[i].bytes) continue;
        if (memcmp((const void *)(uintptr_t)rows->slots[i].at, rows->expected[i], rows->slots[i].bytes) != 0)
            return svmx__fail(why, SVMX_ERR_WRONG_RESULT, "%s gives wrong bytes for %s %u", op->name, what,
                              i / op->param_count);
    }
    return SVMX_OK;
}

static enum svmx_status test_known_answers(struct svmx__device *device, const struct svmx__op *op,
                                           const struct svmx__pipeline *pipeline, struct rows *rows,
                                           struct svmx__text *why) {
    if (!op->known_count) return SVMX_OK; /* a registered operation need not have any */
    for (uint32_t r = 0; r < op->known_count; r++) {
        const struct svmx__known *known = op->known + (size_t)r * op->param_count;
        struct svmx_slot inputs[SVMX__MAX_PARAMS];
        const void *expected[SVMX__MAX_PARAMS];
        for (uint32_t i = 0; i < op->param_count; i++) {
            inputs[i] = (struct svmx_slot){(uintptr_t)known[i].data, known[i].bytes};
            expected[i] = known[i].data;
            if (op->params[i].shape != SVMX_SCALAR) continue;
            inputs[i].at = 0;
            memcpy(&inputs[i].at, known[i].data, known[i].bytes);
        }
        enum svmx_status status = add_row(rows, op, inputs, expected, why);
        if (status != SVMX_OK) return status;
    }
    return run_rows(device, op, pipeline, rows, "known answer", why);
}

/* What the known answers are too short for: whole vectors, many lanes, tails. */
static enum svmx_status test_examples(struct svmx__device *device, const struct svmx__op *op,
                                      const struct svmx__pipeline *pipeline, struct rows *rows,
                                      struct svmx__text *why) {
    enum { COUNT = 2 };
    void *blocks[COUNT] = {0};
    enum svmx_status status = SVMX_OK;
    for (uint32_t e = 0; e < COUNT && status == SVMX_OK; e++) {
        struct svmx_slot slots[SVMX__MAX_PARAMS];
        const void *expected[SVMX__MAX_PARAMS] = {0};
        status = svmx__example_make(op, svmx__op_trial_size(op, e == 0), e + 1, slots, &blocks[e]);
        if (status != SVMX_OK) break;
        svmx__reference_run(op, slots);
        for (uint32_t i = 0; i < op->param_count; i++)
            if (is_output(op, i)) expected[i] = (const void *)(uintptr_t)slots[i].at;
        status = add_row(rows, op, slots, expected, why);
    }
    if (status == SVMX_OK) status = run_rows(device, op, pipeline, rows, "example", why);
    if (status == SVMX_TIMEOUT && device->host_memory) return status; /* a device that is late may still read them */
    for (uint32_t e = 0; e < COUNT; e++) free(blocks[e]);
    return status;
}

enum svmx_status svmx__selftest(struct svmx__device *device, const struct svmx__op *op,
                                const struct svmx__pipeline *pipeline, struct svmx__text *why) {
    struct rows *known = calloc(2, sizeof *known);
    if (!known) return svmx__fail(why, SVMX_ERR_MEMORY, "no memory for the self-test of %s", op->name);
    struct rows *examples = known + 1;
    enum svmx_status status = test_known_answers(device, op, pipeline, known, why);
    if (status == SVMX_OK) status = test_examples(device, op, pipeline, examples, why);
    if (status != SVMX_TIMEOUT || !device->host_memory) { /* else a device that is late may still write into it */
        free_rows(known, op);
        free_rows(examples, op);
        free(known);
    }
    return status;
}
