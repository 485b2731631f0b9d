/*
 * test_simd_matmul.c: the matrix products of plugins/simd give the reference's bytes: any shape, any data, any cut of
 * the units, any alignment, one or many tasks a dispatch. Kernels are called as pool.c calls them, a range at a time.
 *
 * tests/contract compares through the whole library, with shapes that grow evenly; here are the lopsided ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/variant.h"
#include "ops/op.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

enum { MAX_TASKS = 5, SLOTS = 7, GUARD = 64, GUARD_BYTE = 0xa5 };

static uint32_t random_u32(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

static uint64_t below(uint64_t *state, uint32_t limit) { return (uint64_t)random_u32(state) * limit >> 32; }

/* ---- tasks ---- */

struct task {
    struct svmx_slot slots[SLOTS];
    uint8_t *memory[3], *expected;
};

/* Plain numbers; or any bits; or plain with a few that are special. */
static uint32_t random_float(uint64_t *state, unsigned kind) {
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fc12345, 0xff812345, 0x80000000,
                                       0x00000001, 0x807fffff, 0x7f7fffff, 0x00800000};
    const uint32_t r = random_u32(state);
    if (kind == 1) return r;
    if (kind == 2 && r % 32 == 0) return special[(r >> 8) % 9];
    return (r & 0x80000000) | (uint32_t)(122 + below(state, 10)) << 23 | (random_u32(state) & 0x7fffff);
}

/* Memory at an odd shift that ends where the matrix ends; guards before and behind where `guard` is set. */
static struct svmx_slot make_memory(uint8_t **memory, uint64_t floats, uint64_t guard, uint64_t *state) {
    const uint64_t shift = guard + below(state, 64);
    *memory = malloc(shift + 4 * floats + guard + 1);
    cr_assert_not_null(*memory);
    memset(*memory, GUARD_BYTE, shift + 4 * floats + guard);
    return (struct svmx_slot){(uint64_t)(uintptr_t)(*memory + shift), 4 * floats};
}

static struct svmx_slot make_matrix(uint8_t **memory, uint64_t floats, uint64_t *state) {
    const struct svmx_slot slot = make_memory(memory, floats, 0, state);
    const unsigned kind = (unsigned)below(state, 3);
    for (uint64_t i = 0; i < floats; i++) {
        const uint32_t x = random_float(state, kind);
        memcpy((uint8_t *)(uintptr_t)slot.at + 4 * i, &x, 4);
    }
    return slot;
}

/* `sizes` are count, m, k, n. */
static struct task task_make(const struct svmx__op *op, const uint64_t sizes[4], uint64_t *state) {
    const uint64_t count = sizes[0], m = sizes[1], k = sizes[2], n = sizes[3], scalars = op->param_count - 3;
    struct task task = {0};
    struct svmx__size size;
    struct svmx__text why = {""};
    task.slots[1] = make_matrix(&task.memory[1], count * m * k, state);
    task.slots[2] = make_matrix(&task.memory[2], count * k * n, state);
    for (uint64_t i = 0; i < scalars; i++) task.slots[3 + i] = (struct svmx_slot){sizes[4 - scalars + i], 8};
    task.expected = malloc(4 * count * m * n + 1);
    cr_assert_not_null(task.expected);
    task.slots[0] = (struct svmx_slot){(uint64_t)(uintptr_t)task.expected, 4 * count * m * n};
    cr_assert_eq(op->check(task.slots, &size, &why), SVMX_OK, "%s", why.line);
    svmx__reference_run(op, task.slots);
    task.slots[0] = make_memory(&task.memory[0], count * m * n, GUARD, state);
    return task;
}

static void task_compare(const struct task *task, const char *what, const uint64_t sizes[4]) {
    const uint8_t *out = (const uint8_t *)(uintptr_t)task->slots[0].at;
    const uint64_t bytes = task->slots[0].bytes;
    uint64_t at = 0;
    while (at < bytes && out[at] == task->expected[at]) at++;
    cr_assert_eq(at, bytes, "%s: %lu of %lu x %lu x %lu differ from element %lu on", what, (unsigned long)sizes[0],
                 (unsigned long)sizes[1], (unsigned long)sizes[2], (unsigned long)sizes[3], (unsigned long)at / 4);
    for (const uint8_t *byte = task->memory[0]; byte < out; byte++) cr_assert_eq(*byte, GUARD_BYTE);
    for (uint64_t i = 0; i < GUARD; i++) cr_assert_eq(out[bytes + i], GUARD_BYTE);
}

