/*
 * model.c: see model.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/model.h"

#include "base/sketch.h"
#include <math.h>
#include <stdlib.h>

/* A sample that is so many times longer or shorter than the median is suspicious; so many in a row, and the past is
 * over. Noise makes single launches longer, hardly ever shorter, so fewer short ones are needed. */
static const double SUSPICIOUS = 2;
enum { LONGER_IN_A_ROW = 4, SHORTER_IN_A_ROW = 3 };

enum {
    CLEAN_ENOUGH = 5,        /* clean samples beside which contended ones count for nothing */
    CONTENDED_IN_A_ROW = 64, /* without a clean one between: then it is contended for good, and that is what counts */
    CLEAN_WEIGHS = 4,
    SAMPLES_FOR_LEAST = 3,
    RESTORED = 3 /* samples that a cell of the profile counts for */
};

struct cell {
    struct svmx__sketch clean, contended; /* of the cost */
    struct svmx__sketch setup, transfer, compute;
    double first_use_ns;
    uint64_t bytes, learned;
    uint64_t restored; /* of those learned, from the profile */
    uint32_t longer, shorter, unclean; /* in a row */
    uint32_t changes;
};

/* Cells are made when their first sample comes, and stay. */
struct svmx__curve {
    atomic_flag held; /* guards all cells: they are learned and looked at a few thousand times a second */
    struct cell *cells[SVMX__CELLS];
};

/* ---- sizes ------------------------------------------------------------------------------------------------------ */

static uint32_t log2_up(uint64_t n) { return n <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(n - 1); }

uint32_t svmx__cell_of(uint64_t units, uint64_t work) {
    uint32_t lanes = log2_up(units), total = log2_up(work);
    uint32_t depth = total > lanes ? total - lanes : 0;
    if (lanes >= SVMX__LANES) lanes = SVMX__LANES - 1;
    if (depth >= SVMX__DEPTHS) depth = SVMX__DEPTHS - 1;
    return lanes * SVMX__DEPTHS + depth;
}

