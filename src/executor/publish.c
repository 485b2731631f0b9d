/*
 * publish.c: writes the lines of the table of choices: what each device costs, who has the cell, and whom to try next.
 *
 * Called by choice.c when a cell is first asked for and when a launch is over. See line.h; docs/ROUTING.md has the reasons of
 * the numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/line.h"

#include <stdlib.h>

/* How often a line is looked at as a whole: after 1, 2, 4, ... samples, and at least every so many. */
enum { LOOK_EVERY = 64 };

/* When a device that lost is tried again: after 4 samples of the cell if it lost by one of its own, after 16 if by two, and
 * so on to this; later if trying would cost more than its share. */
enum { TRY_AGAIN = 256 };
enum { SETTLED = 16 }; /* samples after a change from which on it is one device like another */

/* ---- whom to try -------------------------------------------------------------------------------------------------- */

/* What trying a device is expected to cost over what the incumbent takes. */
static double loss_of(const struct svmx__cost *cost, double incumbent_ns) {
    const double ns = cost->hoped_ns > 0 ? cost->hoped_ns : cost->ns;
    return ns > incumbent_ns ? ns - incumbent_ns : 0;
}

/* Samples of the line between two trials of a device that is measured and has lost. Those of one device in one line alone
 * then cost no more than the share of time that there is. A device that has just changed may change back: it is tried
 * sooner at first, on what was saved. */
static double interval_of(const struct svmx__choices *choices, const struct svmx__cost *cost, double incumbent_ns) {
    const double by_samples = cost->samples < 4 ? (double)(1u << 2 * cost->samples) : TRY_AGAIN;
    const double by_loss = loss_of(cost, incumbent_ns) / (choices->probe_share * incumbent_ns);
    const double interval = by_samples > by_loss ? by_samples : by_loss;
    return cost->changes && cost->samples < SETTLED ? interval * cost->samples / SETTLED : interval;
}

/* Whether a device that is not the incumbent is worth a try. */
static bool is_due(const struct svmx__choices *choices, struct svmx__line *line, uint32_t device,
                   const struct svmx__cost *cost, double incumbent_ns) {
    const uint32_t turn = svmx__get(&line->turn);
    if ((uint32_t)cost->learned != svmx__get(&line->learned[device])) {
        svmx__set(&line->learned[device], (uint32_t)cost->learned);
        svmx__set(&line->tried[device], turn);
    }
    const double enough = choices->margin * incumbent_ns;
    if (cost->kind == SVMX__GUESSED && choices->model->devices[device].on_host) return true;
    if (cost->kind != SVMX__MEASURED) return cost->ns < enough * SVMX__COULD_BE_OFF;
    if (cost->hoped_ns > 0 && cost->hoped_ns < enough) return true;
    return (double)(turn - svmx__get(&line->tried[device])) >= interval_of(choices, cost, incumbent_ns);
}

static struct svmx__price price_of(const struct svmx__cost *cost) {
    return svmx__price_of(cost->ns, cost->setup_ns, cost->transfer_ns, cost->compute_ns);
}

/* The cheapest device to try among those that are due. */
static void publish_probe(const struct svmx__choices *choices, const struct svmx__question *question,
                          struct svmx__line *line, const struct svmx__cost *costs, double incumbent_ns) {
    uint32_t probe = 0;
    double least = 0;
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        if (!svmx__is_in(question->allowed, d) || d == svmx__get(&line->incumbent)) continue;
        if (!is_due(choices, line, d, &costs[d], incumbent_ns)) continue;
        const double loss = loss_of(&costs[d], incumbent_ns);
        if (probe && loss >= least) continue;
        probe = d + 1;
        least = loss;
    }
    svmx__set(&line->probe_loss, svmx__bits_of((float)least));
    svmx__price_put(&line->probe_price, probe ? price_of(&costs[probe - 1]) : (struct svmx__price){0});
    svmx__set(&line->probe, probe);
}

/* ---- publishing -------------------------------------------------------------------------------------------------- */

/* Costs of all devices. What the caller says of the CPU stands in for what is not known of it. */
static void ask_model(const struct svmx__choices *choices, const struct svmx__question *question,
                      struct svmx__cost *costs) {
    const struct svmx__model *model = choices->model;
    for (uint32_t d = 0; d < model->device_count; d++) {
        svmx__model_cost(model, question->op, d, &question->load, &costs[d]);
        if (question->hint_ns > 0 && costs[d].kind == SVMX__GUESSED)
            svmx__model_guess(model, d, &question->load, question->hint_ns, &costs[d]);
    }
}

