/*
 * trial.h: small pieces of work whose right answer is known, for suites that care about what happens around it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { TRIAL_ITEMS = 100 };

/* A vector sum. Its answer is computed by whoever asks. */
struct trial {
    float out[TRIAL_ITEMS], a[TRIAL_ITEMS], b[TRIAL_ITEMS];
};

static inline void trial_fill(struct trial *trial, unsigned seed) {
    for (unsigned i = 0; i < TRIAL_ITEMS; i++) {
        trial->a[i] = (float)(i * 3 + seed);
        trial->b[i] = (float)(seed * 7) - (float)i;
        trial->out[i] = -12345.0f;
    }
}

static inline enum svmx_status trial_add(struct trial *trial, svmx_batch_t *batch) {
    return svmx_vec_add_f32(batch, trial->out, trial->a, trial->b, TRIAL_ITEMS);
}

static inline bool trial_is_right(const struct trial *trial) {
    for (unsigned i = 0; i < TRIAL_ITEMS; i++)
        if (trial->out[i] != trial->a[i] + trial->b[i]) return false;
    return true;
}

static inline bool trial_is_untouched(const struct trial *trial) {
    for (unsigned i = 0; i < TRIAL_ITEMS; i++)
        if (trial->out[i] != -12345.0f) return false;
    return true;
}

/* Outputs of an example, end to end. Outputs come first in every signature. */
static inline uint64_t example_outputs(const struct svmx_op *op, const struct svmx_example *example,
                                       unsigned char *to) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < op->param_count && op->params[i].direction == SVMX_OUT; i++) {
        if (to) memcpy(to + bytes, example->args[i].from.in, example->args[i].bytes);
        bytes += example->args[i].bytes;
    }
    return bytes;
}

/* Runs an example of an operation of `size` units and gives its outputs, to be freed; NULL when anything failed. */
static inline unsigned char *example_run(svmx_executor_t *executor, uint32_t op_index, uint64_t size, uint64_t seed,
                                         uint64_t *bytes, struct svmx_receipt *receipt) {
    struct svmx_op op = {.size = sizeof op};
    struct svmx_example example = {0};
    svmx_batch_t *batch = NULL;
    unsigned char *outputs = NULL;
    if (svmx_op_get(executor, op_index, &op) == SVMX_OK &&
        svmx_example_create(executor, op.id, size, seed, &example) == SVMX_OK &&
        svmx_batch_create(executor, &batch) == SVMX_OK &&
        svmx_batch_add(batch, op.id, example.args, example.arg_count) == SVMX_OK && svmx_run(batch) == SVMX_OK &&
        (!receipt || svmx_receipt_get(batch, 0, receipt) == SVMX_OK)) {
        *bytes = example_outputs(&op, &example, NULL);
        outputs = malloc(*bytes + 1);
        if (outputs) (void)example_outputs(&op, &example, outputs);
    }
    svmx_batch_destroy(batch);
    svmx_example_destroy(&example);
    return outputs;
}

#endif
