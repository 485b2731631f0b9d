/*
 * explain.c: svmx_explain: what the router would do with a task of some size, and what it knows. Asks the model and the
 * table of choices as route.c does, runs nothing and changes nothing. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/versioned.h"
#include "executor/building.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CANDIDATE = SVMX__THROUGH(struct svmx_candidate, backlog_ns) };

/* Above that the example is not made: size, work and bytes are taken to grow from here on as units do. */
enum { MOST_UNITS = 4096 };

/* The size of one made-up task. Its data is needed only where the operation looks into it. */
static enum svmx_status load_of(const struct svmx__op *op, uint64_t units, struct svmx__load *load) {
    struct svmx_slot slots[SVMX__MAX_PARAMS];
    struct svmx__size size = {0, 0};
    struct svmx__text unused;
    void *block = NULL;
    const uint64_t made = units < MOST_UNITS ? units : MOST_UNITS;
    enum svmx_status status = svmx__example_make(op, made, 1, slots, &block);
    if (status == SVMX_OK) status = svmx__op_check(op, slots, &size, &unused);
    if (status == SVMX_OK) {
        *load = (struct svmx__load){.units = size.units, .work = size.work};
        for (uint32_t i = 0; i < op->param_count; i++)
            if (op->params[i].shape != SVMX_SCALAR) load->bytes += slots[i].bytes;
        const double times = made ? (double)units / (double)made : 1;
        load->units = (uint64_t)((double)load->units * times);
        load->work = (uint64_t)((double)load->work * times);
        load->bytes = (uint64_t)((double)load->bytes * times);
    }
    free(block);
    return status;
}

/* ---- candidates -------------------------------------------------------------------------------------------------- */

/* What is known, and who would be chosen from it, if nothing else were to do. */
struct view {
    const struct svmx_executor *executor;
    uint32_t op, serving, allowed, winner;
    struct svmx__load load;
    struct svmx__cost costs[SVMX__ROUTED];
};

static bool is_known(const struct view *view, uint32_t device) { return view->costs[device].kind != SVMX__GUESSED; }

/* The incumbent of the cell, or who would become it. */
static uint32_t winner_of(const struct view *view) {
    const struct svmx_executor *executor = view->executor;
    const uint32_t incumbent = svmx__choices_look(&executor->choices, view->op, &view->load, 0, NULL);
    uint32_t winner = svmx__fallback_of(view->allowed, executor->cpus);
    if (incumbent != UINT32_MAX && svmx__is_in(view->allowed, incumbent)) winner = incumbent;
    for (uint32_t d = 0; d < executor->routed; d++) {
        if (!svmx__is_in(view->allowed, d) || !is_known(view, d) || !is_known(view, winner)) continue;
        if (view->costs[d].ns < executor->choices.margin * view->costs[winner].ns) winner = d;
    }
    return winner;
}

static void look(struct view *view) {
    const struct svmx_executor *executor = view->executor;
    const struct svmx__policy *policy = &executor->policies[view->op];
    view->serving = atomic_load_explicit(&executor->serving[view->op], memory_order_relaxed);
    view->allowed = svmx__policy_allows(policy, policy->kind, view->serving, executor->cpus, view->load.units);
    for (uint32_t d = 0; d < executor->routed; d++)
        svmx__model_cost(&executor->model, view->op, d, &view->load, &view->costs[d]);
    if (!view->allowed)
        view->winner = UINT32_MAX;
    else if (policy->kind == SVMX_POLICY_ORDER)
        view->winner = (uint32_t)__builtin_ctz(view->allowed);
    else
        view->winner = winner_of(view);
}

static uint32_t verdict_of(const struct view *view, uint32_t device) {
    if (device == view->winner) return SVMX_CHOSEN;
    if (!svmx__is_in(view->serving, device)) return SVMX_NO_DEVICE;
    if (!svmx__is_in(view->allowed, device)) return SVMX_NOT_ALLOWED;
    return is_known(view, device) ? SVMX_SLOWER : SVMX_UNMEASURED;
}

