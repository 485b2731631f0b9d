/*
 * test_receipt.c: what is told of parts that have run. Failures and redone work: tests/integration/test_faults.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

TestSuite(receipt, .init = set_up, .fini = tear_down);

static float out[2][64], in[64];

static struct svmx_receipt receipt_of(uint32_t part) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_receipt_get(batch, part, &receipt), SVMX_OK);
    return receipt;
}

Test(receipt, one_a_part) {
    cr_assert_eq(svmx_batch_set_tag(batch, UINT64_MAX), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, 64), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out[1], in, in, 32), SVMX_OK);
    cr_assert_eq(svmx_sum_f32(batch, out[1] + 40, in, 64), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 0);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 2);
    struct svmx_receipt receipt = receipt_of(0);
    cr_assert_eq(receipt.size, sizeof receipt);
    cr_assert_eq(receipt.tag, UINT64_MAX);
    cr_assert_eq(receipt.op, SVMX_OP_VEC_ADD_F32);
    cr_assert_eq(receipt.device, 0);
    cr_assert_eq(receipt.tasks, 2);
    cr_assert_eq(receipt.units, 96);
    cr_assert_eq(receipt.bucket, 16384);
    cr_assert_eq(receipt.bytes_in, 2 * 96 * 4);
    cr_assert_eq(receipt.bytes_out, 96 * 4);
    cr_assert_eq(receipt.redone, 0);
    cr_assert_str_eq(receipt.reason, "");
    cr_assert_eq(receipt_of(1).op, SVMX_OP_SUM_F32);
    cr_assert_eq(svmx_receipt_get(batch, 2, &receipt), SVMX_ERR_UNKNOWN);
}

Test(receipt, times_of_a_submitted_batch_add_up) {
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, 64), SVMX_OK);
    uint64_t before = 0, after = 0;
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    before = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    cr_assert_eq(svmx_submit(batch, 0), SVMX_OK);
    cr_assert_eq(svmx_wait(batch, UINT64_MAX), SVMX_OK);
    clock_gettime(CLOCK_MONOTONIC, &time);
    after = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    struct svmx_receipt receipt = receipt_of(0);
    cr_assert_leq(receipt.wait_ns + receipt.stage_ns + receipt.run_ns + receipt.collect_ns, after - before);
    cr_assert_gt(receipt.run_ns, 0);
}

Test(receipt, a_later_version_with_a_longer_struct_is_served) {
    struct {
        struct svmx_receipt receipt;
        uint64_t more;
    } longer = {.receipt.size = sizeof longer, .more = 42};
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, 64), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(batch, 0, &longer.receipt), SVMX_OK);
    cr_assert_eq(longer.receipt.size, sizeof longer);
    cr_assert_eq(longer.more, 42, "it wrote past what it knows");
}

Test(receipt, a_caller_of_the_first_version_is_served) {
    enum { FIRST = offsetof(struct svmx_receipt, reason) + sizeof((struct svmx_receipt *)0)->reason };
    struct {
        struct svmx_receipt receipt;
        uint64_t more;
    } shorter = {.receipt.size = FIRST - 1, .more = 42};
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, 64), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_get(batch, 0, &shorter.receipt), SVMX_ERR_ARGUMENT);
    cr_assert_eq(shorter.receipt.units, 0);
    shorter.receipt.size = FIRST;
    memset((char *)&shorter + FIRST, 42, sizeof shorter - FIRST);
    cr_assert_eq(svmx_receipt_get(batch, 0, &shorter.receipt), SVMX_OK);
    cr_assert_eq(shorter.receipt.units, 64);
    for (size_t i = FIRST; i < sizeof shorter; i++) cr_assert_eq(((char *)&shorter)[i], 42, "byte %zu written", i);
}

Test(receipt, reset_takes_them_away) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    cr_assert_eq(svmx_vec_add_f32(batch, out[0], in, in, 64), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_receipt_count(batch), 0);
    cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_ERR_STATE);
}