struct svmx__load svmx__cell_load(uint32_t cell) {
    const uint64_t units = UINT64_C(1) << svmx__cell_lanes(cell);
    return (struct svmx__load){.units = units, .work = units << svmx__cell_depth(cell)};
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static bool try_hold(struct svmx__curve *curve) {
    return !atomic_flag_test_and_set_explicit(&curve->held, memory_order_acquire); /* with release_curve */
}

static void hold(struct svmx__curve *curve) {
    while (!try_hold(curve)) {
    }
}

static void release_curve(struct svmx__curve *curve) { atomic_flag_clear_explicit(&curve->held, memory_order_release); }

static struct svmx__curve *curve_of(const struct svmx__model *model, uint32_t op, uint32_t device) {
    return atomic_load_explicit(&model->curves[device][op], memory_order_acquire); /* with make_curve */
}

/* NULL: no memory. Two threads may make it at once; one of them wins. */
static struct svmx__curve *make_curve(struct svmx__model *model, uint32_t op, uint32_t device) {
    struct svmx__curve *there = curve_of(model, op, device), *made;
    if (there || !(made = calloc(1, sizeof *made))) return there;
    if (atomic_compare_exchange_strong_explicit(&model->curves[device][op], &there, made, memory_order_acq_rel,
                                                memory_order_acquire))
        return made;
    free(made);
    return there;
}

static uint32_t count_of(const struct cell *cell) { return cell ? cell->clean.count + cell->contended.count : 0; }

/* Of one or two the smaller: nothing makes a launch shorter than it is. */
static double middle(const struct svmx__sketch *sketch) {
    return (double)svmx__sketch_quantile(sketch, sketch->count < 3 ? 0 : 0.5);
}

static double cell_ns(const struct cell *cell) {
    const double clean = middle(&cell->clean), contended = middle(&cell->contended);
    if (cell->clean.count >= CLEAN_ENOUGH || !cell->contended.count) return clean;
    if (!cell->clean.count) return contended;
    const double weight = CLEAN_WEIGHS * (double)cell->clean.count, other = (double)cell->contended.count;
    return (clean * weight + contended * other) / (weight + other);
}

/* ---- learning --------------------------------------------------------------------------------------------------- */

/* Counts suspicious samples in a row; enough of them, and only they are left. */
static bool notice_change(struct cell *cell, double ns) {
    const double before = cell_ns(cell);
    const bool known = cell->clean.count >= 3;
    cell->longer = known && ns > before * SUSPICIOUS ? cell->longer + 1 : 0;
    cell->shorter = known && ns < before / SUSPICIOUS ? cell->shorter + 1 : 0;
    const uint32_t row = cell->longer ? cell->longer : cell->shorter;
    if (row < (cell->longer ? LONGER_IN_A_ROW : SHORTER_IN_A_ROW)) return false;
    svmx__sketch_keep(&cell->clean, row - 1); /* the present one is still to come */
    svmx__sketch_keep(&cell->setup, row - 1);
    svmx__sketch_keep(&cell->transfer, row - 1);
    svmx__sketch_keep(&cell->compute, row - 1);
    svmx__sketch_keep(&cell->contended, 0);
    cell->longer = cell->shorter = 0;
    cell->changes++;
    return true;
}

static void add_clean(struct svmx__model *model, struct cell *cell, double ns) {
    cell->unclean = 0;
    if (notice_change(cell, ns)) atomic_fetch_add_explicit(&model->changes, 1, memory_order_relaxed);
    svmx__sketch_add(&cell->clean, (float)ns);
}

/* false: it counts for nothing. */
static bool add_contended(struct cell *cell, double ns) {
    if (cell->clean.count >= CLEAN_ENOUGH && ++cell->unclean < CONTENDED_IN_A_ROW) return false;
    if (cell->unclean >= CONTENDED_IN_A_ROW) {
        svmx__sketch_keep(&cell->clean, 0);
        cell->unclean = 0;
    }
    svmx__sketch_add(&cell->contended, (float)ns);
    return true;
}

static bool add_sample(struct svmx__model *model, struct cell *cell, const struct svmx__load *load,
                       const struct svmx__sample *sample) {
    const double ns = (double)sample->setup_ns + (double)sample->transfer_ns + (double)sample->compute_ns;
    cell->bytes = load->bytes;
    if (sample->first_use) {
        cell->first_use_ns = ns;
        return true;
    }
    if (!sample->contended)
        add_clean(model, cell, ns);
    else if (!add_contended(cell, ns))
        return false;
    svmx__sketch_add(&cell->setup, (float)sample->setup_ns);
    svmx__sketch_add(&cell->transfer, (float)sample->transfer_ns);
    svmx__sketch_add(&cell->compute, (float)sample->compute_ns);
    cell->learned++;
    return true;
}

/* What the cheapest launch on the device takes; rises again only by way of drift in the cheapest cell. */
static void note_least(struct svmx__model *model, uint32_t device, const struct cell *cell) {
    if (count_of(cell) < SAMPLES_FOR_LEAST) return;
    const uint64_t ns = (uint64_t)cell_ns(cell),
                   least = atomic_load_explicit(&model->least_ns[device], memory_order_relaxed);
    if (!least || ns < least) atomic_store_explicit(&model->least_ns[device], ns ? ns : 1, memory_order_relaxed);
}

bool svmx__model_learn(struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                       const struct svmx__sample *sample) {
    struct svmx__curve *curve = device < model->device_count ? make_curve(model, op, device) : NULL;
    if (!curve || !try_hold(curve)) return false;
    struct cell **cell = &curve->cells[svmx__cell_of(load->units, load->work)];
    if (!*cell) *cell = calloc(1, sizeof **cell);
    const bool taken = *cell && add_sample(model, *cell, load, sample);
    if (taken) note_least(model, device, *cell);
    release_curve(curve);
    return taken;
}

/* ---- the first guess --------------------------------------------------------------------------------------------- */

static const double NS_FOR_WORK = 0.5; /* on a CPU of which nothing is known */
static const double CPU_LATENCY_NS = 200;

/* What the CPU is known to take for it; 0: nothing is. */
static double cpu_ns(const struct svmx__model *model, uint32_t op, const struct svmx__load *load) {
    double best = 0;
    for (uint32_t d = 0; d < model->device_count; d++) {
        struct svmx__cost cost;
        if (!model->devices[d].on_host || !curve_of(model, op, d)) continue;
        svmx__model_cost(model, op, d, load, &cost);
        if (cost.kind != SVMX__GUESSED && (best == 0 || cost.ns < best)) best = cost.ns;
    }
    return best;
}

static struct svmx__cost first_guess(const struct svmx__model *model, uint32_t op, uint32_t device,
                                     const struct svmx__load *load) {
    const struct svmx__model_device *of = &model->devices[device];
    struct svmx__cost cost = {.kind = SVMX__GUESSED};
    double compute = 0;
    if (!of->on_host) compute = cpu_ns(model, op, load);
    if (compute == 0) compute = CPU_LATENCY_NS + NS_FOR_WORK * (double)load->work;
    const double least = (double)atomic_load_explicit(&model->least_ns[device], memory_order_relaxed);
    cost.setup_ns = of->on_host ? 0 : least > 0 ? least : of->latency_ns;
    cost.transfer_ns = of->on_host ? 0 : (double)load->bytes / of->bytes_per_ns;
    cost.compute_ns = of->on_host ? compute : compute / of->times_faster;
    cost.ns = cost.p99_ns = cost.setup_ns + cost.transfer_ns + cost.compute_ns;
    return cost;
}

/* ---- asking ----------------------------------------------------------------------------------------------------- */

static void fill_measured(const struct cell *cell, struct svmx__cost *cost) {
    const struct svmx__sketch *window = cell->clean.count >= CLEAN_ENOUGH ? &cell->clean : &cell->contended;
    const double tail = (double)svmx__sketch_quantile(cell->clean.count >= window->count ? &cell->clean : window, 0.99);
    *cost = (struct svmx__cost){.ns = cell_ns(cell),
                                .setup_ns = middle(&cell->setup),
                                .transfer_ns = middle(&cell->transfer),
                                .compute_ns = middle(&cell->compute),
                                .first_use_ns = cell->first_use_ns,
                                .kind = SVMX__MEASURED,
                                .samples = count_of(cell),
                                .learned = cell->learned,
                                .changes = cell->changes,
                                .doubtful = cell->shorter > 0};
    cost->p99_ns = tail > cost->ns ? tail : cost->ns;
}

/* A cell that was measured, as inference needs it. */
struct known {
    bool is;
    uint32_t cell;
    double ns;
    uint64_t bytes;
};

static bool look_at(const struct svmx__curve *curve, uint32_t lanes, uint32_t depth, struct known *known) {
    const uint32_t at = lanes * SVMX__DEPTHS + depth;
    const struct cell *cell = curve->cells[at];
    if (!count_of(cell)) return false;
    *known = (struct known){.is = true, .cell = at, .ns = cell_ns(cell), .bytes = cell->bytes};
    return true;
}

/* The nearest measured cells with fewer and with more units at one depth. */
static void neighbours(const struct svmx__curve *curve, uint32_t lanes, uint32_t depth, struct known *below,
                       struct known *above) {
    below->is = above->is = false;
    for (uint32_t l = lanes + 1; l-- > 0 && !look_at(curve, l, depth, below);) {
    }
    for (uint32_t l = lanes + 1; l < SVMX__LANES && !look_at(curve, l, depth, above); l++) {
    }
}

/* The same at the nearest depth that has any. */
static void nearest_column(const struct svmx__curve *curve, uint32_t lanes, uint32_t depth, struct known *below,
                           struct known *above, bool *same_depth) {
    for (uint32_t away = 0; away < SVMX__DEPTHS; away++) {
        *same_depth = away == 0;
        if (depth >= away) neighbours(curve, lanes, depth - away, below, above);
        if (below->is || above->is) return;
        if (depth + away < SVMX__DEPTHS) neighbours(curve, lanes, depth + away, below, above);
        if (below->is || above->is) return;
    }
}

/* How many times more a measured cell takes than the first guess says. */
static double off_by(const struct svmx__model *model, uint32_t op, uint32_t device, const struct known *known) {
    struct svmx__load load = svmx__cell_load(known->cell);
    load.bytes = known->bytes;
    return known->ns / first_guess(model, op, device, &load).ns;
}

/* Bends the first guess so that it goes through what was measured around it; larger launches never cost less. */
static double bend(const struct svmx__model *model, uint32_t op, uint32_t device, uint32_t lanes, double guess,
                   const struct known *below, const struct known *above, bool same_depth) {
    if (!below->is) guess *= off_by(model, op, device, above);
    if (!above->is) guess *= off_by(model, op, device, below);
    if (below->is && above->is) {
        const double low = svmx__cell_lanes(below->cell), high = svmx__cell_lanes(above->cell);
        const double share = ((double)lanes - low) / (high - low);
        guess *= pow(off_by(model, op, device, below), 1 - share) * pow(off_by(model, op, device, above), share);
    }
    if (same_depth && above->is && guess > above->ns) guess = above->ns;
    if (same_depth && below->is && guess < below->ns) guess = below->ns;
    return guess;
}

void svmx__model_cost(const struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                      struct svmx__cost *cost) {
    const uint32_t at = svmx__cell_of(load->units, load->work), lanes = svmx__cell_lanes(at);
    struct svmx__curve *curve = curve_of(model, op, device);
    struct known below = {0}, above = {0};
    bool same_depth = false, measured = false;
    if (curve) {
        hold(curve);
        measured = count_of(curve->cells[at]) > 0;
        if (measured)
            fill_measured(curve->cells[at], cost);
        else
            nearest_column(curve, lanes, svmx__cell_depth(at), &below, &above, &same_depth);
        release_curve(curve);
    }
    if (measured) return;
    *cost = first_guess(model, op, device, load);
    if (!below.is && !above.is) return;
    const double ns = bend(model, op, device, lanes, cost->ns, &below, &above, same_depth), scale = ns / cost->ns;
    cost->kind = SVMX__INFERRED;
    cost->setup_ns *= scale;
    cost->transfer_ns *= scale;
    cost->compute_ns *= scale;
    cost->ns = cost->p99_ns = ns;
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

void svmx__model_init(struct svmx__model *model, const struct svmx__model_device *devices, uint32_t device_count) {
    if (device_count > SVMX__ROUTED) device_count = SVMX__ROUTED;
    model->device_count = device_count;
    for (uint32_t d = 0; d < SVMX__ROUTED; d++) {
        if (d < device_count) model->devices[d] = devices[d];
        atomic_init(&model->least_ns[d], 0);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) atomic_init(&model->curves[d][op], NULL);
    }
    atomic_init(&model->changes, 0);
}

static void free_cells(struct svmx__curve *curve) {
    for (uint32_t i = 0; i < SVMX__CELLS; i++) {
        free(curve->cells[i]);
        curve->cells[i] = NULL;
    }
}

void svmx__model_forget(struct svmx__model *model, uint32_t device) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) {
        struct svmx__curve *curve = curve_of(model, op, device);
        if (!curve) continue;
        hold(curve);
        free_cells(curve);
        release_curve(curve);
    }
    atomic_store_explicit(&model->least_ns[device], 0, memory_order_relaxed);
}

