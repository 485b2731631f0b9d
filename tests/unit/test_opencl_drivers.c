/*
 * test_opencl_drivers.c: plugins/opencl on each driver that is there: the caller's floating-point environment, what a driver is
 * told apart by, and several devices and instances. test_opencl_backend.c has what one device does.
 *
 * Drives the plugin as the core does, by its table of functions. Skipped where a driver is not installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl_fixture.h"

#include <fenv.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static void start(void) {
    use_pocl();
    open_backend();
}

/* ---- the caller's floating-point environment ---- */

/* Threads of a driver start while it is called, or it computes in the calling thread. */
static void check_environment(void) {
    struct add add;
    uint64_t ticket;
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    open_backend();
    cr_assert_eq(add_make(&add, 0), SVMX_OK);
    cr_expect_eq(fegetround(), FE_UPWARD, "the caller's was changed");
    float *a = (float *)(void *)((char *)add.host_in + ADD_TABLE), *b = a + ADD_ALIGNED / 4;
    const uint32_t denormal = 0x00001234;
    for (int i = 0; i < ADD_COUNT; i += 2) {
        a[i] = 1.0f, b[i] = 0x1p-40f;
        memcpy(&a[i + 1], &denormal, sizeof denormal);
        memcpy(&b[i + 1], &denormal, sizeof denormal);
    }
    cr_assert_eq(add_submit(&add, &ticket), SVMX_OK);
    cr_assert_eq(wait_for(0, ticket, NULL), SVMX_OK);
    const uint32_t *bits = add.host_out;
    for (int i = 0; i < ADD_COUNT; i += 2) {
        cr_assert_eq(bits[i], 0x3f800000, "%08x", bits[i]);
        cr_assert_eq(bits[i + 1], 2 * denormal, "%08x", bits[i + 1]);
    }
    add_free(&add);
    close_backend();
}

Test(opencl_drivers, pocl_computes_in_the_default_environment, .init = use_pocl) { check_environment(); }
Test(opencl_drivers, rusticl_computes_in_the_default_environment, .init = use_rusticl) { check_environment(); }
Test(opencl_drivers, oclgrind_computes_in_the_default_environment, .init = use_oclgrind) { check_environment(); }

/* ---- other drivers ---- */

static void check_driver(void) {
    bool right;
    open_backend();
    for (int round = 0; round < 5; round++) {
        cr_expect_eq(add_run(0, &right), SVMX_OK, "%s", last_error);
        cr_expect(right);
    }
    close_backend();
}

Test(opencl_drivers, rusticl_computes, .init = use_rusticl) { check_driver(); }
Test(opencl_drivers, oclgrind_computes, .init = use_oclgrind) { check_driver(); }

Test(opencl_drivers, oclgrind_is_labelled_as_made_for_tests, .init = use_oclgrind) {
    open_backend();
    cr_expect(info_of(0).flags & SVMX_DEVICE_TEST);
    close_backend();
}

Test(opencl_drivers, rusticl_has_no_more_units_than_there_are_cores, .init = use_rusticl) {
    open_backend();
    cr_expect_leq(info_of(0).threads, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    close_backend();
}

/* ---- several devices, several instances ---- */

Test(opencl_drivers, a_list_waits_for_tickets_of_other_devices) {
    struct add first, second;
    use_pocl();
    setenv("POCL_DEVICES", "pthread pthread", 1);
    open_backend();
    cr_assert_eq(add_make(&first, 0), SVMX_OK);
    cr_assert_eq(add_make(&second, 1), SVMX_OK);
    for (int round = 0; round < 50; round++) {
        uint64_t after[3] = {0, 12345, 0}, ticket; /* tickets that are over are nothing to wait for */
        cr_assert_eq(add_submit(&first, &after[2]), SVMX_OK);
        const struct svmx_command_list list = {sizeof list, sizeof *second.commands, second.commands,
                                               second.command_count};
        const struct svmx_submission submission = {
            .size = sizeof submission, .device = 1, .list = &list, .after = after, .after_count = 3};
        cr_assert_eq(backend.ops->submit(backend.self, &submission, &ticket), SVMX_OK, "%s", last_error);
        cr_assert_eq(wait_for(1, ticket, NULL), SVMX_OK, "%s", last_error);
        cr_expect(add_is_right(&first), "the second device did not wait for the first");
        cr_expect(add_is_right(&second));
        struct svmx_timing timing = {.size = sizeof timing};
        cr_expect_eq(backend.ops->wait(backend.self, 0, after[2], 0, &timing), SVMX_OK);
        memset(first.host_out, 0, ADD_BYTES);
    }
    add_free(&first);
    add_free(&second);
    close_backend();
}

Test(opencl_drivers, instances_are_independent) {
    bool right;
    start();
    struct svmx_backend first = backend;
    open_backend();
    struct svmx_backend second = backend;
    cr_expect_neq(first.self, second.self);
    cr_expect_eq(add_run(0, &right), SVMX_OK);
    cr_expect(right);
    second.ops->close(second.self);
    backend = first;
    cr_expect_eq(add_run(0, &right), SVMX_OK, "%s", last_error);
    cr_expect(right);
    close_backend();
}
