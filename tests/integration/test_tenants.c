/*
 * test_tenants.c: memory that goes from a batch of one tenant to that of another holds nothing of the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "abandons.h"
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

/* A loop over secrets of a tenant, of four iterations. */
static void loop_for(svmx_executor_t *executor, uint64_t tenant) {
    enum { COUNT = BYTES / sizeof(float) };
    static unsigned char secret[BYTES];
    svmx_batch_t *body = batch_of_tenant(executor, tenant);
    svmx_buffer_t *state;
    struct svmx_loop_end end;
    cr_assert_eq(svmx_buffer_create(executor, BYTES, &state), SVMX_OK);
    memset(secret, SECRET, sizeof secret);
    cr_assert_eq(svmx_buffer_write(state, 0, secret, BYTES), SVMX_OK);
    const struct svmx_arg x = svmx_view(SVMX_F32, state, 0, COUNT);
    const struct svmx_arg twice[] = {svmx_out_passing(SVMX_F32, COUNT), x, svmx_in(SVMX_F32, secret, COUNT)};
    const struct svmx_arg most[] = {svmx_out_passing(SVMX_F32, 1), svmx_result_of(SVMX_F32, 0, 0), x};
    cr_assert_eq(svmx_batch_add(body, SVMX_OP_VEC_ADD_F32, twice, 3), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(svmx_batch_add(body, SVMX_OP_MAX_ABS_DIFF_F32, most, 3), SVMX_OK, "%s", svmx_batch_error(body));
    const struct svmx_carry carry = {0, 0, state, 0};
    const struct svmx_until until = {.task = 1, .kind = SVMX_UNTIL_BELOW, .limit = -1};
    const struct svmx_loop loop = {.size = sizeof loop,
                                   .carries = &carry,
                                   .untils = &until,
                                   .carry_count = 1,
                                   .until_count = 1,
                                   .max_iterations = 4,
                                   .check_every = 2};
    cr_assert_eq(svmx_loop_run(body, &loop, &end, NULL), SVMX_OK, "%s", svmx_batch_error(body));
    cr_assert_eq(end.iterations, 4);
    svmx_buffer_destroy(state);
    svmx_batch_destroy(body);
}

/* Its windows are the tenant's: memory is cleared behind them, and nothing of it is in the heap, which is everybody's. */
Test(tenants, a_loop_computes_as_the_tenant_of_its_body) {
    svmx_executor_t *executor = open_warm(0);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, BYTES / sizeof(float)), SVMX_OK);
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_MAX_ABS_DIFF_F32, BYTES / sizeof(float)), SVMX_OK);
    const struct svmx__heap *heap = &svmx__life_of(&executor->devices[0])->heap;
    loop_for(executor, 1);
    cr_assert_null(heap->memory, "of a tenant's loop nothing is in the heap");
    const unsigned before = fake.fills;
    loop_for(executor, 1);
    cr_assert_eq(fake.fills, before, "the same tenant");
    loop_for(executor, 2);
    cr_assert_gt(fake.fills, before, "memory of the device is cleared");
    cr_assert_lt(secrets_in(executor, 0), BYTES / 16, "examples of the library's own may hold some such bytes");
    loop_for(executor, 0);
    cr_assert_not_null(heap->memory, "or this shows nothing");
    svmx_close(executor);
    expect_all_returned();
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

/* A view of a buffer plus numbers, by nobody in particular: the copy is in the heap of the device, in memory that another tenant
 * had, so that it is cleared first. */
static void add_to_buffer(svmx_executor_t *executor, svmx_buffer_t *buffer, uint32_t items) {
    static float in[BYTES], out[BYTES];
    svmx_batch_t *batch;
    for (uint32_t i = 0; i < items; i++) in[i] = (float)i;
    cr_assert_eq(svmx_buffer_write(buffer, 0, in, items * sizeof *in), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    const struct svmx_arg args[] = {svmx_out(SVMX_F32, out, items), svmx_view(SVMX_F32, buffer, 0, items),
                                    svmx_in(SVMX_F32, in, items)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_VEC_ADD_F32, args, 3), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    for (uint32_t i = 0; i < items; i++) cr_assert_eq(out[i], 2 * (float)i);
    svmx_batch_destroy(batch);
}

/* A device that hangs while it clears memory for buffers, which work can do without, is lost all the same: nobody would
 * find out otherwise, and it would stay as one that has no memory for anything. */
Test(tenants, a_device_that_hangs_while_it_clears_memory_for_buffers_is_lost) {
    enum { ITEMS = 2048 };
    svmx_executor_t *executor = open_warm(0);
    svmx_buffer_t *buffer;
    abandons = true;
    cr_assert_eq(svmx_prewarm(executor, SVMX_OP_VEC_ADD_F32, ITEMS), SVMX_OK);
    cr_assert_eq(svmx_buffer_create(executor, ITEMS * sizeof(float), &buffer), SVMX_OK);
    add_to_buffer(executor, buffer, ITEMS);
    struct svmx__life *life = svmx__life_of(&executor->devices[0]);
    cr_assert_not_null(life->heap.memory, "or this shows nothing");
    life->heap.memory->tenant = 7; /* as if a tenant's levels had had it since, and given it back */
    svmx__heap_end(life);
    fake_gate(true);
    add_to_buffer(executor, buffer, ITEMS);
    const struct svmx_device device = device_at(executor, 0);
    cr_assert_eq(device.usable, 0, "it hangs, and nobody knows");
    cr_assert_not_null(strstr(device.health_reason, "not cleared"), "'%s'", device.health_reason);
    svmx_buffer_destroy(buffer);
    svmx_close(executor);
    (void)fake_finish_late();
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
