/*
 * choice.c: see choice.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/choice.h"

#include <stdlib.h>
#include <string.h>

/* How often a line is looked at as a whole: after 1, 2, 4, ... samples, and at least every so many. */
enum { LOOK_EVERY = 64 };
enum { FEW = 3 }; /* samples of a device in a cell that are news to other cells */

/* When a device that lost is tried again: after 4 samples of the cell if it lost by one of its own, after 16 if by two, and
 * so on to this; later if trying would cost more than its share. */
enum { TRY_AGAIN = 256 };
enum { SETTLED = 16 }; /* samples after a change from which on it is one device like another */

/* How many times too high may be what is said of a device that was not measured there. */
static const double COULD_BE_OFF = 4;

/* Of one cell of one operation. All are relaxed: each number stands for itself, and an old one is an answer of a moment
 * ago. */
struct svmx__line {
    _Atomic uint32_t cost[SVMX__ROUTED]; /* ns, a float; 0: not known */
    _Atomic uint32_t incumbent;
    _Atomic uint32_t probe;                 /* 1 + the device to try; 0: none */
    _Atomic uint32_t probe_loss;            /* what that may cost, ns, a float */
    _Atomic uint32_t turn;                  /* samples so far */
    _Atomic uint32_t look_at;               /* the turn in which to look at all devices again */
    _Atomic uint32_t news;                  /* those of the table when it did so last */
    _Atomic uint32_t heard;                 /* bit d: there was a sample of device d, believed or not */
    _Atomic uint32_t tried[SVMX__ROUTED];   /* the turn in which the device was last seen to have a new sample */
    _Atomic uint32_t learned[SVMX__ROUTED]; /* its samples then */
};

struct svmx__page {
    _Atomic(struct svmx__line *) lines[SVMX__CELLS];
};

/* ---- small things ----------------------------------------------------------------------------------------------- */

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(const _Atomic uint32_t *bits) {
    const uint32_t now = atomic_load_explicit(bits, memory_order_relaxed);
    float value;
    memcpy(&value, &now, sizeof value);
    return value;
}

static uint32_t get(const _Atomic uint32_t *word) { return atomic_load_explicit(word, memory_order_relaxed); }
static void set(_Atomic uint32_t *word, uint32_t value) { atomic_store_explicit(word, value, memory_order_relaxed); }

static bool is_in(uint32_t mask, uint32_t device) { return mask >> device & 1; }

static void add(_Atomic uint64_t *sum, uint64_t ns) { atomic_fetch_add_explicit(sum, ns, memory_order_relaxed); }

/* ---- lines ------------------------------------------------------------------------------------------------------ */

/* acquire: with the exchanges below */
static struct svmx__line *find_line(const struct svmx__choices *choices, uint32_t op, uint32_t cell) {
    const struct svmx__page *page = atomic_load_explicit(&choices->pages[op], memory_order_acquire);
    return page ? atomic_load_explicit(&page->lines[cell], memory_order_acquire) : NULL;
}

