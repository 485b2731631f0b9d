/*
 * test_infer.c: what is said of sizes, and of devices, that were not tried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/model.h"

#include <criterion/criterion.h>

enum { CPU, GPU, OP = 7 };

static struct svmx__model model;
static const struct svmx__model_device devices[] = {
    [CPU] = {.on_host = true, .bytes_per_ns = 1, .times_faster = 1},
    [GPU] = {.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 10}};

static void set_up(void) { svmx__model_init(&model, devices, 2); }
static void tear_down(void) { svmx__model_fini(&model); }
TestSuite(infer, .init = set_up, .fini = tear_down);

static struct svmx__load vector_of(uint64_t n) { return (struct svmx__load){n, n, 12 * n}; }

static void learn(uint32_t device, uint64_t n, uint64_t setup, uint64_t transfer, uint64_t compute) {
    const struct svmx__load load = vector_of(n);
    const struct svmx__sample sample = {.setup_ns = setup, .transfer_ns = transfer, .compute_ns = compute};
    for (int i = 0; i < 5; i++) cr_assert(svmx__model_learn(&model, OP, device, &load, &sample));
}

static struct svmx__cost cost_of(uint32_t device, uint64_t n) {
    const struct svmx__load load = vector_of(n);
    struct svmx__cost cost;
    svmx__model_cost(&model, OP, device, &load, &cost);
    return cost;
}

Test(infer, the_first_guess_is_made_of_what_the_cpu_takes) {
    learn(CPU, 1 << 20, 0, 0, 8000000);
    const struct svmx__cost guess = cost_of(GPU, 1 << 20);
    cr_assert_eq(guess.kind, SVMX__GUESSED);
    cr_assert_eq(guess.setup_ns, 50000);
    cr_assert_eq(guess.transfer_ns, 12 * (1 << 20) / 6);
    cr_assert_eq(guess.compute_ns, 800000);
    cr_assert_eq(guess.ns, guess.setup_ns + guess.transfer_ns + guess.compute_ns);
    cr_assert_eq(guess.samples, 0);
}

Test(infer, what_the_caller_says_of_the_cpu_does_as_well) {
    struct svmx__cost guess;
    const struct svmx__load load = vector_of(600);
    svmx__model_guess(&model, GPU, &load, 1e6, &guess);
    cr_assert_eq(guess.ns, 50000 + 1200 + 1e5);
    svmx__model_guess(&model, CPU, &load, 1e6, &guess);
    cr_assert_eq(guess.ns, 1e6);
}

Test(infer, what_one_operation_shows_of_a_device_is_believed_of_others) {
    struct svmx__cost guess;
    const struct svmx__load large = vector_of(1 << 20);
    learn(GPU, 64, 5000, 1000, 10);
    learn(GPU, 1 << 20, 5000, 1000 + 1048576, 10); /* 12 bytes a ns */
    svmx__model_cost(&model, OP + 1, GPU, &large, &guess);
    cr_assert_eq(guess.kind, SVMX__GUESSED);
    cr_assert_float_eq(guess.setup_ns, 6000, 2);
    cr_assert_float_eq(guess.transfer_ns, 1048576, 2000);
}

Test(infer, between_two_that_were_measured_on_a_straight_line) {
    learn(GPU, 1 << 10, 0, 0, 10000);
    learn(GPU, 1 << 14, 0, 0, 10000 + 15 * 1024);
    for (uint64_t n = 1 << 11; n < 1 << 14; n *= 2) {
        cr_assert_eq(cost_of(GPU, n).kind, SVMX__INFERRED);
        cr_assert_float_eq(cost_of(GPU, n).ns, 9000 + (double)n - 24, 1);
    }
}

Test(infer, beyond_them_in_proportion_to_the_cpu_with_the_setup_once) {
    learn(CPU, 1 << 10, 0, 0, 1000);
    learn(CPU, 1 << 12, 0, 0, 16000); /* more than in proportion to size */
    learn(GPU, 1 << 10, 40000, 0, 100);
    const struct svmx__cost cost = cost_of(GPU, 1 << 12);
    cr_assert_eq(cost.kind, SVMX__INFERRED);
    cr_assert_eq(cost.setup_ns, 40000);
    cr_assert_eq(cost.compute_ns, 1600);
}

Test(infer, bytes_beyond_never_cost_more_than_in_proportion) {
    learn(GPU, 1 << 10, 40000, 100, 100);
    cr_assert_leq(cost_of(GPU, 1 << 20).transfer_ns, 100 * 1024.0);
    learn(GPU, 1 << 8, 40000, 0, 100); /* a device that copies nothing at all */
    struct svmx__cost cost = cost_of(GPU, 1 << 6);
    cr_assert_eq(cost.transfer_ns, 0);
}

Test(infer, a_larger_launch_never_costs_less) {
    uint64_t state = 1;
    for (int round = 0; round < 50; round++) {
        double before[2] = {0, 0};
        uint64_t ns = 1000;
        for (uint32_t k = 4; k < 30; k++) { /* some sizes measured, ever longer */
            state = state * UINT64_C(6364136223846793005) + 1;
            ns += ns * (state >> 40 & 127) / 64;
            if (state >> 60 < 4) learn(CPU, UINT64_C(1) << k, 0, 0, ns);
            if ((state >> 56 & 15) < 4) learn(GPU, UINT64_C(1) << k, ns / 3, ns / 3, ns / 3);
        }
        for (uint32_t k = 0; k < 36; k++)
            for (uint32_t d = 0; d < 2; d++) {
                const double now = cost_of(d, UINT64_C(1) << k).ns;
                cr_assert_geq(now, before[d] * 0.999999, "round %d, device %u: 2^%u takes %g, less than %g", round, d,
                              k, now, before[d]);
                before[d] = now;
            }
        tear_down();
        set_up();
    }
}

