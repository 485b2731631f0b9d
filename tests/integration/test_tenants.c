/*
 * test_tenants.c: memory that goes from a batch of one tenant to that of another holds nothing of the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"
#include "faults_fixture.h"

enum { BYTES = 40000, SECRET = 0x5e };

static svmx_executor_t *open_warm(uint32_t flags) {
    fake_start();
    fake.flags = flags;
    svmx_executor_t *executor = open_quiet_fake();
    cr_assert_eq(run_trial(executor).device, 0);
    return executor;
}

static svmx_batch_t *batch_of_tenant(svmx_executor_t *executor, uint64_t tenant) {
    svmx_batch_t *batch;
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tenant(batch, tenant), SVMX_OK);
    return batch;
}

/* How much of memory that a tenant gets is somebody's secret; it leaves its own there. */
static unsigned secrets_in(svmx_executor_t *executor, uint64_t tenant) {
    svmx_batch_t *batch = batch_of_tenant(executor, tenant);
    void *memory;
    unsigned found = 0;
    cr_assert_eq(svmx_batch_alloc(batch, BYTES, &memory), SVMX_OK);
    for (unsigned i = 0; i < BYTES; i++) found += ((unsigned char *)memory)[i] == SECRET;
    memset(memory, SECRET, BYTES);
    svmx_batch_destroy(batch);
    return found;
}

Test(tenants, what_one_wrote_the_other_does_not_read) {
    svmx_executor_t *executor = open_warm(0);
    cr_assert_eq(secrets_in(executor, 1), 0);
    cr_assert_eq(secrets_in(executor, 1), BYTES, "its own is left alone");
    cr_assert_eq(secrets_in(executor, 2), 0);
    cr_assert_eq(secrets_in(executor, 0), 0, "nobody in particular is somebody else");
    cr_assert_eq(secrets_in(executor, 1), 0);
    svmx_close(executor);
    expect_all_returned();
}

/* Runs a trial of a tenant. */
static void run_for(svmx_executor_t *executor, uint64_t tenant) {
    struct trial trial;
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = batch_of_tenant(executor, tenant);
    trial_fill(&trial, (unsigned)tenant);
    cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert(trial_is_right(&trial));
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
    cr_assert_eq(receipt.device, 0, "%s", receipt.reason);
    svmx_batch_destroy(batch);
}

/* Inputs and outputs on the device: two fills, and guards anew, which are two more. */
Test(tenants, memory_of_the_device_is_cleared_when_the_tenant_changes) {
    svmx_executor_t *executor = open_warm(0);
    run_for(executor, 1);
    unsigned before = fake.fills;
    run_for(executor, 1);
    cr_assert_eq(fake.fills, before, "the same tenant");
    run_for(executor, 2);
    cr_assert_eq(fake.fills, before + 4);
    run_for(executor, 2);
    cr_assert_eq(fake.fills, before + 4);
    svmx_close(executor);
    expect_all_returned();
}

Test(tenants, a_device_that_fails_to_clear_costs_time_only) {
    static const enum svmx_status statuses[] = {SVMX_ERR_BACKEND, SVMX_ERR_MEMORY, SVMX_ERR_DEVICE_LOST};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        svmx_executor_t *executor = open_warm(0);
        struct trial trial;
        run_for(executor, 1);
        fake.fail[FAKE_SUBMIT].from = fake.calls[FAKE_SUBMIT] + 1;
        fake.fail[FAKE_SUBMIT].count = 1;
        fake.fail[FAKE_SUBMIT].status = statuses[i];
        svmx_batch_t *batch = batch_of_tenant(executor, 2);
        trial_fill(&trial, 3);
        cr_assert_eq(trial_add(&trial, batch), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert(trial_is_right(&trial));
        svmx_batch_destroy(batch);
        svmx_close(executor);
        expect_all_returned();
    }
}

Test(tenants, the_tenant_comes_first) {
    svmx_executor_t *executor = open_warm(SVMX_DEVICE_SHARES_MEMORY);
    struct trial trial;
    svmx_batch_t *batch = batch_of(executor, &trial);
    cr_assert_eq(svmx_batch_set_tenant(batch, 3), SVMX_ERR_STATE);
    cr_assert_not_null(strstr(svmx_batch_error(batch), "tenant first"));
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tenant(batch, 3), SVMX_OK);
    void *memory;
    cr_assert_eq(svmx_batch_alloc(batch, 10, &memory), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tenant(batch, 4), SVMX_ERR_STATE);
    cr_assert_eq(svmx_batch_set_tenant(NULL, 4), SVMX_ERR_ARGUMENT);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    expect_all_returned();
}
