/*
 * test_scan_stats.c: medians, intervals and the 90 % rule of `svmx threshold-scan`, against cases computed by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/scan.h"
#include <criterion/criterion.h>

Test(scan_stats, one_sample_is_everything) {
    uint64_t times[] = {7};
    const struct scan_spread spread = scan_spread_of(times, 1);
    const double all[] = {spread.mean, spread.median, spread.p90, spread.min, spread.max, spread.low, spread.high};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cr_expect_eq(all[i], 7);
}

Test(scan_stats, five_samples_in_any_order) {
    uint64_t times[] = {50, 10, 1000, 20, 30};
    const struct scan_spread spread = scan_spread_of(times, 5);
    cr_expect_eq(spread.mean, 222); /* 1110 / 5 */
    cr_expect_eq(spread.median, 30);
    cr_expect_eq(spread.p90, 1000); /* the fifth: four fifths are less than nine tenths */
    cr_expect_eq(spread.min, 10);
    cr_expect_eq(spread.max, 1000);
    cr_expect_eq(spread.low, 10); /* (5 - 1.96 x 2.236) / 2 = 0.31: rank 0 */
    cr_expect_eq(spread.high, 1000);
}

Test(scan_stats, an_even_number_has_two_in_the_middle) {
    uint64_t times[] = {4, 1, 3, 2};
    cr_expect_eq(scan_median(times, 4), 2.5);
    cr_expect_eq(times[0], 1, "sorted");
    cr_expect_eq(times[3], 4, "sorted");
}

/* (7 - 1.96 x 2.646) / 2 = 0.91: still the smallest. (8 - 1.96 x 2.828) / 2 = 1.23: the second. */
Test(scan_stats, from_eight_samples_on_the_ends_do_not_count) {
    uint64_t times[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const struct scan_spread seven = scan_spread_of(times, 7), eight = scan_spread_of(times, 8);
    cr_expect(seven.low == 1 && seven.high == 7);
    cr_expect(eight.low == 2 && eight.high == 7);
}

/* 1, 2, ... 20: p90 is the 18th; (20 - 1.96 x 4.472) / 2 = 5.6, so the sixth from below and from above. */
Test(scan_stats, twenty_samples) {
    uint64_t times[20];
    for (uint64_t i = 0; i < 20; i++) times[i] = 20 - i;
    const struct scan_spread spread = scan_spread_of(times, 20);
    cr_expect_eq(spread.mean, 10.5);
    cr_expect_eq(spread.median, 10.5);
    cr_expect_eq(spread.p90, 18);
    cr_expect_eq(spread.low, 6);
    cr_expect_eq(spread.high, 15);
}

/* Ten: the ninth. Eleven: nine tenths are 9.9, so the tenth. */
Test(scan_stats, p90_is_the_nearest_rank) {
    uint64_t ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, eleven[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    cr_expect_eq(scan_spread_of(ten, 10).p90, 9);
    cr_expect_eq(scan_spread_of(eleven, 11).p90, 10);
}

/* The scripts have the least and p90 only, and doubt by them: what is undecided here must be undecided there. */
Test(scan_stats, the_interval_lies_between_the_least_and_p90) {
    uint64_t times[200];
    for (uint64_t i = 0; i < 200; i++) times[i] = i + 1;
    for (size_t count = 1; count <= 200; count++) {
        const struct scan_spread spread = scan_spread_of(times, count);
        cr_expect(spread.min <= spread.low && spread.high <= spread.p90, "of %zu", count);
        if (count <= 7) cr_expect(spread.min == spread.low && spread.high == spread.p90, "of %zu", count);
    }
}

static struct scan_spread at(double median, double low, double high) {
    return (struct scan_spread){.median = median, .low = low, .high = high};
}

Test(scan_stats, ninety_percent_and_not_a_hair_less) {
    const struct scan_spread cpu = at(100, 100, 100), equal = at(90, 90, 90), below = at(89.9, 89.9, 89.9);
    cr_expect_not(scan_gpu_wins(&cpu, &cpu));
    cr_expect_not(scan_gpu_wins(&cpu, &equal));
    cr_expect(scan_gpu_wins(&cpu, &below));
}

/* What is compared is the GPU's interval with 0.9 of the CPU's. */
Test(scan_stats, overlapping_intervals_are_undecided) {
    const struct scan_spread cpu = at(100, 90, 110); /* 81 to 99 */
    const struct scan_spread faster = at(75, 70, 80), slower = at(120, 100, 130), unclear = at(85, 80, 82);
    cr_expect(scan_is_decided(&cpu, &faster));
    cr_expect(scan_is_decided(&cpu, &slower));
    cr_expect_not(scan_is_decided(&cpu, &unclear));
}

Test(scan_stats, the_spread_is_half_of_the_interval) {
    const struct scan_spread even = at(100, 90, 110), skew = at(100, 99, 149), none = at(0, 0, 0);
    cr_expect_float_eq(scan_spread_percent(&even), 10, 1e-9);
    cr_expect_float_eq(scan_spread_percent(&skew), 25, 1e-9);
    cr_expect_eq(scan_spread_percent(&none), 0);
}

Test(scan_stats, a_crossover_holds_for_all_larger_sizes) {
    const bool never[] = {true, true, false}, late[] = {false, true, false, true, true}, always[] = {true, true};
    cr_expect_eq(scan_crossover(never, 3), 3);
    cr_expect_eq(scan_crossover(late, 5), 3);
    cr_expect_eq(scan_crossover(always, 2), 0);
    cr_expect_eq(scan_crossover(always, 0), 0, "nothing was tested");
}