Test(infer, deep_and_wide_loads_help_each_other_out) {
    const struct svmx__load wide = {1 << 12, 1 << 12, 0}, deep = {1 << 6, 1 << 12, 0};
    struct svmx__cost cost;
    for (int i = 0; i < 3; i++) svmx__model_learn(&model, OP, CPU, &wide, &(struct svmx__sample){.compute_ns = 7000});
    svmx__model_cost(&model, OP, CPU, &deep, &cost);
    cr_assert_eq(cost.kind, SVMX__INFERRED); /* neither larger nor smaller: the nearest speaks */
    cr_assert_eq(cost.ns, 7000);
}

/* ---- order in two dimensions ---- */

static void learn_at(uint32_t device, uint64_t units, uint64_t depth, uint64_t compute) {
    const struct svmx__load load = {units, units * depth, 0};
    const struct svmx__sample sample = {.setup_ns = 10, .compute_ns = compute};
    for (int i = 0; i < 5; i++) cr_assert(svmx__model_learn(&model, OP, device, &load, &sample));
}

static double ns_at(uint32_t device, uint64_t units, uint64_t depth) {
    const struct svmx__load load = {units, units * depth, 0};
    struct svmx__cost cost;
    svmx__model_cost(&model, OP, device, &load, &cost);
    cr_expect_float_eq(cost.setup_ns + cost.transfer_ns + cost.compute_ns, cost.ns, 1e-3 * cost.ns);
    cr_expect_geq(cost.p99_ns, cost.ns * (1 - 1e-9));
    return cost.ns;
}

/* The later is believed, whichever is the larger. */
Test(infer, of_two_measured_sizes_the_older_one_is_bent) {
    learn_at(GPU, 1024, 1, 90);
    learn_at(GPU, 4096, 1, 40);
    cr_expect_float_eq(ns_at(GPU, 4096, 1), 50, 1e-3);
    cr_expect_float_eq(ns_at(GPU, 1024, 1), 50, 1e-3, "measured before, and more than a larger one takes");
    learn_at(GPU, 1024, 1, 90);
    cr_expect_float_eq(ns_at(GPU, 1024, 1), 100, 1e-3);
    cr_expect_float_eq(ns_at(GPU, 4096, 1), 100, 1e-3, "measured before, and less than a smaller one takes");
    cr_expect_float_eq(ns_at(GPU, 2048, 1), 100, 1e-3, "and so what is between them");
}

Test(infer, sizes_that_are_neither_smaller_nor_larger_are_left_alone) {
    learn_at(GPU, 1024, 4, 990);
    learn_at(GPU, 4096, 1, 90);
    cr_expect_float_eq(ns_at(GPU, 1024, 4), 1000, 1e-3, "fewer units, but more work in each");
    cr_expect_float_eq(ns_at(GPU, 4096, 1), 100, 1e-3);
    cr_expect_geq(ns_at(GPU, 4096, 4), 1000, "larger than both");
    cr_expect_leq(ns_at(GPU, 1024, 1), 100 + 1e-3, "smaller than both");
}

/* Any samples in any order: no size costs less than one that has neither more units nor more work in each. */
Test(infer, order_holds_in_both_dimensions_whatever_was_measured) {
    enum { SIDE = 6, ROUNDS = 200 };
    uint64_t state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const struct svmx__load load = {UINT64_C(1) << (state >> 33) % SIDE * 2,
                                        (UINT64_C(1) << (state >> 33) % SIDE * 2) << (state >> 41) % SIDE, 0};
        const struct svmx__sample sample = {.compute_ns = 100 + (state >> 45) % 10000};
        (void)svmx__model_learn(&model, OP, GPU, &load, &sample);
        double ns[SIDE][SIDE];
        bool known[SIDE][SIDE];
        for (uint32_t i = 0; i < SIDE * SIDE; i++) {
            struct svmx__cost cost;
            const struct svmx__load at = {UINT64_C(1) << 2 * (i / SIDE), (UINT64_C(1) << 2 * (i / SIDE)) << i % SIDE,
                                          0};
            svmx__model_cost(&model, OP, GPU, &at, &cost);
            ns[i / SIDE][i % SIDE] = cost.ns;
            known[i / SIDE][i % SIDE] = cost.kind == SVMX__MEASURED;
        }
        for (uint32_t i = 0; i < SIDE * SIDE; i++)
            for (uint32_t k = 0; k < SIDE * SIDE; k++)
                if (i / SIDE <= k / SIDE && i % SIDE <= k % SIDE &&
                    (known[i / SIDE][i % SIDE] || known[k / SIDE][k % SIDE]))
                    cr_assert_leq(ns[i / SIDE][i % SIDE], ns[k / SIDE][k % SIDE] + 1e-6, "round %d: %u, %u", round, i,
                                  k);
    }
}
