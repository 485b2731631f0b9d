/*
 * regret.c: see regret.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "regret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

void regret_machine(struct sim_model *machine, const char *name) {
    char why[256] = "there is no such model";
    const char *text = sim_model_builtin(name);
    if (text && sim_model_parse(machine, text, strlen(text), why, sizeof why)) return;
    fprintf(stderr, "%s: %s\n", name, why);
    exit(1);
}

/* ---- one run ------------------------------------------------------------------------------------------------ */

/* The records of a run, to be freed. */
static struct virtual_record *run(const struct sim_model *machine, const struct virtual_workload *workload,
                                  enum virtual_policy policy, struct regret *regret) {
    struct virtual_record *records = calloc(workload->batches, sizeof *records);
    struct virtual_router *router = calloc(1, sizeof *router);
    if (!records || !router) exit(1);
    virtual_router_init(router, machine);
    if (!virtual_run(machine, workload, policy, router, records)) exit(1);
    if (regret) {
        regret->try_count = (uint32_t)router->choices.probes;
        regret->tries = (double)router->choices.probe_ns / (double)router->choices.busy_ns;
    }
    virtual_router_fini(router);
    free(router);
    return records;
}

static double total(const struct sim_model *machine, const struct virtual_workload *workload,
                    enum virtual_policy policy, double *warm) {
    struct virtual_record *records = run(machine, workload, policy, NULL);
    const double all = virtual_total_ns(records, 0, workload->batches);
    if (warm) *warm = virtual_total_ns(records, workload->batches / 4, workload->batches);
    free(records);
    return all;
}

struct regret regret_of(const struct sim_model *machine, enum workload_kind kind, uint32_t batches) {
    struct workload workload;
    workload_make(&workload, kind, machine, batches);
    const struct virtual_workload *of = &workload.workload;
    struct regret regret = {.batches = of->batches};
    struct virtual_record *records = run(&workload.machine, of, VIRTUAL_ROUTER, &regret);
    double oracle_warm, seer_warm;
    const double oracle = total(&workload.machine, of, VIRTUAL_ORACLE, &oracle_warm);
    (void)total(&workload.machine, of, VIRTUAL_SEER, &seer_warm);
    const double cpu = total(&workload.machine, of, VIRTUAL_ALWAYS_CPU, NULL),
                 gpu = total(&workload.machine, of, VIRTUAL_ALWAYS_GPU, NULL);
    const double warm = virtual_total_ns(records, of->batches / 4, of->batches);
    regret.warm = warm / oracle_warm;
    regret.seer = warm / seer_warm;
    regret.all = virtual_total_ns(records, 0, of->batches) / oracle;
    regret.fixed = (cpu < gpu ? cpu : gpu) / oracle;
    free(records);
    return regret;
}

/* ---- where it goes ------------------------------------------------------------------------------------------ */

static void take_turns(struct workload *workload, const struct sim_model *machine, uint32_t op, const double *sizes,
                       uint32_t size_count, uint32_t batches) {
    workload_make(workload, WORKLOAD_STEADY, machine, batches);
    workload->count = size_count;
    for (uint32_t i = 0; i < size_count; i++) workload->list[i] = batch_of(op, sizes[i]);
}

uint32_t regret_on_gpu(const struct sim_model *machine, uint32_t op, const double *sizes, uint32_t size_count,
                       uint32_t batches) {
    struct workload workload;
    uint32_t count = 0;
    take_turns(&workload, machine, op, sizes, size_count, batches);
    struct virtual_record *records = run(machine, &workload.workload, VIRTUAL_ROUTER, NULL);
    for (uint32_t i = 0; i < batches; i++)
        count += records[i].device == VIRTUAL_GPU && records[i].why != SVMX__WHY_PROBE;
    free(records);
    return count;
}

double regret_first_on_gpu(const struct sim_model *machine, uint32_t op, const double *sizes, uint32_t size_count,
                           uint32_t batches) {
    struct workload workload;
    uint32_t last[WORKLOAD_BATCHES] = {0}, at = size_count;
    take_turns(&workload, machine, op, sizes, size_count, batches);
    struct virtual_record *records = run(machine, &workload.workload, VIRTUAL_ROUTER, NULL);
    for (uint32_t i = 0; i < batches; i++) {
        struct virtual_batch batch;
        workload.workload.batch(workload.workload.user, i, &batch);
        for (uint32_t k = 0; k < size_count; k++)
            if (batch.work == workload.list[k].work && records[i].why != SVMX__WHY_PROBE) last[k] = records[i].device;
    }
    free(records);
    while (at > 0 && last[at - 1] == VIRTUAL_GPU) at--;
    return at < size_count ? sizes[at] : 0;
}

double regret_flaps(const struct sim_model *machine, double times, uint32_t batches) {
    struct workload workload;
    const double size = size_where_gpu_wins(machine, SVMX_OP_MATMUL_F32, times);
    take_turns(&workload, machine, SVMX_OP_MATMUL_F32, &size, 1, batches);
    struct virtual_record *records = run(machine, &workload.workload, VIRTUAL_ROUTER, NULL);
    const uint32_t switches = virtual_switches(records, batches);
    free(records);
    return 200.0 * switches / batches;
}

/* ---- drift -------------------------------------------------------------------------------------------------- */

struct regret_drift regret_of_drift(const struct sim_model *machine, uint32_t slow_batches) {
    enum { SLOW = 2048, AFTER = 4096 };
    struct workload workload;
    struct regret_drift drift = {0, 0};
    const uint32_t well = SLOW + slow_batches;
    workload_make(&workload, WORKLOAD_DRIFT, machine, well + AFTER);
    workload.machine.sides[SIM_GPU].at_launch = (struct sim_changes){.count = 2, .list = {{SLOW, 10}, {well, 1}}};
    struct virtual_record *records = run(&workload.machine, &workload.workload, VIRTUAL_ROUTER, NULL);
    for (uint32_t i = SLOW; i < well; i++)
        drift.until_left += records[i].device == VIRTUAL_GPU && records[i].why != SVMX__WHY_PROBE;
    uint32_t row = 0, i = well;
    for (; i < well + AFTER && row < 4; i++) row = records[i].device == VIRTUAL_GPU ? row + 1 : 0;
    drift.until_returned = row < 4 ? AFTER : i - 4 - well;
    free(records);
    return drift;
}
