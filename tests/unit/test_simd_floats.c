/*
 * test_simd_floats.c: the kernels of floats and doubles, called by hand: any cut of a dispatch into ranges, in any order,
 * on every variant, gives the bytes of the reference code; and so does what is too large for the caches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/simd/variant.h"
#include "floats_fixture.h"

#include <stdbool.h>

static const char *const ops[] = {
    "vec_add_f32", "vec_sub_f32",      "vec_mul_f32",     "axpy_f32", "relu_f32",  "leaky_relu_f32",
    "elu_f32",     "clip_f32",         "sigmoid_f32",     "tanh_f32", "swish_f32", "gelu_f32",
    "exp_f32",     "softmax_f32",      "log_softmax_f32", "sum_f32",  "dot_f32",   "max_f32",
    "min_f32",     "max_abs_diff_f32", "vec_add_f64",     "axpy_f64", "sum_f64",   "max_abs_diff_f64",
};
static const char *const variants[] = {"scalar", "avx2", "avx512"};
enum { OPS = sizeof ops / sizeof ops[0], VARIANTS = 3, TASKS = 40, SHIFT = 64 };

static uint32_t machine_features(void) {
    const struct simd_cpuid cpuid = simd_cpuid_read();
    return simd_features(&cpuid);
}

/* Some tasks of one operation and what is expected of them. */
struct tasks {
    const struct svmx__op *op;
    uint32_t count;
    struct svmx_slot slots[TASKS * SVMX__MAX_PARAMS];
    uint64_t first_unit[TASKS + 1];
    uint8_t *memory[TASKS * SVMX__MAX_PARAMS], *expected[TASKS];
    void *scratch;
};

/* Numbers near 1 mostly, some of any kind; in every fourth task nothing but these. */
static void fill_wild(const struct svmx_param *param, uint8_t *at, uint64_t bytes, uint64_t *state, uint32_t task) {
    for (uint64_t i = 0; i < bytes / 4; i++) {
        const bool wild = task % 4 == 3 || next_random(state) % 5000 == 0;
        uint32_t bits = wild ? any_bits(state) : to_bits(between(state, -9, 9));
        if (param->type == SVMX_F64 && !wild && i % 2 == 0) bits = (uint32_t)next_random(state);
        memcpy(at + 4 * i, &bits, 4);
    }
}

static void add_task(struct tasks *tasks, uint64_t elements, unsigned shift, uint64_t *state) {
    const struct svmx__op *op = tasks->op;
    const uint32_t base = tasks->count * op->param_count;
    uint64_t bytes[SVMX__MAX_PARAMS] = {0};
    struct svmx_slot expected[SVMX__MAX_PARAMS];
    struct svmx__size size;
    cr_assert_eq(op->shape(elements, bytes), SVMX_OK);
    for (uint32_t i = 0; i < op->param_count; i++) {
        tasks->slots[base + i] = (struct svmx_slot){bytes[i], svmx_type_bytes((enum svmx_type)op->params[i].type)};
        if (op->params[i].shape == SVMX_SCALAR) continue;
        uint8_t *memory = malloc(bytes[i] + 2 * SHIFT);
        cr_assert_not_null(memory);
        tasks->memory[base + i] = memset(memory, 0xa5, bytes[i] + 2 * SHIFT);
        tasks->slots[base + i] = slot(memory + shift, bytes[i]);
        if (op->params[i].direction == SVMX_IN)
            fill_wild(&op->params[i], memory + shift, bytes[i], state, tasks->count);
    }
    memcpy(expected, &tasks->slots[base], op->param_count * sizeof expected[0]);
    tasks->expected[tasks->count] = malloc(bytes[0] + 1);
    expected[0] = slot(tasks->expected[tasks->count], bytes[0]);
    cr_assert_eq(op->check(expected, &size, NULL), SVMX_OK);
    svmx__reference_run(op, expected);
    tasks->first_unit[tasks->count + 1] = tasks->first_unit[tasks->count] + size.units;
    tasks->count++;
}