static void task_free(struct task *task) {
    for (int i = 0; i < 3; i++) free(task->memory[i]);
    free(task->expected);
}

/* ---- dispatches ---- */

static const struct simd_kernel *kernel(const char *variant, const char *op) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    if (simd_variant_find(features, variant) == NULL) cr_skip_test("this machine has no %s", variant);
    const struct simd_kernel *found = simd_kernel_find(features, variant, op);
    cr_assert_not_null(found, "%s has no %s", variant, op);
    return found;
}

/* Runs tasks as one dispatch in random ranges, those of the second part first, and compares. */
static void run(const char *variant, const struct svmx__op *op, uint64_t sizes[][4], uint32_t count, uint64_t *state) {
    const struct simd_kernel *k = kernel(variant, op->name);
    struct task tasks[MAX_TASKS];
    struct svmx_slot rows[MAX_TASKS * SLOTS];
    uint64_t first_unit[MAX_TASKS + 1] = {0};
    for (uint32_t t = 0; t < count; t++) {
        struct svmx__size size;
        tasks[t] = task_make(op, sizes[t], state);
        memcpy(rows + t * op->param_count, tasks[t].slots, op->param_count * sizeof *rows);
        cr_assert_eq(op->check(tasks[t].slots, &size, NULL), SVMX_OK);
        first_unit[t + 1] = first_unit[t] + size.units;
    }
    const struct svmx_dispatch dispatch = {
        .slots = rows, .first_unit = first_unit, .task_count = count, .slot_count = op->param_count};
    const uint64_t units = first_unit[count], half = below(state, (uint32_t)units + 1);
    const uint32_t longest = below(state, 2) ? 1 : 9;
    for (uint64_t at = half, end; at < units; at = end) {
        end = at + 1 + below(state, longest);
        k->run(&dispatch, at, end < units ? end : units);
    }
    for (uint64_t at = 0, end; at < half; at = end) {
        end = at + 1 + below(state, longest);
        k->run(&dispatch, at, end < half ? end : half);
    }
    for (uint32_t t = 0; t < count; t++) {
        task_compare(&tasks[t], variant, sizes[t]);
        task_free(&tasks[t]);
    }
}

/* ---- shapes ---- */

/* Each size alone around what kernels count by: rows and columns of tiles, vectors, steps at once. */
static void edges(const char *variant) {
    static const uint64_t lengths[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  11,  12,  13,  15,  16,  17,
                                       24, 31, 32, 33, 47, 48, 63, 64, 65, 97, 127, 128, 129, 191, 192, 193};
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MATMUL_F32);
    uint64_t state = 1;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned which = 1; which <= 3; which++) {
            uint64_t sizes[1][4] = {{1, 1 + below(&state, 40), 1 + below(&state, 40), 1 + below(&state, 40)}};
            sizes[0][which] = lengths[i];
            run(variant, op, sizes, 1, &state);
        }
}

static void random_shapes(const char *variant) {
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MATMUL_F32);
    uint64_t state = 2;
    for (unsigned i = 0; i < 150; i++) {
        uint64_t sizes[MAX_TASKS][4];
        const uint32_t tasks = 1 + (uint32_t)below(&state, MAX_TASKS);
        for (uint32_t t = 0; t < tasks; t++) {
            const uint32_t limit = below(&state, 6) ? 40 : 170;
            sizes[t][0] = 1;
            for (unsigned s = 1; s <= 3; s++) sizes[t][s] = below(&state, limit);
        }
        run(variant, op, sizes, tasks, &state);
    }
    uint64_t large[][4] = {{1, 400, 450, 150}, {1, 3, 700, 300}, {1, 300, 700, 3}};
    run(variant, op, large, 3, &state);
}

