/*
 * test_layout_cache.c: where the arguments of an operation go on each sort of device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/layout_cache.h"

#include <criterion/criterion.h>

static const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_F32, SVMX_ARRAY, 0, 1},
                                           {"k", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1},
                                           {"data", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1},
                                           {"offsets", SVMX_IN, SVMX_U64, SVMX_OFFSETS, 0, 1}};
static const struct svmx_op_desc desc = {
    .size = sizeof desc, .name = "op", .params = params, .param_count = 4, .scratch_bytes_per_unit = 12};

static struct svmx__layout layout_on(uint32_t flags, uint32_t alignment) {
    struct svmx__layout_cache cache;
    const struct svmx_device_info info = {.size = sizeof info, .flags = flags, .alignment = alignment};
    cr_assert_eq(svmx__layout_cache_init(&cache, 1, 1), SVMX_OK);
    const struct svmx__layout *layout = svmx__layout_cache_get(&cache, 0, 0, &desc, &info);
    cr_assert_not_null(layout);
    struct svmx__layout copy = *layout;
    svmx__layout_cache_fini(&cache);
    return copy;
}

Test(layout_cache, on_a_device_with_memory) {
    struct svmx__layout layout = layout_on(0, 256);
    cr_assert_eq(layout.slot_count, 4);
    cr_assert_eq(layout.alignment, 256);
    cr_assert_eq(layout.guard_bytes, 256, "so that the first output is aligned");
    cr_assert_eq(layout.scratch_bytes_per_unit, 12);
    cr_assert_eq(layout.place[0], SVMX__PLACE_OUTPUT);
    cr_assert_eq(layout.place[1], SVMX__PLACE_VALUE);
    cr_assert_eq(layout.place[2], SVMX__PLACE_INPUT);
    cr_assert_eq(layout.place[3], SVMX__PLACE_INPUT);
    cr_assert_eq(layout.usage_staging_in, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_SOURCE);
    cr_assert_eq(layout.usage_staging_out, SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_TARGET);
    cr_assert_eq(layout.usage_inputs, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_COPY_TARGET);
    cr_assert_eq(layout.usage_outputs, SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_SOURCE | SVMX_USAGE_COPY_TARGET);
    cr_assert_eq(layout.usage_scratch, SVMX_USAGE_KERNEL_READ | SVMX_USAGE_KERNEL_WRITE | SVMX_USAGE_COPY_TARGET);
}

Test(layout_cache, on_a_device_that_binds_staging_memory) {
    struct svmx__layout layout = layout_on(SVMX_DEVICE_SHARES_MEMORY, 64);
    cr_assert_eq(layout.usage_staging_in, SVMX_USAGE_HOST_WRITE | SVMX_USAGE_KERNEL_READ);
    cr_assert_eq(layout.usage_staging_out,
                 SVMX_USAGE_HOST_READ | SVMX_USAGE_HOST_WRITE | SVMX_USAGE_COPY_TARGET | SVMX_USAGE_KERNEL_WRITE);
    cr_assert_eq(layout.place[0], SVMX__PLACE_OUTPUT);
}

Test(layout_cache, on_host_memory) {
    struct svmx__layout layout = layout_on(SVMX_DEVICE_HOST_MEMORY, 0);
    cr_assert_eq(layout.alignment, 1, "none is 1");
    cr_assert_eq(layout.guard_bytes, SVMX__GUARD_BYTES);
    cr_assert_eq(layout.place[0], SVMX__PLACE_HOST);
    cr_assert_eq(layout.place[1], SVMX__PLACE_VALUE);
    cr_assert_eq(layout.place[2], SVMX__PLACE_HOST);
    cr_assert(layout.usage_scratch & SVMX_USAGE_HOST_WRITE, "the backend gets its address");
}

Test(layout_cache, computed_once_for_each_device_and_operation) {
    struct svmx__layout_cache cache;
    const struct svmx__layout *layouts[3][5];
    const struct svmx_device_info info = {.size = sizeof info, .alignment = 64};
    cr_assert_eq(svmx__layout_cache_init(&cache, 3, 5), SVMX_OK);
    for (int round = 0; round < 2; round++)
        for (uint32_t d = 0; d < 3; d++)
            for (uint32_t o = 0; o < 5; o++) {
                const struct svmx__layout *layout = svmx__layout_cache_get(&cache, d, o, &desc, &info);
                if (round) cr_assert_eq(layout, layouts[d][o]);
                layouts[d][o] = layout;
            }
    for (uint32_t i = 1; i < 15; i++) cr_assert_neq(layouts[i / 5][i % 5], layouts[0][0], "shared by two");
    svmx__layout_cache_fini(&cache);
}
