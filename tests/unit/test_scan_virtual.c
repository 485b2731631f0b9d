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

static struct sim_load load_of(const struct scan_op *op, uint64_t size) {
    const uint64_t items = is_product(op) ? size * size : size;
    return (struct sim_load){.op = op->op.name,
                             .units = items,
                             .work = is_product(op) ? size * size * size : size,
                             .bytes_in = 8 * items,
                             .bytes_out = 4 * items,
                             .tasks = 1};
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
