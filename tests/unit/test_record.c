/*
 * test_record.c: the last receipts: numbered, copied, overwritten, read in order by any number of readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor_fixture.h"

static struct svmx__records records;

static void add(uint64_t tag) {
    struct svmx__trail trail = {.tag = tag, .has_reason = tag % 2};
    svmx__records_add(&records, &trail, "a reason");
}

Test(record, a_ring) {
    struct svmx_receipt receipt;
    cr_assert_eq(svmx__records_init(&records, 3), SVMX_OK); /* rounded up to 4 */
    cr_assert_eq(svmx__records_get(&records, 0, &receipt), SVMX_BUSY, "nothing yet");
    for (uint64_t i = 0; i < 6; i++) add(100 + i);
    cr_assert_eq(svmx__records_get(&records, 1, &receipt), SVMX_ERR_UNKNOWN, "overwritten");
    for (uint64_t i = 2; i < 6; i++) {
        cr_assert_eq(svmx__records_get(&records, i, &receipt), SVMX_OK);
        cr_assert_eq(receipt.tag, 100 + i);
        cr_assert_eq(receipt.number, i);
        cr_assert_str_eq(receipt.reason, i % 2 ? "a reason" : "");
    }
    cr_assert_eq(svmx__records_get(&records, 6, &receipt), SVMX_BUSY);
    svmx__records_fini(&records);
}

Test(record, what_was_predicted_is_told_in_parts_that_sum_up) {
    struct svmx_receipt receipt;
    const struct svmx__trail trail = {.expected_ns = 1e6f,
                                      .expected_setup = UINT16_MAX / 5,
                                      .expected_transfer = UINT16_MAX / 5 * 2,
                                      .expected_wait_ns = 5e5f,
                                      .shadow = 3,
                                      .shadow_ns = 77};
    svmx__trail_tell(&trail, "", &receipt);
    cr_assert_eq(receipt.expected_ns, 1000000);
    cr_assert_eq(receipt.expected_setup_ns, 200000);
    cr_assert_eq(receipt.expected_transfer_ns, 400000);
    cr_assert_eq(receipt.expected_compute_ns, 400000);
    cr_assert_eq(receipt.expected_wait_ns, 500000);
    cr_assert_eq(receipt.shadow_device, 3);
    cr_assert_eq(receipt.shadow_ns, 77);
    for (uint32_t setup = 0; setup <= UINT16_MAX; setup += 257) {
        const struct svmx__trail any = {.expected_ns = 12345.6f,
                                        .expected_setup = (uint16_t)setup,
                                        .expected_transfer = (uint16_t)(UINT16_MAX - setup)};
        svmx__trail_tell(&any, "", &receipt);
        cr_assert_leq(receipt.expected_compute_ns, 2, "%u", setup); /* what rounding leaves */
        cr_assert_eq(receipt.expected_setup_ns + receipt.expected_transfer_ns + receipt.expected_compute_ns, 12345);
    }
}

static void run_one(uint64_t tag) {
    static float out[4], in[4];
    cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
    cr_assert_eq(svmx_batch_set_tag(batch, tag), SVMX_OK);
    cr_assert_eq(svmx_vec_add_f32(batch, out, in, in, 4), SVMX_OK);
    cr_assert_eq(svmx_run(batch), SVMX_OK);
}

Test(record, every_launch_leaves_one, .init = set_up, .fini = tear_down) {
    struct svmx_receipt receipts[3];
    uint64_t from = 0;
    size_t count = 77;
    for (size_t i = 0; i < 3; i++) receipts[i].size = sizeof *receipts;
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 3, &count), SVMX_OK);
    cr_assert_eq(count, 0);
    for (uint64_t tag = 10; tag < 14; tag++) run_one(tag);
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 3, &count), SVMX_OK);
    cr_assert_eq(count, 3);
    cr_assert_eq(from, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(receipts[i].tag, 10 + i);
        cr_assert_eq(receipts[i].number, i);
        cr_assert_eq(receipts[i].op, SVMX_OP_VEC_ADD_F32);
        cr_assert_eq(receipts[i].units, 4);
        cr_assert_gt(receipts[i].time_ns, 0);
    }
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 3, &count), SVMX_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(receipts[0].tag, 13);
    cr_assert_eq(svmx_receipts_read(executor, &from, receipts, 3, &count), SVMX_OK);
    cr_assert_eq(count, 0);
}

Test(record, what_was_overwritten_is_skipped, .init = set_up, .fini = tear_down) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    uint64_t from = 0;
    size_t count;
    for (uint64_t tag = 0; tag < 1030; tag++) run_one(tag); /* 1024 are kept */
    cr_assert_eq(svmx_receipts_read(executor, &from, &receipt, 1, &count), SVMX_OK);
    cr_assert_eq(count, 1);
    cr_assert_eq(receipt.tag, 6);
    cr_assert_eq(from, 7);
}

Test(record, bad_arguments, .init = set_up, .fini = tear_down) {
    struct svmx_receipt receipt = {.size = 8};
    uint64_t from = 0;
    size_t count;
    cr_assert_eq(svmx_receipts_read(NULL, &from, &receipt, 1, &count), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipts_read(executor, NULL, &receipt, 1, &count), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipts_read(executor, &from, NULL, 1, &count), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipts_read(executor, &from, &receipt, 1, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_receipts_read(executor, &from, &receipt, 1, &count), SVMX_ERR_ARGUMENT, "a size of no version");
    cr_assert_eq(svmx_receipts_read(executor, &from, NULL, 0, &count), SVMX_OK);
}

/* The same results, the same hash; other results, another; not asked for, none. */
Test(record, results_are_hashed_on_request, .init = set_up, .fini = tear_down) {
    uint64_t hashes[4];
    for (int i = 0; i < 4; i++) {
        float out[4], in[4] = {1, 2, 3, i == 2 ? 5 : 4};
        struct svmx_receipt receipt = {.size = sizeof receipt};
        cr_assert_eq(svmx_batch_reset(batch), SVMX_OK);
        cr_assert_eq(svmx_batch_set_hash(batch, i != 3), SVMX_OK);
        cr_assert_eq(svmx_vec_add_f32(batch, out, in, in, 4), SVMX_OK);
        cr_assert_eq(svmx_run(batch), SVMX_OK);
        cr_assert_eq(svmx_receipt_get(batch, 0, &receipt), SVMX_OK);
        hashes[i] = receipt.result_hash;
    }
    cr_assert_eq(hashes[0], hashes[1]);
    cr_assert_neq(hashes[0], hashes[2]);
    cr_assert_neq(hashes[0], 0);
    cr_assert_eq(hashes[3], 0);
}
