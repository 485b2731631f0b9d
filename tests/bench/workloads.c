/*
 * workloads.c: see workloads.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "workloads.h"

#include <math.h>
#include <svmx/ops.h>

/* ---- sizes -------------------------------------------------------------------------------------------------- */

static struct virtual_batch product_of(uint64_t order) {
    const uint64_t tiles = (order + 127) / 128 * ((order + 31) / 32); /* as matmul_f32 is cut */
    return (struct virtual_batch){SVMX_OP_MATMUL_F32, tiles, order * order * order, 8 * order * order,
                                  4 * order * order,  1};
}

struct virtual_batch batch_of(uint32_t op, double size) {
    const uint64_t n = size < 1 ? 1 : (uint64_t)size;
    switch (op) {
    case SVMX_OP_MATMUL_F32: return product_of(n);
    case SVMX_OP_SHA256:
    case SVMX_OP_KECCAK256: return (struct virtual_batch){op, n, 128 * n, 72 * n + 8, 32 * n, 1};
    case SVMX_OP_SIGMOID_F32: return (struct virtual_batch){op, n, n, 4 * n, 4 * n, 1};
    default: return (struct virtual_batch){op, n, n, 8 * n, 4 * n, 1};
    }
}

static double largest_of(uint32_t op) {
    if (op == SVMX_OP_MATMUL_F32) return 4096;
    return op == SVMX_OP_SHA256 || op == SVMX_OP_KECCAK256 ? 0x1p22 : 0x1p24;
}

double size_where_gpu_wins(const struct sim_model *machine, uint32_t op, double times) {
    for (double size = 16; size <= largest_of(op); size *= 1.02) {
        const struct virtual_batch batch = batch_of(op, size);
        const double cpu = virtual_expected_ns(machine, VIRTUAL_CPU, &batch),
                     gpu = virtual_expected_ns(machine, VIRTUAL_GPU, &batch);
        if (gpu * times < cpu) return size;
    }
    return 0;
}

/* A size that is so many times the crossover in work; without a crossover, of a sixteenth of the largest. */
static struct virtual_batch around(const struct sim_model *machine, uint32_t op, double times) {
    const double crossover = size_where_gpu_wins(machine, op, 1), largest = largest_of(op);
    const double size = (crossover > 0 ? crossover : largest / 16) * (op == SVMX_OP_MATMUL_F32 ? cbrt(times) : times);
    return batch_of(op, size < largest ? size : largest);
}

/* ---- batches ------------------------------------------------------------------------------------------------ */

static uint32_t scatter(uint32_t number) {
    uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (uint32_t)(z >> 33);
}

static void pick(const void *user, uint32_t number, struct virtual_batch *batch) {
    const struct workload *workload = user;
    uint32_t at = scatter(number) % workload->count;
    if (workload->stay && workload->count > 1) {
        const uint32_t turn = 2 * (workload->count - 1), step = number / workload->stay % turn;
        at = step < workload->count ? step : turn - step;
    }
    *batch = workload->list[at];
}

static void put(struct workload *workload, uint32_t op, double times) {
    workload->list[workload->count++] = around(&workload->machine, op, times);
}

static const uint32_t all_ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_SIGMOID_F32, SVMX_OP_KECCAK256, SVMX_OP_SHA256,
                                   SVMX_OP_MATMUL_F32};
enum { ALL_OPS = sizeof all_ops / sizeof *all_ops };

static void put_all(struct workload *workload, double smallest, uint32_t sizes, double ratio) {
    for (uint32_t i = 0; i < ALL_OPS; i++) {
        double times = smallest;
        for (uint32_t k = 0; k < sizes; k++, times *= ratio) put(workload, all_ops[i], times);
    }
}

static void make_noisy(struct sim_model *machine) {
    for (uint32_t side = 0; side < SIM_SIDES; side++) {
        machine->sides[side].jitter = 0.25;
        machine->sides[side].outlier_chance = 0.02;
        machine->sides[side].outlier_factor = 20;
    }
}

/* It recovers in the middle between two tries, neither luckily nor unluckily. */
static void make_drift(struct workload *workload, uint32_t batches) {
    const double size = size_where_gpu_wins(&workload->machine, SVMX_OP_MATMUL_F32, 3);
    workload->list[workload->count++] = batch_of(SVMX_OP_MATMUL_F32, size);
    workload->machine.sides[SIM_GPU].at_launch =
        (struct sim_changes){.count = 2, .list = {{batches / 8 * 3, 10}, {batches / 8 * 5 - 100, 1}}};
}

/* What a task costs by itself, where the model says nothing of it: the host places its arguments for either device. */
static void put_tasks(struct workload *workload) {
    static const uint32_t ops[] = {SVMX_OP_VEC_ADD_F32, SVMX_OP_SIGMOID_F32};
    for (uint32_t side = 0; side < SIM_SIDES; side++)
        if (workload->machine.sides[side].task_ns <= 0)
            workload->machine.sides[side].task_ns = side == SIM_GPU ? 40 : 20;
    for (uint32_t i = 0; i < 2; i++)
        for (double times = 4; times <= 16; times *= 4) {
            put(workload, ops[i], times);
            put(workload, ops[i], times);
            struct virtual_batch *many = &workload->list[workload->count - 1];
            many->tasks = (uint32_t)many->units;
        }
}

const char *workload_name(enum workload_kind kind) {
    static const char *const names[WORKLOAD_KINDS] = {"steady", "bursty",     "mixed operations", "size walk", "drift",
                                                      "noisy",  "cold start", "24 submitters",    "many tasks"};
    return names[kind];
}

void workload_make(struct workload *workload, enum workload_kind kind, const struct sim_model *machine,
                   uint32_t batches) {
    *workload = (struct workload){.machine = *machine};
    workload->workload = (struct virtual_workload){
        .name = workload_name(kind), .batches = batches, .submitters = 1, .burst = 1, .batch = pick, .user = workload};
    switch (kind) {
    case WORKLOAD_BURSTY:
        for (double times = 0.5; times <= 8; times *= 4) put(workload, SVMX_OP_KECCAK256, times);
        workload->workload.burst = 16;
        workload->workload.pause_ns = (uint64_t)(32 * virtual_expected_ns(machine, VIRTUAL_CPU, &workload->list[1]));
        break;
    case WORKLOAD_MIXED: put_all(workload, 0.125, 4, 4); break;
    case WORKLOAD_WALK:
        for (int i = -20; i <= 20; i++) put(workload, SVMX_OP_SHA256, exp2(i / 5.0));
        workload->stay = 4;
        break;
    case WORKLOAD_DRIFT:
        workload->workload.batches = batches * 4;
        make_drift(workload, batches * 4);
        break;
    case WORKLOAD_NOISY:
        make_noisy(&workload->machine);
        for (double times = 0.25; times <= 4; times *= 4) put(workload, SVMX_OP_SIGMOID_F32, times);
        break;
    case WORKLOAD_COLD:
        put_all(workload, 0.0625, 8, 2);
        workload->workload.batches = batches / 4;
        break;
    case WORKLOAD_CONTENTION:
        for (double times = 0.5; times <= 8; times *= 4) put(workload, SVMX_OP_KECCAK256, times);
        workload->workload.submitters = 24;
        break;
    case WORKLOAD_TASKS: put_tasks(workload); break;
    case WORKLOAD_STEADY:
    case WORKLOAD_KINDS: put(workload, SVMX_OP_MATMUL_F32, 4); break;
    }
}
