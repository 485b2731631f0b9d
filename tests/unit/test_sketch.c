/*
 * test_sketch.c: quantiles of the last numbers of a stream.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sketch.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { WINDOW = SVMX__SKETCH_WINDOW };

static float median_of(const struct svmx__sketch *sketch) { return svmx__sketch_quantile(sketch, 0.5); }

Test(sketch, an_empty_one_says_nothing) {
    struct svmx__sketch sketch = {.count = 0};
    cr_assert_eq(median_of(&sketch), 0);
    svmx__sketch_keep(&sketch, 5);
    cr_assert_eq(sketch.count, 0);
}

Test(sketch, quantiles_of_few) {
    struct svmx__sketch sketch = {.count = 0};
    const float values[] = {30, 10, 20, 50, 40};
    for (int i = 0; i < 5; i++) svmx__sketch_add(&sketch, values[i]);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 0), 10);
    cr_assert_eq(median_of(&sketch), 30);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 0.99), 50);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 1), 50);
}

Test(sketch, one_that_is_a_thousand_times_too_long_does_not_move_the_median) {
    struct svmx__sketch sketch = {.count = 0};
    for (int i = 0; i < 10; i++) svmx__sketch_add(&sketch, 100);
    svmx__sketch_add(&sketch, 100000);
    cr_assert_eq(median_of(&sketch), 100);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 1), 100000);
}

Test(sketch, follows_a_change_after_half_a_window) {
    struct svmx__sketch sketch = {.count = 0};
    for (int i = 0; i < 2 * WINDOW; i++) svmx__sketch_add(&sketch, 1);
    for (int i = 0; i < WINDOW / 2; i++) svmx__sketch_add(&sketch, 2);
    cr_assert_eq(median_of(&sketch), 1);
    svmx__sketch_add(&sketch, 2);
    cr_assert_eq(median_of(&sketch), 2);
}

static int ascending(const void *a, const void *b) {
    const float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

Test(sketch, is_the_sorted_window_at_every_step) {
    struct svmx__sketch sketch = {.count = 0};
    float stream[500];
    uint32_t state = 1;
    for (int n = 0; n < 500; n++) {
        state = state * 1664525 + 1013904223;
        stream[n] = (float)(state >> 28); /* few values: many are equal */
        svmx__sketch_add(&sketch, stream[n]);
        const int count = n + 1 < WINDOW ? n + 1 : WINDOW;
        float sorted[WINDOW];
        for (int i = 0; i < count; i++) sorted[i] = stream[n - i];
        qsort(sorted, (size_t)count, sizeof *sorted, ascending);
        cr_assert_eq(sketch.count, (uint32_t)count);
        for (int i = 0; i < count; i++) cr_assert_eq(sketch.sorted[i], sorted[i], "%d of %d after %d", i, count, n);
    }
}

Test(sketch, keeps_the_last_ones) {
    struct svmx__sketch sketch = {.count = 0};
    for (int i = 0; i < WINDOW + 7; i++) svmx__sketch_add(&sketch, (float)i);
    svmx__sketch_keep(&sketch, 3);
    cr_assert_eq(sketch.count, 3);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 0), WINDOW + 4);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 1), WINDOW + 6);
    for (int i = 0; i < WINDOW; i++) svmx__sketch_add(&sketch, 5);
    cr_assert_eq(svmx__sketch_quantile(&sketch, 1), 5);
    svmx__sketch_keep(&sketch, 1000);
    cr_assert_eq(sketch.count, WINDOW);
}
