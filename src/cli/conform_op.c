/*
 * conform_op.c: one operation on one device: every byte compared with the reference code.
 *
 *   sizes (0, 1, around powers of two, a large one) x data (an example, four kinds of wild.h) -> each a batch of its own
 *   all of them together                                                                      -> one batch of many tasks
 *
 * Outputs hold other bytes before the run on the device than before the run of the reference code, so that one that is not
 * written is seen. Receipts prove that the device answered. Called by cmd_conform.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "conform.h"
#include "text.h"
#include "wild.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seed 1 is for the example as it is, those above for wild data. */
enum { MAX_SIZES = 16, SEEDS = 1 + CLI_WILD_KINDS, MAX_TASKS = MAX_SIZES * SEEDS };

/* The same task twice: for the device, and for the reference code. */
struct sample {
    uint64_t size, seed;
    struct svmx_example got, want;
    void *ragged[SVMX_OP_MAX_PARAMS]; /* of both, where wild cuts made it another length than the example's */
};

struct trial {
    struct conform *conform;
    struct conform_result *result;
    struct sample samples[MAX_TASKS];
    uint32_t count;
    svmx_batch_t *tested, *reference;
};

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

static uint64_t size_limit(const struct conform *conform, const char *op) {
    const uint64_t limit = cli_wild_limit(op);
    return conform->device.flags & SVMX_DEVICE_TEST && limit > 300 ? 300 : limit; /* those are slow */
}

static uint32_t sizes_choose(const struct conform *conform, const char *op, uint64_t sizes[MAX_SIZES]) {
    static const unsigned powers[] = {4, 8, 12, 14};
    const uint64_t limit = size_limit(conform, op);
    uint32_t count = 0;
    if (conform->sized) {
        sizes[0] = conform->size;
        return 1;
    }
    sizes[count++] = 0;
    sizes[count++] = 1;
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++)
        for (uint64_t size = (UINT64_C(1) << powers[p]) - 1; size <= (UINT64_C(1) << powers[p]) + 1; size++)
            if (size < limit) sizes[count++] = size;
    sizes[count++] = limit;
    return count;
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

static void outputs_dirty(const struct svmx_op *op, const struct svmx_example *example, int byte) {
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].direction == SVMX_OUT && example->args[i].bytes)
            memset(example->args[i].from.out, byte, example->args[i].bytes);
}

static void sample_free(struct sample *sample) {
    svmx_example_destroy(&sample->got);
    svmx_example_destroy(&sample->want);
    for (int i = 0; i < SVMX_OP_MAX_PARAMS; i++) free(sample->ragged[i]);
}

/* Other inputs than the example's: the same for the device and the reference code. From the last: cuts decide how long
 * what they cut is. */
static void sample_go_wild(const struct svmx_op *op, struct sample *sample) {
    for (uint32_t i = op->param_count; i-- > 0;) {
        const struct svmx_param *param = &op->params[i];
        struct svmx_arg *got = &sample->got.args[i], *want = &sample->want.args[i];
        if (param->direction == SVMX_OUT || param->shape == SVMX_SCALAR || param->shape == SVMX_OFFSETS) continue;
        if (param->shape == SVMX_RAGGED) {
            (void)cli_wild_cuts(want[1].from.out, want[1].bytes, sample->seed + i);
            got->bytes = want->bytes = cli_wild_cuts(got[1].from.out, got[1].bytes, sample->seed + i);
            got->from.out = want->from.out = sample->ragged[i] = cli_grow(NULL, got->bytes + 1, 1);
            cli_wild_fill(sample->ragged[i], got->bytes, param->type, sample->seed + i);
            continue;
        }
        cli_wild_fill(got->from.out, got->bytes, param->type, sample->seed + i);
        cli_wild_fill(want->from.out, want->bytes, param->type, sample->seed + i);
    }
}

