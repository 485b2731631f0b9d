/*
 * test_alloc.c: sizes that are checked, arrays that grow, aligned blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/alloc.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(alloc, sums_and_products_that_do_not_fit_are_refused) {
    uint64_t result;
    cr_assert(svmx__add(UINT64_MAX - 1, 1, &result));
    cr_assert_eq(result, UINT64_MAX);
    cr_assert_not(svmx__add(UINT64_MAX, 1, &result));
    cr_assert(svmx__mul(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &result));
    cr_assert_eq(result, UINT64_C(0xffffffff00000000));
    cr_assert_not(svmx__mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &result));
    cr_assert(svmx__mul(0, UINT64_MAX, &result));
    cr_assert_eq(result, 0);
}

Test(alloc, align_rounds_up) {
    cr_assert_eq(svmx__align(0, 64), 0);
    cr_assert_eq(svmx__align(1, 64), 64);
    cr_assert_eq(svmx__align(64, 64), 64);
    cr_assert_eq(svmx__align(65, 64), 128);
    cr_assert_eq(svmx__align(12345, 1), 12345);
    cr_assert_eq(svmx__align((UINT64_C(1) << 46) + 1, UINT64_C(1) << 31), (UINT64_C(1) << 46) + (UINT64_C(1) << 31));
}

Test(alloc, pow2_is_the_smallest_that_is_not_below) {
    cr_assert_eq(svmx__pow2(0), 1);
    cr_assert_eq(svmx__pow2(1), 1);
    cr_assert_eq(svmx__pow2(2), 2);
    for (int i = 2; i < 63; i++) {
        uint64_t power = UINT64_C(1) << i;
        cr_assert_eq(svmx__pow2(power), power);
        cr_assert_eq(svmx__pow2(power - 1), power);
        cr_assert_eq(svmx__pow2(power + 1), 2 * power);
    }
    cr_assert_eq(svmx__pow2(UINT64_C(1) << 63), UINT64_C(1) << 63);
}

Test(alloc, an_array_grows_and_keeps_its_entries) {
    int *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        cr_assert(svmx__grow((void **)&array, &capacity, i + 1, sizeof *array));
        cr_assert_gt(capacity, i);
        if (capacity != before) cr_assert_geq(capacity, before + before / 2, "it must not crawl");
        array[i] = (int)i;
    }
    for (size_t i = 0; i < 10000; i++) cr_assert_eq(array[i], (int)i);
    int *kept = array;
    size_t room = capacity;
    cr_assert(svmx__grow((void **)&array, &capacity, 5, sizeof *array));
    cr_assert(array == kept && capacity == room, "there was room");
    free(array);
}

Test(alloc, an_array_that_cannot_grow_stays_as_it_is) {
    int *array = NULL;
    size_t capacity = 0;
    cr_assert(svmx__grow((void **)&array, &capacity, 3, sizeof *array));
    int *kept = array;
    size_t room = capacity;
    cr_assert_not(svmx__grow((void **)&array, &capacity, SIZE_MAX, sizeof *array));
    cr_assert_not(svmx__grow((void **)&array, &capacity, SIZE_MAX / sizeof *array + 1, sizeof *array));
    cr_assert(array == kept && capacity == room);
    free(array);
}

Test(alloc, blocks_are_aligned_whatever_their_size) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4097};
    for (size_t alignment = 1; alignment <= 65536; alignment *= 4)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            unsigned char *block = svmx__aligned_alloc(sizes[i], alignment);
            cr_assert_not_null(block);
            cr_assert_eq((uintptr_t)block % (alignment < 64 ? 64 : alignment), 0);
            memset(block, 1, sizes[i]);
            free(block);
        }
}

Test(alloc, sizes_that_wrap_round_are_refused) {
    cr_assert_null(svmx__aligned_alloc(SIZE_MAX, 64));
    cr_assert_null(svmx__aligned_alloc(SIZE_MAX - 63, 64));
    cr_assert_null(svmx__aligned_alloc(SIZE_MAX - 4096, 65536));
}
