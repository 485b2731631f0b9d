/*
 * virtual.c: see virtual.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "virtual.h"

#include <stdlib.h>
#include <string.h>
#include <svmx/ops.h>

static const enum sim_side side_of[VIRTUAL_DEVICES] = {[VIRTUAL_CPU] = SIM_CPU, [VIRTUAL_GPU] = SIM_GPU};
static const double MARGIN = 0.9; /* of the oracle: the router's default */

/* ---- a run under way ---------------------------------------------------------------------------------------- */

/* What is going to happen: a submitter wakes, or a batch is finished. */
struct event {
    uint64_t when_ns, order; /* of two at the same time, the one that was made first */
    uint32_t submitter;
    bool is_wake;
    uint32_t number, device; /* of the batch */
    uint64_t submitted_ns, ns;
    struct svmx__question question;
    struct svmx__answer answer;
    struct svmx__sample sample;
};

struct run {
    const struct sim_model *machine;
    const struct virtual_workload *workload;
    enum virtual_policy policy;
    struct virtual_router *router;
    struct virtual_record *records;
    uint64_t now_ns, order;
    uint64_t free_at_ns[VIRTUAL_DEVICES];
    uint32_t queued[VIRTUAL_DEVICES];
    uint32_t next;         /* batch */
    uint32_t *unmet;       /* batches that a submitter still waits for */
    uint64_t *ready_at_ns; /* when the GPU has the pipeline of the operation and cell; 0: nobody wanted it yet */
    uint64_t builder_free_at_ns;
    uint8_t *used;   /* the GPU has launched the operation and cell */
    uint8_t *has_it; /* the oracle's incumbent of the operation and cell */
    struct event *events;
    uint32_t event_count;
};

/* ---- costs -------------------------------------------------------------------------------------------------- */

static struct sim_load load_of(const struct virtual_batch *batch, uint32_t submitters) {
    return (struct sim_load){.op = svmx__op_by_id(batch->op)->name,
                             .units = batch->units,
                             .work = batch->work,
                             .bytes_in = batch->bytes_in,
                             .bytes_out = batch->bytes_out,
                             .tasks = batch->tasks,
                             .submitters = submitters};
}

double virtual_expected_ns(const struct sim_model *machine, uint32_t device, const struct virtual_batch *batch) {
    const struct sim_load load = load_of(batch, 1);
    struct sim_cost cost;
    sim_model_cost(machine, side_of[device], &load, 0, 0, NULL, &cost);
    return (double)sim_cost_total(&cost, false);
}

static uint64_t start_of(const struct run *run, uint32_t device) {
    return run->free_at_ns[device] > run->now_ns ? run->free_at_ns[device] : run->now_ns;
}

/* What a batch would take on a device if it were handed over now. */
static void cost_of(const struct run *run, uint32_t number, const struct virtual_batch *batch, uint32_t device,
                    bool noise, struct sim_cost *cost) {
    const struct sim_load load = load_of(batch, run->queued[device] + 1);
    struct sim_random random = {run->machine->seed ^ (uint64_t)number << 8 ^ device};
    sim_random_next(&random);
    sim_model_cost(run->machine, side_of[device], &load, start_of(run, device), number, noise ? &random : NULL, cost);
}

/* As route.c makes it. */
static struct svmx__load question_of(const struct virtual_batch *batch) {
    return svmx__load_of(batch->units, batch->work, batch->bytes_in + batch->bytes_out, batch->tasks);
}

static uint32_t cell_of(const struct virtual_batch *batch) {
    const struct svmx__load load = question_of(batch);
    return svmx__cell_of(load.units, load.work);
}

static uint32_t place_of(const struct virtual_batch *batch) { return batch->op * SVMX__CELLS + cell_of(batch); }

/* ---- who ---------------------------------------------------------------------------------------------------- */

