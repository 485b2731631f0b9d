/*
 * test_scan_virtual.c: a scan of modelled machines in virtual time: the measuring of `svmx threshold-scan` as it is (turns,
 * warm-up, samples, medians, more samples while undecided, the 90 % rule), with sides whose runs take what the model says and
 * with no clock but the sum of them. Without noise the crossovers are exactly those that the model implies, by every model
 * that is shipped; with the models' own noise the same wherever the scan calls itself decided.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"
#include "cli/scan.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 32 };

static struct sim_model model;
static struct sim_random noise;
static bool noisy;
static uint64_t now_ns, launches;
static struct scan_side cpu = {.label = "cpu"}, gpu = {.label = "gpu", .shown = "gpu"};
static const struct scan_task *loaded;

/* ---- a launch --------------------------------------------------------------------------------------------------- */

static bool is_product(const struct scan_op *op) { return op->measure == SCAN_SIDE; }

/* Tiles of 128 by 32 (src/ops/matmul_f32.c). */
static struct sim_load product_of(uint64_t n) {
    return (struct sim_load){
        .units = (n + 127) / 128 * ((n + 31) / 32), .work = n * n * n, .bytes_in = 8 * n * n, .bytes_out = 4 * n * n};
}

/* Messages of 32 bytes, with offsets: 64 of work for each beside its bytes (src/ops/messages.c). */
static struct sim_load messages_of(uint64_t bytes) {
    const uint64_t n = bytes / 32;
    return (struct sim_load){.units = n, .work = bytes + 64 * n, .bytes_in = bytes + 8 * (n + 1), .bytes_out = 32 * n};
}

static struct sim_load vectors_of(uint64_t n, uint64_t inputs) {
    return (struct sim_load){.units = n, .work = n, .bytes_in = 4 * inputs * n, .bytes_out = 4 * n};
}

/* As a real task of that size is. */
static struct sim_load load_of(const struct scan_op *op, uint64_t size) {
    struct sim_load load = is_product(op)                ? product_of(size)
                           : op->measure == SCAN_BYTES   ? messages_of(size)
                           : strstr(op->op.name, "vec_") ? vectors_of(size, 2)
                                                         : vectors_of(size, 1);
    load.op = op->op.name;
    load.tasks = 1;
    return load;
}

static uint64_t cost_ns(enum sim_side side, const struct scan_op *op, uint64_t size, struct sim_random *random,
                        bool first) {
    const struct sim_load load = load_of(op, size);
    struct sim_cost cost;
    sim_model_cost(&model, side, &load, now_ns, launches, random, &cost);
    return sim_cost_total(&cost, first);
}

/* ---- what scan_measure.c calls ---------------------------------------------------------------------------------- */

uint64_t scan_now_ns(void) { return now_ns; }
bool scan_stop_asked(void) { return false; }
void scan_task_dirty(const struct scan_task *task) { (void)task; }
bool scan_task_agrees(const struct scan_task *task) { return task == loaded; }

enum cli_exit scan_side_load(struct scan_side *side, const struct scan_task *task) {
    side->last_size = 0; /* the next run is the first */
    loaded = task;
    return CLI_OK;
}

enum svmx_status scan_side_run(struct scan_side *side, uint64_t *ns, struct svmx_receipt *receipt, char *why) {
    (void)why;
    *ns = cost_ns(side == &gpu ? SIM_GPU : SIM_CPU, loaded->op, loaded->size, noisy ? &noise : NULL,
                  side->last_size == 0);
    side->last_size = loaded->size;
    now_ns += *ns;
    launches++;
    *receipt = (struct svmx_receipt){.size = sizeof *receipt, .launches = 1, .device_ns = *ns, .compute_ns = *ns};
    return SVMX_OK;
}

/* ---- scanning --------------------------------------------------------------------------------------------------- */

static struct scan_op ops[] = {{.op.name = "vec_add_f32"},
                               {.op.name = "sigmoid_f32"},
                               {.op.name = "keccak256", .measure = SCAN_BYTES},
                               {.op.name = "matmul_f32", .measure = SCAN_SIDE}};
enum { OPS = sizeof ops / sizeof *ops };

static void sizes_make(struct scan_op *op) {
    op->sizes.count = 0;
    for (uint64_t size = is_product(op) ? 4 : 256; size <= (is_product(op) ? 2048 : 1 << 24); size *= 2)
        op->sizes.size[op->sizes.count++] = size;
}

static void model_take(const char *name) {
    const char *text = sim_model_builtin(name);
    char why[400];
    cr_assert_not_null(text);
    cr_assert(sim_model_parse(&model, text, strlen(text), why, sizeof why), "%s", why);
    noise.state = model.seed;
    now_ns = launches = 0;
}

