/*
 * run_example.c: `svmx run OPERATION` on made-up data: how fast, where, and a hash of the result.
 *
 *   examples (one a task) -> one batch, run once and then R times -> times, receipts
 *   their outputs, end to end -> SHA-256 by the library itself -> the same hash on every machine and device
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "hex.h"
#include "text.h"
#include "trial.h"
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>
#include <time.h>

/* ---- making ---- */

static enum cli_exit example_failed(const struct trial *trial, enum svmx_status status) {
    if (status == SVMX_ERR_OVERFLOW || status == SVMX_ERR_ARGUMENT)
        return cli_args_refuse(trial->run->args->command, "--size: %llu %ss are too many for %s",
                               (unsigned long long)trial->size, trial->run->op.unit, trial->run->op.name);
    return cli_session_failed("making up data", status, "try a smaller --size or fewer --tasks");
}

static void bytes_count(struct trial *trial, const struct svmx_example *example) {
    for (uint32_t i = 0; i < trial->run->op.param_count; i++) {
        if (example->args[i].kind != SVMX_ARG_HOST) continue;
        if (trial->run->op.params[i].direction == SVMX_OUT)
            trial->bytes_out += example->args[i].bytes;
        else
            trial->bytes_in += example->args[i].bytes;
    }
}

/* The same task in memory of its own: the outputs of the run stay its own, also for the hash. */
static enum cli_exit shadow_add(struct trial *trial, uint32_t i) {
    struct svmx_example *example = &trial->shadows[i];
    enum svmx_status status =
        svmx_example_create(trial->run->session.executor, trial->run->op.id, trial->size, trial->seed + i, example);
    if (status != SVMX_OK) return example_failed(trial, status);
    trial->shadows_made++;
    status = svmx_batch_add(trial->shadow, trial->run->op.id, example->args, example->arg_count);
    return status == SVMX_OK ? CLI_OK : cli_session_failed("svmx_batch_add", status, svmx_batch_error(trial->shadow));
}

static enum cli_exit tasks_make(struct trial *trial) {
    trial->examples = cli_grow(NULL, trial->tasks, sizeof *trial->examples);
    if (trial->shadow) trial->shadows = cli_grow(NULL, trial->tasks, sizeof *trial->shadows);
    for (uint32_t i = 0; i < trial->tasks; i++) {
        struct svmx_example *example = &trial->examples[i];
        enum svmx_status status =
            svmx_example_create(trial->run->session.executor, trial->run->op.id, trial->size, trial->seed + i, example);
        if (status != SVMX_OK) return example_failed(trial, status);
        trial->made++;
        bytes_count(trial, example);
        status = svmx_batch_add(trial->batch, trial->run->op.id, example->args, example->arg_count);
        if (status != SVMX_OK) return cli_session_failed("svmx_batch_add", status, svmx_batch_error(trial->batch));
        const enum cli_exit code = trial->shadow ? shadow_add(trial, i) : CLI_OK;
        if (code != CLI_OK) return code;
    }
    return CLI_OK;
}