static uint32_t ask_oracle(struct run *run, uint32_t number, const struct virtual_batch *batch) {
    double ns[VIRTUAL_DEVICES], finish[VIRTUAL_DEVICES];
    uint8_t *incumbent = &run->has_it[place_of(batch)];
    for (uint32_t d = 0; d < VIRTUAL_DEVICES; d++) {
        struct sim_cost cost;
        cost_of(run, number, batch, d, run->policy == VIRTUAL_SEER, &cost);
        ns[d] = (double)sim_cost_total(&cost, false);
        finish[d] = (double)(start_of(run, d) - run->now_ns) + ns[d];
    }
    uint32_t other = !*incumbent;
    if (ns[other] < MARGIN * ns[*incumbent]) *incumbent = (uint8_t)other;
    other = !*incumbent;
    return finish[other] < MARGIN * finish[*incumbent] ? other : *incumbent;
}

/* Has the GPU a pipeline for it? If not it is built from now on, beside the work, one after the other. */
static bool is_ready(struct run *run, const struct virtual_batch *batch) {
    uint64_t *ready = &run->ready_at_ns[place_of(batch)];
    const double create = run->machine->sides[SIM_GPU].create_ns;
    if (*ready == 0) {
        const uint64_t start = run->builder_free_at_ns > run->now_ns ? run->builder_free_at_ns : run->now_ns;
        *ready = run->builder_free_at_ns = start + (uint64_t)create + 1;
    }
    return *ready <= run->now_ns;
}

/* As route.c does. */
static uint32_t ask_router(struct run *run, const struct virtual_batch *batch, struct event *event) {
    struct svmx__choices *choices = &run->router->choices;
    event->question = (struct svmx__question){
        .op = batch->op, .allowed = (1u << VIRTUAL_DEVICES) - 1, .fallback = VIRTUAL_CPU, .load = question_of(batch)};
    svmx__choose(choices, &event->question, &event->answer);
    if (event->answer.device == VIRTUAL_GPU && !is_ready(run, batch)) {
        struct svmx__question meanwhile = event->question;
        meanwhile.allowed = 1u << VIRTUAL_CPU;
        svmx__unchoose(choices, &event->answer);
        svmx__choose(choices, &meanwhile, &event->answer);
    }
    svmx__charge(choices, &event->answer);
    return event->answer.device;
}

static uint32_t ask(struct run *run, const struct virtual_batch *batch, struct event *event) {
    switch (run->policy) {
    case VIRTUAL_ROUTER: return ask_router(run, batch, event);
    case VIRTUAL_ORACLE:
    case VIRTUAL_SEER:
        return ask_oracle(run, event->number, batch) == VIRTUAL_GPU && is_ready(run, batch) ? VIRTUAL_GPU : VIRTUAL_CPU;
    case VIRTUAL_ALWAYS_CPU: return VIRTUAL_CPU;
    case VIRTUAL_ALWAYS_GPU: return VIRTUAL_GPU;
    }
    return VIRTUAL_CPU;
}

/* ---- events ------------------------------------------------------------------------------------------------- */

static void push(struct run *run, struct event event) {
    event.order = run->order++;
    run->events[run->event_count++] = event;
}

/* There are a few dozen. */
static struct event pop(struct run *run) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < run->event_count; i++) {
        const struct event *a = &run->events[i], *b = &run->events[first];
        if (a->when_ns < b->when_ns || (a->when_ns == b->when_ns && a->order < b->order)) first = i;
    }
    const struct event event = run->events[first];
    run->events[first] = run->events[--run->event_count];
    return event;
}

static void submit(struct run *run, uint32_t submitter) {
    struct event event = {.submitter = submitter, .number = run->next++, .submitted_ns = run->now_ns};
    struct virtual_batch batch;
    struct sim_cost cost;
    run->workload->batch(run->workload->user, event.number, &batch);
    const uint32_t device = event.device = ask(run, &batch, &event), place = place_of(&batch);
    cost_of(run, event.number, &batch, device, true, &cost);
    event.sample = (struct svmx__sample){.setup_ns = cost.dispatch_ns,
                                         .transfer_ns = cost.upload_ns + cost.readback_ns,
                                         .compute_ns = cost.compute_ns,
                                         .first_use = device == VIRTUAL_GPU && !run->used[place]};
    if (device == VIRTUAL_GPU) run->used[place] = 1;
    event.ns = sim_cost_total(&cost, false);
    event.when_ns = run->free_at_ns[device] = start_of(run, device) + event.ns;
    run->queued[device]++;
    run->unmet[submitter]++;
    run->records[event.number] = (struct virtual_record){.device = device,
                                                         .why = event.answer.why,
                                                         .op = batch.op,
                                                         .cell = cell_of(&batch),
                                                         .ns = event.ns,
                                                         .waited_ns = event.when_ns - run->now_ns};
    push(run, event);
}