void svmx__model_fini(struct svmx__model *model) {
    for (uint32_t d = 0; d < model->device_count; d++) {
        svmx__model_forget(model, d);
        for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++) free(curve_of(model, op, d));
    }
    model->device_count = 0;
}

/* ---- for the profile --------------------------------------------------------------------------------------------- */

static struct svmx__cell_summary summary_of(const struct cell *cell) {
    const struct svmx__sketch *window = cell->clean.count ? &cell->clean : &cell->contended;
    return (struct svmx__cell_summary){.samples = count_of(cell),
                                       .ns = cell_ns(cell),
                                       .low_ns = (double)svmx__sketch_quantile(window, 0.1),
                                       .high_ns = (double)svmx__sketch_quantile(window, 0.9),
                                       .setup_ns = middle(&cell->setup),
                                       .transfer_ns = middle(&cell->transfer),
                                       .compute_ns = middle(&cell->compute),
                                       .first_use_ns = cell->first_use_ns,
                                       .bytes = cell->bytes,
                                       .learned = cell->learned - cell->restored};
}

static bool visit_curve(struct svmx__curve *curve, uint32_t op, uint32_t device,
                        bool (*visit)(void *, const struct svmx__cell_summary *), void *user) {
    for (uint32_t i = 0; i < SVMX__CELLS; i++) {
        struct svmx__cell_summary summary = {.samples = 0};
        hold(curve);
        if (count_of(curve->cells[i])) summary = summary_of(curve->cells[i]);
        release_curve(curve);
        if (!summary.samples) continue;
        summary.op = op;
        summary.device = device;
        summary.cell = i;
        if (!visit(user, &summary)) return false;
    }
    return true;
}

