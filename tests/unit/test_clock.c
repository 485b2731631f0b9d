/*
 * test_clock.c: the monotonic clock and deadlines on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"

#include <criterion/criterion.h>

static uint64_t ns_of(struct timespec time) { return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec; }

Test(clock, never_goes_back) {
    uint64_t last = svmx__clock_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now = svmx__clock_ns();
        cr_assert_geq(now, last);
        last = now;
    }
    struct timespec system;
    clock_gettime(CLOCK_MONOTONIC, &system);
    cr_assert_leq(last, ns_of(system));
}

Test(clock, a_deadline_lies_so_far_ahead) {
    static const uint64_t timeouts[] = {0, 1, 999999999, 1000000000, 3600000000000};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        uint64_t before = svmx__clock_ns();
        struct timespec end = svmx__clock_deadline(timeouts[i]);
        uint64_t after = svmx__clock_ns();
        cr_assert_geq(ns_of(end), before + timeouts[i]);
        cr_assert_leq(ns_of(end), after + timeouts[i]);
        cr_assert(end.tv_nsec >= 0 && end.tv_nsec < 1000000000);
    }
}

Test(clock, a_deadline_past_the_end_of_time_stays_there) {
    static const uint64_t timeouts[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1000};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        struct timespec end = svmx__clock_deadline(timeouts[i]);
        cr_assert_geq(ns_of(end), svmx__clock_ns(), "it wrapped round to the past");
        cr_assert(end.tv_nsec >= 0 && end.tv_nsec < 1000000000);
    }
}
