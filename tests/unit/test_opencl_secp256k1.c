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
}
#else
Test(opencl_secp256k1, is_left_out) { cr_skip_test("built without libsecp256k1"); }
#endif
