/*
 * test_simd_field.c: the kernels modulo a number, called by hand: any cut of a dispatch, many short tasks with the
 * same and with other moduli, operands at the edges, on every instruction set, give the bytes of the reference code.
 *
 * A machine with IFMA never takes the kernels for those without: only here do they run on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/variant.h"
#include "op_fixture.h"

#include <stdbool.h>
#include <stdlib.h>

enum { TASKS = 60, PARAMS = 4, GUARD = 64 };

static const char *const ops[] = {"mod_add_u256", "mod_sub_u256", "mod_mul_u256",  "mont_mul_u256",  "mod_add_u384",
                                  "mod_sub_u384", "mod_mul_u384", "mont_mul_u384", "goldilocks_add", "goldilocks_mul"};
enum { OPS = sizeof ops / sizeof ops[0], FIRST_GOLDILOCKS = 8 };

struct tasks {
    const struct svmx__op *op;
    struct svmx_slot slots[TASKS * PARAMS];
    uint64_t first_unit[TASKS + 1];
    uint8_t *memory[TASKS * PARAMS], *expected[TASKS];
};

static uint64_t random_u64(uint64_t *state) { return (uint64_t)random_u32(state) << 32 | random_u32(state); }

static uint64_t record_of(const struct svmx__op *op) { return 8 * op->params[0].record; }

/* Near the modulus, near 0, near the largest, or with words of all ones: what carries run through. */
static void edge(uint8_t *at, const uint8_t *modulus, uint64_t bytes, uint64_t *state) {
    const uint32_t kind = random_u32(state) % 5, step = random_u32(state) % 3;
    if (kind == 0) memcpy(at, modulus, bytes), at[0] = (uint8_t)(at[0] + step - 1);
    if (kind == 1) memset(at, 0, bytes), at[0] = (uint8_t)step;
    if (kind == 2) memset(at, 0xff, bytes), at[0] = (uint8_t)(at[0] - step);
    if (kind == 3) memset(at + 8 * (random_u32(state) % (bytes / 8)), 0xff, 8);
    if (kind == 4) memset(at + 8 * (random_u32(state) % (bytes / 8)), 0, 8);
}

/* `edges` of a hundred operands are changed; the modulus is that of the example, or of the task before. */
static void task_fill(struct tasks *tasks, uint32_t task, unsigned edges, uint64_t *state) {
    const struct svmx__op *op = tasks->op;
    struct svmx_slot *row = &tasks->slots[task * op->param_count];
    const uint64_t bytes = record_of(op), none[6] = {UINT64_C(0xffffffff00000001)};
    svmx__example_fill(op, row, random_u64(state));
    if (op->param_count == 4 && task > 0 && random_u32(state) % 3)
        memcpy((void *)(uintptr_t)row[3].at, (void *)(uintptr_t)row[3 - (int)op->param_count].at, bytes);
    const uint8_t *modulus = op->param_count == 4 ? (const void *)(uintptr_t)row[3].at : (const void *)none;
    for (uint64_t i = 0; i < row[1].bytes / bytes; i++)
        for (int p = 1; p <= 2; p++)
            if (random_u32(state) % 100 < edges)
                edge((uint8_t *)(uintptr_t)row[p].at + bytes * i, modulus, bytes, state);
}

static void task_make(struct tasks *tasks, uint32_t task, uint64_t elements, unsigned edges, uint64_t *state) {
    const struct svmx__op *op = tasks->op;
    struct svmx_slot *row = &tasks->slots[task * op->param_count], wanted[PARAMS];
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    cr_assert_eq(op->shape(elements, bytes), SVMX_OK);
    for (uint32_t i = 0; i < op->param_count; i++) {
        uint8_t *memory = malloc(bytes[i] + 2 * GUARD);
        cr_assert_not_null(memory);
        tasks->memory[task * op->param_count + i] = memset(memory, 0xa5, bytes[i] + 2 * GUARD);
        row[i] = slot(memory + random_u32(state) % GUARD, bytes[i]);
    }
    task_fill(tasks, task, edges, state);
    memcpy(wanted, row, op->param_count * sizeof *row);
    wanted[0].at = (uintptr_t)(tasks->expected[task] = malloc(bytes[0] + 1));
    compute(op->id, wanted);
    tasks->first_unit[task + 1] = tasks->first_unit[task] + elements;
}

