/*
 * load.c: a short mixed load: batches of made-up tasks of a few operations, their sizes spread over powers of two.
 *
 *   batch b: for each operation TASKS tasks of 64 to 16,384 units, drawn from the seed -> run -> next
 *
 * Called by the commands stats and tune, which then read what the executor counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "load.h"
#include <stdlib.h>
#include <string.h>

enum { TASKS = 4, LEAST_LOG2 = 6, MOST_LOG2 = 14, MAX_OPS = 4 };

const struct cli_option load_options[LOAD_OPTION_COUNT] = {
    [LOAD_OP] = {.name = "op",
                 .value = "NAME",
                 .help = "this operation only, instead of vec_add_f32, dot_f32,\nsha256 and keccak256"},
    [LOAD_SIZE] = {.name = "size",
                   .value = "N",
                   .number = true,
                   .maximum = UINT64_MAX,
                   .help = "units of every task, instead of sizes from 64 to 16384"},
    [LOAD_BATCHES] = {.name = "batches",
                      .value = "B",
                      .number = true,
                      .minimum = 1,
                      .maximum = 1 << 20,
                      .standard = "64",
                      .help = "how many batches, each with 4 tasks of every operation"},
    [LOAD_SEED] = {.name = "seed",
                   .value = "S",
                   .number = true,
                   .maximum = UINT64_MAX,
                   .standard = "1",
                   .help = "of the sizes and the made-up data"},
};

struct load {
    const struct cli_session *session;
    const struct cli_args *args;
    struct svmx_op ops[MAX_OPS];
    uint32_t op_count;
    uint64_t random;
    svmx_batch_t *batch;
    struct svmx_example examples[MAX_OPS * TASKS]; /* of the batch under way */
    uint32_t made;
};

static enum cli_exit ops_choose(struct load *load) {
    static const char *const few[MAX_OPS] = {"vec_add_f32", "dot_f32", "sha256", "keccak256"};
    const char *only = load->args->own[LOAD_OP].text;
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; i < (only ? 1 : MAX_OPS) && code == CLI_OK; i++)
        code = cli_session_op(load->session, only ? only : few[i], &load->ops[load->op_count++]);
    return code;
}

/* One step of a 64-bit congruential generator; its upper half is good. */
static uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* Every power of two is as likely as the next. */
static uint64_t size_draw(struct load *load) {
    if (load->args->own[LOAD_SIZE].given) return load->args->own[LOAD_SIZE].number;
    uint64_t base = UINT64_C(1) << (LEAST_LOG2 + random_u32(&load->random) % (MOST_LOG2 - LEAST_LOG2));
    return base + random_u32(&load->random) % (base + 1);
}

static enum cli_exit task_add(struct load *load, const struct svmx_op *op) {
    const uint64_t size = size_draw(load);
    struct svmx_example *example = &load->examples[load->made];
    enum svmx_status status = svmx_example_create(load->session->executor, op->id, size, load->random, example);
    if (status == SVMX_ERR_OVERFLOW || status == SVMX_ERR_ARGUMENT)
        return cli_args_refuse(load->args->command, "--size: %llu %ss are too many for %s", (unsigned long long)size,
                               op->unit, op->name);
    if (status != SVMX_OK) return cli_session_failed("making up data", status, "try a smaller --size");
    load->made++;
    status = svmx_batch_add(load->batch, op->id, example->args, example->arg_count);
    return status == SVMX_OK ? CLI_OK : cli_session_failed("svmx_batch_add", status, svmx_batch_error(load->batch));
}

static enum cli_exit batch_run(struct load *load) {
    enum cli_exit code = CLI_OK;
    for (uint32_t i = 0; i < load->op_count * TASKS && code == CLI_OK; i++)
        code = task_add(load, &load->ops[i % load->op_count]);
    if (code == CLI_OK) {
        enum svmx_status status = svmx_run(load->batch);
        if (status != SVMX_OK) code = cli_session_failed("svmx_run", status, svmx_batch_error(load->batch));
    }
    (void)svmx_batch_reset(load->batch);
    while (load->made > 0) svmx_example_destroy(&load->examples[--load->made]);
    return code;
}

enum cli_exit load_run(const struct cli_session *session, const struct cli_args *args) {
    struct load load = {.session = session, .args = args, .random = args->own[LOAD_SEED].number};
    enum cli_exit code = ops_choose(&load);
    if (code != CLI_OK) return code;
    enum svmx_status status = svmx_batch_create(session->executor, &load.batch);
    if (status != SVMX_OK) return cli_session_failed("svmx_batch_create", status, "");
    for (uint64_t i = 0; i < args->own[LOAD_BATCHES].number && code == CLI_OK; i++) code = batch_run(&load);
    svmx_batch_destroy(load.batch);
    return code;
}
