/*
 * test_example.c: made-up data is the same everywhere and accepted by its operation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ops/op.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static struct svmx_slot slot(const void *at, uint64_t bytes) {
    return (struct svmx_slot){(uint64_t)(uintptr_t)at, bytes};
}

/* A task of `size` units in memory of its own, as svmx_example_create makes it. Bytes before filling are `stale`. */
static void make(const struct svmx__op *op, uint64_t size, uint64_t seed, int stale, struct svmx_slot *slots) {
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    cr_assert_eq(op->shape(size, bytes), SVMX_OK);
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].shape == SVMX_SCALAR) {
            slots[i] = (struct svmx_slot){bytes[i], svmx_type_bytes((enum svmx_type)op->params[i].type)};
            continue;
        }
        void *memory = malloc(bytes[i] + 1);
        cr_assert_not_null(memory);
        slots[i] = slot(memset(memory, stale, bytes[i] + 1), bytes[i]);
    }
    svmx__example_fill(op, slots, seed);
}

static void drop(const struct svmx__op *op, struct svmx_slot *slots) {
    for (uint32_t i = 0; i < op->param_count; i++)
        if (op->params[i].shape != SVMX_SCALAR) free((void *)(uintptr_t)slots[i].at);
}

static _Bool same_inputs(const struct svmx__op *op, const struct svmx_slot *x, const struct svmx_slot *y) {
    for (uint32_t i = 0; i < op->param_count; i++) {
        if (op->params[i].direction == SVMX_OUT || op->params[i].shape == SVMX_SCALAR) continue;
        const void *of_x = (void *)(uintptr_t)x[i].at, *of_y = (void *)(uintptr_t)y[i].at;
        if (x[i].bytes != y[i].bytes || memcmp(of_x, of_y, x[i].bytes) != 0) return 0;
    }
    return 1;
}

Test(example, every_operation_accepts_its_own_and_writes_nothing_past_it) {
    static const uint64_t sizes[] = {0, 1, 2, 63, 1000};
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct svmx_slot slots[SVMX__MAX_PARAMS];
            struct svmx__size size;
            struct svmx__text why = {""};
            make(op, sizes[s], 42, 0xa5, slots);
            cr_assert_eq(op->check(slots, &size, &why), SVMX_OK, "%s of %lu: %s", op->name, (unsigned long)sizes[s],
                         why.line);
            svmx__reference_run(op, slots);
            for (uint32_t p = 0; p < op->param_count; p++)
                if (op->params[p].shape != SVMX_SCALAR)
                    cr_assert_eq(*((uint8_t *)(uintptr_t)slots[p].at + slots[p].bytes), 0xa5);
            drop(op, slots);
        }
    }
}

Test(example, a_seed_decides_every_input_byte) {
    for (uint32_t i = 0; i < svmx__op_count(); i++) {
        const struct svmx__op *op = svmx__op_at(i);
        struct svmx_slot one[SVMX__MAX_PARAMS], again[SVMX__MAX_PARAMS], other[SVMX__MAX_PARAMS];
        make(op, 500, 7, 0x00, one);
        make(op, 500, 7, 0xff, again);
        make(op, 500, 8, 0x00, other);
        cr_assert(same_inputs(op, one, again), "%s: the same seed gave other bytes", op->name);
        cr_assert_not(same_inputs(op, one, other), "%s: another seed gave the same bytes", op->name);
        drop(op, one);
        drop(op, again);
        drop(op, other);
    }
}

/* Bytes that are written down here once: a change of the generator would silently change everyone's benchmarks. */
Test(example, the_bytes_are_these) {
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_VEC_ADD_F32);
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    make(op, 3, 1, 0, slots);
    const float *a = (const float *)(uintptr_t)slots[1].at, *b = (const float *)(uintptr_t)slots[2].at;
    cr_assert(a[0] == -0x1.0e9ccp-4f && a[1] == -0x1.dcd854p-1f && a[2] == -0x1.d0ed48p-1f, "%a %a %a", a[0], a[1],
              a[2]);
    cr_assert(b[0] == 0x1.3638cp-2f && b[1] == -0x1.2afeap-3f && b[2] == 0x1.53f42p-2f, "%a %a %a", b[0], b[1], b[2]);
    drop(op, slots);
}