static void check_outputs(struct tasks *tasks, const char *variant) {
    for (uint32_t t = 0; t < TASKS; t++) {
        const struct svmx_slot *out = &tasks->slots[t * tasks->op->param_count];
        uint8_t *memory = tasks->memory[t * tasks->op->param_count], *at = (uint8_t *)(uintptr_t)out->at;
        cr_assert_eq(memcmp(at, tasks->expected[t], out->bytes), 0, "%s, %s, task %u", tasks->op->name, variant, t);
        for (uint8_t *guard = memory; guard < at; guard++) cr_assert_eq(*guard, 0xa5);
        for (uint8_t *guard = at + out->bytes; guard < memory + out->bytes + 2 * GUARD; guard++)
            cr_assert_eq(*guard, 0xa5);
        memset(memory, 0xa5, out->bytes + 2 * GUARD);
    }
}

/* Cuts [0, units) into parts and runs them from the last to the first. */
static void run_in_parts(const struct simd_kernel *kernel, const struct tasks *tasks, uint64_t *state) {
    const struct svmx_dispatch d = {.slots = tasks->slots,
                                    .first_unit = tasks->first_unit,
                                    .task_count = TASKS,
                                    .slot_count = tasks->op->param_count};
    uint64_t end = tasks->first_unit[TASKS];
    while (end > 0) {
        const uint64_t first = random_u64(state) % (end < 700 ? end : 700) * (end / 700 + 1) % end;
        kernel->run(&d, first, end);
        end = first;
    }
}

/* A machine as it is, and with less. Returns whether it has it. */
static bool run_on(struct tasks *tasks, const char *variant, uint32_t without, uint64_t *state) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t all = simd_features(&cpuid);
    if (!simd_variant_find(all & ~without, variant) || (without & ~all)) return false;
    const struct simd_kernel *kernel = simd_kernel_find(all & ~without, variant, tasks->op->name);
    cr_assert_not_null(kernel, "%s has no kernel for %s", variant, tasks->op->name);
    run_in_parts(kernel, tasks, state);
    check_outputs(tasks, variant);
    return true;
}

/* Rounds with ever more edges. Skipped where the machine lacks it: nothing was compared then. */
static void compare(const char *variant, uint32_t without) {
    static const unsigned edges[] = {0, 2, 30, 100};
    uint64_t state = 21;
    for (size_t o = 0; o < OPS; o++)
        for (unsigned round = 0; round < 12; round++) {
            struct tasks tasks = {.op = svmx__op_by_name(ops[o])};
            for (uint32_t t = 0; t < TASKS; t++)
                task_make(&tasks, t, random_u32(&state) % (t % 10 == 0 ? 300 : 12), edges[round % 4], &state);
            const bool has = run_on(&tasks, variant, without, &state);
            for (uint32_t i = 0; i < TASKS * tasks.op->param_count; i++) free(tasks.memory[i]);
            for (uint32_t t = 0; t < TASKS; t++) free(tasks.expected[t]);
            if (!has) cr_skip_test("this machine has no %s%s", variant, without ? " with IFMA" : "");
        }
}

Test(simd_field, scalar) { compare("scalar", 0); }
Test(simd_field, avx2) { compare("avx2", 0); }
Test(simd_field, avx512) { compare("avx512", 0); }
Test(simd_field, avx512_without_ifma) { compare("avx512", SIMD_FEATURE_IFMA); }

/* Every lane at once and alone: a rare case in one lane must leave the others alone. */
Test(simd_field, one_edge_in_each_lane) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    const uint32_t features = simd_features(&cpuid);
    const char *variant = simd_variant_best(features);
    uint64_t state = 4;
    for (size_t o = 0; o < FIRST_GOLDILOCKS; o++) {
        const struct svmx__op *op = svmx__op_by_name(ops[o]);
        const uint64_t bytes = record_of(op);
        for (uint64_t seed = 0; seed < 4; seed++)
            for (unsigned lane = 0; lane < 16; lane++) {
                uint8_t memory[5][16 * 48 + 36 * 48];
                uint64_t units[] = {0, 16};
                struct svmx_slot row[PARAMS] = {slot(memory[0], 52 * bytes), slot(memory[1], 52 * bytes),
                                                slot(memory[2], 52 * bytes), slot(memory[3], bytes)};
                op->fill(row, seed); /* its first 36 elements are edges, these are left out */
                for (int p = 1; p <= 2; p++) memmove(memory[p], memory[p] + 36 * bytes, 16 * bytes);
                for (int p = 0; p < 3; p++) row[p].bytes = 16 * bytes;
                edge(memory[1 + random_u32(&state) % 2] + lane * bytes, memory[3], bytes, &state);
                const struct svmx_dispatch d = {.slots = row, .first_unit = units, .task_count = 1, .slot_count = 4};
                compute(op->id, row);
                memcpy(memory[4], memory[0], 16 * bytes);
                memset(memory[0], 0, 16 * bytes);
                simd_kernel_find(features, variant, ops[o])->run(&d, 0, 16);
                cr_assert_arr_eq(memory[0], memory[4], 16 * bytes, "%s, lane %u", ops[o], lane);
            }
    }
}
