/*
 * test_opencl_secp256k1.c: ecrecover and ecdsa_verify_secp256k1 of plugins/kernels/secp256k1.cl, on PoCL, against the reference
 * code on what is hard. Device code computes nothing again: what its formulas cannot add it finds itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SECP256K1
#include "device_run.h"
#include "signatures_hard.h"

/* 126: the sum is twice the last that is added, a multiple of 2^132 G by -63. */
const uint8_t meeting[3] = {0x00, 0x07, 0xe0};

static svmx_executor_t *executor;

static void run_on_device(const char *op, const struct svmx_slot *slots, uint32_t slot_count, unsigned count) {
    (void)count;
    device_run(executor, svmx__op_by_name(op)->id, slots, slot_count);
}

static void stop_device(void) {
    svmx_close(executor);
    stop();
}

TestSuite(opencl_secp256k1, .init = start, .fini = stop_device);

/* Senders of a block, the hashes of their addresses, and the root over these: three levels that go to the device in one
 * submission. Addresses and hashes are passed on there. */
enum { SENDERS = 200 };

static void chain_add(svmx_batch_t *batch, uint8_t root[32], uint8_t *valid) {
    static uint64_t offsets[SENDERS + 1];
    for (uint64_t i = 0; i <= SENDERS; i++) offsets[i] = 20 * i;
    const struct svmx_arg recover[] = {svmx_out_passing(SVMX_U8, 20 * SENDERS),  svmx_out(SVMX_U8, valid, SENDERS),
                                       svmx_in(SVMX_U8, all.hash, 32 * SENDERS), svmx_in(SVMX_U8, all.v, 32 * SENDERS),
                                       svmx_in(SVMX_U8, all.r, 32 * SENDERS),    svmx_in(SVMX_U8, all.s, 32 * SENDERS)};
    const struct svmx_arg hash[] = {svmx_out_passing(SVMX_U8, 32 * SENDERS), svmx_result_of(SVMX_U8, 0, 0),
                                    svmx_in(SVMX_U64, offsets, SENDERS + 1)};
    const struct svmx_arg tree[] = {svmx_out(SVMX_U8, root, 32), svmx_result_of(SVMX_U8, 1, 0),
                                    svmx_u32(SVMX_MERKLE_PROMOTE)};
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_ECRECOVER, recover, 6), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_KECCAK256, hash, 3), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_eq(svmx_batch_add(batch, SVMX_OP_MERKLE_ROOT_KECCAK256, tree, 3), SVMX_OK, "%s", svmx_batch_error(batch));
}

/* The same a call at a time, by the reference code. */
static void chain_expected(uint8_t root[32], uint8_t *valid) {
    static uint8_t addresses[SENDERS][20], digests[SENDERS][32];
    static uint64_t offsets[SENDERS + 1];
    for (uint64_t i = 0; i <= SENDERS; i++) offsets[i] = 20 * i;
    const struct svmx_slot recover[] = {slot(addresses, sizeof addresses), slot(valid, SENDERS),
                                        slot(all.hash, 32 * SENDERS),      slot(all.v, 32 * SENDERS),
                                        slot(all.r, 32 * SENDERS),         slot(all.s, 32 * SENDERS)};
    const struct svmx_slot hash[] = {slot(digests, sizeof digests), slot(addresses, sizeof addresses),
                                     slot(offsets, sizeof offsets)};
    const struct svmx_slot tree[] = {slot(root, 32), slot(digests, sizeof digests), scalar_u32(SVMX_MERKLE_PROMOTE)};
    compute(SVMX_OP_ECRECOVER, recover);
    compute(SVMX_OP_KECCAK256, hash);
    compute(SVMX_OP_MERKLE_ROOT_KECCAK256, tree);
}

static void expect_chain_on_device(void) {
    static const uint32_t ops[] = {SVMX_OP_ECRECOVER, SVMX_OP_KECCAK256, SVMX_OP_MERKLE_ROOT_KECCAK256};
    uint8_t root[32], expected[32], valid[SENDERS], expected_valid[SENDERS];
    struct svmx_receipt receipt = {.size = sizeof receipt};
    svmx_batch_t *batch = NULL;
    for (unsigned i = 0; i < SENDERS; i++) {
        append();
        if (i % 9 == 4) spoil(i, i / 9);
    }
    chain_expected(expected, expected_valid);
    for (size_t i = 0; i < 3; i++) cr_assert_eq(svmx_prewarm(executor, ops[i], SENDERS), SVMX_OK);
    cr_assert_eq(svmx_batch_create(executor, &batch), SVMX_OK);
    chain_add(batch, root, valid);
    cr_assert_eq(svmx_run(batch), SVMX_OK, "%s", svmx_batch_error(batch));
    cr_assert_arr_eq(root, expected, 32);
    cr_assert_arr_eq(valid, expected_valid, SENDERS);
    cr_assert_eq(svmx_receipt_count(batch), 3);
    for (uint32_t i = 0; i < 3; i++) {
        cr_assert_eq(svmx_receipt_get(batch, i, &receipt), SVMX_OK);
        cr_assert(receipt.device == 0 && receipt.redone == 0, "%u: device %u %s", i, receipt.device, receipt.reason);
        cr_assert(receipt.flags & SVMX_RECEIPT_STRETCH, "%u went by itself", i);
    }
    svmx_batch_destroy(batch);
}

/* One test: each would compile the kernels anew. */
Test(opencl_secp256k1, hard_signatures) {
    executor = device_open();
    run_by = run_on_device;
    for (unsigned i = 0; i < 900; i++) append_recovery((enum sum)(i % 3));
    unsigned good = recovered(&all);
    cr_assert(good > 550 && good <= 600, "one in three is infinity, and few others: %u", good);
    start();
    for (unsigned i = 0; i < 900; i++) append_verification((enum sum)(i % 3), false);
    good = verified(&all);
    cr_assert(good > 200 && good < 400, "half of two thirds have a low s: %u", good);
    start();
    for (unsigned i = 0; i < 300; i++) append_verification((enum sum)(i % 3), true);
    cr_assert_eq(verified(&all), 0);
    start();
    append_x_above_n(64);
    cr_assert_eq(verified(&all), 48);
    start();
    for (unsigned r = 0; r < EDGES; r++)
        for (unsigned s = 0; s < EDGES; s++) {
            append();
            edge(all.r[all.count - 1], r);
            edge(all.s[all.count - 1], s);
            edge(all.hash[all.count - 1], r + 5 * s);
        }
    cr_assert_gt(recovered(&all), 0);
    (void)verified(&all);
    start();
    for (unsigned i = 0; i < 256; i++) {
        append();
        if (i & 1) spoil(i, i / 2);
    }
    cr_assert_eq(recovered(&all), 128);
    cr_assert_eq(verified(&all), 128);
    start();
    expect_chain_on_device();
}
#else
Test(opencl_secp256k1, is_left_out) { cr_skip_test("built without libsecp256k1"); }
#endif
