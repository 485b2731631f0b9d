/*
 * test_opencl_ed25519.c: ed25519_verify of plugins/kernels/ed25519.cl, on PoCL, against the reference code on what is hard.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#ifdef SVMX_HAVE_SODIUM
#include "device_run.h"
#include "ed25519_hard.h"

static svmx_executor_t *executor;

static void run_on_device(const struct svmx_slot slots[5]) { device_run(executor, SVMX_OP_ED25519_VERIFY, slots, 5); }

static void stop_device(void) { svmx_close(executor); }

TestSuite(opencl_ed25519, .init = start, .fini = stop_device);

/* One test: each would compile the kernel anew. */
Test(opencl_ed25519, hard_signatures) {
    if (sodium_library_version_major() > 10) cr_skip_test("this libsodium accepts more than device code does");
    executor = device_open();
    run_by = run_on_device;
    for (unsigned bytes = 0; bytes < LONGEST; bytes++) append_of(bytes);
    cr_assert_eq(verified(), LONGEST);
    start();
    append_all_eighths();
    cr_assert_eq(verified(), 64);
    start();
    append_all_small_order();
    cr_assert_eq(verified(), 2);
    start();
    append_small_order();
    cr_assert_eq(verified(), 0);
    start();
    append_not_canonical();
    cr_assert_eq(verified(), 1);
    start();
    for (unsigned i = 0; i < 256; i++) {
        append();
        random_bytes(&state, key[i], 32); /* half of them no points */
    }
    cr_assert_eq(verified(), 0);
}
#else
Test(opencl_ed25519, is_left_out) { cr_skip_test("built without libsodium"); }
#endif