static void batches(const char *variant) {
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MATMUL_BATCH_F32);
    uint64_t state = 3;
    for (unsigned i = 0; i < 100; i++) {
        uint64_t sizes[MAX_TASKS][4];
        const uint32_t tasks = 1 + (uint32_t)below(&state, MAX_TASKS);
        for (uint32_t t = 0; t < tasks; t++) {
            sizes[t][0] = below(&state, 20);
            for (unsigned s = 1; s <= 3; s++) sizes[t][s] = below(&state, 20);
        }
        run(variant, op, sizes, tasks, &state);
    }
    uint64_t large[][4] = {{3, 150, 20, 70}, {2, 5, 400, 33}};
    run(variant, op, large, 2, &state);
}

/*
 * Sums that a second rounding gets wrong: c, plus or minus half of its last place less a very little. 1 + 2^-i times
 * 1 - 2^-i is 1 - 2^-2i, which double precision cannot add to c once i is 15 or more. A product of two steps computes
 * them all: the first makes c of 1 c, the second is x y + c.
 */
static void ties(const char *variant) {
    enum { M = 64, N = 4096 };
    const struct simd_kernel *k = kernel(variant, "matmul_f32");
    const struct svmx__op *op = svmx__op_by_id(SVMX_OP_MATMUL_F32);
    static float a[M][2], b[2][N], out[M][N], expected[M][N];
    uint64_t state = 4;
    for (size_t i = 0; i < M; i++) {
        a[i][0] = 1;
        a[i][1] = ldexpf(1 + ldexpf(1, -13 - (int)(i % 11)), -60) * (i % 3 ? 1 : -1);
    }
    for (size_t j = 0; j < N; j++) {
        const int last = j % 4 ? (int)below(&state, 60) - 30 : -149; /* exponent of the last place of c */
        const uint32_t c = random_u32(&state) >> (j % 8 ? 8 : 8 + below(&state, 24));
        b[0][j] = ldexpf((float)c, last) * (j % 5 ? 1 : -1);
        b[1][j] = ldexpf(1 - ldexpf(1, -13 - (int)below(&state, 11)), last - 1 + 60);
    }
    struct svmx_slot slots[] = {{(uint64_t)(uintptr_t)expected, sizeof expected},
                                {(uint64_t)(uintptr_t)a, sizeof a},
                                {(uint64_t)(uintptr_t)b, sizeof b},
                                {M, 8},
                                {2, 8},
                                {N, 8}};
    svmx__reference_run(op, slots);
    slots[0].at = (uint64_t)(uintptr_t)out;
    const uint64_t first_unit[] = {0, N / 32};
    k->run(&(struct svmx_dispatch){.slots = slots, .first_unit = first_unit, .task_count = 1, .slot_count = 6}, 0,
           N / 32);
    size_t wrong_if_twice = 0;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < N; j++) {
            const float twice = (float)((double)a[i][1] * b[1][j] + (double)b[0][j]);
            wrong_if_twice += memcmp(&twice, &expected[i][j], 4) != 0;
            cr_assert_eq(memcmp(&out[i][j], &expected[i][j], 4), 0, "%a * %a + %a: %a, expected %a", (double)a[i][1],
                         (double)b[1][j], (double)b[0][j], (double)out[i][j], (double)expected[i][j]);
        }
    cr_assert_gt(wrong_if_twice, 100, "these data would not find a sum that is rounded twice");
}

Test(simd_matmul, edges_scalar) { edges("scalar"); }
Test(simd_matmul, edges_avx2) { edges("avx2"); }
Test(simd_matmul, edges_avx512) { edges("avx512"); }
Test(simd_matmul, random_shapes_scalar) { random_shapes("scalar"); }
Test(simd_matmul, random_shapes_avx2) { random_shapes("avx2"); }
Test(simd_matmul, random_shapes_avx512) { random_shapes("avx512"); }
Test(simd_matmul, batches_scalar) { batches("scalar"); }
Test(simd_matmul, batches_avx2) { batches("avx2"); }
Test(simd_matmul, batches_avx512) { batches("avx512"); }
Test(simd_matmul, ties_scalar) { ties("scalar"); }
Test(simd_matmul, ties_avx2) { ties("avx2"); }
Test(simd_matmul, ties_avx512) { ties("avx512"); }
