/*
 * test_cell.c: what a cell makes of its samples: outliers, first uses, contention, changes and false alarms.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/cell.h"

#include <criterion/criterion.h>
#include <math.h>

static struct svmx__cell cell;
static const struct svmx__load load = {1024, 1024, 12288};

static bool add(uint64_t ns) {
    bool changed;
    cr_assert(svmx__cell_add(&cell, &load, &(struct svmx__sample){.compute_ns = ns}, &changed));
    return changed;
}

static bool add_contended(uint64_t ns) {
    bool changed;
    return svmx__cell_add(&cell, &load, &(struct svmx__sample){.compute_ns = ns, .contended = true}, &changed);
}

Test(cell, of_two_the_smaller_and_then_the_median) {
    cr_assert_eq(svmx__cell_ns(&cell), 0);
    add(5000);
    cr_assert_eq(svmx__cell_ns(&cell), 5000);
    add(1000);
    cr_assert_eq(svmx__cell_ns(&cell), 1000);
    add(2000);
    cr_assert_eq(svmx__cell_ns(&cell), 2000);
}

Test(cell, tells_the_parts) {
    struct svmx__cost cost;
    bool changed;
    for (uint64_t i = 0; i < 100; i++)
        svmx__cell_add(&cell, &load, &(struct svmx__sample){.setup_ns = 10, .transfer_ns = 20, .compute_ns = 30 + i},
                       &changed);
    svmx__cell_cost(&cell, &cost);
    cr_assert_eq(cost.kind, SVMX__MEASURED);
    cr_assert_eq(cost.setup_ns, 10);
    cr_assert_eq(cost.transfer_ns, 20);
    cr_assert_eq(cost.compute_ns, 30 + 84); /* the middle of the last 31 */
    cr_assert_eq(cost.ns, cost.setup_ns + cost.transfer_ns + cost.compute_ns);
    cr_assert_geq(cost.p99_ns, cost.ns);
    cr_assert_eq(cost.samples, SVMX__SKETCH_WINDOW);
    cr_assert_eq(cost.learned, 100);
}

Test(cell, one_sample_a_thousand_times_too_long_moves_nothing) {
    for (int i = 0; i < 3; i++) add(1000);
    for (int i = 0; i < 200; i++) {
        cr_assert_not(add(i % 10 == 9 ? 1000000 : 1000));
        cr_assert_eq(svmx__cell_ns(&cell), 1000);
    }
    cr_assert_eq(cell.changes, 0);
}

Test(cell, a_first_use_is_kept_apart) {
    bool changed;
    svmx__cell_add(&cell, &load, &(struct svmx__sample){.setup_ns = 900000, .compute_ns = 1000, .first_use = true},
                   &changed);
    cr_assert_eq(svmx__cell_count(&cell), 0);
    cr_assert_eq(cell.first_use_ns, 901000);
    add(1000);
    struct svmx__cost cost;
    svmx__cell_cost(&cell, &cost);
    cr_assert_eq(cost.ns, 1000);
    cr_assert_eq(cost.first_use_ns, 901000);
    cr_assert_eq(cost.learned, 1);
}

/* ---- contention --------------------------------------------------------------------------------------------- */

Test(cell, contended_samples_count_for_nothing_beside_enough_clean_ones) {
    for (int i = 0; i < 5; i++) add(1000);
    for (int i = 0; i < 20; i++) cr_assert_not(add_contended(9000));
    cr_assert_eq(svmx__cell_ns(&cell), 1000);
}

Test(cell, contended_samples_weigh_less_beside_a_few_clean_ones) {
    add_contended(3000);
    cr_assert_eq(svmx__cell_ns(&cell), 3000);
    add(1000);
    cr_assert_float_eq(svmx__cell_ns(&cell), (4 * 1000 + 3000) / 5.0, 1e-9);
    add(1000);
    cr_assert_float_eq(svmx__cell_ns(&cell), (8 * 1000 + 3000) / 9.0, 1e-9);
}

Test(cell, contention_for_good_is_what_counts) {
    for (int i = 0; i < 5; i++) add(1000);
    for (int i = 0; i < 64; i++) add_contended(9000);
    cr_assert_eq(svmx__cell_ns(&cell), 9000);
    for (int i = 0; i < 5; i++) add(1000);
    cr_assert_eq(svmx__cell_ns(&cell), 1000);
}

