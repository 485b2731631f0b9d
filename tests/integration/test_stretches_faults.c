/*
 * test_stretches_faults.c: levels of a batch in one submission that fails, at any call, hangs, or writes where it may not: it falls
 * apart and is right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
#include "stretches_fixture.h"

/* ---- it fails ------------------------------------------------------------------------------------------------------ */

/* Fails call after call of a kind, once and for good, until none is left to fail. */
static void fail_each(enum fake_call call, enum svmx_status how, unsigned times, uint32_t flags) {
    const struct graph graph = flags & SVMX_DEVICE_LINKS ? line_of(6) : graph_of(7);
    compute_expected(&graph);
    bool failed = true;
    for (unsigned at = 1; failed && at < 200; at++) {
        fake_start();
        fake.flags = flags;
        svmx_executor_t *executor = open_quiet_fake();
        svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
        run_and_expect(batch, &graph, true);
        if (flags & SVMX_DEVICE_LINKS) await_links(executor);
        pthread_mutex_lock(&fake.lock);
        fake.fail[call].from = fake.calls[call] + at;
        fake.fail[call].count = times;
        fake.fail[call].status = how;
        pthread_mutex_unlock(&fake.lock);
        for (int run = 0; run < 3; run++) run_and_expect(batch, &graph, run != 1);
        failed = fake.calls[call] >= fake.fail[call].from;
        svmx_batch_destroy(batch);
        svmx_close(executor);
        expect_all_returned();
    }
    cr_assert(!failed, "there was no end of it");
}

Test(stretches, any_submit_fails) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1, 0); }
Test(stretches, any_wait_fails) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1, 0); }
Test(stretches, any_memory_fails) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, 0); }
Test(stretches, any_memory_fails_where_it_is_shared) {
    fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, SVMX_DEVICE_SHARES_MEMORY);
}
Test(stretches, any_submit_of_links_fails) { fail_each(FAKE_SUBMIT, SVMX_ERR_BACKEND, 1, SVMX_DEVICE_LINKS); }
Test(stretches, any_wait_for_links_fails) { fail_each(FAKE_WAIT, SVMX_ERR_BACKEND, 1, SVMX_DEVICE_LINKS); }
Test(stretches, any_memory_for_links_fails) { fail_each(FAKE_ALLOC, SVMX_ERR_MEMORY, 1, SVMX_DEVICE_LINKS); }
Test(stretches, lost_at_any_wait_for_links) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, SVMX_DEVICE_LINKS); }
Test(stretches, lost_at_any_submit) { fail_each(FAKE_SUBMIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, 0); }
Test(stretches, lost_at_any_wait) { fail_each(FAKE_WAIT, SVMX_ERR_DEVICE_LOST, FAKE_ALL, 0); }

Test(stretches, a_failure_is_in_the_receipt_of_the_first_part) {
    const struct graph graph = line_of(4);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    fake.fail[FAKE_WAIT].from = fake.calls[FAKE_WAIT] + 1;
    fake.fail[FAKE_WAIT].count = 1;
    fake.fail[FAKE_WAIT].status = SVMX_ERR_BACKEND;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 0, "it fell apart");
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.redone, 1);
    cr_assert(strstr(receipt.reason, "wait told to fail"), "%s", receipt.reason);
    cr_assert_eq(device_at(executor, 0).failures, 1);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

/* ---- guard bytes --------------------------------------------------------------------------------------------------- */

/* A launch of the stretch writes a byte too many, or bytes are missing of what is read back: it falls apart and is right, and the
 * next one is a stretch again. */
