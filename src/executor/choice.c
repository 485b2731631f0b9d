/*
 * choice.c: see choice.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/line.h"

#include <stdlib.h>

static void add(_Atomic uint64_t *sum, uint64_t ns) { atomic_fetch_add_explicit(sum, ns, memory_order_relaxed); }

/* ---- prices ------------------------------------------------------------------------------------------------------- */

static uint16_t share_of(double part_ns, double whole_ns) {
    return part_ns > 0 && whole_ns > 0 ? (uint16_t)(part_ns / whole_ns * SVMX__WHOLE) : 0;
}

struct svmx__price svmx__price_of(double ns, double setup_ns, double transfer_ns, double compute_ns) {
    const double sum = setup_ns + transfer_ns + compute_ns;
    return (struct svmx__price){
        .ns = (float)ns, .setup = share_of(setup_ns, sum), .transfer = share_of(transfer_ns, sum)};
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

/* May the device that is to be tried have this one? Whoever takes it out of the line does it. */
static bool take_probe(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__line *line,
                       struct svmx__answer *answer) {
    uint32_t probe = svmx__get(&line->probe);
    const float loss = svmx__float_of(&line->probe_loss);
    const double spent = (double)atomic_load_explicit(&choices->probe_ns, memory_order_relaxed);
    const double busy = (double)atomic_load_explicit(&choices->busy_ns, memory_order_relaxed);
    if (!probe || choices->probe_share <= 0 || !svmx__is_in(question->allowed, probe - 1)) return false;
    if (spent + (double)loss > choices->probe_share * busy) return false;
    if (svmx__backlog_ns(choices, probe - 1) > 0) return false; /* it would measure the wait */
    if (!atomic_compare_exchange_strong_explicit(&line->probe, &probe, 0, memory_order_relaxed, memory_order_relaxed))
        return false;
    const float known_ns = svmx__price_at(&line->price[svmx__get(&line->incumbent)]).ns,
                incumbent_ns = known_ns > 0 ? known_ns : (float)question->hint_ns;
    struct svmx__price price = svmx__price_at(&line->probe_price);
    price.ns = incumbent_ns + loss; /* no less: what it waits for may be more */
    svmx__answer_set(answer, probe - 1, SVMX__WHY_PROBE, price);
    answer->incumbent_ns = incumbent_ns;
    answer->reserved_ns = loss;
    add(&choices->probe_ns, (uint64_t)loss);
    return true;
}

/* Writes down what a device has to do before, so that the choice can be made again from its record. */
static float note_wait(const struct svmx__choices *choices, uint32_t device, struct svmx__answer *answer) {
    const float wait_ns = svmx__backlog_ns(choices, device);
    if (wait_ns <= 0) return 0;
    answer->waiting |= UINT32_C(1) << device;
    answer->wait_ns[device] = wait_ns;
    return wait_ns;
}

/* Who finishes first; the incumbent, or who stands in for it, if nobody does by the margin. */
static void take_best(const struct svmx__choices *choices, const struct svmx__question *question,
                      const struct svmx__line *line, struct svmx__answer *answer) {
    const uint32_t incumbent = svmx__get(&line->incumbent);
    const bool may = svmx__is_in(question->allowed, incumbent);
    const uint32_t best = may ? incumbent : question->fallback;
    const struct svmx__price price = svmx__price_at(&line->price[best]);
    svmx__answer_set(answer, best, SVMX__WHY_BEST, price);
    const float backlog = note_wait(choices, best, answer);
    if (may && backlog <= 0) return; /* the table has compared the costs already */
    float bound = (backlog + price.ns) * (float)choices->margin;
    for (uint32_t mask = question->allowed; mask; mask &= mask - 1) {
        const uint32_t d = (uint32_t)__builtin_ctz(mask);
        const struct svmx__price of_d = svmx__price_at(&line->price[d]);
        if (d == best || of_d.ns <= 0) continue;
        const float finish = note_wait(choices, d, answer) + of_d.ns;
        if (finish >= bound) continue;
        bound = finish;
        answer->device = d;
        answer->why = may ? SVMX__WHY_BACKLOG : SVMX__WHY_BEST;
        svmx__answer_expect(answer, of_d);
    }
}

/* A line is for all who ask for that size: who asks first must not decide by what it may have. */
static struct svmx__line *make_line(struct svmx__choices *choices, const struct svmx__question *question,
                                    uint32_t cell) {
    struct svmx__question all = *question;
    if (question->serving) {
        all.allowed = question->serving;
        all.fallback = question->serving_fallback;
    }
    return svmx__line_make(choices, &all, cell);
}

/* Where something is to be weighed. */
static __attribute__((noinline)) void weigh(struct svmx__choices *choices, const struct svmx__question *question,
                                            struct svmx__answer *answer) {
    const uint32_t cell = svmx__cell_of(question->load.units, question->load.work);
    struct svmx__line *line = svmx__line_find(choices, question->op, cell);
    if (!line) line = make_line(choices, question, cell);
    if (!line) {
        svmx__answer_set(answer, question->fallback, SVMX__WHY_ONLY, (struct svmx__price){0});
    } else if ((question->allowed & (question->allowed - 1)) == 0) {
        const uint32_t only = (uint32_t)__builtin_ctz(question->allowed);
        svmx__answer_set(answer, only, SVMX__WHY_ONLY, svmx__price_at(&line->price[only]));
        (void)note_wait(choices, only, answer);
    } else if (!svmx__get(&line->probe) || !take_probe(choices, question, line, answer)) {
        take_best(choices, question, line, answer);
    }
}

void svmx__choose(struct svmx__choices *choices, const struct svmx__question *question, struct svmx__answer *answer) {
    if (!svmx__choose_settled(choices, question, answer)) weigh(choices, question, answer);
}

void svmx__charge(struct svmx__choices *choices, struct svmx__answer *answer) {
    answer->charged = answer->expected_ns > 0;
    if (answer->charged) add(&choices->backlog_ns[choices->queue[answer->device]], (uint64_t)answer->expected_ns);
}

void svmx__unchoose(struct svmx__choices *choices, const struct svmx__answer *answer) {
    if (answer->why == SVMX__WHY_PROBE)
        atomic_fetch_sub_explicit(&choices->probe_ns, (uint64_t)answer->reserved_ns, memory_order_relaxed);
}

/* It is no longer what its device has still to do. */
static void leave_backlog(struct svmx__choices *choices, const struct svmx__answer *answer) {
    if (answer->charged)
        atomic_fetch_sub_explicit(&choices->backlog_ns[choices->queue[answer->device]], (uint64_t)answer->expected_ns,
                                  memory_order_relaxed);
}

void svmx__uncharge(struct svmx__choices *choices, const struct svmx__answer *answer, uint64_t lost_ns) {
    leave_backlog(choices, answer);
    svmx__unchoose(choices, answer);
    if (answer->why == SVMX__WHY_PROBE) add(&choices->probe_ns, lost_ns);
}

/* ---- being told ------------------------------------------------------------------------------------------------- */

/* The first sample of a device in a line is not believed if it is out of all proportion: an accident would keep the device
 * out for long. The second is, whatever it says. */
static bool is_believed(const struct svmx__choices *choices, const struct svmx__question *question,
                        const struct svmx__answer *answer, uint64_t ns) {
    struct svmx__line *line =
        svmx__line_find(choices, question->op, svmx__cell_of(question->load.units, question->load.work));
    if (!line || svmx__is_in(svmx__get(&line->heard), answer->device)) return true;
    atomic_fetch_or_explicit(&line->heard, 1u << answer->device, memory_order_relaxed);
    return answer->expected_ns <= 0 || (double)ns <= SVMX__COULD_BE_OFF * (double)answer->expected_ns;
}

/* What of a probe's time counts as spent on trying: of an accident, what it takes without. */
static double counted_ns(const struct svmx__choices *choices, const struct svmx__question *question,
                         const struct svmx__answer *answer, uint64_t ns) {
    struct svmx__cost cost;
    svmx__model_cost(choices->model, question->op, answer->device, &question->load, &cost);
    const bool accident = cost.samples > SVMX__FEW && (double)ns > SVMX__COULD_BE_OFF * cost.ns;
    return accident ? cost.ns : (double)ns;
}

/* What a probe lost, instead of what it might have; and how much better than the incumbent it was, if it was. Not for a first
 * use, which whoever comes first pays, once. */
static void settle_probe(struct svmx__choices *choices, uint32_t op, const struct svmx__answer *answer, double ns) {
    const double lost = ns - (double)answer->incumbent_ns;
    const uint64_t loss = lost > 0 ? (uint64_t)lost : 0;
    add(&choices->probe_ns, loss - (uint64_t)answer->reserved_ns); /* wraps where it lost less: the sum does not */
    const double gain = answer->incumbent_ns > 0 && lost < 0 ? -lost / (double)answer->incumbent_ns : 0;
    const uint64_t ppm = (uint64_t)(gain * 1e6);
    add(&choices->probes, 1);
    add(&choices->of_op[op].probes, 1);
    add(&choices->regret_ppm, ppm);
    add(&choices->of_op[op].regret_ppm, ppm);
    add(&choices->regret_ppm_squared, ppm * ppm);
}

void svmx__told(struct svmx__choices *choices, const struct svmx__question *question, const struct svmx__answer *answer,
                uint64_t ns, const struct svmx__sample *sample) {
    const bool was_probe = answer->why == SVMX__WHY_PROBE, first_use = sample && sample->first_use;
    const bool believed = first_use || !sample || is_believed(choices, question, answer, ns);
    leave_backlog(choices, answer);
    add(&choices->busy_ns, ns);
    if (was_probe && believed && !first_use)
        settle_probe(choices, question->op, answer, counted_ns(choices, question, answer, ns));
    else if (was_probe) /* a first use is paid by whoever comes first, once */
        svmx__unchoose(choices, answer);
    if (!sample || choices->frozen) return;
    const bool learned =
        believed && svmx__model_learn(choices->model, question->op, answer->device, &question->load, sample);
    if (learned || was_probe) svmx__line_told(choices, question, answer->device, was_probe);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void svmx__choices_init(struct svmx__choices *choices, struct svmx__model *model, uint32_t cores_mask) {
    memset(choices, 0, sizeof *choices); /* all atomics of it: nobody else has it yet */
    choices->model = model;
    choices->margin = 0.9;
    choices->probe_share = 0.01;
    choices->cores_mask = cores_mask;
    for (uint32_t d = 0; d < SVMX__ROUTED; d++)
        choices->queue[d] = (uint8_t)(svmx__is_in(cores_mask, d) ? (uint32_t)__builtin_ctz(cores_mask) : d);
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
    const struct svmx__line *line = svmx__line_find(choices, op, svmx__cell_of(load->units, load->work));
    for (uint32_t d = 0; d < count; d++) cost_ns[d] = line ? svmx__price_at(&line->price[d]).ns : 0;
    return line ? svmx__get(&line->incumbent) : UINT32_MAX;
}
