/*
 * test_model.c: cells of sizes, learning, and the profile. What a cell makes of its samples: test_cell.c; what is said of
 * sizes that were not tried: test_infer.c; threads: tests/integration/tsan_model.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/curve.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { CPU, GPU, OP = 7 };

static struct svmx__model model;
static const struct svmx__model_device devices[] = {
    [CPU] = {.on_host = true, .bytes_per_ns = 1, .times_faster = 1},
    [GPU] = {.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 10}};

static void set_up(void) { svmx__model_init(&model, devices, 2); }
static void tear_down(void) { svmx__model_fini(&model); }
TestSuite(model, .init = set_up, .fini = tear_down);

static struct svmx__load vector_of(uint64_t n) { return (struct svmx__load){n, n, 12 * n}; }

static bool learn(uint32_t op, uint32_t device, uint64_t n, uint64_t ns) {
    const struct svmx__load load = vector_of(n);
    return svmx__model_learn(&model, op, device, &load, &(struct svmx__sample){.compute_ns = ns});
}

static struct svmx__cost cost_of(uint32_t op, uint32_t device, uint64_t n) {
    const struct svmx__load load = vector_of(n);
    struct svmx__cost cost;
    svmx__model_cost(&model, op, device, &load, &cost);
    return cost;
}

/* ---- sizes -------------------------------------------------------------------------------------------------- */

Test(model, a_cell_has_units_and_the_work_in_each) {
    const uint32_t deep = svmx__cell_of(1, 1 << 20), wide = svmx__cell_of(32768, 1 << 20);
    cr_assert_neq(deep, wide); /* one message of 1 MiB, and 32,768 of 32 bytes */
    cr_assert_eq(svmx__cell_lanes(deep), 0);
    cr_assert_eq(svmx__cell_depth(deep), 20);
    cr_assert_eq(svmx__cell_lanes(wide), 15);
    cr_assert_eq(svmx__cell_depth(wide), 5);
    cr_assert_eq(svmx__cell_load(wide).units, 32768);
    cr_assert_eq(svmx__cell_load(wide).work, 1 << 20);
}

static uint32_t cell_with(uint64_t units, uint64_t work, uint32_t tasks) {
    const struct svmx__load load = svmx__load_of(units, work, 12 * units, tasks);
    cr_expect_eq(load.units, units);
    cr_expect_eq(load.bytes, 12 * units);
    return svmx__cell_of(load.units, load.work);
}

Test(model, many_tasks_of_next_to_nothing_are_another_load) {
    const uint32_t one = cell_with(10000, 10000, 1);
    cr_expect_eq(one, svmx__cell_of(10000, 10000), "one task is as large as its units");
    cr_expect_neq(cell_with(10000, 10000, 10000), one, "a task for each unit is more");
    cr_expect_eq(cell_with(10000, 10000, 2), one);
    cr_expect_eq(cell_with(10000, 10000, 100), one, "tasks of a hundred units are not");
    cr_expect_eq(cell_with(10000, 1280000, 10000), cell_with(10000, 1280000, 1), "nor tasks of one message each");
    cr_expect_eq(cell_with(1, 1, 1), 0);
    cr_expect_eq(cell_with(UINT32_MAX, UINT32_MAX, UINT32_MAX),
                 svmx__cell_of(UINT32_MAX, UINT64_C(64) * (UINT32_MAX - 1)));
}

Test(model, cells_are_powers_of_two_and_end_somewhere) {
    cr_assert_eq(svmx__cell_of(1025, 1025), svmx__cell_of(2048, 2048));
    cr_assert_neq(svmx__cell_of(1024, 1024), svmx__cell_of(1025, 1025));
    cr_assert_eq(svmx__cell_of(0, 0), 0);
    cr_assert_lt(svmx__cell_of(UINT64_MAX, UINT64_MAX), SVMX__CELLS);
    cr_assert_lt(svmx__cell_of(1, UINT64_MAX), SVMX__CELLS);
    for (uint32_t cell = 0; cell < SVMX__CELLS; cell++) {
        const struct svmx__load load = svmx__cell_load(cell);
        cr_assert_eq(svmx__cell_of(load.units, load.work), cell);
    }
}

/* ---- learning ----------------------------------------------------------------------------------------------- */

Test(model, operations_devices_and_sizes_are_apart) {
    cr_assert(learn(OP, CPU, 1024, 1000));
    cr_assert(learn(OP, GPU, 1024, 2000));
    cr_assert(learn(OP + 1, CPU, 1024, 3000));
    cr_assert(learn(OP, CPU, 4096, 4000));
    cr_assert_eq(cost_of(OP, CPU, 1024).ns, 1000);
    cr_assert_eq(cost_of(OP, GPU, 1024).ns, 2000);
    cr_assert_eq(cost_of(OP + 1, CPU, 1024).ns, 3000);
    cr_assert_eq(cost_of(OP, CPU, 4096).ns, 4000);
    cr_assert_eq(cost_of(OP + 1, GPU, 1024).kind, SVMX__GUESSED);
}

