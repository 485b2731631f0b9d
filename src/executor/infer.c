/*
 * infer.c: what a launch would cost: as it was measured, or as what was measured around it suggests.
 *
 *   its cell has samples           their median
 *   smaller and larger ones have   a straight line between the nearest two, by work
 *   one side or neither has        the nearest cell: its setup, its bytes and more at the assumed bandwidth, its computing
 *                                  in proportion to what the CPU takes for both sizes
 *   nothing of the operation       the first guess: latency + bytes / bandwidth + what the CPU takes / times faster
 *
 * A size is smaller than another if it has neither more units nor more work in each. A larger launch never costs less: where
 * two that were measured say so, what was measured last is believed, and the other one is bent to it. See model.h; called by
 * choice.c and by whoever explains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/curve.h"

#include <math.h>

/* Of a CPU of which nothing is known. */
static const double NS_FOR_WORK = 0.5, CPU_LATENCY_NS = 200;

static double unmeasured_cpu_ns(const struct svmx__load *load) {
    return CPU_LATENCY_NS + NS_FOR_WORK * (double)load->work;
}

struct svmx__model_device svmx__model_assume(enum svmx__seat place) {
    const bool in_host_memory = place == SVMX__ON_CORES || place == SVMX__ON_SHARED;
    const bool on_cores = place == SVMX__ON_HOST || place == SVMX__ON_CORES;
    return (struct svmx__model_device){.on_host = place == SVMX__ON_HOST,
                                       .latency_ns = 50000,
                                       .bytes_per_ns = in_host_memory ? 20 : 6,
                                       .times_faster = on_cores ? 1 : 10};
}

/* ---- the first guess ---------------------------------------------------------------------------------------------- */

/* What the CPU is known to take for it; 0: nothing is. */
static double cpu_ns(const struct svmx__model *model, uint32_t op, const struct svmx__load *load) {
    double best = 0;
    for (uint32_t d = 0; d < model->device_count; d++) {
        struct svmx__cost cost;
        if (!model->devices[d].on_host || !svmx__curve_of(model, op, d)) continue;
        svmx__model_cost(model, op, d, load, &cost);
        if (cost.kind != SVMX__GUESSED && (best == 0 || cost.ns < best)) best = cost.ns;
    }
    return best;
}

static double latency_of(const struct svmx__model *model, uint32_t device) {
    const double seen = (double)atomic_load_explicit(&model->least_ns[device], memory_order_relaxed);
    return seen > 0 ? seen : svmx__model_number(&model->devices[device].latency_ns);
}

/* Of what was assumed and what was seen, the more: a guess that is too good is soon found out, one that is too bad is never
 * looked into. */
static double bytes_per_ns(const struct svmx__model *model, uint32_t device) {
    const double seen = (double)atomic_load_explicit(&model->most_bytes_per_us[device], memory_order_relaxed) / 1000,
                 assumed = svmx__model_number(&model->devices[device].bytes_per_ns);
    return seen > assumed ? seen : assumed;
}

void svmx__model_guess(const struct svmx__model *model, uint32_t device, const struct svmx__load *load,
                       double on_cpu_ns, struct svmx__cost *cost) {
    const struct svmx__model_device *of = &model->devices[device];
    *cost = (struct svmx__cost){.kind = SVMX__GUESSED};
    if (on_cpu_ns <= 0) on_cpu_ns = unmeasured_cpu_ns(load);
    cost->setup_ns = of->on_host ? 0 : latency_of(model, device);
    cost->transfer_ns = of->on_host ? 0 : (double)load->bytes / bytes_per_ns(model, device);
    cost->compute_ns = of->on_host ? on_cpu_ns : on_cpu_ns / of->times_faster;
    cost->ns = cost->p99_ns = cost->setup_ns + cost->transfer_ns + cost->compute_ns;
}

/* ---- from other cells --------------------------------------------------------------------------------------------- */

/* A cell that was measured, as inference needs it. */
struct known {
    uint32_t away; /* doublings between it and the cell that is asked for; UINT32_MAX: there is none */
    struct svmx__load load;
    struct svmx__cost cost;
};

struct around {
    struct known below, above, nearest; /* nearest: the least away of all, smaller, larger or neither */
};

