/*
 * devices_virtual.c: suite devices in virtual time: a stream of batches over 1 to 8 modelled GPUs, on buses of their own and on
 * a shared one, unequal ones, and one that is lost in mid-batch and comes back.
 *
 * Chunks are handed out by src/executor/spread.c, as in the library, and placed on the engines of plugins/sim's model without its
 * noise; the host takes no time, and nothing is taken over at the end. So the figures are exact, the same on every machine; what
 * threads and a clock make of it is in devices.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "../../plugins/sim/model.h"
#include "bench.h"
#include "executor/spread.h"

#include <math.h>
#include <string.h>

#define MODEL "pcie4-discrete"
enum { TASKS = 256, ELEMENTS = 32768, CHUNKS_EACH = 8, WINDOW = 3, UNDER_WAY = 2, BATCHES = 200, MOST = 8 };

struct machine {
    struct sim_model model;
    struct sim_bus bus;
    struct sim_engines engines[MOST];
    uint64_t over[MOST][WINDOW]; /* of the last launches */
    uint32_t launches[MOST];
    bool is_lost[MOST];
    uint64_t done; /* chunks */
};

static struct machine machine; /* too large for a stack */

/* `more`: lines behind those of the model. */
static bool machine_make(struct machine *m, const char *more) {
    char text[SIM_MAX_TEXT], why[256];
    memset(m, 0, sizeof *m);
    const int bytes = snprintf(text, sizeof text, "%s%s", sim_model_builtin(MODEL), more);
    if (!sim_model_parse(&m->model, text, (size_t)bytes, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        return false;
    }
    for (uint32_t d = 0; d < MOST && m->model.shares_bus; d++) m->engines[d].bus = &m->bus;
    return true;
}

static struct sim_load chunk_load(uint32_t chunks) {
    const uint64_t units = (uint64_t)TASKS * ELEMENTS / chunks;
    return (struct sim_load){.op = "vec_add_f32",
                             .units = units,
                             .work = units,
                             .bytes_in = 8 * units,
                             .bytes_out = 4 * units,
                             .tasks = TASKS / chunks ? TASKS / chunks : 1};
}

static struct sim_cost cost_of(struct machine *m, uint32_t device, const struct sim_load *load) {
    struct sim_cost cost;
    m->model.own_slow = m->model.slow[device];
    sim_model_cost(&m->model, SIM_GPU, load, 0, 0, NULL, &cost);
    return cost;
}

static double larger(double a, double b) { return a > b ? a : b; }

/* What one of many launches adds: the engine that has most to do. */
static double steady_ns(const struct sim_cost *cost) {
    return larger((double)cost->upload_ns,
                  larger((double)(cost->dispatch_ns + cost->compute_ns), (double)cost->readback_ns));
}

/* Hands a chunk over when the one WINDOW before it is over; when it is. */
static uint64_t take(struct machine *m, uint32_t device, const struct sim_load *load, uint64_t at_ns) {
    uint64_t *over = &m->over[device][m->launches[device]++ % WINDOW];
    const struct sim_cost cost = cost_of(m, device, load);
    *over = sim_engines_take(&m->model, &m->engines[device], &cost, *over > at_ns ? *over : at_ns);
    m->done++;
    return *over;
}

static uint64_t last_over(const struct machine *m, uint32_t device) {
    uint64_t last = 0;
    for (int i = 0; i < WINDOW; i++)
        if (m->over[device][i] > last) last = m->over[device][i];
    return last;
}

/* So many chunks over all devices that are there, by turns; when the last is over. The device `dies` loses the second half of
 * what it has, and the others do that again. */
static uint64_t run_chunks(struct machine *m, const struct sim_load *load, uint32_t chunks, uint64_t at_ns, int dies) {
    struct svmx__taker takers[MOST];
    uint32_t count = 0, left = 0;
    uint64_t end_ns = at_ns;
    for (uint32_t d = 0; d < m->model.devices; d++) {
        if (m->is_lost[d]) continue;
        const struct sim_cost cost = cost_of(m, d, load);
        const uint64_t last_ns = last_over(m, d);
        takers[count++] = (struct svmx__taker){
            .device = d, .busy_ns = last_ns > at_ns ? (double)(last_ns - at_ns) : 0, .chunk_ns = steady_ns(&cost)};
    }
    (void)svmx__spread(takers, count, chunks);
    for (uint32_t turn = 0; turn < chunks; turn++)
        for (uint32_t i = 0; i < count; i++) {
            if (turn >= takers[i].chunks) continue;
            if ((int)takers[i].device == dies && turn >= takers[i].chunks / 2) {
                left++;
                continue;
            }
            const uint64_t over_ns = take(m, takers[i].device, load, at_ns);
            if (over_ns > end_ns) end_ns = over_ns;
        }
    if (dies >= 0) m->is_lost[dies] = true;
    if (left == 0) return end_ns;
    const uint64_t again_ns = run_chunks(m, load, left, last_over(m, (uint32_t)dies), -1);
    return again_ns > end_ns ? again_ns : end_ns;
}

/* ends[i]: when batch i was over. The device `dies` is lost in batch `from`, and back in batch `to`. */
static bool run_stream(struct machine *m, uint64_t ends[BATCHES], int dies, uint32_t from, uint32_t to) {
    const uint32_t chunks = m->model.devices > 1 ? CHUNKS_EACH * (uint32_t)m->model.devices : 1;
    const struct sim_load load = chunk_load(chunks);
    for (uint32_t i = 0; i < BATCHES; i++) {
        if (dies >= 0 && i == to) m->is_lost[dies] = false;
        ends[i] = run_chunks(m, &load, chunks, i < UNDER_WAY ? 0 : ends[i - UNDER_WAY], i == from ? dies : -1);
    }
    return m->done == (uint64_t)chunks * BATCHES; /* each once */
}

/* us a batch between two of them. */
static double us_of(const uint64_t ends[BATCHES], uint32_t from, uint32_t to) {
    return (double)(ends[to - 1] - ends[from - 1]) / 1e3 / (to - from);
}

static double us_on(const char *more, bool *wrong) {
    uint64_t ends[BATCHES];
    if (!machine_make(&machine, more)) return (double)NAN;
    *wrong = !run_stream(&machine, ends, -1, BATCHES, BATCHES);
    return us_of(ends, BATCHES / 4, BATCHES);
}

static void row(struct bench *bench, const char *name, double ours, const char *unit, double bound, bool wrong) {
    char text[96];
    (void)snprintf(text, sizeof text, "%s, virtual time", name);
    bench_row(bench, &(struct bench_row){.name = text,
                                         .ours = ours,
                                         .peer = NAN,
                                         .unit = unit,
                                         .more_is_better = true,
                                         .ask = BENCH_OURS_AT_LEAST,
                                         .bound = bound,
                                         .wrong = wrong,
                                         .note = "exact: " MODEL " without noise"});
}

static void run_lost(struct bench *bench, double alone_us) {
    enum { DIES = 2, FROM = 60, TO = 120, SETTLED = 10 };
    uint64_t ends[BATCHES];
    if (!machine_make(&machine, "devices 4\n")) return;
    const bool wrong = !run_stream(&machine, ends, DIES, FROM, TO);
    row(bench, "one of 4 lost: from the next batch, of three", alone_us / 3 / us_of(ends, FROM + 1, TO), "of three",
        0.9, wrong);
    row(bench, "and back in, of four", alone_us / 4 / us_of(ends, TO + SETTLED, BATCHES), "of four", 0.9, wrong);
}

int main(void) {
    static const struct {
        const char *name, *more;
        double ask;
    } equal[] = {{"2 equal modelled GPUs, own buses", "devices 2\n", 1.9},
                 {"4 equal modelled GPUs, own buses", "devices 4\n", 3.7},
                 {"8 equal modelled GPUs, own buses", "devices 8\n", 7}};
    static struct bench bench;
    bool wrong = false;
    bench_open(&bench, "devices");
    const double alone_us = us_on("", &wrong);
    const struct sim_load whole = chunk_load(1);
    const struct sim_cost cost = cost_of(&machine, 0, &whole);
    row(&bench, "1 modelled GPU, of its slowest engine", steady_ns(&cost) / 1e3 / alone_us, "of bound", 0.9, wrong);
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
        const double us = us_on(equal[i].more, &wrong);
        row(&bench, equal[i].name, alone_us / us, "x one", equal[i].ask, wrong);
    }
    const double shared_us = us_on("devices 4\nbus shared\n", &wrong);
    row(&bench, "4 equal ones on one bus, of what it allows",
        larger((double)cost.upload_ns, (double)cost.readback_ns) / 1e3 / shared_us, "of bus", 0.9, wrong);
    const double unequal_us = us_on("devices 4\ndevice 2 slow 2 x\ndevice 3 slow 2 x\n", &wrong);
    row(&bench, "2 fast and 2 of half the speed, of their sum", alone_us / 3 / unequal_us, "of sum", 0.9, wrong);
    run_lost(&bench, alone_us);
    return bench_close(&bench);
}