/* Outputs as expected, with nothing around them touched; and as before afterwards, for the next variant. */
static void check_outputs(struct tasks *tasks, const char *variant, unsigned shift) {
    for (uint32_t t = 0; t < tasks->count; t++) {
        const uint64_t bytes = tasks->slots[t * tasks->op->param_count].bytes;
        uint8_t *memory = tasks->memory[t * tasks->op->param_count];
        cr_assert_eq(memcmp(memory + shift, tasks->expected[t], bytes), 0, "%s, %s, task %u of %u", tasks->op->name,
                     variant, t, tasks->count);
        for (unsigned i = 0; i < shift; i++) cr_assert_eq(memory[i], 0xa5);
        for (unsigned i = 0; i < SHIFT; i++) cr_assert_eq(memory[shift + bytes + i], 0xa5);
        memset(memory, 0xa5, bytes + 2 * SHIFT);
    }
}

static void drop(struct tasks *tasks) {
    for (uint32_t i = 0; i < tasks->count * tasks->op->param_count; i++) free(tasks->memory[i]);
    for (uint32_t t = 0; t < tasks->count; t++) free(tasks->expected[t]);
    free(tasks->scratch);
}

static struct svmx_dispatch dispatch_of(struct tasks *tasks) {
    const uint64_t units = tasks->first_unit[tasks->count];
    tasks->scratch = aligned_alloc(64, (units * 8 + 64) / 64 * 64);
    cr_assert_not_null(tasks->scratch);
    return (struct svmx_dispatch){.slots = tasks->slots,
                                  .first_unit = tasks->first_unit,
                                  .task_count = tasks->count,
                                  .slot_count = tasks->op->param_count,
                                  .host_scratch = tasks->scratch};
}

/* Cuts [0, units) at random places and runs the even parts from the end, then the odd ones from the start. */
static void run_in_parts(const struct simd_kernel *kernel, const struct svmx_dispatch *d, uint64_t *state) {
    enum { PARTS = 12 };
    const uint64_t units = d->first_unit[d->task_count];
    uint64_t cut[PARTS + 1] = {0};
    for (size_t i = 1; i < PARTS; i++)
        cut[i] = cut[i - 1] + next_random(state) % (units - cut[i - 1] + 1) / (PARTS / 3);
    cut[PARTS] = units;
    for (size_t i = PARTS; i > 0; i--)
        if (i % 2 == 0) kernel->run(d, cut[i - 1], cut[i]);
    for (size_t i = 1; i <= PARTS; i += 2) kernel->run(d, cut[i - 1], cut[i]);
    if (!kernel->finish) return;
    const uint32_t middle = (uint32_t)(next_random(state) % (d->task_count + 1));
    kernel->finish(d, middle, d->task_count);
    kernel->finish(d, 0, middle);
}

static void on_variants(struct tasks *tasks, unsigned shift, uint64_t *state) {
    const uint32_t features = machine_features();
    const struct svmx_dispatch d = dispatch_of(tasks);
    for (size_t v = 0; v < VARIANTS; v++) {
        const char *variant = simd_variant_find(features, variants[v]);
        if (!variant) continue;
        const struct simd_kernel *kernel = simd_kernel_find(features, variant, tasks->op->name);
        cr_assert_not_null(kernel, "%s has no kernel for %s", variant, tasks->op->name);
        run_in_parts(kernel, &d, state);
        check_outputs(tasks, variant, shift);
    }
    drop(tasks);
}

Test(simd_floats, any_cut_gives_the_bytes_of_the_reference) {
    uint64_t state = 99;
    for (size_t o = 0; o < OPS; o++)
        for (unsigned round = 0; round < 6; round++) {
            struct tasks tasks = {.op = svmx__op_by_name(ops[o])};
            const unsigned shift = (unsigned)(next_random(&state) % SHIFT);
            for (uint32_t t = 0; t < TASKS; t++)
                add_task(&tasks, next_random(&state) % (t % 8 == 0 ? 9000 : 150), shift, &state);
            on_variants(&tasks, shift, &state);
        }
}

/* Past the caches: more than 24 MiB of all operands; out aligned as vectors, as elements, and not at all. */
Test(simd_floats, large_outputs_are_whole) {
    uint64_t state = 5;
    static const unsigned shifts[] = {0, 4, 8, 60, 3};
    for (size_t o = 0; o < OPS; o++) {
        const struct svmx__op *op = svmx__op_by_name(ops[o]);
        if (op->scratch_bytes_per_unit || strstr(ops[o], "softmax")) continue; /* these have no streaming stores */
        struct tasks tasks = {.op = op};
        add_task(&tasks, 3300007, shifts[o % 5], &state);
        add_task(&tasks, 5000, shifts[o % 5], &state);
        add_task(&tasks, 100, shifts[o % 5], &state);
        on_variants(&tasks, shifts[o % 5], &state);
    }
}
