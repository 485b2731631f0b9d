/*
 * test_op_grid_u8.c: grids by hand, by the rules of their group, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "op_fixture.h"

#include <stdlib.h>

enum { T = SVMX_OP_GRID_TRANSPOSE_U8, R = SVMX_OP_GRID_ROTATE_U8, F = SVMX_OP_GRID_FLIP_U8 };

static void run(uint32_t op, uint8_t *out, const uint8_t *in, uint64_t n, uint32_t height, uint32_t width,
                uint32_t how) {
    const uint64_t bytes = n * height * width;
    const struct svmx_slot slots[] = {slot(out, bytes), slot(in, bytes), scalar_u32(height), scalar_u32(width),
                                      scalar_u32(how)};
    compute(op, slots);
}

/*  1 2 3   A B C
 *  4 5 6   D E F  */
Test(op_grid_u8, two_grids_by_hand) {
    static const uint8_t in[] = "123456ABCDEF";
    uint8_t out[13] = {0};
    run(T, out, in, 2, 2, 3, 0);
    cr_assert_str_eq((char *)out, "142536ADBECF");
    run(R, out, in, 2, 2, 3, 1);
    cr_assert_str_eq((char *)out, "415263DAEBFC");
    run(R, out, in, 2, 2, 3, 2);
    cr_assert_str_eq((char *)out, "654321FEDCBA");
    run(R, out, in, 2, 2, 3, 3);
    cr_assert_str_eq((char *)out, "362514CFBEAD");
    run(F, out, in, 2, 2, 3, SVMX_GRID_LEFT_RIGHT);
    cr_assert_str_eq((char *)out, "321654CBAFED");
    run(F, out, in, 2, 2, 3, SVMX_GRID_UP_DOWN);
    cr_assert_str_eq((char *)out, "456123DEFABC");
}

/* In the group of the square: what is done twice or four times is undone; a turn is two mirrors. */
Test(op_grid_u8, turns_and_mirrors_agree_with_one_another) {
    enum { N = 3, SIDE = 40 };
    static uint8_t in[N * SIDE * SIDE], a[sizeof in], b[sizeof in], c[sizeof in];
    uint64_t state = 1;
    random_bytes(&state, in, sizeof in);
    for (uint32_t h = 1; h <= SIDE; h += 3)
        for (uint32_t w = 1; w <= SIDE; w += 2) {
            const size_t bytes = (size_t)N * h * w;
            run(T, a, in, N, h, w, 0);
            run(T, b, a, N, w, h, 0);
            cr_assert(memcmp(b, in, bytes) == 0, "transposed twice, %u x %u", h, w);
            run(R, b, in, N, h, w, 1);
            run(F, c, a, N, w, h, SVMX_GRID_LEFT_RIGHT);
            cr_assert(memcmp(b, c, bytes) == 0, "a quarter is transpose and left-right, %u x %u", h, w);
            run(R, a, b, N, w, h, 1);
            run(R, c, in, N, h, w, 2);
            cr_assert(memcmp(a, c, bytes) == 0, "two quarters, %u x %u", h, w);
            run(R, b, a, N, h, w, 1);
            run(R, c, in, N, h, w, 3);
            cr_assert(memcmp(b, c, bytes) == 0, "three quarters, %u x %u", h, w);
            run(F, b, in, N, h, w, SVMX_GRID_UP_DOWN);
            run(F, c, b, N, h, w, SVMX_GRID_LEFT_RIGHT);
            cr_assert(memcmp(a, c, bytes) == 0, "a half is both mirrors, %u x %u", h, w);
        }
}

Test(op_grid_u8, units_are_grids_and_work_their_bytes) {
    uint8_t in[60], out[60];
    const struct svmx_slot slots[] = {slot(out, 60), slot(in, 60), scalar_u32(3), scalar_u32(4), scalar_u32(1)};
    const struct svmx_slot none[] = {slot(NULL, 0), slot(NULL, 0), scalar_u32(3), scalar_u32(4), scalar_u32(1)};
    static const uint32_t ops[] = {T, R, F};
    for (unsigned i = 0; i < 3; i++) {
        accepted(ops[i], slots, 5, 60);
        accepted(ops[i], none, 0, 0);
    }
}

Test(op_grid_u8, shapes_without_cells_and_lengths_that_do_not_fit_are_refused) {
    uint8_t in[901], out[901];
    static const uint32_t ops[] = {T, R, F};
    for (unsigned i = 0; i < 3; i++) {
        struct svmx_slot slots[] = {slot(out, 60), slot(in, 60), scalar_u32(0), scalar_u32(5), scalar_u32(1)};
        refused(ops[i], slots, "a grid of 0 x 5 has no cell: height and width must be at least 1");
        slots[2] = scalar_u32(5), slots[3] = scalar_u32(0);
        refused(ops[i], slots, "a grid of 5 x 0 has no cell: height and width must be at least 1");
        slots[3] = scalar_u32(5);
        refused(ops[i], slots, "grids has 60 bytes, which is no whole number of grids of 5 x 5 = 25");
        slots[0] = slot(out, 901), slots[1] = slot(in, 901), slots[2] = slots[3] = scalar_u32(30);
        refused(ops[i], slots, "grids has 901 bytes, which is no whole number of grids of 30 x 30 = 900");
        slots[0] = slot(out, 900);
        refused(ops[i], slots, "grids has 901 items but out has 900: give both the same length");
        slots[1] = slot(in, 900), slots[2] = slots[3] = scalar_u32(UINT32_MAX);
        refused(ops[i], slots,
                "grids has 900 bytes, which is no whole number of grids of 4294967295 x 4294967295 = "
                "18446744065119617025");
    }
}

Test(op_grid_u8, turns_and_axes_that_do_not_exist_are_refused) {
    uint8_t in[4], out[4];
    struct svmx_slot slots[] = {slot(out, 4), slot(in, 4), scalar_u32(2), scalar_u32(2), scalar_u32(0)};
    refused(R, slots, "quarter_turns is 0 but must be 1 to 3");
    slots[4] = scalar_u32(4);
    refused(R, slots, "quarter_turns is 4 but must be 1 to 3");
    slots[4] = scalar_u32(2);
    refused(F, slots, "axis is 2 but must be 0 to 1");
    slots[4] = scalar_u32(UINT32_MAX);
    refused(F, slots, "axis is 4294967295 but must be 0 to 1");
}