static uint32_t gap(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

static void take_if_nearer(struct known *known, uint32_t away, const struct svmx__cell *cell) {
    if (away >= known->away) return;
    *known = (struct known){.away = away, .load = cell->load};
    svmx__cell_cost(cell, &known->cost);
}

/* The curve is held. */
static struct around look_around(const struct svmx__curve *curve, uint32_t at) {
    struct around around = {{.away = UINT32_MAX}, {.away = UINT32_MAX}, {.away = UINT32_MAX}};
    const uint32_t lanes = svmx__cell_lanes(at), depth = svmx__cell_depth(at);
    for (uint32_t i = 0; i < curve->made_count; i++) {
        const struct svmx__cell *cell = curve->cells[curve->made[i]];
        const uint32_t l = svmx__cell_lanes(curve->made[i]), d = svmx__cell_depth(curve->made[i]);
        const uint32_t away = gap(l, lanes) + gap(d, depth);
        if (!svmx__cell_count(cell)) continue;
        if (l <= lanes && d <= depth) take_if_nearer(&around.below, away, cell);
        if (l >= lanes && d >= depth) take_if_nearer(&around.above, away, cell);
        take_if_nearer(&around.nearest, away, cell);
    }
    return around;
}

/* How many times more computing `load` is than `other`. */
static double times_more(const struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                         const struct svmx__load *other) {
    if (!model->devices[device].on_host) {
        const double ours = cpu_ns(model, op, load), theirs = cpu_ns(model, op, other);
        if (ours > 0 && theirs > 0) return ours / theirs;
    }
    return unmeasured_cpu_ns(load) / unmeasured_cpu_ns(other);
}

static void set_parts(struct svmx__cost *cost, double setup_ns, double transfer_ns, double compute_ns) {
    *cost = (struct svmx__cost){
        .kind = SVMX__INFERRED, .setup_ns = setup_ns, .transfer_ns = transfer_ns, .compute_ns = compute_ns};
    cost->ns = cost->p99_ns = setup_ns + transfer_ns + compute_ns;
}

/* Bytes beyond those of a measured launch go at full speed, but never cost more than in proportion. */
static double stretch_transfer(const struct svmx__model *model, uint32_t device, const struct svmx__load *load,
                               const struct known *known) {
    const double more = (double)load->bytes - (double)known->load.bytes, was = known->cost.transfer_ns;
    if (model->devices[device].on_host || known->load.bytes == 0) return was;
    const double by_rate = was + more / bytes_per_ns(model, device),
                 in_proportion = was * (double)load->bytes / (double)known->load.bytes;
    return (more > 0) == (by_rate < in_proportion) ? by_rate : in_proportion;
}

/* The same launch, larger or smaller. */
static void stretch(const struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                    const struct known *known, struct svmx__cost *cost) {
    set_parts(cost, known->cost.setup_ns, stretch_transfer(model, device, load, known),
              known->cost.compute_ns * times_more(model, op, device, load, &known->load));
}

static double on_line(double low, double high, double share) { return low + (high - low) * share; }

/* On the straight line between two that were measured. */
static void between(const struct known *below, const struct known *above, const struct svmx__load *load,
                    struct svmx__cost *cost) {
    const double span = (double)above->load.work - (double)below->load.work;
    double share = span > 0 ? ((double)load->work - (double)below->load.work) / span : 0.5;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    const struct svmx__cost *low = &below->cost, *high = &above->cost;
    set_parts(cost, on_line(low->setup_ns, high->setup_ns, share), on_line(low->transfer_ns, high->transfer_ns, share),
              on_line(low->compute_ns, high->compute_ns, share));
    cost->ns = cost->p99_ns = on_line(low->ns, high->ns, share);
}

/* ---- order -------------------------------------------------------------------------------------------------------- */

/*
 * A larger launch never costs less, also where the cells that were measured say so: one of them was measured while the device
 * was slower, or faster, than it is. From the last that was measured to the first each is bent to what those after it allow.
 * These are in order already, so what a smaller one asks for at least is never more than what a larger one leaves at most.
 */
struct point {
    uint32_t cell;
    uint64_t turn;
    double ns;
};

static bool is_smaller(uint32_t a, uint32_t b) {
    return svmx__cell_lanes(a) <= svmx__cell_lanes(b) && svmx__cell_depth(a) <= svmx__cell_depth(b);
}

/* The curve is held. Cells with samples, the last measured first. */
static uint32_t take_points(const struct svmx__curve *curve, struct point points[SVMX__CELLS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < curve->made_count; i++) {
        const struct svmx__cell *cell = curve->cells[curve->made[i]];
        const struct point point = {curve->made[i], cell->turn, svmx__cell_ns(cell)};
        if (!svmx__cell_count(cell)) continue;
        uint32_t at = count++;
        for (; at > 0 && points[at - 1].turn < point.turn; at--) points[at] = points[at - 1];
        points[at] = point;
    }
    return count;
}

/* What the first `count` points leave of `ns` in a cell. */
static double bent(const struct point *points, uint32_t count, uint32_t cell, double ns) {
    double low = 0, high = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (points[i].cell == cell) continue;
        if (is_smaller(points[i].cell, cell) && points[i].ns > low) low = points[i].ns;
        if (is_smaller(cell, points[i].cell) && points[i].ns < high) high = points[i].ns;
    }
    return ns < low ? low : ns > high ? high : ns;
}

