/*
 * demo.c: see demo.h.
 *
 *   once:       for every operation an example of each size, 64 to 262,144 units
 *   batch b:    some of the operations, each of one size; for ten seconds mostly small ones, for ten mostly large ones
 *   between:    sleep, so that the machine is not full
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "demo.h"
#include <string.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
enum { LEAST_LOG2 = 6, STEP_LOG2 = 2, PHASE_S = 10, LEAST_SLEEP_NS = 1000000, MOST_SLEEP_NS = 200000000 };

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* One step of a 64-bit congruential generator; its upper half is good. */
static uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static enum cli_exit examples_make(struct demo *demo) {
    static const char *const names[DEMO_OPS] = {"vec_add_f32", "sigmoid_f32", "dot_f32", "sha256", "keccak256"};
    for (uint32_t i = 0; i < DEMO_OPS; i++) {
        uint32_t op;
        if (svmx_op_find(demo->executor, names[i], &op, NULL) != SVMX_OK) continue;
        for (uint32_t s = 0; s < DEMO_SIZES; s++) {
            const uint64_t size = UINT64_C(1) << (LEAST_LOG2 + STEP_LOG2 * s);
            enum svmx_status status =
                svmx_example_create(demo->executor, op, size, 1, &demo->examples[demo->op_count][s]);
            if (status != SVMX_OK) return cli_session_failed("making up data", status, names[i]);
        }
        demo->ops[demo->op_count++] = op;
    }
    return CLI_OK;
}

/* The smaller of two draws in one phase, the larger in the next. */
static uint32_t size_draw(uint64_t *random, uint64_t at_ns) {
    const uint32_t a = random_u32(random) % DEMO_SIZES, b = random_u32(random) % DEMO_SIZES;
    const bool small = at_ns / NS_PER_S / PHASE_S % 2 == 0;
    return small == (a < b) ? a : b;
}

static enum svmx_status batch_run(struct demo *demo, uint64_t *random, uint64_t number, uint64_t at_ns) {
    enum svmx_status status = svmx_batch_reset(demo->batch);
    if (status == SVMX_OK) status = svmx_batch_set_tag(demo->batch, number);
    for (uint32_t i = 0; i < demo->op_count && status == SVMX_OK; i++) {
        const uint32_t size = size_draw(random, at_ns);
        if (i != number % demo->op_count && random_u32(random) % 2) continue; /* one at least */
        const struct svmx_example *example = &demo->examples[i][size];
        status = svmx_batch_add(demo->batch, demo->ops[i], example->args, example->arg_count);
    }
    return status == SVMX_OK ? svmx_run(demo->batch) : status;
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

/* So long that busy is to busy and asleep as percent to 100. */
static void rest(const struct demo *demo, uint64_t busy_ns) {
    uint64_t ns = busy_ns * (100 - demo->percent) / demo->percent;
    if (demo->percent == 100) return;
    if (ns < LEAST_SLEEP_NS) ns = LEAST_SLEEP_NS;
    if (ns > MOST_SLEEP_NS) ns = MOST_SLEEP_NS;
    nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

static void *load(void *user) {
    struct demo *demo = user;
    uint64_t random = 1;
    const uint64_t start_ns = now_ns();
    for (uint64_t number = 1; !demo->limit || number <= demo->limit; number++) {
        if (atomic_load_explicit(&demo->stopping, memory_order_relaxed)) break;
        const uint64_t at_ns = now_ns();
        const enum svmx_status status = batch_run(demo, &random, number, at_ns - start_ns);
        if (status != SVMX_OK) {
            demo->code = cli_session_failed("the demonstration load", status, svmx_batch_error(demo->batch));
            break;
        }
        rest(demo, now_ns() - at_ns);
    }
    return NULL;
}

static void demo_free(struct demo *demo) {
    svmx_batch_destroy(demo->batch);
    for (uint32_t i = 0; i < DEMO_OPS * DEMO_SIZES; i++)
        svmx_example_destroy(&demo->examples[i / DEMO_SIZES][i % DEMO_SIZES]);
}

enum cli_exit demo_start(struct demo *demo, const struct cli_session *session, uint64_t percent, uint64_t limit) {
    *demo = (struct demo){.executor = session->executor, .percent = percent, .limit = limit};
    if (percent == 0) return CLI_OK;
    enum cli_exit code = examples_make(demo);
    if (code == CLI_OK) {
        const enum svmx_status status = svmx_batch_create(demo->executor, &demo->batch);
        if (status != SVMX_OK) code = cli_session_failed("svmx_batch_create", status, "");
    }
    if (code == CLI_OK && pthread_create(&demo->thread, NULL, load, demo) != 0)
        code = cli_session_failed("starting a thread", SVMX_ERR_SYSTEM, "");
    if (code != CLI_OK) demo_free(demo);
    return code;
}

enum cli_exit demo_stop(struct demo *demo) {
    if (demo->percent == 0) return CLI_OK;
    atomic_store_explicit(&demo->stopping, true, memory_order_relaxed);
    pthread_join(demo->thread, NULL);
    demo_free(demo);
    return demo->code;
}