/* All that were taken, also those that the profile stands for: the window has the last ones only. */
static uint32_t samples_of(const struct svmx__cost *cost) {
    if (cost->learned < cost->samples) return cost->samples;
    return cost->learned < UINT32_MAX ? (uint32_t)cost->learned : UINT32_MAX;
}

static struct svmx_candidate candidate_of(const struct view *view, uint32_t device) {
    const struct svmx__cost *cost = &view->costs[device];
    return (struct svmx_candidate){.device = device,
                                   .verdict = verdict_of(view, device),
                                   .kind = cost->kind,
                                   .samples = samples_of(cost),
                                   .expected_ns = cost->ns,
                                   .setup_ns = cost->setup_ns,
                                   .transfer_ns = cost->transfer_ns,
                                   .compute_ns = cost->compute_ns,
                                   .p99_ns = cost->p99_ns,
                                   .first_use_ns = cost->first_use_ns,
                                   .backlog_ns = (double)svmx__backlog_ns(&view->executor->choices, device)};
}

/* The winner first, then by what they are expected to take. */
static int by_rank(const void *a, const void *b) {
    const struct svmx_candidate *one = a, *other = b;
    const int chosen = (other->verdict == SVMX_CHOSEN) - (one->verdict == SVMX_CHOSEN);
    if (chosen) return chosen;
    return (one->expected_ns > other->expected_ns) - (one->expected_ns < other->expected_ns);
}

static void give_candidates(const struct view *view, struct svmx_candidate *candidates, size_t capacity,
                            size_t *count) {
    struct svmx_candidate all[SVMX__ROUTED];
    size_t given = 0;
    for (uint32_t d = 0; d < view->executor->routed; d++) all[d] = candidate_of(view, d);
    qsort(all, view->executor->routed, sizeof *all, by_rank);
    for (; given < capacity && given < view->executor->routed; given++)
        svmx__give_element(candidates, given, &all[given], sizeof *all);
    if (count) *count = given;
}

/* Whether so many units would leave the CPU. */
static bool leaves_cpu(struct view *view, const struct svmx__op *op, uint64_t units) {
    if (load_of(op, units, &view->load) != SVMX_OK) return false;
    look(view);
    return view->winner != UINT32_MAX && !svmx__is_in(view->executor->cpus, view->winner);
}

/* The smallest number of units that leaves the CPU. What is measured is kept by powers of two, so sizes between two of them
 * differ by the bounds of the policy only. */
static uint64_t crossover_of(struct view *view, const struct svmx__op *op) {
    const struct svmx__policy *policy = &view->executor->policies[op->id];
    for (uint32_t log2 = 0; log2 < SVMX__LANES - 1; log2++) {
        const uint64_t size = UINT64_C(1) << log2, bounds[] = {policy->low, policy->high};
        for (int i = 0; i < 2; i++)
            if (bounds[i] > size / 2 && bounds[i] < size && leaves_cpu(view, op, bounds[i])) return bounds[i];
        if (leaves_cpu(view, op, size)) return size;
    }
    return UINT64_MAX;
}

enum svmx_status svmx_explain(svmx_executor_t *executor, uint32_t op, uint64_t units, struct svmx_candidate *candidates,
                              size_t capacity, size_t *count, uint64_t *crossover) {
    if (!executor || (capacity && !svmx__is_served(candidates, FIRST_CANDIDATE))) return SVMX_ERR_ARGUMENT;
    if (svmx__is_closed(executor)) return SVMX_ERR_CLOSED;
    const struct svmx__op *of = svmx__operations_by_id(executor->operations, op);
    if (!of) return SVMX_ERR_UNKNOWN;
    if (units >> (SVMX__LANES - 1)) return SVMX_ERR_OVERFLOW;
    struct view view = {.executor = executor, .op = op};
    enum svmx_status status = load_of(of, units, &view.load);
    if (status != SVMX_OK) return status;
    look(&view);
    give_candidates(&view, candidates, capacity, count);
    if (crossover) *crossover = crossover_of(&view, of);
    return SVMX_OK;
}
