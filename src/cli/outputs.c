/*
 * outputs.c: see outputs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outputs.h"

/* Two sizes, since at one of them a number may be the same by chance: six leaves have six nodes above them. */
static const uint64_t small_units[] = {5, 6};

uint32_t cli_outputs_measure(const struct svmx_op *op) {
    uint32_t i = 0;
    while (i < op->param_count && (op->params[i].direction == SVMX_OUT || op->params[i].shape == SVMX_SCALAR)) i++;
    return i;
}

/* Items of an argument of an example; what is ragged is counted by its offsets. */
static uint64_t items_of(const struct svmx_op *op, const struct svmx_example *example, uint32_t i) {
    if (op->params[i].shape == SVMX_RAGGED) return example->args[i + 1].bytes / sizeof(uint64_t) - 1;
    return example->args[i].bytes / op->params[i].record;
}

static enum svmx_status look(struct cli_outputs *outputs) {
    const struct svmx_op *op = outputs->op;
    const uint32_t measure = cli_outputs_measure(op);
    for (uint32_t i = 0; i < op->param_count; i++) outputs->same[i] = measure < op->param_count;
    for (size_t s = 0; s < sizeof small_units / sizeof *small_units && measure < op->param_count; s++) {
        struct svmx_example example;
        enum svmx_status status = svmx_example_create(outputs->executor, op->id, small_units[s], 1, &example);
        if (status != SVMX_OK) return status;
        for (uint32_t i = 0; i < op->param_count && op->params[i].direction == SVMX_OUT; i++)
            outputs->same[i] = outputs->same[i] && items_of(op, &example, i) == items_of(op, &example, measure);
        svmx_example_destroy(&example);
    }
    outputs->looked = true;
    return SVMX_OK;
}

static enum svmx_status ask(struct cli_outputs *outputs, uint64_t units) {
    const struct svmx_op *op = outputs->op;
    struct svmx_example example;
    enum svmx_status status = svmx_example_create(outputs->executor, op->id, units, 1, &example);
    if (status != SVMX_OK) return status;
    for (uint32_t i = 0; i < op->param_count && op->params[i].direction == SVMX_OUT; i++)
        outputs->items[i] = items_of(op, &example, i);
    svmx_example_destroy(&example);
    outputs->units = units;
    outputs->asked = true;
    return SVMX_OK;
}

enum svmx_status cli_outputs_items(struct cli_outputs *outputs, uint32_t param, uint64_t items, uint64_t *out) {
    enum svmx_status status = outputs->looked ? SVMX_OK : look(outputs);
    if (status == SVMX_OK && !outputs->same[param] && !(outputs->asked && outputs->units == items))
        status = ask(outputs, items);
    if (status != SVMX_OK) return status;
    *out = outputs->same[param] ? items : outputs->items[param];
    return SVMX_OK;
}