static struct scan_crossing scan(struct scan_op *op) {
    static struct scan_row rows[MAX_ROWS];
    const struct scan_settings settings = {
        .samples = 5, .max_samples = 200, .warmup = 2, .limit_ns = UINT64_C(100000000000)};
    struct scan_rows all = {.rows = rows};
    struct scan_crossing crossing;
    size_t at = 0;
    sizes_make(op);
    for (unsigned i = 0; i < op->sizes.count; i++) {
        const struct scan_task task = {.op = op, .size = op->sizes.size[i]};
        cr_assert_eq(scan_measure(&rows[all.count++], &cpu, &gpu, &task, &settings), SCAN_MEASURED);
    }
    cr_assert(scan_crossing_next(&all, &at, &crossing));
    cr_assert(noisy || crossing.undecided == 0, "what never varies is decided");
    return crossing;
}

/* By the model's expectation alone: the smallest size from which on the GPU takes less than 0.9 of the CPU's time. 0: none. */
static uint64_t implied(const struct scan_op *op) {
    uint64_t from = 0;
    for (unsigned i = op->sizes.count; i-- > 0;) {
        const uint64_t size = op->sizes.size[i];
        const double on_gpu = (double)cost_ns(SIM_GPU, op, size, NULL, false);
        if (!(on_gpu < 0.9 * (double)cost_ns(SIM_CPU, op, size, NULL, false))) break;
        from = size;
    }
    return from;
}

Test(scan_virtual, without_noise_the_crossovers_are_those_of_the_models) {
    unsigned found = 0;
    for (uint32_t i = 0; sim_model_builtin_name(i); i++) {
        model_take(sim_model_builtin_name(i));
        for (unsigned k = 0; k < OPS; k++) {
            const struct scan_crossing crossing = scan(&ops[k]);
            cr_expect_eq(crossing.size, implied(&ops[k]), "%s, %s", model.name, ops[k].op.name);
            found += crossing.found;
        }
    }
    cr_assert_geq(found, 8, "%u of them have one within these sizes", found);
}

/* 3 ms a launch and 5 GB/s against 638.7 ms for a product of order 1000: written down, not computed. */
Test(scan_virtual, a_model_whose_crossovers_are_known) {
    model_take("rtx4090-wgpu");
    cr_expect_eq(scan(&ops[3]).size, 256); /* 3.19 ms against 9.6 ms; at 128: 3.04 against 1.16 */
    cr_expect_not(scan(&ops[0]).found, "its bus is slower than the CPU adds");
}

/*
 * Of `integrated` by hand, ns, against 0.9 of the CPU; memory is shared, so nothing is copied. The GPU has 8,005 for a launch
 * of one task, the CPU 1,020.
 *   vec_add_f32   8,005 + n / 8    918 + 0.9 n / 4      equal at n = 70,870:  131,072 wins, 65,536 does not
 *   sigmoid_f32   8,005 + n / 5    918 + 0.9 n / 1.5    equal at n = 17,718:  32,768
 *   keccak256     8,005 + 39,322   918 + 57.6 n         equal at n = 806 messages of 32 bytes, of less than 2,048, which
 *                                                       fill its lanes: 1,024 of them, 32,768 bytes
 *   matmul_f32    8,005 + m / 400  918 + 0.9 m / 120    equal at m = 1,417,400, of order 112.3:  128
 * Of `pcie4-discrete` matmul_f32: 25,002 + n^2 / 2 + n^3 / 15,000 against 918 + 0.9 n^3 / 300: at 256 58,888 against 51,250,
 * at 512 165,022 against 403,571.
 */
Test(scan_virtual, crossovers_computed_by_hand) {
    model_take("integrated");
    cr_expect_eq(scan(&ops[0]).size, 131072);
    cr_expect_eq(scan(&ops[1]).size, 32768);
    cr_expect_eq(scan(&ops[2]).size, 32768);
    cr_expect_eq(scan(&ops[3]).size, 128);
    model_take("pcie4-discrete");
    cr_expect_eq(scan(&ops[3]).size, 512);
    cr_expect_not(scan(&ops[0]).found, "12 bytes at 24 GB/s take longer than the CPU adds");
}

Test(scan_virtual, noise_turns_nothing_that_is_decided) {
    noisy = true;
    for (uint32_t i = 0; sim_model_builtin_name(i); i++) {
        model_take(sim_model_builtin_name(i));
        for (unsigned k = 0; k < OPS; k++) {
            const struct scan_crossing crossing = scan(&ops[k]);
            if (crossing.undecided == 0)
                cr_expect_eq(crossing.size, implied(&ops[k]), "%s, %s", model.name, ops[k].op.name);
        }
    }
}