/* Who has the cell from now on: the best of those that are known, if it is better than the incumbent by the margin. Who
 * may not have this one batch keeps the cell. */
static uint32_t next_incumbent(const struct svmx__choices *choices, const struct svmx__question *question,
                               uint32_t incumbent, const struct svmx__cost *costs) {
    uint32_t best = incumbent;
    if (!svmx__is_in(question->allowed, incumbent) || costs[incumbent].kind == SVMX__GUESSED) return incumbent;
    double bound = choices->margin * costs[incumbent].ns;
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        if (!svmx__is_in(question->allowed, d) || costs[d].kind == SVMX__GUESSED || costs[d].ns >= bound) continue;
        best = d;
        bound = costs[d].ns;
    }
    return best;
}

/* Looks at all devices. */
static void publish(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__line *line) {
    struct svmx__cost costs[SVMX__ROUTED];
    const uint32_t turn = svmx__get(&line->turn);
    ask_model(choices, question, costs);
    for (uint32_t d = 0; d < choices->model->device_count; d++)
        svmx__price_put(&line->price[d],
                        costs[d].kind == SVMX__GUESSED ? (struct svmx__price){0} : price_of(&costs[d]));
    const uint32_t before = svmx__get(&line->incumbent), incumbent = next_incumbent(choices, question, before, costs);
    svmx__set(&line->incumbent, incumbent);
    if (incumbent != before && turn) /* before the first sample it is no change */
        atomic_fetch_add_explicit(&choices->of_op[question->op].flips, 1, memory_order_relaxed);
    svmx__set(&line->news, svmx__get(&choices->news));
    svmx__set(&line->look_at, turn + (turn < LOOK_EVERY ? turn + 1 : LOOK_EVERY));
    if (costs[incumbent].kind != SVMX__GUESSED || question->hint_ns > 0)
        publish_probe(choices, question, line, costs, costs[incumbent].ns);
}

/* Is somebody else better than the incumbent, by what the line says? */
static bool is_beaten(const struct svmx__choices *choices, const struct svmx__line *line, uint32_t incumbent) {
    const float bound = (float)choices->margin * svmx__price_at(&line->price[incumbent]).ns;
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        const float cost = svmx__price_at(&line->price[d]).ns;
        if (cost > 0 && cost < bound) return true;
    }
    return false;
}

/* A device has a new sample. Most are of devices that are known, and change nothing: then nobody else is looked at. What
 * the first samples of a device in a cell say is news to all lines. */
void svmx__line_told(struct svmx__choices *choices, const struct svmx__question *question, uint32_t device,
                     bool was_probe) {
    struct svmx__line *line =
        svmx__line_find(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (!line) return;
    struct svmx__cost cost;
    const uint32_t turn = svmx__get(&line->turn) + 1, incumbent = svmx__get(&line->incumbent);
    const bool was_known = svmx__price_at(&line->price[device]).ns > 0;
    svmx__set(&line->turn, turn);
    svmx__model_cost(choices->model, question->op, device, &question->load, &cost);
    svmx__price_put(&line->price[device], price_of(&cost));
    if (cost.samples <= SVMX__FEW) atomic_fetch_add_explicit(&choices->news, 1, memory_order_relaxed);
    if (!was_known || was_probe || turn >= svmx__get(&line->look_at) ||
        svmx__get(&line->news) != svmx__get(&choices->news) || is_beaten(choices, line, incumbent))
        publish(choices, question, line);
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

static struct svmx__page *make_page(struct svmx__choices *choices, uint32_t op) {
    struct svmx__page *there = atomic_load_explicit(&choices->pages[op], memory_order_acquire), *made;
    if (there || !(made = calloc(1, sizeof *made))) return there;
    if (atomic_compare_exchange_strong_explicit(&choices->pages[op], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}

/* NULL: no memory. */
struct svmx__line *svmx__line_make(struct svmx__choices *choices, const struct svmx__question *question,
                                   uint32_t cell) {
    struct svmx__page *page = make_page(choices, question->op);
    struct svmx__line *made = page ? calloc(1, sizeof *made) : NULL, *there = NULL;
    if (!made) return NULL;
    svmx__set(&made->incumbent, question->fallback);
    publish(choices, question, made);
    if (atomic_compare_exchange_strong_explicit(&page->lines[cell], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}