static enum svmx_status sample_make(const struct trial *trial, struct sample *sample) {
    const struct conform *conform = trial->conform;
    const struct svmx_op *op = &trial->result->op;
    enum svmx_status status =
        svmx_example_create(conform->tested.executor, op->id, sample->size, sample->seed, &sample->got);
    if (status == SVMX_OK)
        status = svmx_example_create(conform->reference.executor, op->id, sample->size, sample->seed, &sample->want);
    if (status == SVMX_OK && sample->seed > 1) sample_go_wild(op, sample);
    if (status != SVMX_OK) sample_free(sample);
    return status;
}

/* Some operations do not take any data: then the example as it is must do. */
static bool sample_is_taken(const struct trial *trial, const struct sample *sample) {
    if (sample->seed == 1) return true; /* what is wrong with it is told later */
    (void)svmx_batch_reset(trial->reference);
    return svmx_batch_add(trial->reference, trial->result->op.id, sample->want.args, sample->want.arg_count) !=
           SVMX_ERR_ARGUMENT;
}

/* A size that the operation does not take is left out, unless the user asked for it. */
static enum cli_exit samples_make(struct trial *trial) {
    uint64_t sizes[MAX_SIZES];
    const uint32_t size_count = sizes_choose(trial->conform, trial->result->op.name, sizes);
    for (uint32_t i = 0; i < size_count * SEEDS; i++) {
        struct sample *sample = &trial->samples[trial->count];
        *sample = (struct sample){.size = sizes[i / SEEDS], .seed = 1 + i % SEEDS};
        enum svmx_status status = sample_make(trial, sample);
        if (status == SVMX_OK && sample_is_taken(trial, sample))
            trial->count++;
        else if (status == SVMX_OK)
            sample_free(sample);
        else if (trial->conform->sized || status == SVMX_ERR_MEMORY)
            return cli_session_failed(trial->result->op.name, status, "making up data: try another --size");
    }
    return CLI_OK;
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static enum cli_exit batch_run(svmx_batch_t *batch, const struct conform_result *result) {
    enum svmx_status status = svmx_run(batch);
    return status == SVMX_OK ? CLI_OK : cli_session_failed(result->op.name, status, svmx_batch_error(batch));
}

static enum cli_exit batches_fill(struct trial *trial, uint32_t from, uint32_t to, uint64_t *units) {
    const struct svmx_op *op = &trial->result->op;
    (void)svmx_batch_reset(trial->tested);
    (void)svmx_batch_reset(trial->reference);
    for (uint32_t i = from; i < to; i++) {
        const struct sample *sample = &trial->samples[i];
        outputs_dirty(op, &sample->got, 0xa5);
        outputs_dirty(op, &sample->want, 0x5a);
        *units += sample->size;
        enum svmx_status status = svmx_batch_add(trial->tested, op->id, sample->got.args, sample->got.arg_count);
        if (status != SVMX_OK) return cli_session_failed(op->name, status, svmx_batch_error(trial->tested));
        status = svmx_batch_add(trial->reference, op->id, sample->want.args, sample->want.arg_count);
        if (status != SVMX_OK) return cli_session_failed(op->name, status, svmx_batch_error(trial->reference));
    }
    return CLI_OK;
}

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

/* Why another one answered, from the receipt or else from the log; nothing to say means that it offers no such thing. */
static void judge_absence(struct trial *trial, const struct svmx_receipt *receipt) {
    struct conform_log *log = &trial->conform->log;
    struct conform_result *result = trial->result;
    pthread_mutex_lock(&log->lock);
    const char *reason = *receipt->reason ? receipt->reason : *log->reason ? log->reason : log->gone;
    result->verdict = receipt->redone || *reason ? CONFORM_REFUSED : CONFORM_UNSUPPORTED;
    snprintf(result->reason, sizeof result->reason, "%s", *reason ? reason : "the plugin does not offer it");
    pthread_mutex_unlock(&log->lock);
}

/* Did the device answer, and nobody before it? */
static void judge_receipts(struct trial *trial) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    for (uint32_t i = 0; svmx_receipt_get(trial->tested, i, &receipt) == SVMX_OK; i++) {
        if (receipt.device == trial->conform->device_id && receipt.redone == 0) continue;
        judge_absence(trial, &receipt);
        return;
    }
}