static struct svmx__page *make_page(struct svmx__choices *choices, uint32_t op) {
    struct svmx__page *there = atomic_load_explicit(&choices->pages[op], memory_order_acquire), *made;
    if (there || !(made = calloc(1, sizeof *made))) return there;
    if (atomic_compare_exchange_strong_explicit(&choices->pages[op], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}

static void publish(const struct svmx__choices *choices, const struct svmx__question *question,
                    struct svmx__line *line);

/* NULL: no memory. */
static struct svmx__line *make_line(struct svmx__choices *choices, const struct svmx__question *question,
                                    uint32_t cell) {
    struct svmx__page *page = make_page(choices, question->op);
    struct svmx__line *made = page ? calloc(1, sizeof *made) : NULL, *there = NULL;
    if (!made) return NULL;
    set(&made->incumbent, question->fallback);
    publish(choices, question, made);
    if (atomic_compare_exchange_strong_explicit(&page->lines[cell], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}

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
    const uint32_t turn = get(&line->turn);
    if ((uint32_t)cost->learned != get(&line->learned[device])) {
        set(&line->learned[device], (uint32_t)cost->learned);
        set(&line->tried[device], turn);
    }
    const double enough = choices->margin * incumbent_ns;
    if (cost->kind == SVMX__GUESSED && choices->model->devices[device].on_host) return true;
    if (cost->kind != SVMX__MEASURED) return cost->ns < enough * COULD_BE_OFF;
    if (cost->hoped_ns > 0 && cost->hoped_ns < enough) return true;
    return (double)(turn - get(&line->tried[device])) >= interval_of(choices, cost, incumbent_ns);
}

/* The cheapest device to try among those that are due. */
static void publish_probe(const struct svmx__choices *choices, const struct svmx__question *question,
                          struct svmx__line *line, const struct svmx__cost *costs, double incumbent_ns) {
    uint32_t probe = 0;
    double least = 0;
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        if (!is_in(question->allowed, d) || d == get(&line->incumbent)) continue;
        if (!is_due(choices, line, d, &costs[d], incumbent_ns)) continue;
        const double loss = loss_of(&costs[d], incumbent_ns);
        if (probe && loss >= least) continue;
        probe = d + 1;
        least = loss;
    }
    set(&line->probe_loss, bits_of((float)least));
    set(&line->probe, probe);
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
    if (!is_in(question->allowed, incumbent) || costs[incumbent].kind == SVMX__GUESSED) return incumbent;
    double bound = choices->margin * costs[incumbent].ns;
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        if (!is_in(question->allowed, d) || costs[d].kind == SVMX__GUESSED || costs[d].ns >= bound) continue;
        best = d;
        bound = costs[d].ns;
    }
    return best;
}

/* Looks at all devices. */
static void publish(const struct svmx__choices *choices, const struct svmx__question *question,
                    struct svmx__line *line) {
    struct svmx__cost costs[SVMX__ROUTED];
    const uint32_t turn = get(&line->turn);
    ask_model(choices, question, costs);
    for (uint32_t d = 0; d < choices->model->device_count; d++)
        set(&line->cost[d], costs[d].kind == SVMX__GUESSED ? 0 : bits_of((float)costs[d].ns));
    const uint32_t incumbent = next_incumbent(choices, question, get(&line->incumbent), costs);
    set(&line->incumbent, incumbent);
    set(&line->news, get(&choices->news));
    set(&line->look_at, turn + (turn < LOOK_EVERY ? turn + 1 : LOOK_EVERY));
    if (costs[incumbent].kind != SVMX__GUESSED || question->hint_ns > 0)
        publish_probe(choices, question, line, costs, costs[incumbent].ns);
}

void svmx__choices_publish(struct svmx__choices *choices, const struct svmx__question *question) {
    struct svmx__line *line =
        find_line(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (line && !choices->frozen) publish(choices, question, line);
}

/* Is somebody else better than the incumbent, by what the line says? */
static bool is_beaten(const struct svmx__choices *choices, const struct svmx__line *line, uint32_t incumbent) {
    const float bound = (float)choices->margin * float_of(&line->cost[incumbent]);
    for (uint32_t d = 0; d < choices->model->device_count; d++) {
        const float cost = float_of(&line->cost[d]);
        if (cost > 0 && cost < bound) return true;
    }
    return false;
}

/* A device has a new sample. Most are of devices that are known, and change nothing: then nobody else is looked at. What
 * the first samples of a device in a cell say is news to all lines. */
static void publish_one(struct svmx__choices *choices, const struct svmx__question *question, uint32_t device,
                        bool was_probe) {
    struct svmx__line *line =
        find_line(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (!line) return;
    struct svmx__cost cost;
    const uint32_t turn = get(&line->turn) + 1, incumbent = get(&line->incumbent);
    const bool was_known = get(&line->cost[device]) != 0;
    set(&line->turn, turn);
    svmx__model_cost(choices->model, question->op, device, &question->load, &cost);
    set(&line->cost[device], bits_of((float)cost.ns));
    if (cost.samples <= FEW) atomic_fetch_add_explicit(&choices->news, 1, memory_order_relaxed);
    if (!was_known || was_probe || turn >= get(&line->look_at) || get(&line->news) != get(&choices->news) ||
        is_beaten(choices, line, incumbent))
        publish(choices, question, line);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* What a device does before it comes to new work. Devices on the host's cores wait for one another. */
static float backlog_of(const struct svmx__choices *choices, uint32_t device) {
    if (!is_in(choices->cores_mask, device))
        return (float)atomic_load_explicit(&choices->backlog_ns[device], memory_order_relaxed);
    uint64_t sum = 0;
    for (uint32_t mask = choices->cores_mask; mask; mask &= mask - 1)
        sum += atomic_load_explicit(&choices->backlog_ns[__builtin_ctz(mask)], memory_order_relaxed);
    return (float)sum / (float)choices->cores;
}

/* May the device that is to be tried have this one? Whoever takes it out of the line does it. */
static bool take_probe(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__line *line,
                       struct svmx__answer *answer) {
    uint32_t probe = get(&line->probe);
    const float loss = float_of(&line->probe_loss);
    const double spent = (double)atomic_load_explicit(&choices->probe_ns, memory_order_relaxed);
    const double busy = (double)atomic_load_explicit(&choices->busy_ns, memory_order_relaxed);
    if (!probe || choices->probe_share <= 0 || !is_in(question->allowed, probe - 1)) return false;
    if (spent + (double)loss > choices->probe_share * busy) return false;
    if (backlog_of(choices, probe - 1) > 0) return false; /* it would measure the wait */
    if (!atomic_compare_exchange_strong_explicit(&line->probe, &probe, 0, memory_order_relaxed, memory_order_relaxed))
        return false;
    const float known_ns = float_of(&line->cost[get(&line->incumbent)]),
                incumbent_ns = known_ns > 0 ? known_ns : (float)question->hint_ns;
    *answer = (struct svmx__answer){.device = probe - 1,
                                    .why = SVMX__WHY_PROBE,
                                    .expected_ns = incumbent_ns + loss,
                                    .incumbent_ns = incumbent_ns,
                                    .reserved_ns = loss};
    add(&choices->probe_ns, (uint64_t)loss);
    return true;
}

/* Who finishes first; the incumbent, or who stands in for it, if nobody does by the margin. */
static void take_best(const struct svmx__choices *choices, const struct svmx__question *question,
                      const struct svmx__line *line, struct svmx__answer *answer) {
    const uint32_t incumbent = get(&line->incumbent);
    const bool may = is_in(question->allowed, incumbent);
    const uint32_t best = may ? incumbent : question->fallback;
    const float cost = float_of(&line->cost[best]), backlog = backlog_of(choices, best);
    *answer = (struct svmx__answer){.device = best, .why = SVMX__WHY_BEST, .expected_ns = cost};
    if (may && backlog <= 0) return; /* the table has compared the costs already */
    float bound = (backlog + cost) * (float)choices->margin;
    for (uint32_t mask = question->allowed; mask; mask &= mask - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(mask);
        const float of_d = float_of(&line->cost[d]);
        if (d == best || of_d <= 0) continue;
        const float finish = backlog_of(choices, d) + of_d;
        if (finish >= bound) continue;
        bound = finish;
        *answer =
            (struct svmx__answer){.device = d, .why = may ? SVMX__WHY_BACKLOG : SVMX__WHY_BEST, .expected_ns = of_d};
    }
}

void svmx__choose(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__answer *answer) {
    const uint32_t cell = svmx__cell_of(question->load.units, question->load.work);
    struct svmx__line *line = find_line(choices, question->op, cell);
    if (!line && !choices->frozen) line = make_line(choices, question, cell);
    if (!line) {
        *answer = (struct svmx__answer){.device = question->fallback, .why = SVMX__WHY_ONLY};
    } else if ((question->allowed & (question->allowed - 1)) == 0) {
        const uint32_t only = (uint32_t)__builtin_ctz(question->allowed);
        *answer =
            (struct svmx__answer){.device = only, .why = SVMX__WHY_ONLY, .expected_ns = float_of(&line->cost[only])};
    } else if (!get(&line->probe) || !take_probe(choices, question, line, answer)) {
        take_best(choices, question, line, answer);
    }
    if (answer->expected_ns > 0) add(&choices->backlog_ns[answer->device], (uint64_t)answer->expected_ns);
}

void svmx__unchoose(struct svmx__choices *choices, const struct svmx__answer *answer) {
    if (answer->expected_ns > 0)
        atomic_fetch_sub_explicit(&choices->backlog_ns[answer->device], (uint64_t)answer->expected_ns,
                                  memory_order_relaxed);
    if (answer->why == SVMX__WHY_PROBE)
        atomic_fetch_sub_explicit(&choices->probe_ns, (uint64_t)answer->reserved_ns, memory_order_relaxed);
}

/* ---- being told ------------------------------------------------------------------------------------------------- */

/* The first sample of a device in a line is not believed if it is out of all proportion: an accident would keep the device
 * out for long. The second is, whatever it says. */
static bool is_believed(const struct svmx__choices *choices, const struct svmx__question *question,
                        const struct svmx__answer *answer, uint64_t ns) {
    struct svmx__line *line =
        find_line(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (!line || is_in(get(&line->heard), answer->device)) return true;
    atomic_fetch_or_explicit(&line->heard, 1u << answer->device, memory_order_relaxed);
    return answer->expected_ns <= 0 || (double)ns <= COULD_BE_OFF * (double)answer->expected_ns;
}

/* What of a probe's time counts as spent on trying. Not a first use, which whoever comes first pays, once; nor what is out
 * of all proportion to what is known, for that is an accident. */
static double counted_ns(const struct svmx__choices *choices, const struct svmx__question *question,
                         const struct svmx__answer *answer, uint64_t ns) {
    struct svmx__cost cost;
    svmx__model_cost(choices->model, question->op, answer->device, &question->load, &cost);
    const double most = COULD_BE_OFF * cost.ns;
    return cost.samples > FEW && (double)ns > most ? most : (double)ns;
}

/* What a probe lost, instead of what it might have; and how much better than the incumbent it was, if it was. */
static void settle_probe(struct svmx__choices *choices, const struct svmx__answer *answer, double ns) {
    const double lost = ns - (double)answer->incumbent_ns;
    const uint64_t loss = lost > 0 ? (uint64_t)lost : 0;
    add(&choices->probe_ns, loss - (uint64_t)answer->reserved_ns); /* wraps where it lost less: the sum does not */
    const double gain = answer->incumbent_ns > 0 && lost < 0 ? -lost / (double)answer->incumbent_ns : 0;
    const uint64_t ppm = (uint64_t)(gain * 1e6);
    add(&choices->regret_ppm, ppm);
    add(&choices->regret_ppm_squared, ppm * ppm);
}

void svmx__told(struct svmx__choices *choices, const struct svmx__question *question, const struct svmx__answer *answer,
                uint64_t ns, const struct svmx__sample *sample) {
    const bool was_probe = answer->why == SVMX__WHY_PROBE, first_use = sample && sample->first_use;
    const bool believed = first_use || !sample || is_believed(choices, question, answer, ns);
    if (answer->expected_ns > 0)
        atomic_fetch_sub_explicit(&choices->backlog_ns[answer->device], (uint64_t)answer->expected_ns,
                                  memory_order_relaxed);
    add(&choices->busy_ns, ns);
    if (was_probe) add(&choices->probes, 1);
    if (was_probe && believed && !first_use) settle_probe(choices, answer, counted_ns(choices, question, answer, ns));
    if (!sample || choices->frozen) return;
    const bool learned =
        believed && svmx__model_learn(choices->model, question->op, answer->device, &question->load, sample);
    if (learned || was_probe) publish_one(choices, question, answer->device, was_probe);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void svmx__choices_init(struct svmx__choices *choices, struct svmx__model *model, uint32_t cores_mask, double cores) {
    memset(choices, 0, sizeof *choices); /* all atomics of it: nobody else has it yet */
    choices->model = model;
    choices->margin = 0.9;
    choices->probe_share = 0.01;
    choices->cores_mask = cores_mask;
    choices->cores = cores > 1 ? cores : 1;
}

void svmx__choices_fini(struct svmx__choices *choices) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        struct svmx__page *page = atomic_load_explicit(&choices->pages[op], memory_order_relaxed);
        for (uint32_t i = 0; page && i < SVMX__CELLS; i++)
            free(atomic_load_explicit(&page->lines[i], memory_order_relaxed));
        free(page);
        atomic_store_explicit(&choices->pages[op], NULL, memory_order_relaxed);
    }
}

uint32_t svmx__choices_look(const struct svmx__choices *choices, uint32_t op, const struct svmx__load *load,
                            uint32_t count, float *cost_ns) {
    const struct svmx__line *line = find_line(choices, op, svmx__cell_of(load->units, load->work));
    for (uint32_t d = 0; d < count; d++) cost_ns[d] = line ? float_of(&line->cost[d]) : 0;
    return line ? get(&line->incumbent) : UINT32_MAX;
}