Test(example, floats_lie_in_minus_one_to_one_and_fill_it) {
    enum { N = 100000 };
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_SUM_F32);
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    make(op, N, 3, 0, slots);
    const float *a = (const float *)(uintptr_t)slots[1].at;
    unsigned quarter[4] = {0};
    for (size_t i = 0; i < N; i++) {
        cr_assert(a[i] >= -1 && a[i] < 1);
        cr_assert_eq(a[i] * 0x1p23f, (float)(int32_t)(a[i] * 0x1p23f), "not a multiple of 2^-23");
        quarter[(unsigned)((a[i] + 1) * 2)]++;
    }
    for (unsigned q = 0; q < 4; q++) cr_assert(quarter[q] > N / 4 - N / 50 && quarter[q] < N / 4 + N / 50);
    drop(op, slots);
}

/* ---- types and cuts that no operation has yet ---- */

static void fill_all(const struct svmx_param *params, uint32_t count, const struct svmx_slot *slots, uint64_t seed) {
    const struct svmx__op op = {.name = "made_up", .params = params, .param_count = count};
    svmx__example_fill(&op, slots, seed);
}

Test(example, doubles_lie_in_minus_one_to_one) {
    double x[1000], sum = 0;
    const struct svmx_param params[] = {{"x", SVMX_IN, SVMX_F64, SVMX_ARRAY, 0, 1}};
    const struct svmx_slot slots[] = {slot(x, sizeof x)};
    fill_all(params, 1, slots, 5);
    for (size_t i = 0; i < 1000; i++) {
        cr_assert(x[i] >= -1 && x[i] < 1);
        sum += x[i];
    }
    cr_assert(sum > -100 && sum < 100 && x[0] != x[1]);
}

Test(example, outputs_and_scalars_are_left_alone) {
    uint8_t out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[5] = {0};
    const struct svmx_param params[] = {{"out", SVMX_OUT, SVMX_U8, SVMX_ARRAY, 0, 1},
                                        {"k", SVMX_IN, SVMX_U64, SVMX_SCALAR, 0, 1},
                                        {"in", SVMX_IN, SVMX_U8, SVMX_ARRAY, 0, 1}};
    const struct svmx_slot slots[] = {slot(out, 8), {12345, 8}, slot(in, 5)};
    fill_all(params, 3, slots, 1);
    cr_assert_arr_eq(out, ((uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8}), 8);
    cr_assert(in[0] | in[1] | in[2] | in[3] | in[4]);
}

Test(example, offsets_cut_evenly_and_all) {
    uint8_t data[11];
    uint64_t offsets[5];
    const struct svmx_param params[] = {{"data", SVMX_IN, SVMX_U8, SVMX_RAGGED, 0, 1},
                                        {"offsets", SVMX_IN, SVMX_U64, SVMX_OFFSETS, 0, 1}};
    const struct svmx_slot slots[] = {slot(data, 11), slot(offsets, sizeof offsets)};
    fill_all(params, 2, slots, 1);
    cr_assert_arr_eq(offsets, ((uint64_t[]){0, 3, 6, 9, 11}), sizeof offsets);
    const struct svmx_slot none[] = {slot(data, 11), slot(offsets, 0)}, one[] = {slot(data, 11), slot(offsets, 8)};
    offsets[0] = 77;
    fill_all(params, 2, none, 1);
    cr_assert_eq(offsets[0], 77);
    fill_all(params, 2, one, 1);
    cr_assert_eq(offsets[0], 0);
}

static void own_fill(const struct svmx_slot *slots, uint64_t seed) { *(uint64_t *)(uintptr_t)slots->at = seed; }

Test(example, a_fill_of_the_operation_comes_first) {
    uint64_t x = 0;
    const struct svmx_param params[] = {{"x", SVMX_IN, SVMX_U64, SVMX_ARRAY, 0, 1}};
    const struct svmx__op op = {.name = "made_up", .params = params, .param_count = 1, .fill = own_fill};
    const struct svmx_slot slots[] = {slot(&x, 8)};
    svmx__example_fill(&op, slots, 99);
    cr_assert_eq(x, 99);
}