static void wake(struct run *run, uint32_t submitter) {
    for (uint32_t i = 0; i < run->workload->burst && run->next < run->workload->batches; i++) submit(run, submitter);
}

static void finish(struct run *run, const struct event *event) {
    run->queued[event->device]--;
    if (run->policy == VIRTUAL_ROUTER)
        svmx__told(&run->router->choices, &event->question, &event->answer, event->ns, &event->sample);
    if (--run->unmet[event->submitter] > 0) return;
    push(run, (struct event){
                  .when_ns = run->now_ns + run->workload->pause_ns, .submitter = event->submitter, .is_wake = true});
}

static void play(struct run *run) {
    for (uint32_t s = 0; s < run->workload->submitters; s++) push(run, (struct event){.submitter = s, .is_wake = true});
    while (run->event_count > 0) {
        const struct event event = pop(run);
        run->now_ns = event.when_ns;
        if (event.is_wake)
            wake(run, event.submitter);
        else
            finish(run, &event);
    }
}

bool virtual_run(const struct sim_model *machine, const struct virtual_workload *workload, enum virtual_policy policy,
                 struct virtual_router *router, struct virtual_record *records) {
    struct run run = {.machine = machine, .workload = workload, .policy = policy, .router = router, .records = records};
    run.unmet = calloc(workload->submitters, sizeof *run.unmet);
    run.events = calloc((size_t)workload->submitters * (workload->burst + 1), sizeof *run.events);
    run.used = calloc(SVMX__OP_LIMIT, SVMX__CELLS);
    run.has_it = calloc(SVMX__OP_LIMIT, SVMX__CELLS);
    run.ready_at_ns = calloc((size_t)SVMX__OP_LIMIT * SVMX__CELLS, sizeof *run.ready_at_ns);
    const bool can = run.unmet && run.events && run.used && run.has_it && run.ready_at_ns;
    if (can) play(&run);
    free(run.ready_at_ns);
    free(run.has_it);
    free(run.used);
    free(run.events);
    free(run.unmet);
    return can;
}

/* ---- the router --------------------------------------------------------------------------------------------- */

void virtual_router_init(struct virtual_router *router, const struct sim_model *machine) {
    const struct svmx__model_device devices[VIRTUAL_DEVICES] = {
        [VIRTUAL_CPU] = {.on_host = true, .bytes_per_ns = 1, .times_faster = 1},
        [VIRTUAL_GPU] = {.latency_ns = 50000, .bytes_per_ns = machine->shares_memory ? 20 : 6, .times_faster = 10}};
    svmx__model_init(&router->model, devices, VIRTUAL_DEVICES);
    svmx__choices_init(&router->choices, &router->model, 1u << VIRTUAL_CPU);
}

void virtual_router_fini(struct virtual_router *router) {
    svmx__choices_fini(&router->choices);
    svmx__model_fini(&router->model);
}

/* ---- figures ------------------------------------------------------------------------------------------------ */

double virtual_total_ns(const struct virtual_record *records, uint32_t from, uint32_t to) {
    double sum = 0;
    for (uint32_t i = from; i < to; i++) sum += (double)records[i].waited_ns;
    return sum;
}

uint32_t virtual_switches(const struct virtual_record *records, uint32_t count) {
    uint32_t switches = 0;
    uint8_t *last = calloc(SVMX__OP_LIMIT, SVMX__CELLS);
    for (uint32_t i = 0; last && i < count; i++) {
        uint8_t *of_cell = &last[records[i].op * SVMX__CELLS + records[i].cell];
        if (records[i].why == SVMX__WHY_PROBE) continue;
        switches += *of_cell && *of_cell != records[i].device + 1;
        *of_cell = (uint8_t)(records[i].device + 1);
    }
    free(last);
    return switches;
}
