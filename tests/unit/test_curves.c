/*
 * test_curves.c: what was measured, as those who draw it read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/executor.h"

#include <criterion/criterion.h>

enum { OP = 3, CAPACITY = 8 };

/* Only its model is asked. */
static struct svmx_executor executor;
static struct svmx_curve_point points[CAPACITY];
static size_t count;

static void set_up(void) {
    const struct svmx__model_device devices[] = {svmx__model_assume(SVMX__ON_HOST),
                                                 svmx__model_assume(SVMX__ON_DEVICE)};
    svmx__model_init(&executor.model, devices, 2);
    points[0].size = sizeof points[0];
}
static void tear_down(void) { svmx__model_fini(&executor.model); }
TestSuite(curves, .init = set_up, .fini = tear_down);

static void learn(uint32_t device, uint64_t units, uint64_t ns) {
    const struct svmx__load load = {.units = units, .work = units, .bytes = 8 * units};
    const struct svmx__sample sample = {.compute_ns = ns};
    for (int i = 0; i < 5; i++) cr_assert(svmx__model_learn(&executor.model, OP, device, &load, &sample));
}

Test(curves, nothing_was_measured) {
    cr_assert_eq(svmx_curves_read(&executor, points, CAPACITY, &count), SVMX_OK);
    cr_assert_eq(count, 0);
}

Test(curves, points_in_order) {
    learn(1, 1000, 7000);
    learn(0, 64000, 90000);
    learn(0, 1000, 2000);
    cr_assert_eq(svmx_curves_read(&executor, points, CAPACITY, &count), SVMX_OK);
    cr_assert_eq(count, 3);
    const struct {
        uint32_t device;
        uint64_t units;
        double ns;
    } wanted[] = {{0, 1024, 2000}, {0, 65536, 90000}, {1, 1024, 7000}};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(points[i].op, OP);
        cr_assert_eq(points[i].device, wanted[i].device);
        cr_assert_eq(points[i].units, wanted[i].units);
        cr_assert_eq(points[i].ns, wanted[i].ns);
        cr_assert_eq(points[i].samples, 5);
        cr_assert(points[i].low_ns <= points[i].ns && points[i].ns <= points[i].high_ns);
    }
    cr_assert_eq(points[0].bytes, 8000);
}

Test(curves, a_small_array_gets_the_first_and_the_number_of_all) {
    learn(0, 1, 100);
    learn(0, 1000, 200);
    points[1].op = 42;
    cr_assert_eq(svmx_curves_read(&executor, points, 1, &count), SVMX_OK);
    cr_assert_eq(count, 2);
    cr_assert_eq(points[0].units, 1);
    cr_assert_eq(points[1].op, 42, "it wrote past the end");
    cr_assert_eq(svmx_curves_read(&executor, NULL, 0, &count), SVMX_OK);
    cr_assert_eq(count, 2);
}

Test(curves, arguments) {
    cr_assert_eq(svmx_curves_read(NULL, points, CAPACITY, &count), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_curves_read(&executor, points, CAPACITY, NULL), SVMX_ERR_ARGUMENT);
    cr_assert_eq(svmx_curves_read(&executor, NULL, CAPACITY, &count), SVMX_ERR_ARGUMENT);
    points[0].size = 8;
    cr_assert_eq(svmx_curves_read(&executor, points, CAPACITY, &count), SVMX_ERR_ARGUMENT);
}
