/*
 * test_vm_schedule.c: when examples/contract-vm runs a batch: all parked, full, late; how many are in flight; who runs
 * again; and what becomes of a block when the executor refuses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../examples/contract-vm/generate.h"
#include "../../examples/contract-vm/schedule.h"
#include "vm_fixture.h"

enum { COUNT = 20 };

static struct block made;

static void set_up(void) {
    struct svmx_error error;
    vm_set_up();
    const struct generate_options transfers = {BLOCK_TRANSFERS, COUNT, 13, true};
    cr_assert_eq(block_generate(executor, &transfers, &made, &error), SVMX_OK, "%s", error.text);
}

static void tear_down(void) {
    block_free(&made);
    vm_tear_down();
}

TestSuite(vm_schedule, .init = set_up, .fini = tear_down);

static struct outcome run_with(const struct run_options *options) {
    struct svmx_error error;
    struct outcome outcome;
    cr_assert_eq(block_run(executor, &made, options, &outcome, &error), SVMX_OK, "%s", error.text);
    return outcome;
}

/* Waits for ever, so that only what a test says makes a batch run. */
static struct run_options patient(void) {
    struct run_options options = run_defaults;
    options.limits.deadline_ns = UINT64_MAX;
    return options;
}

/* Every transfer asks twice: all of them park, twice. With this seed nobody sends to another sender or too much. */
Test(vm_schedule, all_parked) {
    const struct run_options options = patient();
    struct outcome outcome = run_with(&options);
    cr_expect_eq(outcome.again, 0);
    cr_expect_eq(outcome.counts.batches, 2);
    cr_expect_eq(outcome.counts.largest, COUNT);
    cr_expect_eq(outcome.counts.full + outcome.counts.late, 0);
    outcome_free(&outcome);
}

Test(vm_schedule, full) {
    struct run_options options = patient();
    options.limits.requests = 5;
    struct outcome outcome = run_with(&options);
    cr_expect_eq(outcome.counts.full, 2 * COUNT / 5);
    cr_expect_eq(outcome.counts.batches, 2 * COUNT / 5);
    cr_expect_eq(outcome.counts.largest, 5);
    outcome_free(&outcome);
    options = patient();
    options.limits.bytes = 3 * 64; /* a place in a mapping is the hash of 64 bytes */
    outcome = run_with(&options);
    cr_expect_eq(outcome.counts.largest, 3);
    outcome_free(&outcome);
}

Test(vm_schedule, late) {
    struct run_options options = patient();
    options.limits.deadline_ns = 0;
    struct outcome outcome = run_with(&options);
    cr_expect_eq(outcome.counts.late, 2 * COUNT);
    cr_expect_eq(outcome.counts.largest, 1);
    outcome_free(&outcome);
}

Test(vm_schedule, in_flight) {
    struct run_options options = patient();
    options.in_flight = 4;
    struct outcome outcome = run_with(&options);
    cr_expect_eq(outcome.counts.largest, 4);
    cr_expect_eq(outcome.counts.requests, 2 * COUNT);
    outcome_free(&outcome);
}

/* All but the first have seen too little; of what they ask again one half is known. */
Test(vm_schedule, conflicts_run_again) {
    const struct generate_options conflicts = {BLOCK_CONFLICTS, COUNT, 4, true};
    const struct run_options options = patient();
    struct svmx_error error;
    block_free(&made);
    cr_assert_eq(block_generate(executor, &conflicts, &made, &error), SVMX_OK, "%s", error.text);
    struct outcome outcome = run_with(&options);
    cr_expect_eq(outcome.again, COUNT - 1);
    cr_expect_eq(outcome.counts.requests, 2 * COUNT + COUNT - 1);
    outcome_free(&outcome);
}

/* Loops until its gas is gone, in front of one that asks: the turn of the first ends before it does. */
Test(vm_schedule, a_long_loop_has_its_turn) {
    struct run_options options = patient();
    struct transaction asks = *transaction();
    asks.from[19]++; /* another sender, who pays nothing */
    /* With call data for ever, else one hash. */
    hex_into(&contract()->code, "36 600b 57 5f 5f 20 50 00 00 00 5b 600b 56");
    hex_into(&transaction()->data, "00");
    *block_add_transaction(&block) = asks;
    struct svmx_error error;
    struct outcome outcome;
    cr_assert_eq(block_run(executor, &block, &options, &outcome, &error), SVMX_OK, "%s", error.text);
    cr_expect_eq(outcome.vms[0].status, VM_FAILED);
    cr_expect_str_eq(outcome.vms[0].error, "out of gas");
    cr_expect_eq(outcome.vms[1].status, VM_SUCCEEDED, "%s", outcome.vms[1].error);
    cr_expect_eq(outcome.counts.requests, 1);
    outcome_free(&outcome);
}

/* Under the policy gpu and without one the batch fails: the block is not run, and says why. */
Test(vm_schedule, a_refused_batch_stops_the_block) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "none",
                                         .backend_path = "/nonexistent",
                                         .policy = "gpu",
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT};
    static const enum run_mode modes[] = {RUN_BATCHED, RUN_SERIAL, RUN_THREADS};
    svmx_executor_t *without;
    struct svmx_error error;
    struct outcome outcome;
    cr_assert_eq(svmx_open(&without, &options, &error), SVMX_OK, "%s", error.text);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct run_options run = run_defaults;
        run.mode = modes[i];
        cr_expect_neq(block_run(without, &made, &run, &outcome, &error), SVMX_OK);
        cr_expect_gt(strlen(error.text), 20, "\"%s\"", error.text);
    }
    svmx_close(without);
}

/* Threads have batches of their own: what one of them had to say is not lost with it. */
Test(vm_schedule, threads_that_fail_say_why) {
    const struct svmx_options options = {.size = sizeof options,
                                         .backends = "none",
                                         .backend_path = "/nonexistent",
                                         .policy = "gpu",
                                         .flags = SVMX_OPEN_NO_ENVIRONMENT};
    svmx_executor_t *without;
    struct svmx_error error = {SVMX_OK, ""};
    struct batcher_counts counts = {0};
    struct prepared prepared[COUNT];
    struct vm vms[COUNT] = {0};
    struct state state;
    cr_assert_eq(svmx_open(&without, &options, &error), SVMX_OK, "%s", error.text);
    state_init(&state, &made);
    const struct vm_world world = {.block = &made, .state = &state, .prepared = prepared};
    const enum svmx_status status = schedule_threads(without, &world, prepared, vms, 3, &counts, &error);
    cr_expect_neq(status, SVMX_OK);
    cr_expect_eq(error.status, status);
    cr_expect_not_null(strstr(error.text, "gpu"), "\"%s\"", error.text);
    for (int i = 0; i < COUNT; i++) vm_free(&vms[i]);
    state_free(&state);
    svmx_close(without);
}