static void judge_sample(struct trial *trial, const struct sample *sample, uint32_t tasks) {
    const struct svmx_op *op = &trial->result->op;
    for (uint32_t i = 0; i < op->param_count; i++) {
        const struct svmx_arg *got = &sample->got.args[i], *want = &sample->want.args[i];
        if (op->params[i].direction != SVMX_OUT || got->bytes == 0) continue;
        const uint8_t *a = got->from.out, *b = want->from.out;
        if (memcmp(a, b, got->bytes) == 0) continue;
        uint64_t byte = 0;
        while (a[byte] == b[byte]) byte++;
        trial->result->verdict = CONFORM_WRONG;
        snprintf(trial->result->reason, sizeof trial->result->reason,
                 "size %llu, %s seed %llu, %s a batch: %s differs from byte %llu of %llu on: 0x%02x, must be 0x%02x",
                 (unsigned long long)sample->size, sample->seed == 1 ? "example of" : "wild data of",
                 (unsigned long long)sample->seed, cli_counted(tasks, "task").line, op->params[i].name,
                 (unsigned long long)byte, (unsigned long long)got->bytes, a[byte], b[byte]);
        return;
    }
}

/* The samples [from, to) as one batch. */
static enum cli_exit compare(struct trial *trial, uint32_t from, uint32_t to) {
    struct conform_result *result = trial->result;
    uint64_t units = 0;
    enum cli_exit code = batches_fill(trial, from, to, &units);
    if (code != CLI_OK) return code;
    (void)svmx_prewarm(trial->conform->tested.executor, result->op.id, units); /* what it refuses shows below */
    code = batch_run(trial->tested, result);
    if (code == CLI_OK) judge_receipts(trial);
    if (code != CLI_OK || result->verdict != CONFORM_EXACT) return code;
    code = batch_run(trial->reference, result);
    if (code != CLI_OK) return code;
    for (uint32_t i = from; i < to && result->verdict == CONFORM_EXACT; i++)
        judge_sample(trial, &trial->samples[i], to - from);
    result->batches++;
    result->tasks += to - from;
    return CLI_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static enum cli_exit trial_run(struct trial *trial) {
    enum svmx_status status = svmx_batch_create(trial->conform->tested.executor, &trial->tested);
    if (status == SVMX_OK) status = svmx_batch_create(trial->conform->reference.executor, &trial->reference);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_create", status, "");
    enum cli_exit code = samples_make(trial);
    for (uint32_t i = 0; i < trial->count && code == CLI_OK && trial->result->verdict == CONFORM_EXACT; i++)
        code = compare(trial, i, i + 1);
    if (code == CLI_OK && trial->result->verdict == CONFORM_EXACT) code = compare(trial, 0, trial->count);
    return code;
}

static void log_expect(struct conform_log *log, const char *op) {
    pthread_mutex_lock(&log->lock);
    log->op = op;
    log->reason[0] = '\0';
    pthread_mutex_unlock(&log->lock);
}

enum cli_exit conform_op(struct conform *conform, struct conform_result *result) {
    struct trial *trial = cli_grow(NULL, 1, sizeof *trial);
    *trial = (struct trial){.conform = conform, .result = result};
    log_expect(&conform->log, result->op.name);
    enum cli_exit code = trial_run(trial);
    log_expect(&conform->log, NULL);
    svmx_batch_destroy(trial->tested);
    svmx_batch_destroy(trial->reference);
    for (uint32_t i = 0; i < trial->count; i++) sample_free(&trial->samples[i]);
    free(trial);
    return code;
}
