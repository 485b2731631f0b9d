/*
 * routing.c: suite routing: what the router loses against an oracle, in virtual time, on the five modelled machines; and
 * what one decision costs, in real time. docs/ROUTING.md says how the oracle chooses and how to read the figures.
 *
 * Virtual time: the same figures on every machine, busy or not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench.h"
#include "regret.h"

#include <math.h>
#include <stdlib.h>
#include <svmx/ops.h>

enum { TEXT = 200, FLAP_BATCHES = 20000, DRIFTS = 16, THROWS = 10 };

static void row(struct bench *bench, const char *name, double ours, const char *unit, enum bench_ask ask, double bound,
                const char *note) {
    bench_row(bench,
              &(struct bench_row){
                  .name = name, .ours = ours, .peer = NAN, .unit = unit, .ask = ask, .bound = bound, .note = note});
}

/* ---- regret ------------------------------------------------------------------------------------------------- */

static void regret_rows(struct bench *bench, const struct sim_model *machine) {
    for (uint32_t kind = 0; kind < WORKLOAD_KINDS; kind++) {
        const struct regret regret = regret_of(machine, kind, REGRET_BATCHES);
        char name[TEXT], note[TEXT];
        (void)snprintf(name, sizeof name, "%s, %s, warm", machine->name, workload_name(kind));
        (void)snprintf(note, sizeof note,
                       "%.4f; %.4f beside an oracle that foresees noise; %u tries, %.2f %% of the time", regret.warm,
                       regret.seer, regret.try_count, 100 * regret.tries);
        row(bench, name, regret.warm, "x oracle", BENCH_OURS_AT_MOST, 1.03, note);
        (void)snprintf(name, sizeof name, "%s, %s, with learning", machine->name, workload_name(kind));
        (void)snprintf(note, sizeof note, "%.4f over %u batches; peer: the better of always CPU and always GPU",
                       regret.all, regret.batches);
        bench_row(bench, &(struct bench_row){.name = name,
                                             .ours = regret.all,
                                             .peer = regret.fixed,
                                             .peer_name = "fixed",
                                             .unit = "x oracle",
                                             .ask = BENCH_OURS_AT_MOST,
                                             .bound = 1.10,
                                             .note = note});
    }
}

/* How much of it is luck: the same with other throws of noise. */
static void luck_row(struct bench *bench) {
    double worst_warm = 0, worst_all = 0;
    uint32_t missed = 0, count = 0;
    const uint32_t throws = bench->quick ? 1 : THROWS;
    const char *machine_name;
    char note[TEXT];
    for (uint32_t i = 0; (machine_name = sim_model_builtin_name(i)); i++)
        for (uint32_t k = 0; k < throws * WORKLOAD_KINDS; k++) {
            struct sim_model machine;
            regret_machine(&machine, machine_name);
            machine.seed = 1 + 7919 * (k / WORKLOAD_KINDS);
            const struct regret regret = regret_of(&machine, k % WORKLOAD_KINDS, REGRET_BATCHES);
            missed += regret.warm > 1.03 || regret.all > 1.10;
            if (regret.warm > worst_warm) worst_warm = regret.warm;
            if (regret.all > worst_all) worst_all = regret.all;
            count++;
        }
    (void)snprintf(note, sizeof note,
                   "with %u other throws of noise, %u cells; the worst is %.4f warm, %.4f with learning", throws, count,
                   worst_warm, worst_all);
    row(bench, "cells that miss with other noise", 100.0 * missed / count, "%", BENCH_NO_ASK, 0, note);
}

/* ---- the published figures ---------------------------------------------------------------------------------- */

static void published_rows(struct bench *bench) {
    static const double adds[] = {1e3, 1e4, 1e5, 2.5e5, 5e5, 1e6},
                        orders[] = {50, 100, 150, 200, 250, 300, 400, 500, 1000};
    static const double laptop[] = {2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6};
    struct sim_model machine;
    regret_machine(&machine, "rtx4090-wgpu");
    row(bench, "rtx4090-wgpu, vec_add_f32 up to 1 M on the GPU",
        regret_on_gpu(&machine, SVMX_OP_VEC_ADD_F32, adds, 6, REGRET_BATCHES), "batches", BENCH_OURS_AT_MOST, 0,
        "of 8,192; tries not counted");
    const double order = regret_first_on_gpu(&machine, SVMX_OP_MATMUL_F32, orders, 9, REGRET_BATCHES);
    row(bench, "rtx4090-wgpu, order of matmul_f32 from which on GPU", order, "order", BENCH_OURS_AT_LEAST, 101,
        "of 50, 100, 150, 200, 250, 300, 400, 500, 1000: it and all larger ones");
    row(bench, "rtx4090-wgpu, the same", order > 0 ? order : INFINITY, "order", BENCH_OURS_AT_MOST, 500, NULL);
    regret_machine(&machine, "dx12-laptop");
    row(bench, "dx12-laptop, seven sizes of vec_add_f32 on the GPU",
        regret_on_gpu(&machine, SVMX_OP_VEC_ADD_F32, laptop, 7, REGRET_BATCHES), "batches", BENCH_OURS_AT_MOST, 0,
        "of 8,192; tries not counted");
}