Test(model, there_is_no_device_beyond_the_last) { cr_assert_not(learn(OP, 2, 1024, 1000)); }

Test(model, who_finds_a_curve_held_drops_the_sample) {
    cr_assert(learn(OP, CPU, 1024, 1000));
    struct svmx__curve *curve = svmx__curve_of(&model, OP, CPU);
    svmx__curve_hold(curve);
    cr_assert_not(learn(OP, CPU, 1024, 5000));
    svmx__curve_release(curve);
    cr_assert_eq(cost_of(OP, CPU, 1024).learned, 1);
}

Test(model, counts_changes) {
    for (int i = 0; i < 20; i++) learn(OP, CPU, 1024, 1000);
    for (int i = 0; i < 20; i++) learn(OP, CPU, 1024, 10000);
    cr_assert_eq(model.changes, 1);
    cr_assert_eq(cost_of(OP, CPU, 1024).changes, 1);
}

Test(model, forgets_one_device) {
    learn(OP, CPU, 1024, 1000);
    learn(OP, GPU, 1024, 2000);
    svmx__model_forget(&model, GPU);
    cr_assert_eq(cost_of(OP, GPU, 1024).kind, SVMX__GUESSED);
    cr_assert_eq(cost_of(OP, CPU, 1024).kind, SVMX__MEASURED);
    cr_assert(learn(OP, GPU, 1024, 3000));
    cr_assert_eq(cost_of(OP, GPU, 1024).ns, 3000);
}

/* ---- the profile -------------------------------------------------------------------------------------------- */

struct seen {
    struct svmx__cell_summary list[8];
    uint32_t count, most;
};

static bool see(void *user, const struct svmx__cell_summary *summary) {
    struct seen *seen = user;
    seen->list[seen->count++] = *summary;
    return seen->count < seen->most;
}

Test(model, is_visited_in_order_and_put_back) {
    struct seen seen = {.most = 8};
    learn(OP + 1, CPU, 64, 100);
    learn(OP, GPU, 4096, 900);
    learn(OP, GPU, 1024, 800);
    learn(OP, CPU, 1024, 700);
    svmx__model_visit(&model, see, &seen);
    cr_assert_eq(seen.count, 4);
    const double order[] = {700, 800, 900, 100};
    for (int i = 0; i < 4; i++) cr_assert_eq(seen.list[i].ns, order[i]);
    tear_down();
    set_up();
    for (int i = 0; i < 4; i++) cr_assert(svmx__model_restore(&model, &seen.list[i]));
    cr_assert_eq(cost_of(OP, GPU, 4096).ns, 900);
    cr_assert_eq(cost_of(OP, GPU, 4096).kind, SVMX__MEASURED);
    cr_assert_eq(cost_of(OP + 1, CPU, 64).ns, 100);
}

Test(model, a_visit_ends_when_told) {
    struct seen seen = {.most = 1};
    learn(OP, CPU, 1024, 700);
    learn(OP, CPU, 4096, 700);
    svmx__model_visit(&model, see, &seen);
    cr_assert_eq(seen.count, 1);
}

Test(model, a_first_use_alone_is_not_visited) {
    struct seen seen = {.most = 8};
    const struct svmx__load load = vector_of(1024);
    svmx__model_learn(&model, OP, GPU, &load, &(struct svmx__sample){.compute_ns = 5, .first_use = true});
    svmx__model_visit(&model, see, &seen);
    cr_assert_eq(seen.count, 0);
    cr_assert_eq(cost_of(OP, GPU, 1024).kind, SVMX__GUESSED);
    cr_assert_eq(cost_of(OP, GPU, 1024).first_use_ns, 5);
}

Test(model, numbers_that_no_sample_can_have_are_refused) {
    const struct svmx__cell_summary good = {
        .op = OP, .device = CPU, .cell = 5, .samples = 3, .ns = 10, .low_ns = 9, .high_ns = 11};
    struct svmx__cell_summary bad[10];
    for (int i = 0; i < 10; i++) bad[i] = good;
    bad[0].ns = NAN;
    bad[1].ns = -1;
    bad[2].high_ns = INFINITY;
    bad[3].low_ns = 12;
    bad[4].samples = 0;
    bad[5].op = SVMX__OP_LIMIT;
    bad[6].device = 2;
    bad[7].cell = SVMX__CELLS;
    bad[8].transfer_ns = -5;
    bad[9].ns = bad[9].low_ns = 0;
    for (int i = 0; i < 10; i++) cr_assert_not(svmx__model_restore(&model, &bad[i]), "number %d", i);
    cr_assert(svmx__model_restore(&model, &good));
}