/* What all points leave of it: of a cell that was measured, those after it. */
static double in_order(struct point *points, uint32_t count, uint32_t cell, double ns) {
    for (uint32_t i = 0; i < count; i++) {
        points[i].ns = bent(points, i, points[i].cell, points[i].ns);
        if (points[i].cell == cell) return points[i].ns;
    }
    return bent(points, count, cell, ns);
}

static void set_ns(struct svmx__cost *cost, double ns) {
    if (ns == cost->ns) return;
    const double scale = cost->ns > 0 ? ns / cost->ns : 0;
    cost->setup_ns *= scale;
    cost->transfer_ns *= scale;
    cost->compute_ns *= scale;
    cost->ns = ns;
    if (cost->p99_ns < ns || cost->kind != SVMX__MEASURED) cost->p99_ns = ns;
}

/* ---- asking ------------------------------------------------------------------------------------------------------- */

/* What is known of the cells of a curve, as an answer for one of them needs it. */
struct view {
    struct around around; /* of a cell without samples */
    double first_use_ns;
    uint32_t count;
    struct point points[SVMX__CELLS];
};

/* True: the cell was measured, and *cost has what. Who measured last is right: then nobody else is looked at. */
static bool look(struct svmx__curve *curve, uint32_t at, struct view *view, struct svmx__cost *cost) {
    svmx__curve_hold(curve);
    const struct svmx__cell *cell = curve->cells[at];
    const bool measured = svmx__cell_count(cell) > 0;
    if (measured) svmx__cell_cost(cell, cost);
    if (!measured && cell) view->first_use_ns = cell->first_use_ns;
    if (!measured) view->around = look_around(curve, at);
    if (!measured || cell->turn < curve->turn) view->count = take_points(curve, view->points);
    svmx__curve_release(curve);
    return measured;
}

void svmx__model_cost(const struct svmx__model *model, uint32_t op, uint32_t device, const struct svmx__load *load,
                      struct svmx__cost *cost) {
    const uint32_t at = svmx__cell_of(load->units, load->work);
    struct svmx__curve *curve = svmx__curve_of(model, op, device);
    struct view view; /* not cleared: it is large, and mostly not looked at */
    view.around.nearest.away = UINT32_MAX;
    view.first_use_ns = 0;
    view.count = 0;
    const bool measured = curve && look(curve, at, &view, cost);
    const struct around *around = &view.around;
    if (!measured && around->nearest.away == UINT32_MAX)
        svmx__model_guess(model, device, load, model->devices[device].on_host ? 0 : cpu_ns(model, op, load), cost);
    else if (!measured && around->below.away != UINT32_MAX && around->above.away != UINT32_MAX)
        between(&around->below, &around->above, load, cost);
    else if (!measured)
        stretch(model, op, device, load, &around->nearest, cost);
    if (view.count) set_ns(cost, in_order(view.points, view.count, at, cost->ns));
    if (!measured) cost->first_use_ns = view.first_use_ns;
}