void svmx__model_visit(const struct svmx__model *model,
                       bool (*visit)(void *user, const struct svmx__cell_summary *summary), void *user) {
    for (uint32_t op = 0; op < SVMX__OP_LIMIT; op++)
        for (uint32_t d = 0; d < model->device_count; d++) {
            struct svmx__curve *curve = curve_of(model, op, d);
            if (curve && !visit_curve(curve, op, d, visit, user)) return;
        }
}

static bool is_sound(const struct svmx__model *model, const struct svmx__cell_summary *summary) {
    const double all[] = {summary->ns,          summary->low_ns,     summary->high_ns,     summary->setup_ns,
                          summary->transfer_ns, summary->compute_ns, summary->first_use_ns};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!isfinite(all[i]) || all[i] < 0 || all[i] > 1e18) return false;
    return summary->op < SVMX__OP_LIMIT && summary->device < model->device_count && summary->cell < SVMX__CELLS &&
           summary->samples > 0 && summary->ns > 0 && summary->low_ns <= summary->ns && summary->ns <= summary->high_ns;
}

bool svmx__model_restore(struct svmx__model *model, const struct svmx__cell_summary *summary) {
    struct svmx__curve *curve = is_sound(model, summary) ? make_curve(model, summary->op, summary->device) : NULL;
    if (!curve) return false;
    struct cell *made = calloc(1, sizeof *made);
    if (!made) return false;
    const float spread[RESTORED] = {(float)summary->low_ns, (float)summary->ns, (float)summary->high_ns};
    for (uint32_t i = 0; i < RESTORED; i++) {
        svmx__sketch_add(&made->clean, spread[i]);
        svmx__sketch_add(&made->setup, (float)summary->setup_ns);
        svmx__sketch_add(&made->transfer, (float)summary->transfer_ns);
        svmx__sketch_add(&made->compute, (float)summary->compute_ns);
    }
    made->first_use_ns = summary->first_use_ns;
    made->bytes = summary->bytes;
    made->learned = made->restored = summary->samples;
    hold(curve);
    free(curve->cells[summary->cell]);
    curve->cells[summary->cell] = made;
    note_least(model, summary->device, made);
    release_curve(curve);
    return true;
}