/* ---- at a crossover, and when it moves ---------------------------------------------------------------------- */

/* Slow for as many batches as fall between two tries, more or less: the worst of all is what counts. */
static void drift_row(struct bench *bench, const struct sim_model *machine) {
    char name[TEXT], note[TEXT];
    uint32_t left = 0, returned = 0, sum = 0;
    for (uint32_t i = 0; i < DRIFTS; i++) {
        const struct regret_drift drift = regret_of_drift(machine, 1000 + 37 * i);
        if (drift.until_left > left) left = drift.until_left;
        if (drift.until_returned > returned) returned = drift.until_returned;
        sum += drift.until_returned;
    }
    (void)snprintf(name, sizeof name, "%s, GPU ten times slower: left", machine->name);
    (void)snprintf(note, sizeof note, "the worst of %d; after its recovery it is back after %u batches, %u at most",
                   DRIFTS, sum / DRIFTS, returned);
    row(bench, name, left, "batches", BENCH_OURS_AT_MOST, 16, note);
}

static void stability_rows(struct bench *bench, const struct sim_model *machine) {
    static const double times[] = {0.95, 1, 1.05, 1 / 0.9, 1.2};
    char name[TEXT];
    double worst = 0;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const double flaps = regret_flaps(machine, times[i], FLAP_BATCHES);
        if (flaps > worst) worst = flaps;
    }
    (void)snprintf(name, sizeof name, "%s, flapping at the crossover", machine->name);
    row(bench, name, worst, "in 200", BENCH_OURS_AT_MOST, 1,
        "switches in 200 batches; the worst of five sizes at and about the crossover, 20,000 batches each");
    drift_row(bench, machine);
}

/* ---- one decision, real time -------------------------------------------------------------------------------- */

enum { DEVICES = 4, QUESTIONS = 3 };

struct table {
    struct svmx__model model;
    struct svmx__choices choices;
    struct svmx__question questions[QUESTIONS];
};

static void choose(void *user, uint64_t repeats) {
    struct table *table = user;
    struct svmx__answer answer;
    for (uint64_t i = 0; i < repeats; i++) {
        svmx__choose(&table->choices, &table->questions[i % QUESTIONS], &answer);
    }
}

static void choose_and_tell(void *user, uint64_t repeats) {
    struct table *table = user;
    struct svmx__answer answer;
    for (uint64_t i = 0; i < repeats; i++) {
        const uint64_t ns = 100000 + (i * 7919 & 4095);
        const struct svmx__sample sample = {.setup_ns = 100, .compute_ns = ns - 100};
        svmx__choose(&table->choices, &table->questions[i % QUESTIONS], &answer);
        svmx__charge(&table->choices, &answer);
        svmx__told(&table->choices, &table->questions[i % QUESTIONS], &answer, ns, &sample);
    }
}

/* Four devices of which all is known, and three operations. */
static struct table *table_make(void) {
    struct svmx__model_device devices[DEVICES] = {{.on_host = true, .bytes_per_ns = 1, .times_faster = 1}};
    struct table *table = calloc(1, sizeof *table);
    if (!table) exit(1);
    for (uint32_t d = 1; d < DEVICES; d++)
        devices[d] = (struct svmx__model_device){.latency_ns = 50000, .bytes_per_ns = 6, .times_faster = 10};
    svmx__model_init(&table->model, devices, DEVICES);
    svmx__choices_init(&table->choices, &table->model, 1);
    for (uint32_t q = 0; q < QUESTIONS; q++) {
        table->questions[q] = (struct svmx__question){
            .op = q + 1, .allowed = (1u << DEVICES) - 1, .load = {1000u << 3 * q, 1000u << 3 * q, 12000u << 3 * q}};
        for (uint32_t d = 0; d < DEVICES; d++)
            for (uint32_t i = 0; i < 40; i++)
                (void)svmx__model_learn(&table->model, q + 1, d, &table->questions[q].load,
                                        &(struct svmx__sample){.setup_ns = 100, .compute_ns = 100000 * (d + 1)});
    }
    return table;
}

static void decision_rows(struct bench *bench) {
    static struct bench_lane asks, tells;
    struct table *table = table_make();
    asks = (struct bench_lane){.run = choose, .user = table};
    tells = (struct bench_lane){.run = choose_and_tell, .user = table};
    bench_measure(bench, (struct bench_lane *const[]){&asks, &tells}, 2);
    row(bench, "svmx__choose, four devices", bench_median(bench, &asks), "ns", BENCH_OURS_AT_MOST, 10, NULL);
    row(bench, "svmx__choose and svmx__told with learning", bench_median(bench, &tells), "ns", BENCH_OURS_AT_MOST, 160,
        "every batch learned from; tries included");
    svmx__choices_fini(&table->choices);
    svmx__model_fini(&table->model);
    free(table);
}

int main(void) {
    struct bench bench;
    const char *name;
    bench_open(&bench, "routing");
    for (uint32_t i = 0; (name = sim_model_builtin_name(i)); i++) {
        struct sim_model machine;
        regret_machine(&machine, name);
        regret_rows(&bench, &machine);
        stability_rows(&bench, &machine);
    }
    luck_row(&bench);
    published_rows(&bench);
    decision_rows(&bench);
    return bench_close(&bench);
}