static void expect_guarded(uint32_t flags, int stray, unsigned launch, uint64_t missing, const char *reason) {
    const struct graph graph = line_of(6);
    struct svmx_receipt receipt = {.size = sizeof receipt};
    compute_expected(&graph);
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    for (int i = 0; i < 2; i++) run_and_expect(batch, &graph, true);
    if (flags & SVMX_DEVICE_LINKS) await_links(executor);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 6);
    fake.stray = stray;
    fake.stray_launch = fake.launches + launch;
    fake.short_bytes = missing;
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 0, "launch %u, %d: not seen", launch, stray);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert(strstr(receipt.reason, reason), "launch %u, %d: %s", launch, stray, receipt.reason);
    fake.stray = 0;
    fake.short_bytes = 0;
    if (!missing) cr_assert_eq(device_at(executor, 0).failures, 1);
    run_and_expect(batch, &graph, true);
    if (!missing) cr_assert_eq(stretched(batch), 6, "memory that was written to is not guarded anew");
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, a_byte_too_many_is_seen) {
    static const uint32_t flags[] = {0, SVMX_DEVICE_SHARES_MEMORY};
    for (size_t i = 0; i < 2; i++) {
        expect_guarded(flags[i], 1, 6, 0, "wrote behind the outputs");
        expect_guarded(flags[i], -1, 6, 0, "wrote before the outputs");
        expect_guarded(flags[i], 1, 5, 0, "wrote before the outputs"); /* behind the last one that passes */
        expect_guarded(flags[i] | SVMX_DEVICE_LINKS, 1, 1, 0, "wrote behind the outputs");
    }
}

Test(stretches, a_readback_that_is_short_is_seen) {
    static const uint64_t missing[] = {1, 63, 64, 65, 200};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        expect_guarded(0, 0, 0, missing[i], missing[i] < 64 ? "wrote behind the outputs" : "not read back as a whole");
}

/* The same stretch again needs none; another one in the same memory does. */
static void expect_fills(uint32_t flags, unsigned per_size) {
    const struct graph longer = line_of(6), shorter = line_of(5);
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_fake();
    svmx_batch_t *one = batch_for(executor, &longer, outs, false), *two = batch_for(executor, &shorter, outs, false);
    for (int i = 0; i < 3; i++) {
        compute_expected(&longer);
        run_and_expect(one, &longer, true);
        compute_expected(&shorter);
        run_and_expect(two, &shorter, true);
    }
    cr_assert_eq(stretched(one) + stretched(two), 11);
    const unsigned before = fake.fills;
    for (int i = 0; i < 3; i++) run_and_expect(two, &shorter, true);
    cr_assert_eq(fake.fills, before, "the same again");
    compute_expected(&longer);
    run_and_expect(one, &longer, true);
    cr_assert_eq(fake.fills, before + per_size);
    svmx_batch_destroy(one);
    svmx_batch_destroy(two);
    svmx_close(executor);
    expect_all_returned();
}

Test(stretches, guards_are_filled_in_when_the_size_changes_and_not_again) { expect_fills(0, 2); }
Test(stretches, guards_need_no_command_where_memory_is_shared) { expect_fills(SVMX_DEVICE_SHARES_MEMORY, 0); }

/* One that is late must not write into what is the caller's. */
Test(stretches, a_hang_costs_time_and_a_late_answer_goes_nowhere) {
    abandons = true;
    const struct graph graph = graph_of(9);
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    run_and_expect(batch, &graph, true);
    fake_gate(true);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(device_at(executor, 0).usable, 0);
    memset(outs, 0x77, sizeof outs);
    fake_gate(false);
    cr_assert_eq(fake_finish_late(), 1);
    for (uint32_t t = 0; t < graph.count; t++)
        for (int i = 0; i < N; i++) cr_assert_eq(((const unsigned char *)outs[t])[i], 0x77);
    svmx_batch_destroy(batch);
    svmx_close(executor);
}

/* Under the policy `gpu` a device that is lost is an error, never the CPU in silence; one that lacks memory for all levels at
 * once takes them one after another. */
Test(stretches, under_the_policy_gpu) {
    const struct graph graph = line_of(5);
    compute_expected(&graph);
    fake_start();
    svmx_executor_t *executor = open_quiet_fake();
    svmx_batch_t *batch = batch_for(executor, &graph, outs, false);
    cr_assert_eq(svmx_batch_set_policy(batch, SVMX_POLICY_GPU), SVMX_OK);
    run_and_expect(batch, &graph, true);
    run_and_expect(batch, &graph, true);
    cr_assert_eq(stretched(batch), 5);
    fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
    fake.fail[FAKE_SUBMIT].count = FAKE_ALL;
    fake.fail[FAKE_SUBMIT].status = SVMX_ERR_DEVICE_LOST;
    cr_assert_eq(svmx_batch_rearm(batch), SVMX_OK);
    const enum svmx_status status = svmx_run(batch);
    cr_assert(status == SVMX_ERR_UNSUPPORTED || status == SVMX_ERR_DEVICE_LOST, "%s", svmx_status_name(status));
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}