/* ---- running ---- */

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static enum cli_exit run_once(struct trial *trial, uint64_t *ns) {
    enum svmx_status status = svmx_batch_set_tag(trial->batch, ++trial->runs);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_set_tag", status, svmx_batch_error(trial->batch));
    uint64_t start = now_ns();
    status = svmx_run(trial->batch);
    *ns = now_ns() - start;
    if (status != SVMX_OK) return cli_session_failed(trial->run->op.name, status, svmx_batch_error(trial->batch));
    const enum cli_exit code = run_answer_read(trial->run, trial->batch, &trial->answer);
    return code == CLI_OK && trial->shadow ? trial_shadow(trial) : code;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static enum cli_exit runs_time(struct trial *trial) {
    trial->times_ns = cli_grow(NULL, trial->repeat, sizeof *trial->times_ns);
    enum cli_exit code = run_once(trial, &trial->first_ns);
    for (uint32_t i = 0; i < trial->repeat && code == CLI_OK; i++) {
        enum svmx_status status = svmx_batch_rearm(trial->batch);
        if (status != SVMX_OK) return cli_session_failed("svmx_batch_rearm", status, svmx_batch_error(trial->batch));
        code = run_once(trial, &trial->times_ns[i]);
    }
    qsort(trial->times_ns, code == CLI_OK ? trial->repeat : 0, sizeof *trial->times_ns, by_size);
    return code;
}

/* ---- the hash ---- */

static uint8_t *outputs_join(const struct trial *trial) {
    uint8_t *joined = cli_grow(NULL, trial->bytes_out, 1), *at = joined;
    for (uint32_t t = 0; t < trial->made; t++) {
        for (uint32_t i = 0; i < trial->run->op.param_count; i++) {
            const struct svmx_arg *arg = &trial->examples[t].args[i];
            if (trial->run->op.params[i].direction != SVMX_OUT || arg->bytes == 0) continue;
            memcpy(at, arg->from.out, arg->bytes);
            at += arg->bytes;
        }
    }
    return joined;
}

/* By an executor of its own: what the user measures, keeps in the profile and reads in receipts is the trial alone. */
static enum cli_exit outputs_hash(struct trial *trial) {
    static const struct svmx_options options = {
        .size = sizeof options, .backends = "none", .profile = "off", .flags = SVMX_OPEN_NO_ENVIRONMENT};
    uint8_t digest[32], *joined = outputs_join(trial);
    const uint64_t offsets[] = {0, trial->bytes_out};
    svmx_executor_t *executor = NULL;
    svmx_batch_t *batch = NULL;
    enum cli_exit code = CLI_OK;
    enum svmx_status status = svmx_open(&executor, &options, NULL);
    if (status == SVMX_OK) status = svmx_batch_create(executor, &batch);
    if (status == SVMX_OK) status = svmx_sha256(batch, digest, joined, offsets, 1);
    if (status == SVMX_OK) status = svmx_run(batch);
    if (status == SVMX_OK)
        cli_hex_write(trial->hash, digest, sizeof digest);
    else
        code = cli_session_failed("sha256 of the result", status, svmx_batch_error(batch));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    free(joined);
    return code;
}

/* ---- the whole ---- */

static enum cli_exit trial_run(struct trial *trial) {
    enum svmx_status status = svmx_batch_create(trial->run->session.executor, &trial->batch);
    if (status == SVMX_OK && trial->run->args->own[RUN_SHADOW].given)
        status = svmx_batch_create(trial->run->session.executor, &trial->shadow);
    if (status == SVMX_OK) status = svmx_batch_set_hash(trial->batch, trial->run->args->own[RUN_HASH].given);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_create", status, "");
    enum cli_exit code = tasks_make(trial);
    if (code == CLI_OK) code = runs_time(trial);
    if (code == CLI_OK) code = outputs_hash(trial);
    return code;
}

static void trial_free(struct trial *trial) {
    svmx_batch_destroy(trial->batch);
    svmx_batch_destroy(trial->shadow);
    for (uint32_t i = 0; i < trial->made; i++) svmx_example_destroy(&trial->examples[i]);
    for (uint32_t i = 0; i < trial->shadows_made; i++) svmx_example_destroy(&trial->shadows[i]);
    free(trial->examples);
    free(trial->shadows);
    free(trial->times_ns);
}

enum cli_exit run_example(const struct run *run) {
    const struct cli_value *own = run->args->own;
    struct trial trial = {
        .run = run,
        .size = own[RUN_SIZE].number,
        .tasks = (uint32_t)own[RUN_TASKS].number,
        .repeat = (uint32_t)own[RUN_REPEAT].number,
        .seed = own[RUN_SEED].number,
    };
    enum cli_exit code = trial_run(&trial);
    if (code == CLI_OK) trial_print(&trial);
    trial_free(&trial);
    return code;
}