/* ---- changes ------------------------------------------------------------------------------------------------ */

Test(cell, ten_times_slower_is_noticed_at_the_fifth_sample) {
    for (int i = 0; i < 100; i++) add(1000);
    for (int i = 0; i < 4; i++) cr_assert_not(add(10000));
    cr_assert_eq(svmx__cell_ns(&cell), 1000);
    cr_assert(add(10000));
    cr_assert_eq(svmx__cell_ns(&cell), 10000);
    cr_assert_eq(cell.changes, 1);
}

Test(cell, recovery_is_hoped_for_at_the_first_sample_and_believed_at_the_fifth) {
    struct svmx__cost cost;
    for (int i = 0; i < 100; i++) add(10000);
    svmx__cell_cost(&cell, &cost);
    cr_assert_eq(cost.hoped_ns, 0);
    cr_assert_not(add(1000));
    svmx__cell_cost(&cell, &cost);
    cr_assert_eq(cost.hoped_ns, 1000);
    cr_assert_eq(cost.ns, 10000);
    cr_assert_not(add(1100));
    cr_assert_not(add(10000)); /* an accident on the way takes one back, not all */
    for (int i = 0; i < 3; i++) cr_assert_not(add(1000));
    cr_assert(add(1000));
    svmx__cell_cost(&cell, &cost);
    cr_assert_eq(cost.ns, 1000);
    cr_assert_eq(cost.hoped_ns, 0);
}

static uint64_t state;

static double uniform(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

/* Lognormal, and one in fifty twenty times as long. */
static uint64_t noisy(double sigma) {
    double normal = -6;
    for (int i = 0; i < 12; i++) normal += uniform();
    return (uint64_t)(1e6 * exp(sigma * normal) * (uniform() < 0.02 ? 20 : 1));
}

Test(cell, false_alarms_are_under_one_in_a_thousand_whatever_the_noise) {
    static const double sigmas[] = {0.02, 0.1, 0.3, 0.5, 1, 2};
    for (int k = 0; k < 6; k++) {
        cell = (struct svmx__cell){.learned = 0};
        state = 1;
        for (int i = 0; i < 200000; i++) add(noisy(sigmas[k]));
        cr_assert_lt(cell.changes, 200, "sigma %g: %u alarms in 200,000", sigmas[k], cell.changes);
    }
}

Test(cell, usual_noise_raises_no_alarm_at_all) {
    state = 7;
    for (int i = 0; i < 200000; i++) add(noisy(0.1));
    cr_assert_eq(cell.changes, 0);
}

Test(cell, ten_times_slower_is_noticed_within_16_in_noise) {
    for (uint64_t seed = 1; seed <= 200; seed++) {
        int until = 0;
        cell = (struct svmx__cell){.learned = 0};
        state = seed;
        for (int i = 0; i < 100; i++) add(noisy(0.3));
        const double before = svmx__cell_ns(&cell);
        while (svmx__cell_ns(&cell) < 4 * before && until < 100) {
            add(10 * noisy(0.3));
            until++;
        }
        cr_assert_leq(until, 16, "seed %u: after %d", (unsigned)seed, until);
    }
}

/* ---- for the profile ---------------------------------------------------------------------------------------- */

Test(cell, comes_back_from_a_summary_and_new_samples_soon_outweigh_it) {
    struct svmx__cell_summary summary;
    for (uint64_t i = 0; i < 31; i++) add(1000 + i);
    svmx__cell_summarize(&cell, &summary);
    cr_assert_eq(summary.samples, 31);
    cr_assert_eq(summary.ns, 1015);
    cr_assert_leq(summary.low_ns, summary.ns);
    cr_assert_geq(summary.high_ns, summary.ns);
    struct svmx__cell again;
    summary.cell = svmx__cell_of(load.units, load.work);
    svmx__cell_restore(&again, &summary);
    cr_assert_eq(svmx__cell_ns(&again), 1015);
    cr_assert_eq(svmx__cell_count(&again), 3);
    cr_assert_eq(again.learned, 31);
    cr_assert_eq(again.load.bytes, load.bytes);
    cell = again;
    for (int i = 0; i < 5; i++) add(1500);
    cr_assert_eq(svmx__cell_ns(&cell), 1500);
}
